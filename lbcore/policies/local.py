"""LSQ and hLSQ: each dispatcher keeps its own, mostly old, idea of the queues.

Memory: a row for each dispatcher, the queue lengths as it has them, zeros at first; in the last column a level near
its last place, to look from next time.
"""

from dataclasses import dataclass

import numpy as np

from lbcore.compiled import kernel
from lbcore.draws import draw_another, draw_left, raffle
from lbcore.policies.base import DECIDE_ONE, Policy, carry_along, live_ones
from lbcore.policies.order import fill, level_off


@kernel("void(int64, float64[::1], float64[::1], float64[:, ::1], uint64[::1])")
def look(d, view, options, memory, rng):
    """Renew a few entries. Options: how many, the weights of the draw, and their raffle."""
    servers = view.size
    table = options[1 + servers :]
    live = table.size // 3
    looked = np.empty(min(int(options[0]), live), dtype=np.int64)
    for k in range(looked.size):
        looked[k] = draw_another(table, looked, k, rng) if looked.size < live else int(table[live + k])
        if looked[k] < 0:
            looked[k] = draw_left(options[1 : 1 + servers], looked, k, rng)
        memory[d, looked[k]] = view[looked[k]]


@kernel("void(int64, float64[::1], float64[:, ::1], int64[::1])")
def learn(d, view, memory, sent):
    """Where it sent, a dispatcher learns the true queue, own jobs counted."""
    for s in range(view.size):
        if sent[s] > 0:
            memory[d, s] = view[s] + sent[s]


@kernel(DECIDE_ONE)
def shortest_as_known(d, jobs, view, rates, options, memory, rng, sent):
    """LSQ: look, then send to the shortest as known, own jobs counted, then learn."""
    look(d, view, options, memory, rng)
    if jobs > 0:
        servers = view.size
        guess = memory[d, servers]
        memory[d, servers] = level_off(memory[d, :servers], options[1 : 1 + servers], jobs, guess, rng, sent)
        learn(d, view, memory, sent)


@kernel(DECIDE_ONE)
def soonest_as_known(d, jobs, view, rates, options, memory, rng, sent):
    """hLSQ: look, then send to the smallest (known + own jobs) / rate, then learn."""
    servers = view.size
    look(d, view, options, memory, rng)
    if jobs > 0:
        guess = memory[d, servers]
        memory[d, servers] = fill(memory[d, :servers], rates, 0.0, jobs, guess, rng, sent)
        learn(d, view, memory, sent)


@kernel(DECIDE_ONE)
def whole_to_shortest_as_known(d, jobs, view, rates, options, memory, rng, sent):
    """LSQ: look, send the batch to the shortest as known, then learn."""
    look(d, view, options, memory, rng)
    if jobs > 0:
        servers = view.size
        guess = memory[d, servers]
        memory[d, servers] = level_off(memory[d, :servers], options[1 : 1 + servers], 1, guess, rng, sent)
        carry_along(jobs, sent)
        learn(d, view, memory, sent)


@kernel(DECIDE_ONE)
def whole_to_soonest_as_known(d, jobs, view, rates, options, memory, rng, sent):
    """hLSQ: look, send the batch to the smallest known / rate, then learn."""
    look(d, view, options, memory, rng)
    if jobs > 0:
        servers = view.size
        guess = memory[d, servers]
        memory[d, servers] = fill(memory[d, :servers], rates, 0.0, 1, guess, rng, sent)
        carry_along(jobs, sent)
        learn(d, view, memory, sent)


@dataclass(frozen=True)
class LSQ(Policy):
    """Local shortest queue: JSQ on the dispatcher's own array of queues, a few entries of it renewed each round.

    Parameters
    ----------
    samples : int
        How many distinct servers a dispatcher looks at in a round, drawn evenly.
    """

    samples: int = 2
    decide_one = staticmethod(shortest_as_known)
    decide_whole = staticmethod(whole_to_shortest_as_known)
    family = "LSQ"

    def __post_init__(self):
        if (
            isinstance(self.samples, bool)
            or not isinstance(self.samples, int | np.integer)
            or self.samples < 0
        ):
            raise ValueError(
                f"samples = {self.samples!r} of {self.family}: must be a whole number, at least 0"
            )

    @property
    def name(self):
        return self.family if self.samples == 2 else f"{self.family}({self.samples})"

    def weights(self, cluster):
        """In proportion to what servers are drawn."""
        return live_ones(cluster)

    def prepare(self, cluster):
        weights = self.weights(cluster)
        return np.concatenate([[float(min(self.samples, cluster.servers))], weights, raffle(weights)])

    def memory_shape(self, cluster):
        return (cluster.dispatchers, cluster.servers + 1)


@dataclass(frozen=True)
class hLSQ(LSQ):
    """LSQ for unequal servers: looks in proportion to the rates, and does SED on the dispatcher's own array."""

    family = "hLSQ"
    decide_one = staticmethod(soonest_as_known)
    decide_whole = staticmethod(whole_to_soonest_as_known)

    def weights(self, cluster):
        return cluster.rates
