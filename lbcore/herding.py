"""Rounds looked at closely: which dispatcher sends where, and how far each round ends from the ideal."""

import numpy as np

from lbcore import policies
from lbcore.assignment import assignment_error
from lbcore.draws import generator
from lbcore.policies.base import prepared
from lbcore.simulation import Simulation
from lbcore.waterfill import ideal_workload
from lbcore.workload import CHOICES, Workload


def one_round(cluster, load, names, before=50, seed=0):
    """The same round in the hands of several policies: who sends where?

    A cluster is run under SCD for some rounds; the policies look on, so that those with a memory have one. Then each
    decides the next round: the same queues, the same arrivals (ours).

    Parameters
    ----------
    cluster : Cluster
    load : float
    names : sequence of str or Policy
    before : int
        Rounds that are run first.
    seed : int

    Returns
    -------
    dict
        rates, queues: (n,); batches: (m,), jobs at each dispatcher; level: float, the ideal workload;
        sent: policy -> int64 (m, n), jobs that each dispatcher sends to each server.
    """
    workload = Workload(cluster, load, before + 1, seed)
    arrivals, capacities = workload.open().take(before + 1)
    guide, past = Simulation(workload, "SCD"), []
    for now in range(before + 1):
        past.append(guide.queues.lengths.copy())
        guide.advance(arrivals[now : now + 1], capacities[now : now + 1])
    past.append(guide.queues.lengths.copy())
    sent = {}
    for policy in map(policies.find, names):
        options, memory = prepared(policy, workload)
        rng = generator(workload.seeds(0, CHOICES, *policy.name.encode()))
        with np.errstate(over="ignore"):  # the generator's words wrap around
            for now in range(before + 1):
                policy.arrive(arrivals[now], options, memory)
                last = np.zeros((cluster.dispatchers, cluster.servers), dtype=np.int64)
                for d in range(cluster.dispatchers):
                    policy.decide_one(
                        d, arrivals[now, d], past[now].copy(), guide.rates, options, memory, rng, last[d]
                    )
                policy.finish(past[now + 1], capacities[now], guide.rates, options, memory, rng)
        sent[policy.name] = last
    level = ideal_workload(past[before], cluster.rates, arrivals[before].sum())
    return {
        "rates": cluster.rates,
        "queues": past[before],
        "batches": arrivals[before],
        "level": float(level),
        "sent": sent,
    }


def overshoot(state):
    """Jobs that a round of `one_round` sends above the ideal workload, by policy.

    Returns
    -------
    dict
        policy -> jobs (float: as water), summed over the servers that end above the ideal.
    """
    room = np.maximum(state["rates"] * state["level"], state["queues"])
    return {
        name: float(np.maximum(state["queues"] + sent.sum(axis=0) - room, 0).sum())
        for name, sent in state["sent"].items()
    }


def errors(workload, policy, replication=0):
    """How far from the ideal does a policy end each round, on its own queues? SCD, Eq. 4, as `assignment_error`.

    Parameters
    ----------
    workload : Workload
    policy : str or Policy
    replication : int

    Returns
    -------
    array, shape (rounds,)
        Divided by the round's arrivals; nan where none arrived.
    """
    simulation, source = Simulation(workload, policy, replication), workload.open(replication)
    found = np.full(workload.rounds, np.nan)
    for now in range(workload.rounds):
        queues, before = simulation.queues.lengths.copy(), simulation.sent.copy()
        arrivals, capacities = source.take(1)
        simulation.advance(arrivals, capacities)
        jobs = arrivals.sum()
        if jobs:
            sent = simulation.sent - before
            found[now] = assignment_error(sent, queues, workload.cluster.rates, jobs) / jobs
    return found
