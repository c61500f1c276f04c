"""Simulating a workload: policies side by side, replication by replication, block by block."""

import os
import time
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import cached_property

import numba
import numpy as np
from tqdm.auto import tqdm

from lbcore import policies
from lbcore.draws import generator
from lbcore.information import COMPLETE, Information
from lbcore.policies.base import decide_one_by_one, prepared
from lbcore.queues import Queues
from lbcore.results import Comparison, Result, Run
from lbcore.rounds import advance
from lbcore.workload import CHOICES, Workload

_BLOCK_CELLS = 400_000  # of a block's capacities: small enough to stay near the processor
_PATIENCE = 0.1  # seconds a policy may take for a block: how soon a stop is heeded


class Simulation:
    """One policy in one replication, taken forward block by block; what `simulate` and `compare` are made of.

    Parameters
    ----------
    workload : Workload
    policy : Policy or str
    replication, warmup : int
    information : Information
    """

    def __init__(self, workload, policy, replication=0, warmup=0, information=COMPLETE):
        self.policy = policies.find(policy)
        self.workload, self.warmup, self.now = workload, warmup, 0
        cluster = workload.cluster
        self._jointly = self.policy.decide_all is not None and _level(self.policy, "decide_all") <= _level(
            self.policy, "decide_one"
        )  # a subclass with a rule of its own is not overruled by an inherited decide_all
        self.rates = cluster.rates.copy()  # kernels take no read-only arrays
        self.options, self.memory = prepared(self.policy, workload)
        self.rng = generator(workload.seeds(replication, CHOICES, *self.policy.name.encode()))
        self.queues = Queues(cluster.servers)
        self.seen = np.zeros((information.age + 1, cluster.servers))
        self.sent = np.zeros(cluster.servers, dtype=np.int64)
        self.queued = np.zeros(cluster.servers)
        self.arrived, self._totals = 0, []

    def advance(self, arrivals, capacities):
        """Take the next rounds.

        Parameters
        ----------
        arrivals : int64 array, shape (rounds, m)
        capacities : int32 array, shape (rounds, n)
        """
        policy, queues, totals = self.policy, self.queues, np.empty(len(arrivals), dtype=np.int64)
        jointly = self._jointly
        together = policy.decide_all if jointly else decide_one_by_one
        deciders = (policy.arrive, policy.decide_one, together, policy.finish)
        loop = advance if all(map(_is_compiled, deciders)) else advance.py_func
        try:
            with np.errstate(over="ignore"):  # the generator's words wrap around
                queues.pool, queues.free, queues.histogram, wrong = loop(
                    *deciders, jointly, arrivals, capacities, self.now, self.warmup,
                    self.rates, self.options, self.memory, self.rng,
                    self.seen, queues.lengths, queues.head, queues.tail, queues.pool, queues.free, queues.state,
                    queues.histogram, self.sent, self.queued, totals,
                )  # fmt: skip
        except SystemError as error:  # so numba tells of a stop that came while it packed up the result
            first = error
            while isinstance(first, SystemError) and first.__cause__:
                first = first.__cause__
            raise first from None
        if wrong >= 0:
            raise ValueError(
                f"policy {policy.name!r} did not send exactly the jobs that arrived in round {wrong}, or sent some "
                "to a server out of service, or wrote to the queues it sees: let it add each of its jobs once to `sent`"
            )
        self.arrived += int(arrivals[max(0, self.warmup - self.now) :].sum())
        self.now += len(arrivals)
        self._totals.append(totals)

    def run(self):
        """The raw counts so far."""
        histogram = np.trim_zeros(self.queues.histogram, "b")
        totals = np.concatenate(self._totals) if self._totals else np.zeros(0, dtype=np.int64)
        return Run(histogram.copy(), self.arrived, totals, self.sent.copy(), self.served, self.queued.copy())

    @property
    def served(self):
        """Jobs each server has done so far, shape (n,)."""
        return self.sent - self.queues.lengths.astype(np.int64)


def simulate(workload, policy, replications=1, warmup=0, progress=True, information=COMPLETE):
    """How long do jobs take under a policy?

    Parameters and errors are those of `compare`, with one policy.

    Returns
    -------
    Result
    """
    (result,) = compare(workload, [policy], replications, warmup, progress, information).values()
    return result


