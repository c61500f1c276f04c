"""Whose queues grow: exact limits, bounds, maps and drifts, against plain counting, theory and replays."""

import math
from fractions import Fraction
from itertools import combinations

import numba
import numpy as np
import pytest

import lbcore as lb
from lbcore import stability, stability_charts
from lbcore.intervals import Estimate

LONG = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="simulates many rounds")


def plain_limit(rates, choices):
    """Every set of servers, and every sample that lies in it, counted one by one."""
    servers, least = range(len(rates)), Fraction(1)
    samples = list(combinations(servers, choices))
    for size in range(1, len(rates) + 1):
        for some in combinations(servers, size):
            forced = sum(set(sample) <= set(some) for sample in samples)
            if forced:
                able = sum(Fraction(rates[s]) for s in some)
                least = min(least, able * len(samples) / forced / sum(map(Fraction, rates)))
    return float(least)


@pytest.mark.parametrize("choices", [1, 2, 3, 5])
def test_the_limit_is_that_of_the_worst_set_of_servers(choices):
    rng = np.random.default_rng(choices)
    for _ in range(5):
        rates = rng.integers(1, 40, 5).tolist()
        dead = lb.Cluster([0, *rates, 0], dispatchers=2)  # servers out of service are not sampled
        assert stability.limit(dead, choices) == pytest.approx(plain_limit(rates, choices), rel=1e-12)


def test_the_limit_of_known_clusters():
    two = lb.Cluster.two_speeds(20, 10, fast=6)
    assert stability.limit(two, 1) == pytest.approx(20 / 70)
    assert stability.limit(two, 2) == pytest.approx(10 / (70 * 90 / 380))
    assert stability.limit(two, 20) == stability.limit(two, 99) == 1
    assert stability.limit(lb.Cluster([3.0] * 9, 2), 1) == pytest.approx(1)  # equal servers: nobody suffers
    assert stability.limit(lb.Cluster([1.0, 50.0], 2), 2) == 1  # JSQ(2) with two servers is JSQ


@pytest.mark.parametrize("choices", [0, -1, 1.5, True, "2"])
def test_a_limit_needs_a_whole_number_of_choices(choices):
    with pytest.raises(ValueError, match=r"choices = .*: must be a whole number of servers, at least 1"):
        stability.limit(lb.Cluster([1.0], 1), choices)


@LONG
@pytest.mark.parametrize("choices", [1, 2])
def test_queues_grow_just_past_the_limit_and_by_what_is_forced(choices):
    cluster = lb.Cluster.two_speeds(20, 10, fast=6)
    limit = stability.limit(cluster, choices)
    for load in (limit - 0.05, limit + 0.05, 0.9):
        run = lb.simulate(lb.Workload(cluster, load, 3_000, seed=5), f"JSQ({choices})", replications=6)
        exact = max(0, 10 * (load / limit - 1))  # ten slow servers of rate 1, full at the limit
        assert run.growth.low <= exact <= run.growth.high and run.growing == (exact > 0)


def test_the_bound_holds_and_is_what_its_parts_give():
    assert stability.queue_bound(lb.Cluster([1.0], 1), 0.5) == pytest.approx(0.5 * 1.5 + (1 + 2) + 0.5)
    two = stability.queue_bound(lb.Cluster([2.0, 0.0, 4.0], 3), 0.75)
    assert two == pytest.approx((4.5 * 5.5 / 2 + (1 + 4) + (1 + 8) + 0.75 * 2) / 0.5)
    assert stability.queue_bound(lb.Cluster([1.0, 2.0], 1), 1.0) == math.inf
    rng = np.random.default_rng(1)
    for load in (0.1, 0.9, 0.999):  # SCD with an endless estimate is WR, of which the mean is exact
        rates = rng.uniform(0.1, 20, 12)
        exact = lb.theory.mean_queue(rates, load * rates).sum()
        assert exact <= stability.queue_bound(lb.Cluster(rates, 4), load)


def test_what_the_bound_rests_on():
    """SCD's sum of (2 q + 1) p / mu is never above WR's, whatever the estimate, queues and rates."""
    rng = np.random.default_rng(2)
    for scale in (3, 300):
        rates, queues = rng.uniform(0.1, 20, (200, 9)), rng.integers(0, scale, (200, 9))
        estimates = 10 ** rng.uniform(0, 7, 200)
        p = lb.scd_probabilities(queues, rates, estimates)
        ours, weighted = ((2 * queues + 1) / rates * p).sum(axis=1), (2 * queues + 1).sum(axis=1)
        assert (ours <= weighted / rates.sum(axis=1) * (1 + 1e-9)).all()


@pytest.fixture(scope="module")
def grid():
    clusters = {h: lb.Cluster.two_speeds(4, 2, h) for h in (1, 8)}
    return clusters, stability.region(clusters, [0.3, 0.9], ["JSQ(1)", "WR"], 80, 2, seed=3)


def test_a_map_holds_what_each_comparison_gives(grid):
    clusters, table = grid
    assert len(table) == 8
    for row in table.itertuples():
        alone = lb.simulate(lb.Workload(clusters[row.setting], row.load, 80, seed=3), row.policy, 2)
        assert (row.growth, row.low, row.high) == alone.growth and row.growing == alone.growing
    assert table.growing.any() and not table.growing.all()


def test_a_map_needs_clusters():
    with pytest.raises(
        ValueError, match=r"clusters = \[1\]: must be a dict from a setting's values to Clusters"
    ):
        stability.region([1], [0.5], ["WR"])


