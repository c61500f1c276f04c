"""JSQ(d) and hJSQ(d): each job looks at a few servers drawn at random, and takes the best of them."""

from dataclasses import dataclass

import numpy as np

from lbcore.compiled import kernel
from lbcore.draws import draw_another, precedes, raffle, uniform
from lbcore.policies.base import DECIDE_ONE, Policy, live_ones


@kernel(DECIDE_ONE)
def best_of_few(d, jobs, view, rates, options, memory, rng, sent):
    """Options: how many to look at, the weights of the draw, which are the speeds too, and their raffle."""
    servers, look = view.size, int(options[0])
    speeds, table = options[1 : 1 + servers], options[1 + servers :]
    live = table.size // 3
    chosen = np.empty(min(look, live), dtype=np.int64)
    if look >= live:
        for k in range(live):
            chosen[k] = int(table[live + k])  # all of them
    for _ in range(jobs):
        best, least, best_lot = -1, np.inf, 0.0
        for k in range(chosen.size):
            if look < live:
                chosen[k] = draw_another(table, speeds, chosen, k, rng)
            s = chosen[k]
            key, lot = (view[s] + sent[s]) / speeds[s], uniform(rng)
            if best < 0 or precedes(key, speeds[s], lot, least, speeds[best], best_lot):
                best, least, best_lot = s, key, lot
        sent[best] += 1


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
    family = "JSQ"

    def __post_init__(self):
        if isinstance(self.d, bool) or not isinstance(self.d, int) or self.d < 1:
            raise ValueError(f"d = {self.d!r} of {self.family}(d): must be a whole number, at least 1")

    @property
    def name(self):
        return f"{self.family}({self.d})"

    def weights(self, cluster):
        """In proportion to what servers are drawn; queues are divided by it."""
        return live_ones(cluster)

    def prepare(self, cluster):
        weights = self.weights(cluster)
        return np.concatenate([[float(self.d)], weights, raffle(weights)])


@dataclass(frozen=True)
class hJSQd(JSQd):
    """hJSQ(d): each job to the smallest (queue + own jobs) / rate of d servers drawn in proportion to the rates.

    Drawn one after the other, all distinct; ties to the faster server, then at random.
    """

    family = "hJSQ"

    def weights(self, cluster):
        return cluster.rates
