"""What a policy is."""

import numpy as np

from lbcore.compiled import kernel

# Signatures of a policy's functions, for @kernel.
DECIDE_ONE = (
    "void(int64, int64, float64[::1], float64[::1], float64[::1], float64[:, ::1], uint64[::1], int64[::1])"
)
DECIDE_ALL = (
    "void(int64[::1], float64[::1], float64[::1], float64[::1], float64[:, ::1], uint64[::1], int64[::1])"
)
ARRIVE = "void(int64[::1], float64[::1], float64[:, ::1])"
FINISH = "void(float64[::1], int32[::1], float64[::1], float64[::1], float64[:, ::1], uint64[::1])"


@kernel(DECIDE_ALL)
def decide_one_by_one(batches, queues, rates, options, memory, rng, sent):
    """In place of a `decide_all` that a policy does not have; never called."""


@kernel("void(int64, int64[::1])")
def carry_along(jobs, sent):
    """Where one job has gone, all go."""
    for s in range(sent.size):
        sent[s] *= jobs


@kernel(ARRIVE)
def ignore(batches, options, memory):
    """In place of an `arrive` that a policy does not have."""


@kernel(FINISH)
def forget(queues, capacities, rates, options, memory, rng):
    """In place of a `finish` that a policy does not have: a round's end tells it nothing."""


class Policy:
    """How dispatchers choose servers: subclass it to write one of your own.

    A policy is a name, numbers prepared once a run, and functions, plain Python or compiled
    (`@lbcore.kernel(lbcore.policies.DECIDE_ONE)`), held with `staticmethod`:

    decide_one(d, jobs, view, rates, options, memory, rng, sent)
        Dispatcher `d` has `jobs` jobs, sees the queues `view` of the round's start, float64 (n,), and adds to
        `sent`, int64 (n,), zeros at first, how many it sends to each server. It is asked in every round, with 0
        jobs too. `memory` is kept from round to round; `rng` is for `lbcore.draws.uniform(rng)` and its kin.
    decide_all(batches, queues, rates, options, memory, rng, sent)
        Optional and only for speed: all dispatchers at once, `batches` int64 (m,) their jobs; the same law, and
        what `arrive` does.
    decide_whole(d, jobs, view, rates, options, memory, rng, sent)
        Optional: `decide_one` where the jobs must stay together: adds them all to one server.
    arrive(batches, options, memory)
        Optional: a round's arrivals, before the dispatchers are asked one by one; what it needs goes to `memory`.
    finish(queues, capacities, rates, options, memory, rng)
        Optional: what the round's end tells, after service; queues that are left and capacities, int32 (n,).

    None may write to anything but `sent`, `memory` and `rng`.
    """

    name = "policy"
    decide_all = None
    decide_whole = None
    arrive = staticmethod(ignore)
    finish = staticmethod(forget)

    def prepare(self, cluster):
        """The `options` that its functions get, float64 array of one axis; made once a run."""
        return np.zeros(0)

    def prepare_for(self, workload):
        """The same for who needs to know more than the cluster, such as the mean arrivals."""
        return self.prepare(workload.cluster)

    def memory_shape(self, cluster):
        """Shape of its `memory`, float64, zeros at first."""
        return (0, 0)


def prepared(policy, workload):
    """A policy's options and its empty memory; a ValueError for what is missing in one that someone wrote."""
    told = f"policy {policy!r}"
    if not isinstance(policy.name, str):
        raise ValueError(f"{told}: its name is {policy.name!r}: must be a text")
    checked_rules(policy, ("decide_one", "arrive", "finish"))
    options = np.ascontiguousarray(policy.prepare_for(workload), dtype=float)
    if np.ndim(options) != 1:
        raise ValueError(f"{told}: prepare must give an array of one axis, not of {np.ndim(options)}")
    shape = policy.memory_shape(workload.cluster)
    if not (isinstance(shape, tuple) and len(shape) == 2):
        raise ValueError(f"{told}: memory_shape = {shape!r}: must be a pair (rows, columns)")
    return options, np.zeros(shape)


def checked_rules(policy, names):
    """A ValueError for a rule that is missing or would be handed the policy itself."""
    for name in names:
        rule = getattr(policy, name, None)
        if not callable(rule) or hasattr(rule, "__self__"):
            raise ValueError(f"policy {policy!r}: its {name} must be a function held with staticmethod")


def live_ones(cluster):
    """1 for servers in service, 0 for the others: how policies that are blind to rates see them."""
    return (cluster.rates > 0).astype(float)
