"""FIFO queues of whole jobs, kept as runs: (round of arrival, how many). And the tally of response times.

The runs of all servers lie in one pool of chunks, seven runs a chunk (a cache line), linked in order of arrival,
so that memory follows what waits: about 9 bytes a run. What is served in its round of arrival never enters.
"""

import numpy as np

from lbcore.compiled import kernel

CHUNK = 16  # numbers a chunk: where the next chunk begins, one unused, then seven times (round, jobs)


class Queues:
    """Empty queues of `servers`, and their tally.

    Attributes
    ----------
    lengths : float64 array, shape (n,)
        Jobs at each server, whole numbers.
    histogram : int64 array
        Completed jobs by response time in rounds; grows as needed.
    head, tail : int64 arrays, shape (n,)
        Where in the pool each server's first run is, and where its next run will be.
    pool : int32 array
        The chunks.
    free : int64 array
        Chunks that no queue uses, a stack; `state[0]` is its height, `state[1]` at most the oldest round of a run.
    """

    def __init__(self, servers):
        self.lengths = np.zeros(servers)
        self.histogram = np.zeros(64, dtype=np.int64)
        self.head = np.arange(servers) * CHUNK + 2
        self.tail = self.head.copy()
        self.pool = np.zeros(3 * servers * CHUNK, dtype=np.int32)
        self.free = np.arange(3 * servers)[::-1] * CHUNK
        self.free = self.free.copy()  # kernels take no reversed arrays
        self.state = np.array([2 * servers, 0])


@kernel("Tuple((int32[::1], int64[::1]))(int32[::1], int64[::1], int64[::1])")
def enlarge(pool, free, state):
    """Half as many chunks more; the new ones are free."""
    old = free.size
    new = old + old // 2 + 1
    larger, stack = np.zeros(new * CHUNK, dtype=np.int32), np.zeros(new, dtype=np.int64)
    larger[: pool.size] = pool
    stack[: state[0]] = free[: state[0]]
    for chunk in range(new - 1, old - 1, -1):
        stack[state[0]] = chunk * CHUNK
        state[0] += 1
    return larger, stack


@kernel("int64[::1](float64[::1], int64, int64[::1], int32[::1], int64[::1], int64[::1])")
def room_for(lengths, now, head, pool, state, histogram):
    """The histogram, grown if a job that now waits could not be tallied in round `now`."""
    oldest = now
    for s in range(lengths.size):
        if lengths[s] > 0.0:
            oldest = min(oldest, np.int64(pool[head[s]]))
    state[1] = oldest
    if now - oldest + 1 < histogram.size:
        return histogram
    larger = np.zeros(2 * (now - oldest + 2), dtype=np.int64)
    larger[: histogram.size] = histogram
    return larger


@kernel(
    "int64(float64[::1], int64[::1], int32[::1], int64, int64, int64[::1], int64[::1], int32[::1], int64[::1],"
    " int64[::1], int64[::1])"
)
def serve_round(lengths, sent, capacities, now, warmup, head, tail, pool, free, state, histogram):
    """The jobs sent in round `now` join, and every server serves up to its capacity, first come first served.

    Jobs of the warm-up are not tallied. There must be a free chunk for each server and room in the histogram.
    Returns how many jobs are left in all queues.
    """
    left, at_once = 0, 0
    for s in range(lengths.size):
        old, new, able = np.int64(lengths[s]), sent[s], np.int64(capacities[s])
        if old > 0 and able > 0:
            todo, place = min(old, able), head[s]
            able -= todo
            old -= todo
            while True:
                arrived, waiting = np.int64(pool[place]), np.int64(pool[place + 1])
                done = min(todo, waiting)
                if arrived >= warmup:
                    histogram[now - arrived + 1] += done
                todo -= done
                if done < waiting:
                    pool[place + 1] = waiting - done
                    break
                place += 2
                if place == tail[s]:  # empty: begin again at the front of its chunk
                    place = (place - 2) // CHUNK * CHUNK + 2
                    tail[s] = place
                    break
                if place % CHUNK == 0:
                    free[state[0]] = place - CHUNK
                    state[0] += 1
                    place = np.int64(pool[place - CHUNK]) + 2
                if todo == 0:
                    break
            head[s] = place
        done = min(new, able)
        at_once += done
        new -= done
        if new > 0:
            place = tail[s]
            if place % CHUNK == 0:
                state[0] -= 1
                pool[place - CHUNK] = free[state[0]]
                place = free[state[0]] + 2
            pool[place], pool[place + 1] = now, new
            tail[s] = place + 2
        lengths[s] = old + new
        left += old + new
    if now >= warmup:
        histogram[1] += at_once
    return left
