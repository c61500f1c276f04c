"""Panels, driven without a browser."""

import base64
import io
import itertools
import math

import naive
import numpy as np
import pandas as pd
import pytest

import lbcore as lb
from lbcore.explore import distance, herd, panel, water

PANELS = [lb.WaterPanel, lb.HerdPanel, lb.DistancePanel, lb.SolverPanel]
COLUMNS = [lb.WaterPanel, lb.HerdPanel]


@pytest.mark.parametrize("make", PANELS)
def test_every_panel_keeps_its_manners(make):
    live = make()
    assert "VBox(" not in repr(live) and panel.INVITATION in repr(live)
    assert len(live.alt) > 60 and live.figure.layout.paper_bgcolor == "rgba(0,0,0,0)"
    assert all(axis.title.text for axis in live.figure.select_yaxes()) and live.figure.layout.xaxis.title.text
    lines = [t for t in live.figure.data if t.type == "scatter" and t.mode == "lines"]
    assert len({(t.line.dash, t.marker.symbol, t.mode) for t in lines}) == len(lines)  # not by colour alone
    count, first, start = len(live.figure.data), live.text, live.settings()
    for name, control in live.controls.items():
        if hasattr(control, "max"):
            control.value = control.max
            assert live.text != first, name
    assert len(live.figure.data) == count
    live.reset()
    assert (live.text, live.settings()) == (first, start)


@pytest.mark.parametrize("make", PANELS)
def test_one_move_is_one_batch_and_one_computation(make, monkeypatch):
    live = make()
    calls = []
    monkeypatch.setattr(live, "draw", lambda arrays: calls.append(arrays))
    for control in live.controls.values():
        if hasattr(control, "max"):
            control.value = control.max
    moved = len(calls)
    live.reset()
    assert moved == sum(hasattr(c, "max") for c in live.controls.values()) and len(calls) == moved + 1


def saved(live):
    """The table behind a panel's CSV button."""
    link = live._csv.value.split('href="')[1].split('"')[0]
    return pd.read_csv(io.BytesIO(base64.b64decode(link.split(",")[1])))


@pytest.mark.parametrize("make", COLUMNS)
def test_csv_holds_what_is_drawn(make):
    live = make()
    table = saved(live)
    assert np.allclose(table["queues"] / table["rates"], live.figure.data[0].y)
    assert np.allclose(table.iloc[:, 3] / table["rates"], live.figure.data[1].y)


def test_water_panel_draws_the_water():
    live = lb.WaterPanel([4, 0, 0], [2, 1, 0], arrivals=3)
    level, poured = naive.water([4, 0, 0], [2, 1, 0], 3)
    assert live.figure.data[1].y.tolist() == pytest.approx([float(poured[0]) / 2, float(poured[1])])
    assert live.figure.data[1].base.tolist() == live.figure.data[0].y.tolist()  # water stands on the queue
    assert live.figure.data[2].y == pytest.approx((float(level),) * 2)
    assert live.figure.data[0].width.tolist() == [2, 1]  # no column for a server out of service
    assert (
        live.text == "3 jobs as water stand at 2.333 rounds of work (the ideal workload) over 2 of 2 servers."
    )


@pytest.mark.parametrize(
    "box, typed, told",
    [
        ("rates", "2, x, 1", "rates[1] = 'x': must be a number"),
        ("rates", "2, -1, 1", "rates[1] = -1: every rate"),
        ("rates", "2, 1", "queues are 3 long, rates 2"),
        ("queues", "1, 1, <b>", "queues[2] = '<b>'"),
        ("queues", "", "queues = []"),
    ],
)
def test_a_mistake_is_told_in_the_panel_and_the_figure_stays(box, typed, told):
    live = lb.WaterPanel([4, 0, 0], [2, 1, 0], arrivals=3)
    before = live.figure.data[1].y.tolist()
    live.controls[box].value = typed
    assert told in live.text and live.text.endswith("The figure still shows the settings before.")
    assert "lb-error" in live.message.value and "<b>" not in live.message.value
    assert live.figure.data[1].y.tolist() == before
    live.reset()
    assert "lb-error" not in live.message.value


def test_numbers_are_typed_with_commas_semicolons_or_spaces():
    assert panel.read_numbers("rates", "1, 2;3  4.5,") == [1, 2, 3, 4.5]
    assert water.compute("1 2", "1 1", 3)["level"] == 3


def test_herd_is_each_dispatcher_alone():
    """Against a plain loop over dispatchers and jobs."""
    queues, rates = [3, 1, 0, 2], [1.0, 2.5, 0.7, 4.0]
    for jobs, dispatchers in [(7, 3), (12, 12), (5, 9), (6, 1)]:
        sent = [0] * 4
        for d in range(dispatchers):
            own = [0] * 4
            for _ in range(d, jobs, dispatchers):
                s = min(range(4), key=lambda s: ((queues[s] + own[s]) / rates[s], -rates[s], s))
                own[s] += 1
            sent = [a + b for a, b in zip(sent, own, strict=True)]
        assert herd.compute(queues, rates, jobs, dispatchers)["sent"].tolist() == sent


