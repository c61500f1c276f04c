"""TWF and SCD: every job drawn from the probabilities that keep independent dispatchers from trampling."""

from dataclasses import dataclass

import numpy as np

from lbcore.compiled import kernel
from lbcore.coordination import probabilities
from lbcore.draws import binomial, draw, raffle, scatter, uniform
from lbcore.policies.base import DECIDE_ALL, DECIDE_ONE, Policy, live_ones
from lbcore.waterfill import settle


@kernel(DECIDE_ONE)
def stochastically(d, jobs, view, rates, options, memory, rng, sent):
    """Draw each job's server from the probabilities for the estimated arrivals (SCD, Algorithm 2).

    Options: the number of dispatchers, the speeds, and their raffle.
    """
    if jobs == 0:
        return
    heights, p = np.empty(view.size), np.empty(view.size)
    probabilities(view, options[1 : 1 + view.size], options[0] * jobs, 1.0, heights, p)
    upto, last = np.cumsum(p), 0
    for s in range(p.size):
        last = s if p[s] > 0.0 else last
    for _ in range(jobs):
        s = np.searchsorted(upto, uniform(rng) * upto[-1], side="right")
        sent[min(s, last)] += 1


@kernel("int64(float64[::1], float64[::1], float64, float64, uint64[::1])")
def drop_between(heights, speeds, low, high, rng):
    """The server under a random drop of the water between two levels, by a walk over the servers."""
    left = 0.0
    for s in range(speeds.size):
        left += speeds[s] * max(0.0, high - max(low, heights[s])) if heights[s] < high else 0.0
    left, last = left * uniform(rng), -1
    for s in range(speeds.size):
        if heights[s] < high:
            left, last = left - speeds[s] * (high - max(low, heights[s])), s
            if left < 0.0:
                break
    return last


@kernel(DECIDE_ALL)
def all_stochastically(batches, queues, rates, options, memory, rng, sent):
    """Random drops for all dispatchers at once (ours): a job goes to the server under a drop of its dispatcher's water.

    All pour over the same heights, each its own volume. Drops that lie under the lowest of their levels are of one
    law for all, and are drawn together; of the others each is drawn between that level and its dispatcher's.
    Memory: the lowest level of the last round.
    """
    servers = queues.size
    speeds, table = options[1 : 1 + servers], options[1 + servers :]
    fewest, most = 0, 0
    for d in range(batches.size):
        most = max(most, batches[d])
        if batches[d] > 0 and (fewest == 0 or batches[d] < fewest):
            fewest = batches[d]
    volume = options[0] * fewest - 1.0
    heights, water, width, level = np.empty(servers), np.empty(servers), 0.0, 0.0
    if volume > 0.0:
        for s in range(servers):
            heights[s] = (queues[s] + 0.5) / speeds[s] if speeds[s] > 0.0 else np.inf
        level, _ = settle(queues, speeds, 0.5, volume, heights, memory[0, 0])  # from where it stood last time
        memory[0, 0] = level
        for s in range(servers):
            wet = heights[s] < level
            water[s] = speeds[s] * (level - heights[s]) if wet else 0.0
            width += speeds[s] if wet else 0.0
    if width == 0.0:  # no jobs, or one alone, or too few to tell from none on such queues
        for d in range(batches.size):
            stochastically(d, batches[d], queues, rates, options, memory, rng, sent)
        return
    top = level + options[0] * (most - fewest) / width  # no dispatcher's level lies higher
    edges, count = np.empty(servers, dtype=np.int64), 0  # servers that get wet in between, the lowest first
    for s in range(servers):
        if level <= heights[s] < top:
            place = count
            while place > 0 and heights[edges[place - 1]] > heights[s]:
                edges[place] = edges[place - 1]
                place -= 1
            edges[place] = s
            count += 1
    together = 0
    for d in range(batches.size):
        if batches[d] > 0:
            own = options[0] * batches[d] - 1.0
            under = binomial(batches[d], volume / own, rng)
            together += under
            if under < batches[d]:
                high, wide, rest = level, width, own - volume
                for k in range(count):
                    step = (heights[edges[k]] - high) * wide
                    if rest < step:
                        break
                    high, wide, rest = heights[edges[k]], wide + speeds[edges[k]], rest - step
                high += rest / wide
                for _ in range(batches[d] - under):
                    s, tries = draw(table, rng), 1
                    while heights[s] >= level + uniform(rng) * (high - level) and tries < 16:
                        s, tries = draw(table, rng), tries + 1
                    if tries == 16:  # few servers are under water
                        s = drop_between(heights, speeds, level, high, rng)
                    sent[s] += 1
    scatter(water, together, rng, sent)


@dataclass(frozen=True)
class SCD(Policy):
    """Stochastically coordinated dispatching (SCD, Algorithm 2), arrivals estimated by Eq. 18."""

    name = "SCD"
    decide_one = staticmethod(stochastically)
    decide_all = staticmethod(all_stochastically)

    def speeds(self, cluster):
        """The rates that it reckons with."""
        return cluster.rates

    def prepare(self, cluster):
        speeds = self.speeds(cluster)
        return np.concatenate([[float(cluster.dispatchers)], speeds, raffle(speeds)])

    def memory_shape(self, cluster):
        return (1, 1)


@dataclass(frozen=True)
class TWF(SCD):
    """Tidal water filling: SCD that takes all servers in service as equal (TWF, section 4)."""

    name = "TWF"

    def speeds(self, cluster):
        return live_ones(cluster)
