"""JSQ(d) and hJSQ(d): each job looks at a few servers drawn at random, and takes the best of them."""

from dataclasses import dataclass

import numpy as np

from lbcore.compiled import kernel
from lbcore.draws import draw, draw_another, draw_left, precedes, raffle, uniform
from lbcore.policies.base import DECIDE_ONE, Policy, carry_along, live_ones


@kernel("void(int64, float64[::1], float64[::1], float64[::1], uint64[::1], int64[::1])")
def better_of_two(jobs, view, speeds, table, rng, sent):
    """`best_of_few` for two of more than two servers, without a branch that is hard to foresee."""
    chosen = np.empty(1, dtype=np.int64)
    for _ in range(jobs):
        a = draw(table, rng)
        b = draw(table, rng)
        if a == b:
            chosen[0] = a
            b = draw_another(table, chosen, 1, rng)
            if b < 0:
                b = draw_left(speeds, chosen, 1, rng)
        key, other = (view[a] + sent[a]) / speeds[a], (view[b] + sent[b]) / speeds[b]
        a += (b - a) * precedes(other, speeds[b], 0.0, key, speeds[a], 0.0)
        sent[a] += 1


@kernel(DECIDE_ONE)
def best_of_few(d, jobs, view, rates, options, memory, rng, sent):
    """Options: how many to look at, the weights of the draw, which are the speeds too, and their raffle.

    Servers of one weight are drawn in any order alike, so that the first drawn may win a tie; only where all are
    looked at, a tie needs a lot.
    """
    servers, look = view.size, int(options[0])
    speeds, table = options[1 : 1 + servers], options[1 + servers :]
    live = table.size // 3
    if look == 2 and live > 2:
        better_of_two(jobs, view, speeds, table, rng, sent)
        return
    chosen = np.empty(min(look, live), dtype=np.int64)
    for _ in range(jobs):
        best, least, best_lot = -1, np.inf, 0.0
        for k in range(chosen.size):
            chosen[k] = draw_another(table, chosen, k, rng) if look < live else int(table[live + k])
            if chosen[k] < 0:
                chosen[k] = draw_left(speeds, chosen, k, rng)
            s = chosen[k]
            key, lot = (view[s] + sent[s]) / speeds[s], uniform(rng) if look >= live else 0.0
            if best < 0 or precedes(key, speeds[s], lot, least, speeds[best], best_lot):
                best, least, best_lot = s, key, lot
        sent[best] += 1


@kernel(DECIDE_ONE)
def whole_to_best_of_few(d, jobs, view, rates, options, memory, rng, sent):
    """One look for the batch."""
    best_of_few(d, min(jobs, 1), view, rates, options, memory, rng, sent)
    carry_along(jobs, sent)


@dataclass(frozen=True)
class JSQd(Policy):
    """JSQ(d): each job to the shortest of d servers drawn evenly, own jobs counted; ties at random.

    Parameters
    ----------
    d : int
        How many distinct servers a job looks at; all in service if these are fewer.
    """

    d: int = 2
    decide_one = staticmethod(best_of_few)
    decide_whole = staticmethod(whole_to_best_of_few)
    family = "JSQ"

    def __post_init__(self):
        if isinstance(self.d, bool) or not isinstance(self.d, int | np.integer) or self.d < 1:
            raise ValueError(f"d = {self.d!r} of {self.family}(d): must be a whole number, at least 1")

    @property
    def name(self):
        return f"{self.family}({self.d})"

    def weights(self, cluster):
        """In proportion to what servers are drawn; queues are divided by it."""
        return live_ones(cluster)

    def prepare(self, cluster):
        weights = self.weights(cluster)
        return np.concatenate([[float(min(self.d, cluster.servers))], weights, raffle(weights)])


@dataclass(frozen=True)
class hJSQd(JSQd):
    """hJSQ(d): each job to the smallest (queue + own jobs) / rate of d servers drawn in proportion to the rates.

    Drawn one after the other, all distinct; ties to the faster server, then at random.
    """

    family = "hJSQ"

    def weights(self, cluster):
        return cluster.rates
