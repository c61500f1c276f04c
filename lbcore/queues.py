"""FIFO queues of whole jobs, kept as runs: (round of arrival, how many). And the tally of response times.

The runs of all servers lie in one pool of chunks, seven runs a chunk (a cache line), linked in order of arrival,
so that memory follows what waits: about 9 bytes a run. What is served in its round of arrival never enters.
"""

import numpy as np

from lbcore.compiled import kernel

_RUNS = 7  # a chunk is [next chunk, unused, round, jobs, round, jobs, ...]
FIRST, TAKEN, LAST, FILLED = (
    0,
    1,
    2,
    3,
)  # of a server's ends: first chunk, runs gone from it, last chunk, runs in it


class Queues:
    """Empty queues of `servers`, and their tally.

    Attributes
    ----------
    lengths : float64 array, shape (n,)
        Jobs at each server, whole numbers.
    histogram : int64 array
        Completed jobs by response time in rounds; grows as needed.
    served : int64 array, shape (n,)
        Jobs each server has completed.
    """

    def __init__(self, servers):
        self.lengths = np.zeros(servers)
        self.served = np.zeros(servers, dtype=np.int64)
        self.histogram = np.zeros(64, dtype=np.int64)
        self.ends = np.zeros((servers, 4), dtype=np.int32)
        self.ends[:, FIRST] = self.ends[:, LAST] = np.arange(servers)
        self.chunks = np.zeros((3 * servers, 2 + 2 * _RUNS), dtype=np.int32)
        self.free = np.arange(3 * servers, dtype=np.int32)[
            ::-1
        ].copy()  # a stack; its used height is spare[0]
        self.spare = np.array([2 * servers])


@kernel("Tuple((int32[:, ::1], int32[::1]))(int32[:, ::1], int32[::1], int64[::1])")
def enlarge(chunks, free, spare):
    """Half as many chunks more; the new ones are free."""
    old = chunks.shape[0]
    new = old + old // 2 + 1
    larger, stack = np.zeros((new, chunks.shape[1]), dtype=np.int32), np.zeros(new, dtype=np.int32)
    larger[:old] = chunks
    stack[: spare[0]] = free[: spare[0]]
    for chunk in range(new - 1, old - 1, -1):
        stack[spare[0]] = chunk
        spare[0] += 1
    return larger, stack


@kernel("void(int32[:, ::1], int32[:, ::1], int32[::1], int64[::1], int64, int64, int64)")
def join(ends, chunks, free, spare, s, now, jobs):
    """Jobs that arrived in round `now` go to the end of the queue of server s."""
    place = ends[s, FILLED]
    if place == _RUNS:
        spare[0] -= 1
        chunk = free[spare[0]]
        chunks[ends[s, LAST], 0] = chunk
        ends[s, LAST] = chunk
        place = 0
    chunks[ends[s, LAST], 2 + 2 * place] = now
    chunks[ends[s, LAST], 3 + 2 * place] = jobs
    ends[s, FILLED] = place + 1


@kernel("int64[::1](int64[::1], int64, int64, int64)")
def tally(histogram, response, jobs, counted):
    """Count `jobs` completed after `response` rounds, unless they arrived in the warm-up; the histogram grows."""
    if counted:
        if response >= histogram.size:
            larger = np.zeros(2 * response, dtype=np.int64)
            larger[: histogram.size] = histogram
            histogram = larger
        histogram[response] += jobs
    return histogram


@kernel(
    "int64[::1](int32[:, ::1], int32[:, ::1], int32[::1], int64[::1], int64, int64, int64, int64, int64[::1])"
)
def leave(ends, chunks, free, spare, s, jobs, now, warmup, histogram):
    """The first `jobs` in the queue of server s, of earlier rounds, are done in round `now`; they are there."""
    while jobs > 0:
        chunk, place = ends[s, FIRST], 2 + 2 * ends[s, TAKEN]
        arrived, waiting = chunks[chunk, place], chunks[chunk, place + 1]
        done = min(jobs, waiting)
        histogram = tally(histogram, now - arrived + 1, done, arrived >= warmup)
        jobs -= done
        if done < waiting:
            chunks[chunk, place + 1] = waiting - done
            break
        ends[s, TAKEN] += 1
        if chunk == ends[s, LAST]:
            if ends[s, TAKEN] == ends[s, FILLED]:  # empty: begin again at the front of its chunk
                ends[s, TAKEN] = ends[s, FILLED] = 0
        elif ends[s, TAKEN] == _RUNS:
            ends[s, FIRST], ends[s, TAKEN] = chunks[chunk, 0], 0
            free[spare[0]] = chunk
            spare[0] += 1
    return histogram


@kernel(
    "Tuple((int32[:, ::1], int32[::1], int64[::1], float64))(float64[::1], int64[::1], int32[::1], int64, int64,"
    " int32[:, ::1], int32[:, ::1], int32[::1], int64[::1], int64[::1], int64[::1])"
)
def serve_round(lengths, sent, capacities, now, warmup, ends, chunks, free, spare, histogram, served):
    """The jobs sent in round `now` join, and every server serves up to its capacity, first come first served.

    Returns what may have grown (chunks, free, histogram) and how many jobs are left in all queues.
    """
    if spare[0] < lengths.size:  # a server needs one chunk a round at most
        chunks, free = enlarge(chunks, free, spare)
    left = 0.0
    for s in range(lengths.size):
        old, new, capacity = int(lengths[s]), sent[s], np.int64(capacities[s])
        done = min(old, capacity)
        if done > 0:
            histogram = leave(ends, chunks, free, spare, s, done, now, warmup, histogram)
        at_once = min(new, capacity - done)
        if at_once > 0:
            histogram = tally(histogram, 1, at_once, now >= warmup)
        if new > at_once:
            join(ends, chunks, free, spare, s, now, new - at_once)
        served[s] += done + at_once
        lengths[s] = old + new - done - at_once
        left += lengths[s]
    return chunks, free, histogram, left
