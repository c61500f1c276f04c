"""Are means, percentiles, intervals and growth computed from the counts as they say?"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import lbcore as lb
from lbcore.intervals import Estimate, estimate, nearest_rank
from lbcore.results import Result, Run

CLUSTER = lb.Cluster([1, 2], 2)
WORKLOAD = lb.Workload(CLUSTER, 0.5, 400)


def run(histogram, totals=(0,) * 400, arrived=None):
    histogram = np.array(histogram)
    return Run(
        histogram, histogram.sum() if arrived is None else arrived, np.array(totals), *np.zeros((3, 2))
    )


def result(*runs, numbers=None, policy="SCD"):
    return Result(policy, WORKLOAD, 0, runs, tuple(range(len(runs))) if numbers is None else numbers)


@given(
    st.lists(st.integers(0, 30), min_size=2, max_size=30).filter(any),
    st.sampled_from([1, 25, 50, 99, 99.9, 100]),
)
def test_nearest_rank_against_sorted_jobs(histogram, percent):
    jobs = np.repeat(np.arange(len(histogram)), histogram)
    assert nearest_rank(np.array(histogram), percent) == np.percentile(jobs, percent, method="inverted_cdf")


def test_nearest_rank_does_not_interpolate_nor_round():
    assert nearest_rank(np.bincount([1] * 99 + [10**6]), 99) == 1
    assert nearest_rank(np.array([0, 999, 1]), 99.9) == 1  # .999 * 1000 is above 999 in floating point
    assert math.isnan(nearest_rank(np.zeros(5), 50))
    with pytest.raises(ValueError, match=r"percent = 0: must be a number above 0 and at most 100"):
        nearest_rank(np.ones(3), 0)


def test_interval_against_scipy():
    samples = [1.2, 1.9, 1.4, 1.1]
    told = estimate(samples, 0.9)
    low, high = stats.t.interval(0.9, 3, np.mean(samples), stats.sem(samples))
    assert told == pytest.approx((np.mean(samples), low, high))
    assert math.isnan(estimate([3.0]).low) and str(estimate([3.0])) == "3"
    assert str(Estimate(1.61532, 1.61432, 1.61632)) == "1.6153 ± 0.0010" and str(Estimate(5, 5, 5)) == "5 ± 0"
    with pytest.raises(ValueError, match="confidence = 95: must be a number between 0 and 1"):
        estimate(samples, 95)


def test_sums_of_counts():
    both = result(run([0, 3, 1], arrived=6), run([0, 1, 1, 2]))
    assert both.histogram.tolist() == [0, 4, 2, 2] and both.completed == 8 and both.unfinished == 2
    assert both.unfinished_share == 0.2 and both.percentile(50) == 1 and both.percentile(100) == 3
    t, tail = both.ccdf()
    assert t.tolist() == [0, 1, 2, 3] and tail.tolist() == [1, 0.5, 0.25, 0]
    assert both.mean == pytest.approx((1.25 + 2.25) / 2)
    assert both.samples(50).tolist() == [1, 2] and both.samples("unfinished share").tolist() == pytest.approx(
        [1 / 3, 0]
    )
    with pytest.raises(ValueError, match="of = 'median'"):
        both.samples("median")


def test_results_add_up():
    together = result(run([0, 3]), numbers=(0,)) + result(run([0, 1]), numbers=(1,))
    assert together.replications == (0, 1) and together.completed == 4
    with pytest.raises(ValueError, match="both hold replication 0"):
        result(run([0, 3])) + result(run([0, 3]))
    with pytest.raises(ValueError, match="differ in policy, workload, warm-up, information"):
        result(run([0, 3])) + result(run([0, 3]), policy="SED", numbers=(1,))
    split = [lb.simulate(WORKLOAD, "SED", replications=k) for k in (2, 3)]
    rest = Result("SED", WORKLOAD, 0, split[1].runs[2:], (2,))
    assert np.array_equal((split[0] + rest).histogram, split[1].histogram)


def test_paired_interval():
    a, b = (
        result(run([0, 4]), run([0, 0, 4]), run([0, 1, 3])),
        result(run([0, 3, 1]), run([0, 0, 3, 1]), run([0, 0, 4])),
    )
    assert lb.difference(b, a) == pytest.approx((0.25, 0.25, 0.25))
    with pytest.raises(ValueError, match="met different workloads, warm-ups or replications"):
        lb.difference(a, result(run([0, 1])))


def test_growth_of_a_walk():
    """A queue that gains .5 a round is told; one that only wanders about is not, and one too short says nothing."""
    rng = np.random.default_rng(1)
    drift = np.cumsum(rng.normal(0.5, 1, 400))
    steady = rng.poisson(30, 400)
    assert result(run([0, 1], drift)).growing and result(run([0, 1], drift)).growth.value == pytest.approx(
        0.5, abs=0.3
    )
    assert not result(run([0, 1], steady)).growing
    assert math.isnan(result(run([0, 1], [3])).growth.value) and not result(run([0, 1], [3])).growing


def test_growth_is_rarely_told_where_there_is_none():
    """Steady autoregressive walks, 300 of them: at .1 % two-sided, more than 4 false alarms have odds below 1e-4."""
    rng, alarms = np.random.default_rng(2), 0
    for _ in range(300):
        walk = np.zeros(1000)
        for t, noise in enumerate(rng.normal(size=1000)):
            walk[t] = 0.97 * walk[t - 1] + noise
        alarms += result(run([0, 1], walk[-400:])).growing
    assert alarms <= 4


def test_tables_show_growth_in_place_of_a_mean():
    grown = run([0, 4, 1], np.arange(400) * 3.0)
    table = lb.comparisons.Comparison(
        SCD=result(run([0, 3, 1]), run([0, 4])), SED=result(grown, grown, policy="SED")
    )
    shown = table.table(percents=(99.9,))
    assert (
        shown.loc["SED", "mean response"] == "growing, +3 jobs a round" and shown.loc["SED", "p99.9"] == "–"
    )
    assert shown.loc["SCD", "mean response"] == "1.1 ± 1.6" and list(shown.columns)[1] == "p99.9"
    assert "growing, +3" in str(table) and "95 % intervals" in repr(table) and "<table" in table._repr_html_()
    assert "growing, +3" in repr(table["SED"]) and "mean response 1.1" in repr(table["SCD"])
    assert "no policies" in str(lb.comparisons.Comparison())


def test_a_trace_counts_its_own_capacities():
    trace = lb.Workload.from_arrays(lb.Cluster([1, 1], 1), [[20]] * 50, [[15, 15]] * 50)
    result = lb.simulate(trace, "JSQ")
    assert trace.load == pytest.approx(2 / 3) and result.utilisation == pytest.approx([2 / 3, 2 / 3])


def test_replications_without_a_job_are_left_out():
    rare = lb.simulate(lb.Workload(CLUSTER, 0.005, 60), "SCD", replications=10)
    assert math.isnan(rare.samples().sum()) and rare.mean >= 1
    warmed = lb.simulate(rare.workload, "SCD", replications=10, warmup=3)
    with pytest.raises(ValueError, match="warm-ups or replications"):
        lb.difference(rare, warmed)
    with pytest.raises(ValueError, match="second = 4: must be a Result"):
        lb.difference(rare, 4)
    with pytest.raises(ValueError, match="percent = '99': must be a number"):
        rare.percentile("99")


def test_short_runs_say_nothing_of_growth():
    """Two or three increments may be alike by chance."""
    short = [lb.simulate(lb.Workload(CLUSTER, 0.7, 6, seed=seed), "SCD") for seed in range(50)]
    assert not any(result.growing for result in short)


def test_nothing_to_count():
    empty = lb.simulate(lb.Workload(CLUSTER, 0.0, 50), "SCD", replications=2)
    assert math.isnan(empty.mean) and math.isnan(empty.percentile(50)) and empty.completed == 0
    assert math.isnan(empty.unfinished_share) and not empty.growing
