"""Panels that simulate, driven without a browser: first answers, refined ones, and what a hand may do meanwhile."""

import asyncio
import base64
import html
import io
import json
import re

import numba
import numpy as np
import pandas as pd
import pytest

import lbcore as lb
from lbcore.explore import load
from lbcore.explore.live import Ticks
from lbcore.running import Running

LONG = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="simulates many rounds")
SMALL = {"servers": 10, "dispatchers": 3, "ticked": ("SCD", "JSQ", "SED"), "load": 0.8}


def make(**settings):
    return lb.LoadPanel(**SMALL | settings)


def means(panel):
    return list(panel.figure.data[0].y)


def tails_of(panel):
    return panel.figure.data[2 : 2 + len(panel.known)]


def queues_of(panel):
    return panel.figure.data[2 + len(panel.known) :]


def lines_of(panel):
    """What the copy button copies."""
    return json.loads(html.unescape(panel._copy.value.split("data-code='")[1].split("'")[0]))


def run_lines(code):
    """What the copied lines give."""
    *before, last = code.splitlines()
    names = {}
    exec("\n".join(before), names)
    return eval(last, names)


@LONG
def test_the_first_answer_is_refined_to_what_compute_gives():
    panel = make()
    first = panel.running.now
    assert first < panel.running.workload.rounds and "first answer" in panel.state.value
    panel.settle()
    assert "refined" in panel.state.value and panel.progress.value == 1
    arrays = panel.compute(**panel.settings())
    assert means(panel) == [m.value for m in arrays["means"]]
    tails = {trace.name: trace for trace in tails_of(panel) if trace.visible}
    assert set(tails) == set(SMALL["ticked"])
    for name, (x, y) in arrays["tails"].items():
        assert list(tails[name].x) == list(x) and list(tails[name].y) == list(y)


@LONG
@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("kind", [load.SPREAD, load.TWO])
def test_copied_lines_give_the_very_numbers(settled, kind):
    panel = make(kind=kind, heterogeneity=6.31, share=30, seed=4)
    if settled:
        panel.settle()
    results = run_lines(lines_of(panel))
    assert means(panel) == [result.mean for result in results.values()]
    shown = re.findall("<td>(.*?)</td>", panel.results.value)
    told = results.table().assign(jobs=[f"{result.arrived:,}" for result in results.values()])
    assert shown == told.to_numpy().ravel().tolist()
    assert panel.figure.layout.title.text.endswith(
        f"8 × {panel.running.now - panel.running.warmup:,} rounds after {panel.running.warmup} of warm-up"
    )


@LONG
def test_the_queues_are_those_of_the_servers_by_speed():
    panel = make()
    panel.settle()
    result = run_lines(lines_of(panel))["JSQ"]
    rates = result.workload.cluster.rates
    shown = next(t for t in queues_of(panel) if t.name == "JSQ")
    assert list(shown.x) == sorted(rates)
    assert list(shown.y) == result.mean_queues[np.argsort(rates)].tolist()
    saved = base64.b64decode(panel._csv.value.split("base64,")[1].split('"')[0]).decode()
    table = pd.read_csv(io.StringIO(saved))
    assert list(table.columns) == ["policy", "quantity", "at", "value", "low", "high"]
    row = table[(table.policy == "JSQ") & (table.quantity == "mean response")].iloc[0]
    assert (row.value, row.low, row.high) == result.estimate()


@LONG
def test_growing_queues_show_no_mean():
    panel = make(kind=load.TWO, heterogeneity=20.0, servers=20, ticked=("JSQ(2)", "SCD", "JIQ"), load=0.95)
    panel.settle()
    assert panel.figure.layout.xaxis.ticktext == ("SCD", "JSQ(2) grows", "JIQ grows")
    assert list(panel.figure.data[0].x) == [0] and len(means(panel)) == 1
    assert [t.name for t in tails_of(panel) if t.visible] == ["SCD"]
    assert "Queues grow, so no mean: JSQ(2) (+" in panel.text and "growing, +" in panel.results.value
    panel.policies.value = ("JSQ(2)",)
    panel.settle()
    assert panel.text.startswith("Every policy's queues grow.") and len(means(panel)) == 0
    panel.load.value = 1.05
    panel.settle()
    assert len(panel.figure.data[1].x) == 0  # no floor: not even one queue for all is stable


@LONG
def test_equal_servers_and_one_policy():
    panel = make(heterogeneity=1.0, ticked=("SCD",))
    panel.settle()
    (shown,) = [trace for trace in queues_of(panel) if trace.visible]
    assert list(shown.x) == [1.0] and "Next" not in panel.text
    panel.policies.value = ("SCD", "TWF")
    panel.settle()
    assert "not told apart from it" in panel.text


