"""Whose queues grow without end? Exact loads at which they must, maps of where they do, and mean changes of a queue."""

from itertools import pairwise
from math import comb

import numpy as np
import pandas as pd

from lbcore.checks import brief
from lbcore.cluster import Cluster
from lbcore.intervals import estimate
from lbcore.simulation import Simulation
from lbcore.simulator import compare
from lbcore.workload import Workload


def limit(cluster, choices=2):
    """The load from which JSQ(d) must give some servers more than they can do; choices = 1 is uniform random.

    Ours: a job all of whose d samples are among k servers goes to one of these, so together they get at least
    C(k, d) / C(n, d) of the jobs, whatever the queues; for each k the slowest k suffer first. Below this load and 1,
    JSQ(d) is stable: a fixed split of the samples exists that overloads no server, and always taking the shorter
    queue makes the drift of sum of q**2 no larger than that split does, up to a constant.

    Parameters
    ----------
    cluster : Cluster
    choices : int
        Servers that each job samples (d), at least 1; at most all in service are sampled.

    Returns
    -------
    float
        Arrivals as a share of the capacity, at most 1.
    """
    if isinstance(choices, bool) or not isinstance(choices, int | np.integer) or choices < 1:
        raise ValueError(f"choices = {choices!r}: must be a whole number of servers, at least 1")
    rates = np.sort(cluster.rates[cluster.rates > 0])
    few, capacities = min(int(choices), rates.size), np.cumsum(rates)
    shares = np.array([comb(k, few) / comb(rates.size, few) for k in range(1, rates.size + 1)])
    forced = shares > 0
    return float(np.min(capacities[forced] / shares[forced]) / capacities[-1])


def queue_bound(cluster, load):
    """Jobs in all queues, long-run mean, that SCD cannot exceed whatever the estimates are (from 1 up).

    Ours: the drift of V = sum of q**2 / mu is at most B - 2 (1 - rho) sum(q), with
    B = E[a**2] / min(mu) + sum(E[c**2] / mu) + rho n, for Poisson arrivals a and geometric capacities c; summed over
    the rounds, B / (2 (1 - rho)) is left. Finite, which is all that it is for: far above what is seen.

    Parameters
    ----------
    cluster : Cluster
    load : float
        At least 0.

    Returns
    -------
    float
        inf from load 1 on.
    """
    arrivals = cluster.arrival_rates(load).sum()
    rates = cluster.rates[cluster.rates > 0]
    if load >= 1:
        return np.inf
    most = arrivals * (1 + arrivals) / rates.min() + (1 + 2 * rates).sum() + load * rates.size
    return float(most / (2 * (1 - load)))


def region(clusters, loads, policies, rounds=600, replications=4, seed=1):
    """Where, on a grid of clusters and loads, is growth of the queues told from 0? One comparison a point.

    Parameters
    ----------
    clusters : dict
        Value of a setting -> Cluster.
    loads : sequence of float
    policies, replications
        As in `compare`.
    rounds, seed : int
        As in `Workload`.

    Returns
    -------
    pandas.DataFrame
        A row for each policy and point: policy, setting, load; growth, low and high (jobs a round, 99.9 % interval as
        `Result.growth`); growing: bool.
    """
    if not (isinstance(clusters, dict) and all(isinstance(c, Cluster) for c in clusters.values())):
        raise ValueError(f"clusters = {clusters!r:.80}: must be a dict from a setting's values to Clusters")
    rows = []
    for setting, cluster in clusters.items():
        for load in loads:
            runs = compare(Workload(cluster, load, rounds, seed), policies, replications, progress=False)
            rows += [(name, setting, load, *run.growth, run.growing) for name, run in runs.items()]
    return pd.DataFrame(rows, columns=["policy", "setting", "load", "growth", "low", "high", "growing"])


def drift(workload, policy, rates, edges, replications=4, warmup=0, least=10):
    """By how much does a queue change in a round, on average, at the work that it has?

    Parameters
    ----------
    workload : Workload
    policy : str or Policy
    rates : sequence of float
        Servers of each of these rates are looked at, kind by kind.
    edges : sequence of float, rising
        Bounds of classes of work, queue / rate at a round's start, in rounds: from one up to below the next.
    replications : int
        At least 2, for the intervals.
    warmup : int
        Rounds at the start that are not looked at.
    least : int
        A class is told if it was met as often in each of at least two replications, and half of them.

    Returns
    -------
    dict
        rate -> list of (float, Estimate): mean work in a class, and the mean change of the work,
        (queue after - before) / rate, with its 95 % interval over replications.
    """
    for rate in rates:
        if rate not in workload.cluster.rates:
            raise ValueError(f"rates: no server of the cluster has rate {brief(rate)}")
    if replications < 2:
        raise ValueError(f"replications = {replications}: must be at least 2, for the intervals")
    met = {rate: [] for rate in rates}
    for r in range(replications):
        queues = _queues(workload, policy, r)
        for rate in rates:
            work = queues[warmup:, workload.cluster.rates == rate] / rate
            met[rate].append(_by_class(work[:-1], np.diff(work, axis=0), edges, least))
    return {rate: _told(np.array(classes)) for rate, classes in met.items()}


def _by_class(works, changes, edges, least):
    """Mean work and mean change in each class, shape (classes, 2); nan where it was met too seldom."""
    means = np.full((len(edges) - 1, 2), np.nan)
    for k, (low, high) in enumerate(pairwise(edges)):
        there = (works >= low) & (works < high)
        if np.count_nonzero(there) >= least:
            means[k] = works[there].mean(), changes[there].mean()
    return means


def _told(means):
    """The classes met in enough replications, from their means, shape (replications, classes, 2)."""
    often = np.count_nonzero(~np.isnan(means[:, :, 0]), axis=0) >= max(2, len(means) / 2)
    return [(float(np.nanmean(means[:, k, 0])), estimate(means[:, k, 1])) for k in np.flatnonzero(often)]


def _queues(workload, policy, replication):
    """All queues at the start of each round, and at the end of the last, shape (rounds + 1, n)."""
    simulation = Simulation(workload, policy, replication)
    arrivals, capacities = workload.open(replication).take(workload.rounds)
    queues = np.zeros((workload.rounds + 1, workload.cluster.servers))
    for now in range(workload.rounds):
        simulation.advance(arrivals[now : now + 1], capacities[now : now + 1])
        queues[now + 1] = simulation.queues.lengths
    return queues
