"""TWF and SCD: every job drawn from the probabilities that keep independent dispatchers from trampling.

Options: slope and constant of the estimate of the arrivals, the speeds, and their raffle. Memory: a column for each
dispatcher: its estimate, the lowest level of the last round (the first only), and two numbers of a moving mean.
"""

from dataclasses import dataclass

import numpy as np

from lbcore.compiled import kernel
from lbcore.coordination import probabilities
from lbcore.draws import binomial, draw, raffle, scatter, uniform
from lbcore.policies.base import DECIDE_ALL, DECIDE_ONE, Policy, live_ones
from lbcore.policies.estimates import (
    ESTIMATE,
    LEVEL,
    by_a_line,
    by_the_past,
    by_the_truth,
    checked_estimate,
    kernel_of,
    line_of,
    of_the_mean,
    told,
)
from lbcore.waterfill import settle


@kernel(DECIDE_ONE)
def stochastically(d, jobs, view, rates, options, memory, rng, sent):
    """Draw each job's server from the probabilities for the estimated arrivals (SCD, Algorithm 2)."""
    if jobs == 0:
        return
    heights, p = np.empty(view.size), np.empty(view.size)
    probabilities(view, options[2 : 2 + view.size], memory[ESTIMATE, d], 1.0, heights, p)
    upto, last = np.cumsum(p), 0
    for s in range(p.size):
        last = s if p[s] > 0.0 else last
    for _ in range(jobs):
        s = np.searchsorted(upto, uniform(rng) * upto[-1], side="right")
        sent[min(s, last)] += 1


@kernel(DECIDE_ONE)
def systematically(d, jobs, view, rates, options, memory, rng, sent):
    """Lay the probabilities end to end and the jobs evenly along them, from one random offset (ours).

    A server gets its expected number of jobs, rounded up or down: each job has the same chances as if drawn by itself.
    """
    if jobs == 0:
        return
    heights, p = np.empty(view.size), np.empty(view.size)
    probabilities(view, options[2 : 2 + view.size], memory[ESTIMATE, d], 1.0, heights, p)
    upto, offset, gone, best = np.cumsum(p), uniform(rng), 0, 0
    for s in range(p.size):
        reach = max(gone, min(jobs, int(np.ceil(upto[s] / upto[-1] * jobs - offset))))
        sent[s] += reach - gone
        gone = reach
        best = s if p[s] > p[best] else best
    sent[best] += jobs - gone  # one, if rounding lost it


@kernel(DECIDE_ONE)
def whole_stochastically(d, jobs, view, rates, options, memory, rng, sent):
    """One draw for the batch, from the probabilities for batches of its size (TWF's unsplittable dispatching)."""
    if jobs == 0:
        return
    heights, p = np.empty(view.size), np.empty(view.size)
    probabilities(view, options[2 : 2 + view.size], memory[ESTIMATE, d], float(jobs), heights, p)
    upto, last = np.cumsum(p), 0
    for s in range(p.size):
        last = s if p[s] > 0.0 else last
    s = np.searchsorted(upto, uniform(rng) * upto[-1], side="right")
    sent[min(s, last)] += jobs


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
def all_from_the_water(batches, queues, rates, options, memory, rng, sent):
    """Random drops for all dispatchers at once (ours): a job goes to the server under a drop of its dispatcher's water.

    All pour over the same heights, each its own volume. Drops that lie under the lowest of their levels are of one
    law for all, and are drawn together; of the others each is drawn between that level and its dispatcher's.
    """
    servers = queues.size
    speeds, table = options[2 : 2 + servers], options[2 + servers :]
    least, most = np.inf, 0.0
    for d in range(batches.size):
        if batches[d] > 0:
            least, most = min(least, memory[ESTIMATE, d]), max(most, memory[ESTIMATE, d])
    volume = least - 1.0 if most > 0.0 else 0.0
    heights, water, width, level = np.empty(servers), np.empty(servers), 0.0, 0.0
    if volume > 0.0:
        for s in range(servers):
            heights[s] = (queues[s] + 0.5) / speeds[s] if speeds[s] > 0.0 else np.inf
        level, _ = settle(
            queues, speeds, 0.5, volume, heights, memory[LEVEL, 0]
        )  # from where it stood last time
        memory[LEVEL, 0] = level
        for s in range(servers):
            wet = heights[s] < level
            water[s] = speeds[s] * (level - heights[s]) if wet else 0.0
            width += speeds[s] if wet else 0.0
    if width == 0.0:  # no jobs, or one alone, or too few to tell from none on such queues
        for d in range(batches.size):
            stochastically(d, batches[d], queues, rates, options, memory, rng, sent)
        return
    top = level + (most - least) / width  # no dispatcher's level lies higher
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
            own = memory[ESTIMATE, d] - 1.0
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


