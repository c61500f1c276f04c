"""WR: at random, in proportion to the rates."""

from dataclasses import dataclass

from lbcore.compiled import kernel
from lbcore.draws import draw, raffle, scatter
from lbcore.policies.base import DECIDE_ALL, DECIDE_ONE, Policy, carry_along


@kernel(DECIDE_ONE)
def at_random(d, jobs, view, rates, options, memory, rng, sent):
    """Options: the raffle of the rates."""
    for _ in range(jobs):
        sent[draw(options, rng)] += 1


@kernel(DECIDE_ONE)
def whole_at_random(d, jobs, view, rates, options, memory, rng, sent):
    """One draw for the batch."""
    at_random(d, min(jobs, 1), view, rates, options, memory, rng, sent)
    carry_along(jobs, sent)


@kernel(DECIDE_ALL)
def all_at_random(batches, queues, rates, options, memory, rng, sent):
    """All dispatchers draw alike: one multinomial draw where jobs are many."""
    jobs = batches.sum()
    if jobs > 8 * rates.size:
        scatter(rates, jobs, rng, sent)
    else:
        at_random(0, jobs, queues, rates, options, memory, rng, sent)


@dataclass(frozen=True)
class WR(Policy):
    """Weighted random: each job to a server drawn in proportion to the rates, whatever the queues."""

    name = "WR"
    decide_one = staticmethod(at_random)
    decide_whole = staticmethod(whole_at_random)
    decide_all = staticmethod(all_at_random)

    def prepare(self, cluster):
        return raffle(cluster.rates)