def test_a_stored_panel_carries_its_picture(monkeypatch):
    live = lb.WaterPanel()
    assert "image/png" not in live._repr_mimebundle_()
    monkeypatch.setenv("LBCORE_PICTURES", "1")
    monkeypatch.setattr("plotly.graph_objects.Figure.to_image", lambda self, *_, **__: b"picture")
    bundle = live._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]) == b"picture"
    assert live.alt in bundle["text/html"] and panel.INVITATION in bundle["text/html"]


def test_distance_panel_sums_over_every_outcome():
    """Against all assignments of 4 jobs one by one."""
    rates, queues, jobs, p = [5, 2, 2], [3, 0, 0], 4, 0.35
    level, _ = naive.water(queues, rates, jobs)
    expected = dict.fromkeys(distance.MEASURES, 0.0)
    for servers in itertools.product(range(3), repeat=jobs):
        chance = np.prod([p if s == 0 else (1 - p) / 2 for s in servers])
        sent = [servers.count(s) for s in range(3)]
        gaps = [(q + k) / mu - float(level) for q, k, mu in zip(queues, sent, rates, strict=True)]
        squares, size = [gap**2 for gap in gaps], [abs(gap) for gap in gaps]
        weighted = sum(mu * square for mu, square in zip(rates, squares, strict=True))
        for name, value in zip(
            distance.MEASURES, (weighted, sum(squares), sum(size), max(size)), strict=True
        ):
            expected[name] += chance * value
    arrays = distance.compute(5, 2, 3, jobs)
    at = int(np.flatnonzero(np.isclose(arrays["chances"], p))[0])
    for name in distance.MEASURES:
        ratio = arrays["expected"][name][at] / arrays["expected"][name][0]
        zero = sum_without_server_1(rates, queues, jobs, float(level))[name]
        assert ratio == pytest.approx(expected[name] / zero, rel=1e-9)
        assert arrays["expected"][name].max() == 1


def sum_without_server_1(rates, queues, jobs, level):
    """Expected distances when every job goes to server 2 or 3 by the toss of a coin."""
    totals = dict.fromkeys(distance.MEASURES, 0.0)
    for second in range(jobs + 1):
        sent = [0, second, jobs - second]
        gaps = [(q + k) / mu - level for q, k, mu in zip(queues, sent, rates, strict=True)]
        values = (
            sum(mu * gap**2 for mu, gap in zip(rates, gaps, strict=True)),
            sum(gap**2 for gap in gaps),
            sum(map(abs, gaps)),
            max(map(abs, gaps)),
        )
        for name, value in zip(distance.MEASURES, values, strict=True):
            totals[name] += math.comb(jobs, second) / 2**jobs * value
    return totals


def test_distance_panel_marks_the_least():
    live = lb.DistancePanel()
    for curve, mark in zip(live.figure.data[:4], live.figure.data[4:], strict=True):
        assert mark.y[0] == min(curve.y) and mark.x[0] == curve.x[int(np.argmin(curve.y))]
    best = saved(live)
    assert list(best.columns) == ["probability", *distance.MEASURES] and len(best) == 201
    # by the paper's measure the best chance is the dispatch probability itself, to the grid's step
    p = lb.scd_probabilities([4, 0, 0], [10, 1, 1], 12)
    assert abs(live.figure.data[4].x[0] - p[0]) <= 0.0025 + 1e-12


def test_solver_panel_shows_both():
    live = lb.SolverPanel([2, 14, 1], [2, 5, 0], arrivals=12)
    assert live.figure.data[0].y == pytest.approx(lb.scd_probabilities([2, 14, 1], [2, 5, 0], 12))
    assert live.figure.data[1].y == pytest.approx(live.figure.data[0].y, abs=1e-6)
    assert live.figure.data[1].y[2] == 0 and "agree to 1e-6" in live.text
    live.rates.value = "2, 5"
    assert "queues are 3 long, rates 2" in live.text


def test_timing_has_a_row_a_size_and_finds_the_exponent():
    roads = {"quick": (lambda queues, rates, arrivals: None, (2, 4)), "again": (lambda *_: None, (2, 4, 8))}
    table = lb.timing.growth(seed=0, roads=roads)
    assert table.servers.tolist() == [2, 4, 2, 4, 8] and (table.seconds >= 0).all()
    table = pd.DataFrame({"road": ["square"] * 3, "servers": [5, 10, 100], "seconds": [1.0, 3.0, 300.0]})
    assert lb.timing.slopes(table).exponent.tolist() == [2.0]
    assert lb.timing.figure(table).data[1].x == (100,)