@kernel(DECIDE_ALL)
def all_stochastically(batches, queues, rates, options, memory, rng, sent):
    """With estimates that follow a line in own jobs."""
    by_a_line(batches, options, memory)
    all_from_the_water(batches, queues, rates, options, memory, rng, sent)


@kernel(DECIDE_ALL)
def all_by_the_past(batches, queues, rates, options, memory, rng, sent):
    """With estimates by a moving mean."""
    by_the_past(batches, options, memory)
    all_from_the_water(batches, queues, rates, options, memory, rng, sent)


@kernel(DECIDE_ALL)
def all_by_the_truth(batches, queues, rates, options, memory, rng, sent):
    """With all jobs of the round as the estimate."""
    by_the_truth(batches, options, memory)
    all_from_the_water(batches, queues, rates, options, memory, rng, sent)


DRAWS = {"independent": stochastically, "systematic": systematically}
TOGETHER = {by_a_line: all_stochastically, by_the_past: all_by_the_past, by_the_truth: all_by_the_truth}


@dataclass(frozen=True)
class SCD(Policy):
    """Stochastically coordinated dispatching (SCD, Algorithm 2).

    Parameters
    ----------
    estimate : str or float
        How many jobs a dispatcher takes to arrive in all (an estimate below 1 is taken as 1). "own": dispatchers
        times its own jobs (SCD, Eq. 18). Ours: "oracle", the true total of the round, which nobody can know;
        "mean", the workload's long-run mean total; "own+mean", its own jobs and the mean of all other dispatchers';
        "capacity", the cluster's; "ewma", dispatchers times an exponentially weighted mean of its own jobs, the
        present round with weight 0.1; or a number from 1 to 1e6.
    draws : str
        "independent", as in the paper, or "systematic" (ours): a dispatcher's own jobs are spread evenly over the
        probabilities, from one random offset; the same chances for each job, less noise.
    """

    estimate: str | float = "own"
    draws: str = "independent"
    decide_whole = staticmethod(whole_stochastically)
    family = "SCD"

    def __post_init__(self):
        checked_estimate(self.estimate, self.family)
        if not (isinstance(self.draws, str) and self.draws in DRAWS):
            raise ValueError(
                f"draws = {self.draws!r} of {self.family}: must be 'independent' or 'systematic'"
            )

    @classmethod
    def told(cls, words):
        """The policy whose name has these words in brackets."""
        *estimate, last = words.split(", ")
        draws = last if last in DRAWS else "independent"
        estimate += [last] if last != draws else []
        try:
            return cls(float(", ".join(estimate)), draws)
        except ValueError:
            return cls(", ".join(estimate) or "own", draws)

    @property
    def name(self):
        words = [told(self.estimate)] if self.estimate != "own" else []
        words += [self.draws] if self.draws != "independent" else []
        return f"{self.family}({', '.join(words)})" if words else self.family

    @property
    def arrive(self):
        """The kernel that makes the estimates."""
        return kernel_of(self.estimate)

    @property
    def decide_one(self):
        """The kernel that draws."""
        return DRAWS[self.draws]

    @property
    def decide_all(self):
        """All dispatchers at once, with estimates by the same rule; None where each must draw by itself."""
        return TOGETHER[self.arrive] if self.draws == "independent" else None

    def speeds(self, cluster):
        """The rates that it reckons with."""
        return cluster.rates

    def prepare(self, cluster):
        return self._options(cluster, None)

    def prepare_for(self, workload):
        if not of_the_mean(self.estimate):
            return self.prepare(workload.cluster)  # also where a subclass has its own
        return self._options(workload.cluster, float(workload.arrival_rates.sum()))

    def _options(self, cluster, mean):
        speeds = self.speeds(cluster)
        return np.concatenate([line_of(self.estimate, cluster, mean), speeds, raffle(speeds)])

    def memory_shape(self, cluster):
        return (4, cluster.dispatchers)


@dataclass(frozen=True)
class TWF(SCD):
    """Tidal water filling: SCD that takes all servers in service as equal (TWF, section 4)."""

    family = "TWF"

    def speeds(self, cluster):
        return live_ones(cluster)
