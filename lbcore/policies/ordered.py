"""JSQ, SED and SED+1: each next job to the server that looks best.

All dispatchers of a round walk the same sequence of places, so that one walk serves all; ties each breaks for itself.
"""

from dataclasses import dataclass

import numpy as np

from lbcore.compiled import kernel
from lbcore.policies.base import DECIDE_ALL, DECIDE_ONE, Policy, carry_along, live_ones
from lbcore.policies.order import begin, fill, level_off, level_up, reach, rise, sift, some_of


@kernel(DECIDE_ONE)
def to_the_best(d, jobs, view, rates, options, memory, rng, sent):
    """Options: how much of the job itself is counted, then the speeds that lengths are divided by."""
    if jobs > 0:
        fill(view, options[1:], options[0], jobs, np.inf, rng, sent)


@kernel(DECIDE_ONE)
def whole_to_the_best(d, jobs, view, rates, options, memory, rng, sent):
    """The batch to the best."""
    to_the_best(d, min(jobs, 1), view, rates, options, memory, rng, sent)
    carry_along(jobs, sent)


@kernel(DECIDE_ALL)
def all_to_the_shortest(batches, queues, rates, options, memory, rng, sent):
    """JSQ: one walk along the levels, the shortest queues first; each dispatcher stops at its own.

    Where there are many more levels than servers, each dispatcher finds its level by itself.
    """
    live, ordered = options[1:], np.sort(batches)
    least, longest = reach(queues, live)
    if min(longest - least, float(ordered[-1])) < 8 * queues.size + 64:
        level_up(ordered, least, longest, queues, live, rng, sent)
        return
    own, level = np.empty(queues.size, dtype=np.int64), np.inf
    for batch in ordered:
        if batch > 0:
            own[:] = 0
            level = level_off(queues, live, batch, level, rng, own)
            sent += own


@kernel("float64(int64[::1], float64[::1], float64[::1], float64, float64, uint64[::1], int64[::1])")
def walk_together(ordered, queues, speeds, counted, guess, rng, sent):
    """Batches, the smallest first, along the places, the best first: each is taken by all whose batch reaches so far.

    Places of one key and one speed are a group; who cannot take all of it takes some at random. `guess` as in `fill`.
    """
    servers, dispatchers, done = queues.size, ordered.size, 0  # done: those whose batch is placed
    keys, lots, own = np.empty(servers), np.zeros(servers), np.empty(servers, dtype=np.int64)
    heap, group = np.empty(servers, dtype=np.int64), np.empty(servers, dtype=np.int64)
    at, size, high = begin(queues, speeds, counted, ordered[0], ordered[-1], guess, keys, own, heap)
    for s in range(servers):
        sent[s] += dispatchers * own[s]
    for root in range(size // 2 - 1, -1, -1):
        sift(heap, root, size, keys, speeds, lots)
    while True:
        while done < dispatchers and ordered[done] <= at:
            done += 1
        if done == dispatchers:
            return high
        s, count = heap[0], 0
        key, speed = keys[s], speeds[s]
        alone = size < 2 or keys[heap[1]] != key or speeds[heap[1]] != speed
        if alone and (size < 3 or keys[heap[2]] != key or speeds[heap[2]] != speed):
            sent[s] += dispatchers - done
            own[s] += 1
            keys[s] = (queues[s] + own[s] + counted) / speed
            sift(heap, 0, size, keys, speeds, lots)
            at += 1
            continue
        while size > 0 and keys[heap[0]] == key and speeds[heap[0]] == speed:
            group[count] = heap[0]
            count, size = count + 1, size - 1
            heap[0] = heap[size]
            if size > 0:
                sift(heap, 0, size, keys, speeds, lots)
        for d in range(done, dispatchers):
            some_of(group, count, min(count, ordered[d] - at), rng, sent)
        at += count
        for k in range(count):
            own[group[k]] += 1
            keys[group[k]] = (queues[group[k]] + own[group[k]] + counted) / speed
            rise(heap, group[k], size, keys, speeds, lots)
            size += 1


@kernel(DECIDE_ALL)
def all_to_the_soonest(batches, queues, rates, options, memory, rng, sent):
    """SED: one walk, or where the batches are too unlike for it, each by itself. Memory: a level to guess from."""
    counted, speeds, ordered = options[0], options[1:], np.sort(batches)
    ordered = ordered[ordered > 0]
    if ordered.size > 0 and ordered[-1] - ordered[0] <= 4 * queues.size:
        memory[0, 0] = walk_together(ordered, queues, speeds, counted, memory[0, 0], rng, sent)
        return
    own = np.empty(queues.size, dtype=np.int64)
    for batch in ordered:
        memory[0, 0] = fill(queues, speeds, counted, batch, memory[0, 0], rng, own)
        sent += own


@kernel(DECIDE_ONE)
def to_the_first_shortest(d, jobs, view, rates, options, memory, rng, sent):
    """JSQ without a lot: of equal queues the first in the list. Options: 1 for servers in service, else 0."""
    for _ in range(jobs):
        best = -1
        for s in range(view.size):
            if options[s] > 0.0 and (best < 0 or view[s] + sent[s] < view[best] + sent[best]):
                best = s
        sent[best] += 1


@kernel(DECIDE_ONE)
def whole_to_the_first_shortest(d, jobs, view, rates, options, memory, rng, sent):
    """The batch to the first of the shortest."""
    to_the_first_shortest(d, min(jobs, 1), view, rates, options, memory, rng, sent)
    carry_along(jobs, sent)


@dataclass(frozen=True)
class JSQFirst(Policy):
    """JSQ with ties to the lowest index (ours, as a warning: products have had this fault)."""

    name = "JSQ, ties to the first"
    decide_one = staticmethod(to_the_first_shortest)
    decide_whole = staticmethod(whole_to_the_first_shortest)

    def prepare(self, cluster):
        return live_ones(cluster)


@dataclass(frozen=True)
class JSQ(Policy):
    """Join the shortest queue: each next job to the shortest, own jobs counted; ties at random."""

    name = "JSQ"
    decide_one = staticmethod(to_the_best)
    decide_whole = staticmethod(whole_to_the_best)
    decide_all = staticmethod(all_to_the_shortest)

    def prepare(self, cluster):
        return np.concatenate([[0.0], live_ones(cluster)])


@dataclass(frozen=True)
class SED(Policy):
    """Shortest expected delay as the paper ranks: each next job to the smallest (queue + own jobs) / rate.

    Ties to the faster server, then at random.
    """

    name = "SED"
    decide_one = staticmethod(to_the_best)
    decide_whole = staticmethod(whole_to_the_best)
    decide_all = staticmethod(all_to_the_soonest)
    counted = 0.0

    def prepare(self, cluster):
        return np.concatenate([[self.counted], cluster.rates])

    def memory_shape(self, cluster):
        return (1, 1)  # a level near the last place of the last round


@dataclass(frozen=True)
class SEDPlus1(SED):
    """SED that counts the job itself: the smallest (queue + own jobs + 1) / rate, the textbooks' SED."""

    name = "SED+1"
    counted = 1.0
