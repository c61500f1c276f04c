"""What wrong guesses of the arrivals do: exact parts of a round's error, how wrong a guess may be, and the panel."""

import html
import itertools
import json
import math

import naive
import numba
import numpy as np
import pytest

import lbcore as lb
from lbcore import areas, guessing, herding
from lbcore.explore import estimate
from lbcore.results import Result, Run

LONG = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="simulates many rounds")
CLUSTER = lb.Cluster([1.5, 2.0, 0.0, 5.0], 3)


def test_parts_of_the_error_by_enumeration():
    """Every way that the jobs may fall, with its chance; the level in exact arithmetic."""
    queues, rates, batches, guesses = [3, 1, 4, 9], [1.5, 2.0, 0.0, 5.0], [2, 0, 1], [6.0, 0.0, 1.5]
    p = lb.scd_probabilities(queues, rates, guesses)
    level, _ = naive.water(queues, rates, 3)
    total = mean = 0.0
    for places in itertools.product((0, 1, 3), repeat=3):  # of two jobs of the first, one of the last
        chance = p[0, places[0]] * p[0, places[1]] * p[2, places[2]]
        sent = [places.count(s) for s in range(4)]
        total += chance * float(naive.weighted_error(sent, queues, rates, level))
        mean += chance * np.array(sent)
    aim, noise = guessing.aim_and_noise(queues, rates, batches, guesses)
    assert aim + noise == pytest.approx(total, rel=1e-12)
    assert aim == pytest.approx(float(naive.weighted_error(mean.tolist(), queues, rates, level)), rel=1e-12)


def test_a_lone_server_leaves_nothing_to_miss():
    assert guessing.aim_and_noise([5], [2.0], [3, 4], [1, 900]) == pytest.approx((0, 0), abs=1e-12)


def test_how_far_guesses_are_off():
    workload = lb.Workload(CLUSTER, 0.9, 30, seed=4)
    found = guessing.rounds(workload, ["own", "oracle", 20.0], before=10, replications=2)
    for r in range(2):
        arrivals, _ = workload.open(r).take(30)
        by_hand = {"own": [], 20.0: []}
        for batches in arrivals[10:].tolist():
            for way, rows in by_hand.items():
                wrong = [((3 * b if way == "own" else 20) / sum(batches) - 1, b) for b in batches if b]
                off = math.sqrt(sum(w * w for w, _ in wrong) / len(wrong))
                rows.append((off, sum(w * b for w, b in wrong) / sum(batches)))
        for way, rows in by_hand.items():
            told = [found[way][column][r] for column in ("off", "by job")]
            assert told == pytest.approx(np.mean(rows, axis=0).tolist(), rel=1e-12)
    assert not found["oracle"]["off"].any() and not found["oracle"]["by job"].any()


@LONG
def test_parts_add_up_to_the_errors_of_a_run():
    """Of the same rounds: what was drawn there differs from what is expected by chance only."""
    workload = lb.Workload(lb.Cluster.random(10, 5, 10, 2), 0.9, 1_500, seed=1)
    rows = [guessing.rounds(workload, ["own"], 100, 1)["own"]]
    drawn = herding.errors(workload, "SCD")[100:]
    error = drawn.std() / math.sqrt(drawn.size)
    assert abs(rows[0]["aim"][0] + rows[0]["noise"][0] - np.nanmean(drawn)) < 4 * error


@LONG
def test_guesses_averaged_over_jobs_are_too_high_by_a_law():
    """m - 1 too high of a total of a: multinomial shares of Poisson arrivals."""
    workload = lb.Workload(lb.Cluster([5.0] * 8, 40), 0.9, 250, seed=1)
    found = lb.intervals.estimate(guessing.rounds(workload, ["own"], 0, 8)["own"]["by job"])
    inverse = np.mean([1 / a for a in workload.open().take(250)[0].sum(axis=1)])
    assert abs(found.value - 39 * inverse) < 2 * (found.high - found.low)


def made(means):
    """A Result whose replications have these means, to 1/1000."""
    runs = []
    for mean in means:
        late = round(1000 * (mean - 1))
        none = np.zeros(1, dtype=np.int64)
        runs.append(Run(np.array([0, 1000 - late, late]), 1000, np.zeros(10), none, none, none))
    workload = lb.Workload(CLUSTER, 0.5, 10)
    return Result("made", workload, 0, tuple(runs), tuple(range(len(runs))))


