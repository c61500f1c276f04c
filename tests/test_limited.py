"""Equal servers by the TWF paper's formula, and what few messages do: tables, curves and the panel."""

import html
import json
from fractions import Fraction
from types import SimpleNamespace

import naive
import numba
import numpy as np
import pytest

import lbcore as lb
from lbcore import homogeneous, limited, message_charts
from lbcore.comparisons import Comparison
from lbcore.explore import learning
from lbcore.intervals import Estimate

LONG = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="simulates many rounds")


def exact(queues, arrivals):
    """The best probabilities for equal rates in fractions: half a job on every queue, one job less to pour."""
    _, water = naive.water([q + Fraction(1, 2) for q in queues], [1] * len(queues), arrivals - 1)
    return [float(x / (arrivals - 1)) for x in water]


def test_closed_form_is_exact_for_whole_arrivals():
    rng = np.random.default_rng(3)
    for _ in range(200):
        queues, arrivals = rng.integers(0, 9, rng.integers(1, 9)), int(rng.integers(2, 40))
        p = homogeneous.closed_form(queues, arrivals)
        assert np.allclose(p, exact(queues.tolist(), arrivals), rtol=0, atol=1e-14)


def test_closed_form_takes_many_states_and_fails_for_fractions():
    p = homogeneous.closed_form([[0, 1, 4], [2, 2, 2]], [3, 9])
    assert p.tolist() == [pytest.approx([0.75, 0.25, 0.0]), pytest.approx([1 / 3] * 3)]
    assert homogeneous.closed_form([0, 1], 1.5).tolist() == pytest.approx([1.5, -0.5])  # why it is not used


def test_mean_batch_is_what_a_random_job_sees():
    batches = [3, 0, 5, 1]
    seen = [size for size in batches for _ in range(size)]
    assert homogeneous.mean_batch(batches) == pytest.approx(np.mean(seen))
    assert homogeneous.mean_batch([4, 4, 4]) == 4


def told(mean, messages, age=1.0, growing=False):
    """What stands in for a result."""
    return SimpleNamespace(
        estimate=lambda of="mean": Estimate(mean, mean - 0.13, mean + 0.13),
        messages=messages, mean_age=age, growing=growing, growth=SimpleNamespace(value=3.0),
    )  # fmt: skip


RUNS = {
    ("sampled", 5): Comparison({"JSQ": told(3.0, 50.0), "SCD": told(2.0, 50.0)}),
    ("sampled", 1): Comparison({"JSQ": told(4.0, 10.0), "SCD": told(3.5, 10.0, 9.876)}),
    ("gossip", 1): Comparison({"JSQ": told(9.0, 21.0, growing=True), "SCD": told(2.5, 33.0)}),
}


def test_lines_run_along_the_messages_and_what_grows_has_no_mean():
    lines = limited.lines(RUNS)
    assert [(x, e.value) for x, e in lines["SCD", "sampled"]] == [(10.0, 3.5), (50.0, 2.0)]
    assert lines["JSQ", "gossip"] == [(21.0, None)] and len(lines) == 4


def test_table_tells_messages_age_and_growth():
    table = limited.table(RUNS)
    assert table.loc["sampled(1)"].tolist() == ["10", "9.88", "4.00 ± 0.13", "3.50 ± 0.13"]
    assert table.loc["gossip(1)", "JSQ"] == "growing, +3"


def test_grid_asks_each_as_it_is_told():
    workload = lb.Workload(lb.Cluster([1, 2, 2], 2), 0.6, 42, seed=3)
    runs = limited.grid(workload, ["SCD"], (0, 1, 3), warmup=2)
    assert list(runs) == [(kind, d) for kind in limited.KINDS for d in (0, 1, 3)]
    for d in (0, 1, 3):
        assert runs["sampled", d]["SCD"].messages == 2 * d * 2
        assert runs["gossip", d]["SCD"].information == lb.gossip(d) and runs["gossip", d]["SCD"].warmup == 2
    full = [runs[kind, 3]["SCD"].histogram.tolist() for kind in limited.KINDS]
    assert full[0] == full[1] == full[2]  # whoever asks all servers knows all


def test_figure_has_a_place_in_the_legend_once_and_arrows_where_queues_grow():
    level = {"JSQ": Estimate(3.1, 3.0, 3.2), "SCD": Estimate(1.9, 1.8, 2.0)}
    lines = limited.lines(RUNS)
    figure = message_charts.by_messages({"a": lines, "b": lines}, {"a": level, "b": level})
    named = [trace.name for trace in figure.data if trace.showlegend]
    assert sorted(named) == sorted(set(named)) and len(figure.data) == 2 * len(named) == 12
    by_name = {trace.name: trace for trace in figure.data}
    grows, scd = by_name["JSQ, gossip"], by_name["SCD, sampled"]
    assert grows.marker.symbol == ("arrow-up",) and grows.y[0] > 4
    assert scd.y == (3.5, 2.0) and np.allclose(scd.error_y.array, 0.13)
    assert {t.line.color for t in figure.data if t.name.startswith("SCD")} == {scd.line.color}
    assert by_name["SCD, shown all"].y == (1.9, 1.9) and by_name["SCD, shown all"].x == (10, 50)


def test_code_of_the_settings_makes_what_is_simulated():
    for kind in (learning.ALL, "sampled", "answered", "gossip"):
        seen, code = learning.information_of(kind, 7)
        assert eval(code) == seen
    assert seen == lb.gossip(7)
    for servers in (learning.EQUAL, learning.UNEQUAL):
        cluster, code = learning.cluster_of(servers, 3)
        assert eval(code).rates.tolist() == cluster.rates.tolist() and cluster.dispatchers == 3


@LONG
def test_panel_shows_what_its_copied_lines_give():
    panel = lb.LearningPanel(ticked=("SCD", "JSQ"))
    panel.learning.value, panel.split.value, panel.samples.value = "answered", False, 5
    panel.settle()
    text = json.loads(html.unescape(panel._copy.value.split("data-code='")[1].split("'")[0]))
    *before, last = text.splitlines()
    names = {}
    exec("\n".join(before), names)
    results = eval(last, names)
    assert list(panel.figure.data[0].y) == [result.mean for result in results.values()]
    assert f"SCD {results['SCD'].messages:.0f} and {results['SCD'].mean_age:.2f}" in panel.text
    assert panel.figure.layout.title.text.endswith(
        "5 servers sampled a round, jobs answered; batches not split"
    )
    shown = [t.name for t in panel.figure.data[2:] if t.visible and t.showlegend is not False]
    assert shown == ["SCD", "JSQ"]
    panel.learning.value = learning.ALL
    assert panel.samples.disabled and "Messages" not in panel.text
