"""Figures of results, the animation of a round, and the tables beside them."""

import naive
import numba
import numpy as np
import pytest
from twin import Twin, chooser

import lbcore as lb
from lbcore import animation, charts, herding, summary
from lbcore.intervals import Estimate

LONG = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="simulates many rounds")
SHOWN = ("SCD", "TWF", "JSQ", "SED", "hJSQ(2)", "hLSQ")  # what the load panel shows at first


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def test_policies_are_told_apart_without_colour_and_in_both_themes():
    looks = [charts.look(name) for name in lb.POLICIES]
    assert len({its["colour"] for its in looks}) == len(looks)
    assert len({(its["dash"], its["mark"]) for its in looks}) == len(looks)  # for who sees no colours
    for its in looks:
        light = luminance(its["colour"])
        assert (
            1.05 / (light + 0.05) >= 3 and (light + 0.05) / (luminance("#111111") + 0.05) >= 3
        )  # WCAG, graphics
    assert len({charts.look(name)["mark"] for name in SHOWN}) == len(SHOWN)


def test_kin_of_a_policy_look_like_it():
    assert charts.look("JSQ(d)") == charts.look("JSQ(2)") and charts.look("LSQ(d)") == charts.look("LSQ")
    looks = [charts.look(f"JSQ({d})") for d in (2, 3, 5)]
    assert len({its["colour"] for its in looks}) == 1 and looks[0]["colour"] != charts.look("JSQ")["colour"]
    assert len({(its["dash"], its["mark"]) for its in looks}) == 3
    assert charts.look("my own") == charts.look("my own")


def test_one_look_in_every_figure():
    line = [(1, Estimate(2.0, 1.9, 2.1)), (2, Estimate(3.0, 2.9, 3.1))]
    figures = [
        charts.overview(lb.POLICIES),
        charts.errors({"SCD": [1, 2]}),
        charts.responses({"SCD": line}, "x"),
    ]
    looks = {(t.line.color, t.line.dash, t.marker.symbol) for f in figures for t in f.data if t.name == "SCD"}
    assert looks == {tuple(charts.look("SCD").values())}


def test_curves_have_intervals_and_what_grows_stands_apart():
    lines = {
        "SCD": [(1, Estimate(2.0, 1.9, 2.1)), (10, Estimate(3.0, 2.8, 3.2))],
        "JIQ": [(1, Estimate(4.0, 3.5, 4.5)), (10, None)],
    }
    figure = charts.responses(lines, "dispatchers", log=True, level=("floor", 1.5))
    scd, jiq, grows, floor = figure.data
    assert list(scd.y) == [2, 3] and np.allclose(scd.error_y.array, [0.1, 0.2])
    assert list(jiq.x) == [1] and list(grows.x) == [10] and grows.name == "JIQ: grows" and grows.y[0] > 4
    assert list(floor.y) == [1.5, 1.5] and figure.layout.xaxis.type == "log"
    assert figure.layout.xaxis.title.text == "dispatchers" and "rounds" in figure.layout.yaxis.title.text


CLUSTER = lb.Cluster([1.5, 2.0, 3.25, 0.0, 5.0, 0.3], 4)


@pytest.fixture(scope="module")
def state():
    return herding.one_round(CLUSTER, 0.9, ["SED", "WR", "LSQ", "hJIQ", "SCD"], before=30, seed=1)


def test_all_policies_decide_the_same_round(state):
    for name, sent in state["sent"].items():
        assert sent.sum(axis=1).tolist() == state["batches"].tolist(), name
        assert (sent >= 0).all() and not sent[:, 3].any()
    queues, rates = state["queues"], state["rates"]
    for d, jobs in enumerate(state["batches"]):  # SED of one dispatcher is the greedy assignment
        assert state["sent"]["SED"][d].tolist() == lb.greedy_assignment(queues, rates, jobs, 0).tolist()
    level, _ = naive.water(queues.tolist(), rates.tolist(), int(state["batches"].sum()))
    assert state["level"] == pytest.approx(float(level), rel=1e-12)


def test_policies_with_a_memory_have_looked_on():
    """hLSQ(6) looks at all servers: it decides as SED; without looking on it would take all queues for empty."""
    seen = herding.one_round(CLUSTER, 0.9, ["SED", "hLSQ(6)"], before=30, seed=1)["sent"]
    assert seen["hLSQ(6)"].tolist() == seen["SED"].tolist()