def test_tolerance_of_a_curve():
    guesses, means = [0.25, 0.5, 1, 2, 4], [1.4, 1.2, 1.0, 1.1, 1.3]
    low, high = guessing.tolerance([made([m] * 4) for m in means], guesses, 0.1)
    assert low == pytest.approx((math.sqrt(0.5),) * 3) and high == pytest.approx((2,) * 3)
    low, high = guessing.tolerance([made([m] * 4) for m in means], guesses, 0.5)
    assert (low.value, high.value) == pytest.approx((0.25, 4))  # where the curve ends first
    shaken = [made([m + by * (m - 1) for by in (-0.1, 0, 0.1)]) for m in means]
    low, high = guessing.tolerance(shaken, guesses, 0.15)
    assert (low.value, high.value) == pytest.approx((2**-0.75, 2**1.25))
    assert low.low < low.value < low.high and high.low < high.value < high.high
    # without the first, the second, the third: the curve is 1.05, 1 and 0.95 times as steep
    left_out = [-0.75 / steep * math.log(2) for steep in (1.05, 1.0, 0.95)]
    told = lb.intervals.estimate(3 * -0.75 * math.log(2) - 2 * np.array(left_out))
    assert math.log(low.high / low.value) == pytest.approx((told.high - told.low) / 2)
    assert math.isnan(guessing.tolerance([made([m]) for m in means], guesses, 0.1)[0].low)


def test_what_cannot_be_is_named():
    with pytest.raises(ValueError, match=r"batches has shape \(2,\), guesses \(3,\): give one of each"):
        guessing.aim_and_noise([1], [1], [1, 2], [3, 3, 3])
    with pytest.raises(ValueError, match="give one Result for each of the 2 guesses"):
        guessing.tolerance([made([1.5])], [1, 2], 0.1)
    with pytest.raises(ValueError, match="must rise from above 0"):
        guessing.tolerance([made([1.5])] * 2, [2, 1], 0.1)


def test_areas_are_stacked_and_named():
    figure = areas.shares([1, 10], [[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]], ["a", "b", "c"], "guess")
    *parts, names = figure.data
    assert [list(trace.y) for trace in parts] == [[0.5, 0.2], [0.25, 0.2], [0.25, 0.6]]
    assert {trace.stackgroup for trace in parts} == {"all"} and list(names.text) == ["a ", "b ", "c "]
    assert np.allclose(names.y, [0.1, 0.3, 0.7]) and figure.layout.xaxis.type == "log"


def test_the_moving_policy_has_one_name():
    panel = lb.EstimatePanel(servers=2, fastest=2.0, load=0.05, dispatchers=1, guess=3.0)
    arrays = panel.arrays(panel.running)
    assert [p.name for p in panel.running.policies] == ["SCD", "SCD(3)", "SED", "WR"]
    assert list(arrays["results"]) == list(estimate.SHOWN) == arrays["policies"]
    assert arrays["results"][estimate.GUESS].policy == "SCD(3)"
    assert arrays["queues"][estimate.GUESS][1] == sorted(arrays["queues"][estimate.GUESS][1])
    assert panel.figure.layout.xaxis.ticktext == estimate.SHOWN
    mean = 0.05 * panel.running.workload.cluster.capacity
    assert panel.figure.layout.title.text.startswith(f"guess 3, {3 / mean:.3g} times the mean total")


@LONG
def test_the_panel_goes_from_herding_to_weighted_random():
    panel = lb.EstimatePanel(servers=20, dispatchers=4, guess=1.0)
    traces, seen = [id(trace) for trace in panel.figure.data], {}
    for guess in (1.0, 1e6):
        panel.guess.value = guess
        panel.settle()
        seen[guess] = dict(zip(estimate.SHOWN, panel.figure.data[0].y, strict=True))
    assert [id(trace) for trace in panel.figure.data] == traces
    assert seen[1.0][estimate.GUESS] > 2 * seen[1.0]["SED"]
    assert len({tuple(means[n] for n in ("SCD", "SED", "WR")) for means in seen.values()}) == 1
    results = panel.compute(**panel.settings())["results"]
    assert seen[1e6] == {name: result.mean for name, result in results.items()}
    more = lb.difference(results[estimate.GUESS], results["WR"])
    assert abs(more.value) < more.high - more.low
    assert "times that of SCD's own guesses (difference" in panel.text and "1,000,000" in panel.title(results)


@LONG
def test_copied_lines_give_the_very_numbers():
    panel = lb.EstimatePanel(servers=10, dispatchers=2, guess=20.0)
    code = json.loads(html.unescape(panel._copy.value.split("data-code='")[1].split("'")[0]))
    *before, last = code.splitlines()
    names = {}
    exec("\n".join(before), names)
    assert [r.mean for r in eval(last, names).values()] == list(panel.figure.data[0].y)


@LONG
def test_growing_queues_are_told():
    panel = lb.EstimatePanel(servers=10, dispatchers=2, guess=20.0, load=1.05)
    panel.settle()
    assert panel.text.startswith("With this guess the queues grow, +")


def test_the_slider_goes_from_1_to_a_million_in_small_steps():
    steps = np.array(estimate.GUESSES)
    assert (steps[0], steps[-1]) == (1, 1e6) and (steps[1:] / steps[:-1]).max() <= 1.7 and steps.size < 50
