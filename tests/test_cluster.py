import numpy as np
import pytest

import lbcore as lb


def test_consequences_follow_from_the_givens():
    cluster = lb.Cluster([1.5, 0, 2.5], 4)
    assert (cluster.servers, cluster.capacity) == (3, 4.0)
    assert cluster.arrival_rates(0.5).tolist() == [0.5] * 4
    assert repr(cluster) == "Cluster(3 servers with rates 0 to 2.5, capacity 4 jobs a round, 4 dispatchers)"


def test_it_is_a_value():
    given = np.array([1.0, 2.0])
    cluster = lb.Cluster(given, 2)
    given[0] = 9
    assert cluster.rates[0] == 1 and cluster == lb.Cluster((1, 2), 2) != lb.Cluster((1, 2), 3)
    assert hash(cluster) == hash(lb.Cluster([1, 2], 2)) and cluster != "cluster"
    with pytest.raises(ValueError):
        cluster.rates[0] = 5


def test_random_rates_are_seeded_and_spread_over_the_range():
    rates = lb.Cluster.random(10_000, 5, 10, seed=1).rates
    assert rates.min() >= 1 and rates.max() <= 10
    standard_error = 9 / np.sqrt(12 * rates.size)
    assert abs(rates.mean() - 5.5) < 4 * standard_error
    assert lb.Cluster.random(7, 5, 10, seed=1) == lb.Cluster.random(7, 5, 10, seed=1)
    assert lb.Cluster.random(7, 5, 10, seed=1) != lb.Cluster.random(7, 5, 10, seed=2)


@pytest.mark.parametrize(
    "make, told",
    [
        (lambda: lb.Cluster([1, 2, -1], 1), "rates[2] = -1: every rate must be finite and at least 0"),
        (lambda: lb.Cluster([1, np.nan], 1), "rates[1] = nan"),
        (lambda: lb.Cluster([0, 0], 1), "at least one rate must be above 0"),
        (lambda: lb.Cluster([], 1), "rates has shape (0,)"),
        (lambda: lb.Cluster([[1]], 1), "rates has shape (1, 1): must be one row"),
        (lambda: lb.Cluster("fast", 1), "rates = 'fast': must be real numbers"),
        (lambda: lb.Cluster([1], 0), "dispatchers = 0: must be a whole number, at least 1"),
        (lambda: lb.Cluster([1], 2.5), "dispatchers = 2.5: must be a whole number"),
        (lambda: lb.Cluster([1], True), "dispatchers = True"),
        (lambda: lb.Cluster.random(3, 1, 0.5, seed=0), "fastest = 0.5: must be at least 1"),
        (lambda: lb.Cluster.random(0, 1, 5, seed=0), "servers = 0"),
        (lambda: lb.Cluster([1], 1).arrival_rates(-0.1), "load = -0.1: must be finite and at least 0"),
    ],
)
def test_bad_input_is_named(make, told):
    with pytest.raises(ValueError) as error:
        make()
    assert told in str(error.value)


def test_two_speeds():
    assert lb.Cluster.two_speeds(5, 2, fast=7, share=0.4).rates.tolist() == [1, 1, 1, 7, 7]
    assert lb.Cluster.two_speeds(4, 2, fast=7, share=0).rates.tolist() == [1] * 4
    assert lb.Cluster.two_speeds(4, 2, fast=7, share=1).rates.tolist() == [7] * 4
    assert lb.Cluster.two_speeds(4, 2, fast=7).rates.sum() == 16


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fast": 0.5}, r"fast = 0.5: must be at least 1, the rate of the slow servers"),
        ({"fast": 2, "share": 1.5}, r"share = 1.5: must be from 0 \(none is fast\) to 1 \(all are\)"),
        ({"fast": 2, "servers": 0}, r"servers = 0: must be a whole number, at least 1"),
    ],
)
def test_wrong_speeds_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        lb.Cluster.two_speeds(**{"servers": 4, "dispatchers": 2} | given)
