"""JSQ, SED and SED+1: each next job to the server that looks best."""

from dataclasses import dataclass

import numpy as np

from lbcore.compiled import kernel
from lbcore.draws import precedes, uniform
from lbcore.policies.base import DECIDE_ONE, Policy, live_ones
from lbcore.waterfill import water_level


@kernel("void(int64[::1], int64, int64, float64[::1], float64[::1], float64[::1])")
def sift(heap, root, size, keys, speeds, lots):
    """Let the server at `root` sink to its place in a heap whose parents precede their children."""
    s = heap[root]
    while True:
        child = 2 * root + 1
        if child >= size:
            break
        a = heap[child]
        if child + 1 < size:
            b = heap[child + 1]
            if precedes(keys[b], speeds[b], lots[b], keys[a], speeds[a], lots[a]):
                child, a = child + 1, b
        if precedes(keys[s], speeds[s], lots[s], keys[a], speeds[a], lots[a]):
            break
        heap[root] = a
        root = child
    heap[root] = s


@kernel("void(float64[::1], float64[::1], float64, int64, uint64[::1], int64[::1])")
def fill(lengths, speeds, counted, jobs, rng, sent):
    """Place jobs one by one at the smallest (length + placed + counted) / speed; speed 0 is out of service.

    Ties to the faster, then at random.
    """
    servers = lengths.size
    keys, lots = np.empty(servers), np.empty(servers)
    heap = np.empty(servers, dtype=np.int64)
    level = -np.inf
    if jobs > servers:  # what lies surely under the last job needs no order
        level, _ = water_level(lengths, speeds, counted, float(jobs - servers), keys)
    size = 0
    for s in range(servers):
        if speeds[s] > 0.0:
            key = (lengths[s] + counted) / speeds[s]
            if key < level:
                sent[s] = max(1, int(speeds[s] * level - lengths[s] - counted))
                jobs -= sent[s]
                key = (lengths[s] + sent[s] + counted) / speeds[s]
            keys[s], lots[s], heap[size] = key, uniform(rng), s
            size += 1
    for root in range(size // 2 - 1, -1, -1):
        sift(heap, root, size, keys, speeds, lots)
    for _ in range(jobs):
        s = heap[0]
        sent[s] += 1
        keys[s], lots[s] = (lengths[s] + sent[s] + counted) / speeds[s], uniform(rng)
        sift(heap, 0, size, keys, speeds, lots)


@kernel(DECIDE_ONE)
def to_the_best(d, jobs, view, rates, options, memory, rng, sent):
    """Options: how much of the job itself is counted, then the speeds that lengths are divided by."""
    if jobs > 0:
        fill(view, options[1:], options[0], jobs, rng, sent)


@dataclass(frozen=True)
class JSQ(Policy):
    """Join the shortest queue: each next job to the shortest, own jobs counted; ties at random."""

    name = "JSQ"
    decide_one = staticmethod(to_the_best)

    def prepare(self, cluster):
        return np.concatenate([[0.0], live_ones(cluster)])


@dataclass(frozen=True)
class SED(Policy):
    """Shortest expected delay as the paper ranks: each next job to the smallest (queue + own jobs) / rate.

    Ties to the faster server, then at random.
    """

    name = "SED"
    decide_one = staticmethod(to_the_best)
    counted = 0.0

    def prepare(self, cluster):
        return np.concatenate([[self.counted], cluster.rates])


@dataclass(frozen=True)
class SEDPlus1(SED):
    """SED that counts the job itself: the smallest (queue + own jobs + 1) / rate, the textbooks' SED."""

    name = "SED+1"
    counted = 1.0