def compare(workload, policies, replications=1, warmup=0, progress=True, information=COMPLETE):
    """How do policies do on the same arrivals and capacities (common random numbers)?

    Each replication begins with empty queues. A policy's result does not depend on its company.

    Parameters
    ----------
    workload : Workload
    policies : sequence of str or Policy
        Such as ["SCD", "SED", "JSQ(3)"]; `lbcore.POLICIES` lists the names.
    replications : int
        Independent repetitions, side by side on the processor's cores; intervals need at least two.
    warmup : int
        Jobs that arrive in the first `warmup` rounds are served but not counted; the papers count all.
    progress : bool
        Show a progress bar if it takes longer than a second.
    information : Information
        What dispatchers see of the queues: `complete()`, or `stale(k)`.

    Returns
    -------
    Comparison
        A dict from policy name to `Result`.

    Raises
    ------
    ValueError
        Names the argument, what was found and the rule.
    """
    chosen = checked(workload, policies, replications, warmup, information)
    runs = [Replication(workload, chosen, r, warmup, information) for r in range(replications)]
    total = len(chosen) * replications * workload.rounds
    with (
        tqdm(total=total, unit=" rounds", unit_scale=True, delay=1, disable=not progress, leave=False) as bar,
        ThreadPoolExecutor(min(replications, os.cpu_count() or 1)) as pool,  # kernels run side by side
    ):
        try:
            pending = tasks = [pool.submit(run.finish) for run in runs]
            while pending:  # the bar is moved from here: widgets do not like other threads
                finished, pending = wait(pending, timeout=0.1, return_when=FIRST_EXCEPTION)
                bar.update(sum(run.done for run in runs) - bar.n)
                for task in finished:
                    task.result()  # raises what went wrong
            counts = [task.result() for task in tasks]
        finally:
            for run in runs:
                run.stopped = True
    return collected(workload, chosen, counts, warmup, information)


class Replication:
    """One replication of several policies: each block of arrivals and capacities is drawn once and met by all."""

    def __init__(self, workload, policies, replication, warmup, information):
        self._recipes = [(workload, policy, replication, warmup, information) for policy in policies]
        self.source = workload.open(replication)
        self.stopped, self.done = False, 0  # whether to stop; rounds done, of all policies together

    @cached_property
    def simulations(self):
        """One a policy; made when first needed, for a thousand replications are not all under way."""
        return [Simulation(*recipe) for recipe in self._recipes]

    def counts(self):
        """The raw counts so far, one `Run` a policy."""
        return [simulation.run() for simulation in self.simulations]

    def advance(self, rounds):
        """Take the next rounds; returns the seconds that the slowest policy took for them."""
        block, slowest = self.source.take(rounds), 0.0
        for simulation in self.simulations:
            if not self.stopped:
                began = time.perf_counter()
                simulation.advance(*block)
                slowest = max(slowest, time.perf_counter() - began)
                self.done += len(block[0])
        return slowest

    def finish(self):
        """Take all rounds that are left, in blocks short enough to stop between them; gives the raw counts."""
        size, largest = 1, max(1, _BLOCK_CELLS // self.source.workload.cluster.servers)
        while self.source.rest and not self.stopped:
            size = min(size, largest)
            slowest = self.advance(size)
            size = max(1, min(2 * size, int(size * _PATIENCE / max(slowest, 1e-6))))
        counts = self.counts()
        del self.simulations
        return counts


def collected(workload, policies, counts, warmup, information):
    """Results from the raw counts of replications, numbered from 0, each a list of one `Run` a policy."""
    numbers = tuple(range(len(counts)))
    return Comparison(
        {
            policy.name: Result(policy.name, workload, warmup, runs, numbers, information)
            for policy, runs in zip(policies, zip(*counts, strict=True), strict=True)
        }
    )


def checked(workload, wanted, replications, warmup, information):
    """The policies asked for; a ValueError for whatever is wrong."""
    if not isinstance(workload, Workload):
        raise ValueError(f"workload = {workload!r}: must be a Workload")
    if not isinstance(information, Information):
        raise ValueError(f"information = {information!r}: must be lbcore.complete() or lbcore.stale(k)")
    if isinstance(wanted, str | policies.Policy):
        raise ValueError(f"policies = {wanted!r}: must be a list of policies; for one, use simulate")
    for name, value, least in (("replications", replications, 1), ("warmup", warmup, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"{name} = {value!r}: must be a whole number, at least {least}")
    if warmup >= workload.rounds:
        raise ValueError(f"warmup = {warmup}: must be less than the workload's {workload.rounds} rounds")
    try:
        chosen = [policies.find(policy) for policy in wanted]
    except TypeError:
        raise ValueError(f"policies = {wanted!r}: must be a list of names or policies") from None
    if not chosen:
        raise ValueError(f"policies = {wanted!r}: must hold at least one")
    names = [policy.name for policy in chosen]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"policies: {name!r} is there twice; give each a name of its own")
    return chosen


def _level(policy, name):
    """How far up its classes a policy gets an attribute from."""
    return next((k for k, kind in enumerate(type(policy).__mro__) if name in vars(kind)), -1)


def _is_compiled(function):
    return numba.config.DISABLE_JIT or isinstance(function, numba.core.dispatcher.Dispatcher)
