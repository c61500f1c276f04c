"""What dispatchers see: old queues, against a plain replay and against what the rules say of special cases."""

import numba
import numpy as np
import pytest
from twin import Twin, chooser

import lbcore as lb
from lbcore.simulator import Simulation

DISTINCT = [1.5, 2.0, 3.25, 0.0, 5.0, 0.3]  # no ties in SED, so that nothing is drawn in deciding
RECORDED = []


class Recorder(lb.Policy):
    """Sends all to server 0, and writes down what it is shown."""

    name = "recorder"

    @staticmethod
    def decide_one(d, jobs, view, rates, options, memory, rng, sent):
        RECORDED.append(view.copy())
        sent[0] += jobs


class LateTwin(Twin):
    """The plain twin, whose dispatchers are shown the queue lengths of `age` rounds ago."""

    def __init__(self, age, *given):
        super().__init__(*given)
        self.age, self.past = age, []

    def dispatch(self, batches):
        self.past.append(super().lengths())
        return super().dispatch(batches)

    def lengths(self):
        """As the rules see them."""
        shown = len(self.past) - 1 - self.age
        return self.past[shown] if shown >= 0 else [0] * len(self.rates)


@pytest.mark.parametrize("age", [0, 1, 2, 5])
@pytest.mark.parametrize("policy", ["SED", "SED+1", "hLSQ(5)"])
def test_old_queues_as_the_twin(policy, age):
    workload = lb.Workload(lb.Cluster(DISTINCT, 3), 0.9, 300, seed=11)
    plain = LateTwin(
        age, "SED" if policy == "hLSQ(5)" else policy, DISTINCT, 3, chooser(np.random.default_rng(1).random)
    )
    simulation, source, times = Simulation(workload, policy, information=lb.stale(age)), workload.open(), []
    while source.rest:
        arrivals, capacities = source.take(7)
        simulation.advance(arrivals, capacities)
        for jobs, able in zip(arrivals.tolist(), capacities.tolist(), strict=True):
            times += plain.round(jobs, able)
        assert simulation.queues.lengths.tolist() == [len(queue) for queue in plain.queues]
    assert simulation.run().histogram.tolist() == np.bincount(times).tolist()


def test_what_is_shown_is_the_queues_of_k_rounds_ago():
    workload, shown = lb.Workload(lb.Cluster([2, 3], 1), 0.9, 40, seed=3), {}
    for age in (0, 4):
        RECORDED.clear()
        lb.simulate(workload, Recorder(), information=lb.stale(age))
        shown[age] = np.array(RECORDED)
    assert not shown[4][:4].any() and shown[0].any()
    assert np.array_equal(shown[4][4:], shown[0][:-4])


def test_no_age_is_complete_information():
    assert lb.stale(0) == lb.complete() != lb.stale(1)


@pytest.mark.parametrize("name", ["WR", "JIQ", "hJIQ"])
def test_who_does_not_look_does_not_care(name):
    workload = lb.Workload(lb.Cluster(DISTINCT, 3), 0.8, 200, seed=2)
    old = lb.simulate(workload, name, information=lb.stale(9))
    assert np.array_equal(lb.simulate(workload, name).histogram, old.histogram)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="long runs")
@pytest.mark.parametrize("name", ["JSQ", "SED", "TWF", "SCD"])
def test_all_at_once_is_one_by_one(name):
    """Old queues reach `decide_all` as they reach `decide_one`: the same mean, by replications of both."""
    both = type("Slow", (type(lb.POLICIES[name]),), {"decide_all": None, "name": f"{name} one by one"})()
    workload = lb.Workload(lb.Cluster([1, 2, 5, 8], 3), 0.8, 3_000, seed=4)
    quick, slow = lb.compare(
        workload, [name, both], replications=16, information=lb.stale(3), warmup=200
    ).values()
    apart = lb.difference(quick, slow, confidence=1 - 1e-6)
    assert apart.low <= 0 <= apart.high  # SED with these rates draws nothing: no difference at all
    assert not np.array_equal(
        quick.histogram, lb.simulate(workload, name, replications=16, warmup=200).histogram
    )


def test_results_tell_what_was_seen():
    workload = lb.Workload(lb.Cluster([1, 2], 2), 0.5, 60)
    fresh, old = (
        lb.compare(workload, ["SED"], replications=2, information=i) for i in (lb.complete(), lb.stale(1))
    )
    assert "; queues seen 1 round late" in str(old) and "late" not in str(fresh)
    assert repr(old["SED"]).endswith("queues seen 1 round late)")
    apart = lb.difference(old["SED"], fresh["SED"]).value  # of the same workload
    assert apart == pytest.approx(old["SED"].mean - fresh["SED"].mean, rel=1e-9)
    with pytest.raises(ValueError, match="differ in policy, workload, warm-up, information"):
        _ = old["SED"] + fresh["SED"]


@pytest.mark.parametrize("k", [-1, 1.5, True, "2", 100_001])
def test_a_wrong_age_is_named(k):
    with pytest.raises(ValueError, match="rounds of stale: must be a whole number from 0 to 100000"):
        lb.stale(k)


def test_wrong_information_is_named():
    with pytest.raises(
        ValueError,
        match=r"information = 3: must be lbcore.complete\(\), stale\(k\), sampled\(d\), answered\(d\) or",
    ):
        lb.simulate(lb.Workload(lb.Cluster([1], 1), 0.5, 60), "SED", information=3)
