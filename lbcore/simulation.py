"""One policy in one replication of a workload, taken forward block by block."""

import numba
import numpy as np

from lbcore import policies
from lbcore.draws import generator
from lbcore.information import COMPLETE
from lbcore.messages import Knowledge
from lbcore.policies.base import checked_rules, decide_one_by_one, prepared
from lbcore.queues import Queues
from lbcore.results import Run
from lbcore.rounds import advance, advance_apart
from lbcore.tasks import Tasks
from lbcore.workload import CHOICES, LOOKS


class Simulation:
    """One policy in one replication, taken forward block by block; what `simulate` and `compare` are made of.

    Parameters
    ----------
    workload : Workload
    policy : Policy or str
    replication, warmup : int
    information : Information
    splittable, tasks : bool
        As in `compare`.
    """

    def __init__(
        self, workload, policy, replication=0, warmup=0, information=COMPLETE, splittable=True, tasks=False
    ):
        self.policy = policies.find(policy)
        self.workload, self.warmup, self.now = workload, warmup, 0
        self.information, self.splittable = information, splittable
        cluster = workload.cluster
        self.rates = cluster.rates.copy()  # kernels take no read-only arrays
        self.options, self.memory = prepared(self.policy, workload)
        self.decide_one = self.policy.decide_one if splittable else whole_rule(self.policy)
        self.rng = generator(workload.seeds(replication, CHOICES, *self.policy.name.encode()))
        self.looks = generator(workload.seeds(replication, LOOKS))  # one for all policies
        self.queues = Queues(cluster.servers)
        self.seen = np.zeros((information.age + 1, cluster.servers))
        self.sent = np.zeros(cluster.servers, dtype=np.int64)
        self.queued = np.zeros(cluster.servers)
        self.arrived, self._totals = 0, []
        self.tasks = Tasks(cluster.servers, warmup) if tasks or not splittable else None
        self.knowledge = (
            Knowledge(cluster, information.kind) if is_apart(information, splittable, tasks) else None
        )

    def advance(self, arrivals, capacities):
        """Take the next rounds.

        Parameters
        ----------
        arrivals : int64 array, shape (rounds, m)
        capacities : int32 array, shape (rounds, n)
        """
        totals = np.empty(len(arrivals), dtype=np.int64)
        take = self._together if self.knowledge is None else self._apart
        with np.errstate(over="ignore"):  # the generator's words wrap around
            take(arrivals, capacities, totals)
        self.arrived += int(arrivals[max(0, self.warmup - self.now) :].sum())
        self.now += len(arrivals)
        self._totals.append(totals)

    def _together(self, arrivals, capacities, totals):
        """All dispatchers see the same."""
        policy = self.policy
        jointly = policy.decide_all is not None and _level(policy, "decide_all") <= _level(
            policy, "decide_one"
        )
        # so that a subclass with a rule of its own is not overruled by an inherited decide_all
        rules = (
            policy.arrive,
            policy.decide_one,
            policy.decide_all if jointly else decide_one_by_one,
            policy.finish,
        )
        self._run(advance, rules, (jointly,), arrivals, capacities, totals)

    def _apart(self, arrivals, capacities, totals):
        """Each dispatcher for itself."""
        policy, know = self.policy, self.knowledge
        each = np.zeros((*arrivals.shape, self.rates.size), dtype=np.int64)
        left = np.empty((len(arrivals), self.rates.size))
        rules = policy.arrive, self.decide_one, policy.finish, know.inform, know.touch
        known = (
            self.information.amount,
            know.live,
            know.known,
            know.stamps,
            know.pending,
            self.looks,
            know.counts,
        )
        self._run(advance_apart, rules, known, arrivals, capacities, totals, each, left)
        if not self.splittable:
            for row, d in np.argwhere(np.count_nonzero(each, axis=2) > 1):
                raise ValueError(
                    f"policy {policy.name!r} sent jobs of dispatcher {d} in round {self.now + row} to more than one "
                    "server: with splittable=False its decide_whole must send them all to one"
                )
        if self.tasks:
            self.tasks.advance(each, left, self.now)

    def _run(self, loop, rules, more, arrivals, capacities, *written):
        queues = self.queues
        try:
            queues.pool, queues.free, queues.histogram, wrong = (
                loop if all(map(_is_compiled, rules)) else loop.py_func
            )(
                *rules, *more, arrivals, capacities, self.now, self.warmup,
                self.rates, self.options, self.memory, self.rng,
                self.seen, queues.lengths, queues.head, queues.tail, queues.pool, queues.free, queues.state,
                queues.histogram, self.sent, self.queued, *written,
            )  # fmt: skip
        except SystemError as error:  # so numba tells of a stop that came while it packed up the result
            first = error
            while isinstance(first, SystemError) and first.__cause__:
                first = first.__cause__
            raise first from None
        if wrong >= 0:
            raise ValueError(
                f"policy {self.policy.name!r} did not send exactly the jobs that arrived in round {wrong}, or sent "
                "some to a server out of service, or wrote to the queues it sees: let it add each of its jobs once "
                "to `sent`"
            )

    def run(self):
        """The raw counts so far."""
        histogram = np.trim_zeros(self.queues.histogram, "b")
        totals = np.concatenate(self._totals) if self._totals else np.zeros(0, dtype=np.int64)
        told = {}
        if self.tasks:
            told = {"tasks": self.tasks.histogram.copy(), "tasks_arrived": self.tasks.arrived}
        if self.knowledge:
            told["counts"] = self.knowledge.counts.copy()
        return Run(
            histogram.copy(), self.arrived, totals, self.sent.copy(), self.served, self.queued.copy(), **told
        )

    @property
    def served(self):
        """Jobs each server has done so far, shape (n,)."""
        return self.sent - self.queues.lengths.astype(np.int64)


def is_apart(information, splittable, tasks):
    """Whether each dispatcher must be asked by itself: it knows, or holds, or is asked of what others do not."""
    return information.kind != "shown" or not splittable or tasks


def whole_rule(policy):
    """A policy's rule for batches that stay together."""
    rule = policy.decide_whole
    if rule is None or _level(policy, "decide_whole") > _level(policy, "decide_one"):
        raise ValueError(
            f"policy {policy.name!r} has no rule for splittable=False: give it a decide_whole, as its decide_one but "
            "that adds all jobs to one server"
        )
    checked_rules(policy, ("decide_whole",))
    return rule


def _level(policy, name):
    """How far up its classes a policy gets an attribute from."""
    return next((k for k, kind in enumerate(type(policy).__mro__) if name in vars(kind)), -1)


def _is_compiled(function):
    return numba.config.DISABLE_JIT or isinstance(function, numba.core.dispatcher.Dispatcher)