def test_a_drift_is_that_of_a_plain_replay():
    """One server: its queue follows from arrivals and capacities alone."""
    workload, edges, warmup = lb.Workload(lb.Cluster([2.5], 1), 0.9, 150, seed=4), [0, 1, 2, 5, 99], 20
    means = []
    for r in range(3):
        queue, seen = 0, [[] for _ in edges[1:]]
        for now, (jobs, able) in enumerate(
            zip(*(x.tolist() for x in workload.open(r).take(150)), strict=True)
        ):
            after = max(0, queue + jobs[0] - able[0])
            k = next(k for k in range(4) if edges[k] <= queue / 2.5 < edges[k + 1])
            if now >= warmup:
                seen[k].append((queue / 2.5, (after - queue) / 2.5))
            queue = after
        means.append([np.mean(some, axis=0) if len(some) >= 10 else (np.nan, np.nan) for some in seen])
    expected = np.array(means)
    told = [k for k in range(4) if np.sum(~np.isnan(expected[:, k, 0])) >= 2]
    found = stability.drift(workload, "SCD", [2.5], edges, 3, warmup)[2.5]
    assert len(told) == len(found) >= 2
    for k, (work, change) in zip(told, found, strict=True):
        assert (work, change.value) == pytest.approx(np.nanmean(expected[:, k], axis=0))


@LONG
def test_long_queues_drift_as_theory_says():
    """WR pulls every long queue back by 1 - rho; uniform random pushes a slow server by its arrivals less 1."""
    workload = lb.Workload(lb.Cluster.two_speeds(6, 3, fast=4), 0.9, 400, seed=1)
    for name, rate, exact in (("WR", 4.0, -0.1), ("JSQ(1)", 1.0, 0.9 * 15 / 6 - 1)):
        ((_, change),) = stability.drift(workload, name, [rate], [8, 10_000], replications=4)[rate]
        assert abs(change.value - exact) < 2 * (
            change.high - change.value
        )  # twice the 95 % half-width, seed fixed


def test_a_drift_names_what_is_wrong():
    workload = lb.Workload(lb.Cluster([1.0, 2.0], 1), 0.5, 10)
    with pytest.raises(ValueError, match="rates: no server of the cluster has rate 3"):
        stability.drift(workload, "WR", [3.0], [0, 1])
    with pytest.raises(ValueError, match="replications = 1: must be at least 2"):
        stability.drift(workload, "WR", [1.0], [0, 1], replications=1)


def test_totals_show_growth_as_a_line_through_the_second_half():
    cluster = lb.Cluster([0.3, 10.0], 2)
    runs = lb.compare(lb.Workload(cluster, 0.9, 300, seed=1), ["JSQ(1)", "WR"], replications=3)
    figure = stability_charts.totals(runs)
    stability_charts.set_totals(figure, runs)
    grows, fitted, steady, none = figure.data
    assert grows.y[-1] == pytest.approx(runs["JSQ(1)"].queue_totals[-1], abs=0.06) and grows.x[-1] == 300
    assert (fitted.y[1] - fitted.y[0]) / (fitted.x[1] - fitted.x[0]) == pytest.approx(
        runs["JSQ(1)"].growth.value
    )
    assert np.mean(fitted.y) == pytest.approx(runs["JSQ(1)"].queue_totals[150:].mean())
    assert len(none.x) == 0 and steady.name == "WR" and grows.line.color != steady.line.color


def test_maps_mark_what_grows(grid):
    _, table = grid
    figure = stability_charts.region(table, {"line": ([1, 8], [1.0, 0.3])})
    assert [note.text for note in figure.layout.annotations] == ["JSQ(1)", "WR"]
    for growing, name in ((True, "queues grow"), (False, "growth not told from 0")):
        part = table[(table.policy == "JSQ(1)") & (table.growing == growing)]
        shown = next(t for t in figure.data if t.name == name)
        assert list(shown.x) == part.setting.tolist() and list(shown.y) == part.load.tolist()
    assert sum(t.name == "line" for t in figure.data) == 2


def test_drifts_have_their_intervals():
    points = [(1.0, Estimate(0.5, 0.4, 0.6)), (4.0, Estimate(-0.9, -1.0, -0.8))]
    figure = stability_charts.drifts({"slow": {"WR": points}, "fast": {"WR": points[:1], "JSQ(1)": points}})
    assert [note.text for note in figure.layout.annotations] == ["slow", "fast"]
    slow = figure.data[0]
    assert list(slow.x) == [1, 4] and list(slow.y) == [0.5, -0.9] and np.allclose(slow.error_y.array, 0.1)
    assert len({t.line.color for t in figure.data}) == 2


def test_the_panel_shows_what_compute_gives():
    panel = lb.StabilityPanel(["JSQ(1)", "WR"], rounds=60, load=0.7)
    assert "Growing, jobs a round: JSQ(1) +" in panel.text and "not told from 0: WR." in panel.text
    told = panel.compute(**panel.settings())["runs"]["JSQ(1)"]
    cluster = lb.Cluster.two_speeds(20, 10, fast=6)
    assert told.growth == lb.simulate(lb.Workload(cluster, 0.7, 60, seed=1), "JSQ(1)", 4).growth
    panel.load.value = 0.2
    runs = panel.compute(**panel.settings())["runs"]
    assert list(panel.figure.data[0].y)[-1] == pytest.approx(runs["JSQ(1)"].queue_totals[-1], abs=0.06)
    assert panel.text == (
        "No growth is told from 0. With these servers queues must grow from load 0.286 (JSQ(1)) and 0.603 (JSQ(2)) on."
    )
    assert panel.table(panel.compute(**panel.settings())).policy.tolist() == ["JSQ(1)", "WR"]
    panel.reset()
    assert panel.load.value == 0.7 and "JSQ(1) +" in panel.text
