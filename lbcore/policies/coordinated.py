"""TWF and SCD: every job drawn from the probabilities that keep independent dispatchers from trampling."""

from dataclasses import dataclass

import numpy as np

from lbcore.compiled import kernel
from lbcore.coordination import probabilities
from lbcore.draws import uniform
from lbcore.policies.base import DECIDE_ONE, Policy, live_ones


@kernel(DECIDE_ONE)
def stochastically(d, jobs, view, rates, options, memory, rng, sent):
    """Draw each job's server from the probabilities for the estimated arrivals (SCD, Algorithm 2).

    Options: the number of dispatchers, then the speeds.
    """
    if jobs == 0:
        return
    heights, p = np.empty(view.size), np.empty(view.size)
    probabilities(view, options[1:], options[0] * jobs, 1.0, heights, p)
    upto, last = np.cumsum(p), 0
    for s in range(p.size):
        last = s if p[s] > 0.0 else last
    for _ in range(jobs):
        s = np.searchsorted(upto, uniform(rng) * upto[-1], side="right")
        sent[min(s, last)] += 1


@dataclass(frozen=True)
class TWF(Policy):
    """Tidal water filling: SCD that takes all servers in service as equal (TWF, section 4)."""

    name = "TWF"
    decide_one = staticmethod(stochastically)

    def prepare(self, cluster):
        return np.concatenate([[float(cluster.dispatchers)], live_ones(cluster)])


@dataclass(frozen=True)
class SCD(Policy):
    """Stochastically coordinated dispatching (SCD, Algorithm 2), arrivals estimated by Eq. 18."""

    name = "SCD"
    decide_one = staticmethod(stochastically)

    def prepare(self, cluster):
        return np.concatenate([[float(cluster.dispatchers)], cluster.rates])
