"""Simulating a workload: policies side by side, replication by replication, block by block."""

import os
import time
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import cached_property

import numpy as np
from tqdm.auto import tqdm

from lbcore import policies
from lbcore.comparisons import Comparison
from lbcore.information import COMPLETE, Information
from lbcore.results import Result
from lbcore.simulation import Simulation, is_apart
from lbcore.workload import Workload

_BLOCK_CELLS = 400_000  # of a block's capacities: small enough to stay near the processor
_PATIENCE = 0.1  # seconds a policy may take for a block: how soon a stop is heeded


def simulate(
    workload,
    policy,
    replications=1,
    warmup=0,
    progress=True,
    information=COMPLETE,
    splittable=True,
    tasks=False,
):
    """How long do jobs take under a policy?

    Parameters and errors are those of `compare`, with one policy.

    Returns
    -------
    Result
    """
    one = compare(workload, [policy], replications, warmup, progress, information, splittable, tasks)
    return one.popitem()[1]


def compare(
    workload,
    policies,
    replications=1,
    warmup=0,
    progress=True,
    information=COMPLETE,
    splittable=True,
    tasks=False,
):
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
        What dispatchers see of the queues: `complete()`, `stale(k)`, `sampled(d)`, `answered(d)` or
        `gossip(d)`.
    splittable : bool
        False: all jobs that a dispatcher gets in a round go to one server (TWF's unsplittable dispatching).
    tasks : bool
        Tell the response times of tasks too, `Result.tasks`: a dispatcher's jobs of a round are a task, done when
        the last of them is. Told anyway where they are not split. Dispatchers are then asked one by one: slower,
        and other draws of the same law.

    Returns
    -------
    Comparison
        A dict from policy name to `Result`.

    Raises
    ------
    ValueError
        Names the argument, what was found and the rule.
    """
    conditions = warmup, information, bool(splittable), bool(tasks)
    chosen = checked(workload, policies, replications, warmup, information, splittable, tasks)
    runs = [Replication(workload, chosen, r, *conditions) for r in range(replications)]
    total = len(chosen) * replications * workload.rounds
    hidden = not progress or os.environ.get("TQDM_DISABLE", "0") != "0"  # tqdm forgets it in notebooks
    with (
        tqdm(total=total, unit=" rounds", unit_scale=True, delay=1, leave=False, disable=hidden) as bar,
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
    return collected(workload, chosen, counts, *conditions[:3])


class Replication:
    """One replication of several policies: each block of arrivals and capacities is drawn once and met by all."""

    def __init__(
        self, workload, policies, replication, warmup=0, information=COMPLETE, splittable=True, tasks=False
    ):
        conditions = warmup, information, splittable, tasks
        self._recipes = [(workload, policy, replication, *conditions) for policy in policies]
        self.source, cluster = workload.open(replication), workload.cluster
        apart = is_apart(
            information, splittable, tasks
        )  # then what each dispatcher sends is kept for a block
        self.largest = max(1, _BLOCK_CELLS // (cluster.servers * (cluster.dispatchers if apart else 1)))
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
        size = 1
        while self.source.rest and not self.stopped:
            size = min(size, self.largest)
            slowest = self.advance(size)
            size = max(1, min(2 * size, int(size * _PATIENCE / max(slowest, 1e-6))))
        counts = self.counts()
        del self.simulations
        return counts


def collected(workload, policies, counts, warmup, information, splittable):
    """Results from the raw counts of replications, numbered from 0, each a list of one `Run` a policy."""
    numbers = tuple(range(len(counts)))
    return Comparison(
        {
            policy.name: Result(policy.name, workload, warmup, runs, numbers, information, splittable)
            for policy, runs in zip(policies, zip(*counts, strict=True), strict=True)
        }
    )


def checked(workload, wanted, replications, warmup, information, splittable, tasks):
    """The policies asked for; a ValueError for whatever is wrong."""
    if not isinstance(workload, Workload):
        raise ValueError(f"workload = {workload!r}: must be a Workload")
    if not isinstance(information, Information):
        raise ValueError(
            f"information = {information!r}: must be lbcore.complete(), stale(k), sampled(d), answered(d) or gossip(d)"
        )
    for name, value in (("splittable", splittable), ("tasks", tasks)):
        if not isinstance(value, bool | np.bool):
            raise ValueError(f"{name} = {value!r}: must be True or False")
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
