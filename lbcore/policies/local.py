"""LSQ and hLSQ: each dispatcher keeps its own, mostly old, idea of the queues.

Memory: a row for each dispatcher, the queue lengths as it has them; zeros at first.
"""

from dataclasses import dataclass

import numpy as np

from lbcore.compiled import kernel
from lbcore.draws import draw_another, raffle
from lbcore.policies.base import DECIDE_ONE, Policy, live_ones
from lbcore.policies.ordered import fill


@kernel(DECIDE_ONE)
def best_as_known(d, jobs, view, rates, options, memory, rng, sent):
    """Look at a few servers, then send to the best as known, own jobs counted; where it sent, it learns the truth.

    Options: how many to look at, the weights of the draw, which are the speeds too, and their raffle.
    """
    servers, known = view.size, memory[d]
    speeds, table = options[1 : 1 + servers], options[1 + servers :]
    live = table.size // 3
    looked = np.empty(min(int(options[0]), live), dtype=np.int64)
    for k in range(looked.size):
        looked[k] = draw_another(table, speeds, looked, k, rng) if looked.size < live else table[live + k]
        known[looked[k]] = view[looked[k]]
    if jobs > 0:
        fill(known, speeds, 0.0, jobs, rng, sent)
        for s in range(servers):
            if sent[s] > 0:
                known[s] = view[s] + sent[s]


@dataclass(frozen=True)
class LSQ(Policy):
    """Local shortest queue: JSQ on the dispatcher's own array of queues, a few entries of it renewed each round.

    Parameters
    ----------
    samples : int
        How many distinct servers a dispatcher looks at in a round, drawn evenly.
    """

    samples: int = 2
    decide_one = staticmethod(best_as_known)
    family = "LSQ"

    def __post_init__(self):
        if isinstance(self.samples, bool) or not isinstance(self.samples, int) or self.samples < 0:
            raise ValueError(
                f"samples = {self.samples!r} of {self.family}: must be a whole number, at least 0"
            )

    @property
    def name(self):
        return self.family if self.samples == 2 else f"{self.family}({self.samples})"

    def weights(self, cluster):
        """In proportion to what servers are drawn; queues are divided by it."""
        return live_ones(cluster)

    def prepare(self, cluster):
        weights = self.weights(cluster)
        return np.concatenate([[float(self.samples)], weights, raffle(weights)])

    def memory_shape(self, cluster):
        return (cluster.dispatchers, cluster.servers)


@dataclass(frozen=True)
class hLSQ(LSQ):
    """LSQ for unequal servers: looks in proportion to the rates, and does SED on the dispatcher's own array."""

    family = "hLSQ"

    def weights(self, cluster):
        return cluster.rates
