"""Samples and gossip: message by message against a plain network, and what must hold of both."""

import itertools
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from knowing import Network
from twin import Twin, chooser

import lbcore as lb
from lbcore.simulator import Simulation
from lbcore.workload import LOOKS

DISTINCT = [1.5, 2.0, 3.25, 0.0, 5.0, 0.3]  # no ties in SED, so that nothing is drawn in deciding
CLUSTER = lb.Cluster(DISTINCT, 3)


class KnowingTwin(Twin):
    """The plain twin, each of whose dispatchers decides on what it knows."""

    def __init__(self, network, *given, **more):
        super().__init__(*given, **more)
        self.network, self.ages = network, []

    def dispatch(self, batches):
        now, true = self.now - 1, super().lengths()
        self.network.ask(now, true)
        sent = []
        for d, jobs in enumerate(batches):
            self.shown = self.network.view(d)
            alone = [0] * len(batches)
            alone[d] = jobs
            sent.append(super().dispatch(alone)[d])
            self.ages += self.network.ages(d, now) if jobs else []
        self.totals = [sum(column) for column in zip(*sent, strict=True)]
        self.sent = sent
        return sent

    def round(self, batches, capacities):
        times = super().round(batches, capacities)
        self.network.send(self.now - 2, self.sent, super().lengths())
        return times

    def lengths(self):
        """As the rules see them."""
        return self.shown


@pytest.mark.parametrize("splittable", [True, False])
@pytest.mark.parametrize("policy", ["SED", "SED+1"])
@pytest.mark.parametrize("d", [0, 1, 2, 9])
@pytest.mark.parametrize("kind", ["sampled", "answered", "gossip"])
def test_message_by_message(kind, d, policy, splittable):
    workload, information = lb.Workload(CLUSTER, 0.9, 120, seed=11), getattr(lb, kind)(d)
    draws = np.random.Generator(np.random.SFC64(workload.seeds(0, LOOKS)))
    network = Network([0, 1, 2, 4, 5], 6, 3, d, kind, draws.random)
    choose = chooser(np.random.default_rng(1).random)
    plain = KnowingTwin(network, policy, DISTINCT, 3, choose, splittable=splittable)
    simulation, source, times = (
        Simulation(workload, policy, information=information, splittable=splittable),
        workload.open(),
        [],
    )
    know = simulation.knowledge
    while source.rest:
        arrivals, capacities = source.take(1 if source.now < 60 else 9)
        simulation.advance(arrivals, capacities)
        for jobs, able in zip(arrivals.tolist(), capacities.tolist(), strict=True):
            times += plain.round(jobs, able)
        assert simulation.queues.lengths.tolist() == [len(queue) for queue in plain.queues]
        everyone = network.of_dispatchers + (network.of_servers if kind == "gossip" else [])
        assert [
            list(zip(*both, strict=True)) for both in zip(know.stamps, know.known, strict=True)
        ] == everyone
        assert [(know.known[d] + know.pending[d]).tolist() for d in range(3)] == [
            network.view(d) for d in range(3)
        ]
        assert know.counts[0] == network.messages and know.counts[1] == sum(plain.ages)
    assert simulation.run().histogram.tolist() == np.bincount(times).tolist()
    result = lb.simulate(workload, policy, information=information, splittable=splittable)
    assert result.messages == network.messages / 120
    assert result.mean_age == pytest.approx(np.mean(plain.ages), rel=1e-12)


@pytest.mark.parametrize("kind", ["sampled", "answered", "gossip"])
@pytest.mark.parametrize("name", lb.POLICIES)
def test_who_asks_all_knows_all(name, kind):
    """Bit for bit as with complete information, where dispatchers decide one by one in both."""
    slow = type("Slow", (type(lb.POLICIES[name]),), {"decide_all": None, "name": name})()
    workload = lb.Workload(CLUSTER, 0.8, 150, seed=2)
    fresh = lb.simulate(workload, slow)
    same = lb.simulate(workload, slow, information=getattr(lb, kind)(5))
    assert same.histogram.tolist() == fresh.histogram.tolist() and same.mean_age == 0
    if name not in ("WR", "JIQ", "hJIQ"):  # who never looks
        few = lb.simulate(workload, slow, information=getattr(lb, kind)(1))
        assert few.histogram.tolist() != fresh.histogram.tolist()