def test_overshoot_is_what_lies_above_the_level():
    state = {"rates": np.array([1.0, 2.0, 4.0]), "queues": np.array([0.0, 9.0, 0.0]), "level": 2.0}
    state["sent"] = {"a": np.array([[3, 0, 1], [1, 2, 3]]), "b": np.array([[2, 0, 8]])}
    # server 1 holds 2 at the level: 2 of 4 are above; server 2 stands above it already: 2; server 3: none
    assert herding.overshoot(state) == {"a": 4.0, "b": 0.0}


def test_errors_are_those_of_a_plain_replay():
    workload = lb.Workload(CLUSTER, 0.9, 40, seed=2)
    plain, expected = Twin("SED", CLUSTER.rates, 4, chooser(np.random.default_rng(1).random)), []
    for jobs, able in zip(*(x.tolist() for x in workload.open().take(40)), strict=True):
        queues = plain.lengths()
        plain.round(jobs, able)
        level, _ = naive.water(queues, CLUSTER.rates.tolist(), sum(jobs))
        wrong = naive.weighted_error(plain.totals, queues, CLUSTER.rates.tolist(), level)
        expected.append(float(wrong / sum(jobs)) if sum(jobs) else np.nan)
    assert np.allclose(herding.errors(workload, "SED"), expected, rtol=1e-9, equal_nan=True)


def test_the_animation_piles_up_what_each_sends(state):
    figure = animation.dispatching(state, herding.overshoot(state), columns=3)
    names, dispatchers = list(state["sent"]), len(state["batches"])
    assert [frame.name for frame in figure.frames] == [str(k) for k in range(dispatchers + 2)]
    assert len(figure.layout.sliders[0].steps) == dispatchers + 2
    live = state["rates"] > 0  # a server out of service has no column
    rates = state["rates"][live]
    for k, name in enumerate(names):
        sent = state["sent"][name][:, live]
        for step, frame in enumerate(figure.frames):
            place = list(frame.traces).index(4 * k + 1)
            before, now = (np.asarray(bars.y) * rates for bars in frame.data[place : place + 2])
            own = sent[step - 1] if 1 <= step <= dispatchers else np.zeros(5)
            assert np.allclose(before, sent[: max(0, step - 1)].sum(axis=0), atol=1e-4)
            assert np.allclose(now, own, atol=1e-4)
        assert np.allclose(figure.data[4 * k].y * rates, state["queues"][live], atol=1e-4)
        assert np.allclose(figure.data[4 * k + 1].y * rates, sent.sum(axis=0), atol=1e-4)
        assert figure.layout.annotations[k].text.startswith(f"{name}: ")
    labels = [button.label for button in figure.layout.updatemenus[0].buttons]
    assert labels == ["▶ Play", "Pause"]


@pytest.fixture(scope="module")
def runs():
    given = [(m, lb.Workload(lb.Cluster([0.3, 10.0], m), 0.9, 300, seed=1)) for m in (1, 3)]
    return {m: lb.compare(workload, ["SED", "JSQ(1)", "WR"], replications=3) for m, workload in given}


def test_tables_across_a_setting(runs):
    lines = summary.curves(runs)
    assert lines["JSQ(1)"] == [(1, None), (3, None)]
    assert lines["SED"] == [(m, runs[m]["SED"].estimate()) for m in (1, 3)]
    table = lb.across(runs, "dispatchers")  # more policies than values: policies from top to bottom
    assert table.index.tolist() == ["SED", "JSQ(1)", "WR"] and table.columns.tolist() == [1, 3]
    assert table.columns.name == "dispatchers" and table.loc["SED", 3] == str(runs[3]["SED"].estimate())
    assert table.loc["JSQ(1)", 1] == f"growing, {runs[1]['JSQ(1)'].growth.value:+.3g}"
    wide = lb.across({m: runs[1] for m in range(4)}, "m", of=99)
    assert wide.index.tolist() == [0, 1, 2, 3] and wide.loc[2, "WR"] == str(runs[1]["WR"].estimate(99))


@pytest.mark.parametrize("wrong", [{}, [1], {1: "SCD"}])
def test_what_is_no_comparison_is_named(wrong):
    with pytest.raises(ValueError, match="must be a dict from a setting's values to what compare gives"):
        lb.across(wrong, "load")
