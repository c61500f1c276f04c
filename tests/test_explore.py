"""Panels, driven without a browser."""

import base64
import io

import naive
import numpy as np
import pandas as pd
import pytest

import lbcore as lb
from lbcore.explore import herd, panel, water

PANELS = [lb.WaterPanel, lb.HerdPanel]


@pytest.mark.parametrize("make", PANELS)
def test_every_panel_keeps_its_manners(make):
    live = make()
    assert "VBox(" not in repr(live) and panel.INVITATION in repr(live)
    assert len(live.alt) > 60 and live.figure.layout.paper_bgcolor == "rgba(0,0,0,0)"
    assert all(axis.title.text for axis in live.figure.select_yaxes()) and live.figure.layout.xaxis.title.text
    lines = [t for t in live.figure.data if t.type == "scatter"]
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


@pytest.mark.parametrize("make", PANELS)
def test_csv_holds_what_is_drawn(make):
    live = make()
    link = live._csv.value.split('href="')[1].split('"')[0]
    table = pd.read_csv(io.BytesIO(base64.b64decode(link.split(",")[1])))
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