@pytest.mark.parametrize(("policy", "other"), [("WR", lb.answered), ("SCD", lb.sampled), ("JSQ", lb.sampled)])
def test_gossip_is_never_older(policy, other):
    """On the same samples, whatever jobs bring; and on the same jobs: WR sends them wherever it drew."""
    workload = lb.Workload(lb.Cluster([1.0, 2, 3, 4, 5, 0, 6, 7], 4), 0.4, 200, seed=3)
    both = [Simulation(workload, policy, information=kind(1)) for kind in (other, lb.gossip)]
    source, newer = workload.open(), 0
    while source.rest:
        block = source.take(1)
        for simulation in both:
            simulation.advance(*block)
        alone, told = (simulation.knowledge.stamps[:4] for simulation in both)
        assert (told >= alone).all()
        newer += (told > alone).any()
    assert newer > 150
    if policy == "WR":
        assert both[0].queues.lengths.tolist() == both[1].queues.lengths.tolist()
        assert both[0].knowledge.counts[0] == both[1].knowledge.counts[0]


def test_same_bits_in_blocks_of_any_size():
    workload = lb.Workload(CLUSTER, 0.9, 90, seed=5)
    for kind in (lb.sampled, lb.answered, lb.gossip):
        found = []
        for size in (1, 7, 90):
            simulation, source = Simulation(workload, "SCD", information=kind(2)), workload.open()
            while source.rest:
                simulation.advance(*source.take(size))
            run = simulation.run()
            found.append((run.histogram.tolist(), run.counts.tolist()))
        assert found[0] == found[1] == found[2]


WAYS = """
import numpy as np, lbcore as lb
workload = lb.Workload(lb.Cluster(np.linspace(0.5, 9, 23), 4), 0.9, 60, seed=5)
names = ["SCD(ewma)", "SCD(oracle)", "TWF(own+mean)", "SCD(mean, systematic)", "hJIQ", "JSQ(2)", "hLSQ"]
ways = [{"information": lb.gossip(2)}, {"splittable": False}, {"tasks": True, "information": lb.sampled(3)}, {}]
for way in ways:
    for result in lb.compare(workload, names, **way).values():
        told = result.tasks.histogram.tolist() if "splittable" in way or "tasks" in way else []
        print(result.histogram.tolist(), told, result.messages, result.mean_age)
"""


def test_same_bits_without_compiling():
    compiled, plain = (
        subprocess.run(
            [sys.executable, "-c", WAYS],
            env=os.environ | env,
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        ).stdout
        for env in ({"NUMBA_DISABLE_JIT": "0"}, {"NUMBA_DISABLE_JIT": "1"})
    )
    assert compiled == plain and compiled.count("\n") == 28


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="long runs")
def test_more_information_shortens_the_wait():
    rates = np.random.default_rng(5).uniform(1, 10, 40)
    workload = lb.Workload(lb.Cluster(rates, 8), 0.9, 2_000, seed=1)
    known = [lb.sampled(4), lb.answered(4), lb.gossip(4), lb.complete()]
    results = [
        lb.simulate(workload, "SCD", replications=6, warmup=300, information=information)
        for information in known
    ]
    for less, more in itertools.pairwise(results):
        assert lb.difference(less, more, confidence=0.999).low > 0
        assert less.mean_age > more.mean_age


def test_results_tell_what_was_known():
    workload = lb.Workload(lb.Cluster([1, 2], 2), 0.5, 60)
    some = lb.compare(workload, ["SED"], replications=2, information=lb.gossip(2))
    assert "; 2 servers sampled a round, with gossip" in str(some)
    assert repr(lb.simulate(workload, "SED", information=lb.sampled(1))).endswith(
        "; 1 server sampled a round)"
    )
    assert np.isnan(lb.simulate(workload, "SED").messages)
    assert lb.simulate(workload, "SED", information=lb.stale(3)).mean_age == 3
    with pytest.raises(ValueError, match="differ in policy, workload, warm-up, information"):
        _ = some["SED"] + lb.simulate(workload, "SED", information=lb.sampled(2))
    for kind in (lb.sampled, lb.answered, lb.gossip):
        for wrong in (-1, 1.5, True, "2", 10**7):
            with pytest.raises(
                ValueError,
                match=rf"d = .* servers of {kind.__name__}: must be a whole number from 0 to 1000000",
            ):
                kind(wrong)
