"""Do arrivals and capacities follow their laws, in blocks of any size, and are bad ones refused?"""

import numpy as np
import pytest
from scipy import stats

import lbcore as lb

CLUSTER = lb.Cluster([0.5, 0.0, 3.0, 40.0], 3)


def drawn(workload, *sizes, replication=0):
    """All rounds, taken in blocks of the given sizes in turn."""
    source, blocks = workload.open(replication), []
    while source.rest:
        blocks.append(source.take(sizes[len(blocks) % len(sizes)]))
    return [np.concatenate(part) for part in zip(*blocks, strict=True)]


def test_laws():
    """Poisson arrivals in the shares given, geometric capacities from 0 with the rates as means."""
    workload = lb.Workload(CLUSTER, 0.9, 40_000, seed=3, shares=[1, 2, 5])
    arrivals, capacities = drawn(workload, 10_000)
    assert workload.arrival_rates == pytest.approx(0.9 * 43.5 * np.array([1, 2, 5]) / 8)
    for column, law in [
        *((arrivals[:, d], stats.poisson(mean)) for d, mean in enumerate(workload.arrival_rates)),
        *((capacities[:, s], stats.geom(1 / (1 + CLUSTER.rates[s]), loc=-1)) for s in (0, 2, 3)),
    ]:
        cells = np.unique(law.ppf(np.linspace(0, 1, 12)[1:-1]))
        seen = np.histogram(column, [-1, *(cells + 0.5), np.inf])[0]
        expected = np.diff([0, *law.cdf(cells), 1]) * column.size
        assert stats.chisquare(seen, expected).pvalue > 1e-6
        assert stats.chisquare(seen, np.roll(expected, 1)).pvalue < 1e-6
    assert not capacities[:, 1].any()


def test_blocks_of_any_size_hold_the_same():
    workload = lb.Workload(CLUSTER, 0.7, 100, seed=8)
    whole = drawn(workload, 100)
    for sizes in ((1,), (7, 1, 30)):
        assert all(np.array_equal(a, b) for a, b in zip(whole, drawn(workload, *sizes), strict=True))


def test_streams_are_all_different():
    cluster = lb.Cluster([50.0] * 20, 20)
    seen = set()
    for seed in (0, 1):
        for replication in (0, 1, 2):
            arrivals, capacities = drawn(lb.Workload(cluster, 0.9, 5, seed), 5, replication=replication)
            seen |= {arrivals.tobytes(), capacities.tobytes()}
    assert len(seen) == 12
    states = {
        lb.draws.generator(lb.Workload(cluster, 0.9, 5).seeds(replication, 2, *name.encode())).tobytes()
        for replication in range(10)
        for name in lb.POLICIES
    }
    assert len(states) == 10 * len(lb.POLICIES)


def test_traces_are_kept_as_they_are():
    arrivals, capacities = [[1, 2, 0], [0, 0, 4]], [[1, 0, 2, 3], [0, 0, 0, 9]]
    trace = lb.Workload.from_arrays(CLUSTER, arrivals, capacities)
    got = drawn(trace, 1)
    assert got[0].tolist() == arrivals and got[1].tolist() == capacities
    assert trace.load == pytest.approx(7 / 15) and trace.arrival_rates.tolist() == [0.5, 1, 2]
    assert "trace" in repr(trace) and "2 rounds" in repr(trace)
    assert trace == lb.Workload.from_arrays(CLUSTER, arrivals, capacities) and hash(trace) == hash(trace)
    assert trace != lb.Workload.from_arrays(CLUSTER, arrivals[::-1], capacities)
    assert (
        lb.Workload(CLUSTER, 0.5, 9)
        == lb.Workload(CLUSTER, 0.5, 9)
        != lb.Workload(CLUSTER, 0.5, 9, shares=[1, 2, 3])
    )
    huge = lb.Workload(CLUSTER, 0.5, 9, shares=[1e308, 1e308, 0])
    assert huge.arrival_rates.tolist() == [43.5 / 4, 43.5 / 4, 0]
    half = lb.Workload.from_arrays(CLUSTER, arrivals, seed=4)
    assert np.array_equal(drawn(half, 2)[1], drawn(lb.Workload(CLUSTER, 0.1, 2, seed=4), 2)[1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lb.Workload([1, 2], 0.5, 10), r"cluster = \[1, 2\]: must be a Cluster"),
        (lambda: lb.Workload(CLUSTER, -0.1, 10), r"load = -0.1: must be finite and at least 0"),
        (lambda: lb.Workload(CLUSTER, "0.9", 10), r"load = '0.9': must be a number, such as 0.9"),
        (lambda: lb.Workload.from_arrays([1, 2], [[1]]), r"cluster = \[1, 2\]: must be a Cluster"),
        (
            lambda: lb.Workload.from_arrays(CLUSTER, [[2**30] * 3]),
            r"arrivals\[0\] sum to 3221225472: at most",
        ),
        (lambda: lb.Workload(CLUSTER, 0.5, 0), r"rounds = 0: must be a whole number, at least 1"),
        (lambda: lb.Workload(CLUSTER, 0.5, 1e5), r"rounds = 100000.0: must be a whole number"),
        (lambda: lb.Workload(CLUSTER, 0.5, 2**31), r"rounds = 2147483648: must be at most"),
        (lambda: lb.Workload(CLUSTER, 0.5, 10, seed=-1), r"seed = -1: must be a whole number, at least 0"),
        (lambda: lb.Workload(lb.Cluster([1, 2e7], 1), 0.5, 10), r"rates\[1\] = 20000000: at most 1e7"),
        (lambda: lb.Workload(lb.Cluster([1e7] * 200, 1), 0.9, 10), r"load = 0.9: more than 1e9 jobs"),
        (
            lambda: lb.Workload(CLUSTER, 0.5, 10, shares=[1, 2]),
            r"shares has shape \(2,\): must be one number",
        ),
        (lambda: lb.Workload(CLUSTER, 0.5, 10, shares=[1, -2, 1]), r"shares\[1\] = -2: must be finite"),
        (lambda: lb.Workload(CLUSTER, 0.5, 10, shares=[0, 0, 0]), r"shares are all 0"),
        (
            lambda: lb.Workload.from_arrays(CLUSTER, [[1, 2]]),
            r"arrivals has shape \(1, 2\): must be \(rounds, 3\)",
        ),
        (
            lambda: lb.Workload.from_arrays(CLUSTER, [[1, 2, 3], [1, -1, 0]]),
            r"arrivals\[1, 1\] = -1.0: every count",
        ),
        (lambda: lb.Workload.from_arrays(CLUSTER, [[1, 2.5, 3]]), r"arrivals\[0, 1\] = 2.5: every count"),
        (
            lambda: lb.Workload.from_arrays(CLUSTER, [[1, 2, 3]], [[1, 2, 3, np.nan]]),
            r"capacities\[0, 3\] = nan",
        ),
        (
            lambda: lb.Workload.from_arrays(CLUSTER, [[1, 2, 3]], [[1, 1, 1, 2**31]]),
            r"capacities\[0, 3\] = 2147483648",
        ),
        (
            lambda: lb.Workload.from_arrays(CLUSTER, [[1, 2, 3]], np.ones((2, 4))),
            r"capacities has 2 rounds, arrivals 1",
        ),
        (lambda: lb.Workload.from_arrays(CLUSTER, "abc"), r"arrivals = 'abc': must be real numbers"),
    ],
)
def test_what_is_wrong_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