@LONG
def test_no_policy_ticked_is_told_and_the_figure_stays():
    panel = make()
    before, title = means(panel), panel.figure.layout.title.text
    panel.policies.value = ()
    assert "policies = []: must hold at least one. The figure shows the last answer before" in panel.text
    assert means(panel) == before and panel.figure.layout.title.text == title
    panel.settle()
    panel.stop()
    panel.reset()
    assert panel.policies.value == SMALL["ticked"] and "lb-error" not in panel.message.value


@LONG
def test_a_policy_of_ones_own_can_be_ticked():
    class Own(lb.policies.SCD):
        name = "own"

    panel = make(policies=["SCD", Own(), lb.policies.JSQFirst(), "LSQ(2)"], ticked=None)
    assert panel.policies.value == ("SCD",) and list(panel.known)[-1] == "LSQ"  # LSQ(2) is LSQ
    panel.policies.value = ("LSQ", "own", "JSQ, ties to the first")
    names = ("own", "JSQ, ties to the first", "LSQ")
    assert panel.figure.layout.xaxis.ticktext == names and panel.policies.value == names
    assert {t.name for t in tails_of(panel) if t.visible} == set(names)
    code = lines_of(panel)
    assert "own_0 = ...  # your policy 'own'" in code and "lb.policies.JSQFirst()" in code
    results = run_lines(code.replace("own_0 = ...", "own_0 = 'SCD'"))  # the same law, other draws
    assert list(results) == ["SCD", *names[1:]] and results["LSQ"].mean == means(panel)[2]


def test_what_a_panel_does_not_know_is_named():
    with pytest.raises(ValueError, match=r"unknown setting 'lod'; known: load, heterogeneity"):
        lb.LoadPanel(lod=0.5)
    with pytest.raises(ValueError, match=r"unknown policy 'SDC'; nearest: 'SCD'"):
        lb.LoadPanel(policies=["SDC"])
    with pytest.raises(ValueError, match=r"'hJSQ\(3\)' is not among the boxes: SCD, TWF"):
        lb.LoadPanel(ticked=["hJSQ(3)"])


@LONG
@pytest.mark.parametrize("late", [0, 3_000])
def test_a_policy_that_breaks_is_told_and_the_panel_goes_on(late):
    class Breaks(lb.Policy):
        name = "breaks"

        @staticmethod
        def decide_one(d, jobs, view, rates, options, memory, rng, sent):
            memory[d, 0] += 1
            if memory[d, 0] > late:
                raise IndexError("no such server")
            sent[0] += jobs

        def memory_shape(self, cluster):
            return (cluster.dispatchers, 1)

    panel = make(policies=["SCD", Breaks()], ticked=("SCD", "breaks"))
    panel.settle()
    assert panel.text.startswith("IndexError: no such server. The figure shows") and panel._stop.disabled
    panel.stop()
    panel.settle()
    panel.policies.value = ("SCD",)
    panel.settle()
    assert "refined" in panel.state.value and len(means(panel)) == 1


@LONG
def test_while_the_hand_rests_it_refines_and_others_have_their_turn():
    async def rest():
        panel, turns = make(), 0
        assert "refining" in panel.state.value and not panel._stop.disabled
        while panel._task is not None:
            await asyncio.sleep(0.001)
            turns += 1
        return panel, turns

    panel, turns = asyncio.run(asyncio.wait_for(rest(), 60))
    assert turns > 1 and "refined" in panel.state.value and panel._stop.disabled
    assert means(panel) == [m.value for m in panel.compute(**panel.settings())["means"]]


@LONG
def test_a_new_move_drops_the_old_run_and_stop_keeps_what_is_shown(monkeypatch):
    plan = load.plan
    monkeypatch.setattr(
        load, "plan", lambda *given: (*plan(*given)[:2], 100_000)
    )  # it will not end by itself

    async def move():
        panel, tasks = make(), []
        for value in (0.5, 0.6, 0.7):
            tasks.append(panel._task)
            panel.load.value = value
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.1)
        assert [task.cancelled() for task in tasks] == [True] * 3 and panel._task is not None
        panel.stop()
        shown, now = means(panel), panel.running.now
        await asyncio.sleep(0.1)
        assert "stopped" in panel.state.value and panel._stop.disabled
        assert panel.running.now == now and means(panel) == shown
        assert panel.figure.layout.title.text.startswith("load 0.7, ")
        monkeypatch.setattr(load, "plan", plan)
        panel.load.value = 0.9
        panel.settle()  # also when it comes in the middle
        assert panel._task is None and "refined" in panel.state.value
        return panel

    panel = asyncio.run(asyncio.wait_for(move(), 60))
    count = len(panel.figure.data)
    assert count == 2 + 2 * len(lb.POLICIES)
    assert means(panel) == [m.value for m in panel.compute(**panel.settings())["means"]]


