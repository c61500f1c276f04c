"""How many jobs arrive in all, to a dispatcher that knows its own: what TWF and SCD reckon with.

Each kernel writes every dispatcher's estimate of the round's arrivals to row `ESTIMATE` of memory.
Options: slope and constant of a line in its own jobs, first of all.
"""

import numpy as np

from lbcore.checks import brief
from lbcore.compiled import kernel
from lbcore.policies.base import ARRIVE

ESTIMATE, LEVEL, PAST, SEEN = (
    0,
    1,
    2,
    3,
)  # rows of memory, a column a dispatcher; the last two are the moving mean's
WEIGHT = 0.1  # of the present round in the moving mean: about the last ten rounds count (ours)


@kernel(ARRIVE)
def by_a_line(batches, options, memory):
    """Slope times own jobs, and a constant."""
    for d in range(batches.size):
        memory[ESTIMATE, d] = options[0] * batches[d] + options[1]


@kernel(ARRIVE)
def by_the_past(batches, options, memory):
    """Slope times the moving mean of own jobs, the present round's among them; the weights given so far sum to 1."""
    for d in range(batches.size):
        memory[PAST, d] += WEIGHT * (batches[d] - memory[PAST, d])
        memory[SEEN, d] += WEIGHT * (1.0 - memory[SEEN, d])
        memory[ESTIMATE, d] = options[0] * memory[PAST, d] / memory[SEEN, d]


@kernel(ARRIVE)
def by_the_truth(batches, options, memory):
    """All jobs of the round, which no dispatcher can know."""
    total = batches.sum()
    for d in range(batches.size):
        memory[ESTIMATE, d] = total


ESTIMATES = {  # word -> the kernel, and (slope, constant) of a cluster whose long-run mean total is `mean`
    "own": (by_a_line, lambda cluster, mean: (cluster.dispatchers, 0.0)),
    "oracle": (by_the_truth, lambda cluster, mean: (0.0, 0.0)),
    "mean": (by_a_line, lambda cluster, mean: (0.0, mean)),
    "own+mean": (by_a_line, lambda cluster, mean: (1.0, mean - mean / cluster.dispatchers)),
    "capacity": (by_a_line, lambda cluster, mean: (0.0, cluster.capacity)),
    "ewma": (by_the_past, lambda cluster, mean: (cluster.dispatchers, 0.0)),
}


def checked_estimate(estimate, family):
    """The estimate as it was given; a ValueError if it is neither a known word nor a number that can be."""
    number = isinstance(estimate, int | float | np.number) and not isinstance(estimate, bool)
    if not (1 <= estimate <= 1e6 if number else isinstance(estimate, str) and estimate in ESTIMATES):
        words = ", ".join(repr(word) for word in ESTIMATES)
        raise ValueError(
            f"estimate = {estimate!r} of {family}: must be one of {words}, or a number from 1 to 1e6"
        )
    return estimate


def kernel_of(estimate):
    """The kernel that makes an estimate."""
    return ESTIMATES[estimate][0] if isinstance(estimate, str) else by_a_line


def of_the_mean(estimate):
    """Whether an estimate needs the long-run mean of the arrivals."""
    return isinstance(estimate, str) and "mean" in estimate


def line_of(estimate, cluster, mean):
    """Slope and constant of an estimate; `mean` is the long-run mean total, or None where nobody told it."""
    if not isinstance(estimate, str):
        return 0.0, float(estimate)
    if of_the_mean(estimate) and mean is None:
        raise ValueError(
            f"estimate = {estimate!r} needs the workload's mean arrivals: call prepare_for(workload)"
        )
    return ESTIMATES[estimate][1](cluster, mean)


def told(estimate):
    """An estimate as part of a policy's name."""
    return estimate if isinstance(estimate, str) else brief(estimate)