@LONG
def test_what_goes_wrong_while_refining_is_told():
    class Late(lb.Policy):
        name = "late"

        @staticmethod
        def decide_one(d, jobs, view, rates, options, memory, rng, sent):
            memory[d, 0] += 1
            sent[0] += jobs + (memory[d, 0] > 2_100)

        def memory_shape(self, cluster):
            return (cluster.dispatchers, 1)

    async def rest():
        panel = make(policies=[Late()], ticked=("late",))
        while panel._task is not None:
            await asyncio.sleep(0.01)
        return panel

    told = asyncio.run(asyncio.wait_for(rest(), 60)).text
    assert "policy 'late' did not send exactly the jobs" in told


def test_ticks_are_a_tuple_both_ways():
    ticks = Ticks(["a", "b", "c"], ["c", "a"], "letters")
    seen = []
    ticks.observe(lambda change: seen.append(change.new), "value")
    ticks._boxes["b"].value = True
    ticks.value = ("b",)
    assert seen == [("a", "b", "c"), ("b",)]
    assert [box.value for box in ticks._boxes.values()] == [False, True, False]


def test_moving_heterogeneity_moves_the_same_servers():
    clusters = [load.cluster_of(h, load.SPREAD, 0, 50, 5, 3)[0].rates for h in (1, 2, 30, 100)]
    u = (clusters[-1] - 1) / 99
    for h, rates in zip((1, 2, 30, 100), clusters, strict=True):
        assert np.allclose(rates, 1 + u * (h - 1), rtol=1e-12)
    assert np.ptp(u) > 0.9


def test_rounds_do_not_depend_on_the_clock_and_shrink_with_the_work():
    plans = {}
    for servers, dispatchers, fastest in ((10, 1, 1), (100, 10, 10), (400, 100, 100)):
        warmup, short, rounds = load.plan(lb.Cluster.random(servers, dispatchers, fastest, 1), 0.9)
        assert 0 < warmup < short and rounds - warmup == 16 * (short - warmup)
        plans[servers] = short
    assert plans[10] == 2_000 and plans[100] - load.plan(lb.Cluster.random(100, 10, 10, 1), 0.9)[0] >= 250
    assert plans[400] == 60


def test_groups_by_speed_share_out_the_servers():
    rates = np.array([3.0, 1.0, 2.0, 0.5, 9.0])
    assert [g.tolist() for g in load.by_speed(rates)] == [[3], [1], [2], [0], [4]]
    assert [g.tolist() for g in load.by_speed(np.ones(4))] == [[0, 1, 2, 3]]
    many = load.by_speed(np.random.default_rng(1).random(400))
    assert len(many) == 20 and sorted(np.concatenate(many)) == list(range(400))


def test_long_tails_are_thinned_for_drawing():
    t, share = np.arange(5000), np.append(np.linspace(1, 0.001, 4999), 0)
    x, y = load.thin(t, share)
    assert 100 < x.size <= 200 and (x[0], x[-1]) == (0, 4998) and (y > 0).all()
    assert load.thin(t[:9], share[:9])[0].tolist() == list(range(9))


@pytest.mark.parametrize("sizes", [(1, 2, 40), (7, 7, 7, 50), (43,)])
def test_slices_add_up_to_compare(sizes):
    workload = lb.Workload(lb.Cluster([1, 2, 5], 2), 0.8, 43, seed=3)
    running = Running(workload, ["SCD", "JSQ"], 3, warmup=5)
    for size in sizes:
        running.start(size)
        running.wait()
    assert running.done and running.now == 43
    for name, result in lb.compare(workload, ["SCD", "JSQ"], 3, warmup=5).items():
        mine = running.results()[name]
        assert mine.workload == workload and mine.warmup == 5
        assert [r.histogram.tolist() for r in mine.runs] == [r.histogram.tolist() for r in result.runs]
        assert mine.growth == result.growth and mine.mean_queues.tolist() == result.mean_queues.tolist()


def test_a_run_ends_where_it_is_told():
    workload = lb.Workload(lb.Cluster([1, 2, 5], 2), 0.8, 300, seed=3)
    running = Running(workload, ["SCD"], 2)
    running.run(0, least=90, most=120)
    assert 90 <= running.now <= 120
    running.run(most=200)
    assert running.now == 200 and running.results()["SCD"].workload.rounds == 200
    running.run(limit=0)  # at least a slice
    assert 200 < running.now < 300
    running.run()
    assert running.done
    with pytest.raises(ValueError, match="a trace has its length; give it to compare"):
        Running(lb.Workload.from_arrays(lb.Cluster([1], 1), [[1]]), ["SCD"])


def test_slices_that_have_not_begun_can_be_dropped():
    running = Running(lb.Workload(lb.Cluster([1, 2], 2), 0.8, 5_000, seed=3), ["SCD", "JSQ"], 40)
    begun = running.start(5_000 if not numba.config.DISABLE_JIT else 20)
    running.abandon()
    assert any(task.cancelled() for task in begun)
