"""The round loop: jobs arrive, dispatchers send them, servers serve, response times are tallied."""

import numpy as np

from lbcore.compiled import kernel
from lbcore.messages import AGES, INFORM, TOUCH, USED
from lbcore.policies.base import ARRIVE, DECIDE_ALL, DECIDE_ONE, FINISH
from lbcore.queues import enlarge, room_for, serve_round


@kernel(
    f"Tuple((int32[::1], int64[::1], int64[::1], int64))(FunctionType({ARRIVE}), FunctionType({DECIDE_ONE}),"
    f" FunctionType({DECIDE_ALL}), FunctionType({FINISH}), boolean, int64[:, ::1], int32[:, ::1], int64, int64,"
    " float64[::1], float64[::1], float64[:, ::1], uint64[::1], float64[:, ::1], float64[::1], int64[::1], int64[::1],"
    " int32[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], int64[::1])"
)
def advance(
    arrive, decide_one, decide_all, finish, jointly, arrivals, capacities, start, warmup, rates, options, memory, rng,
    seen, lengths, head, tail, pool, free, state, histogram, sent, queued, totals,
):  # fmt: skip
    """Some rounds of one policy. Returns what may have grown, and the first round with a wrong decision or -1.

    `seen` holds the queues at the starts of the last rounds, in turn; dispatchers see the oldest of these.
    """
    servers = rates.size
    own, together = np.empty(servers, dtype=np.int64), np.empty(servers, dtype=np.int64)
    view, batches = np.empty(servers), np.empty(arrivals.shape[1], dtype=np.int64)
    for row in range(arrivals.shape[0]):
        now = start + row
        batches[:] = arrivals[row]  # a copy: policies of one's own may write to it
        together[:] = 0
        seen[now % seen.shape[0]] = lengths
        shown = (now + 1) % seen.shape[0]
        view[:] = seen[shown]
        if jointly:
            decide_all(batches, view, rates, options, memory, rng, together)
        else:
            arrive(batches, options, memory)
            for d in range(batches.size):
                own[:] = 0
                decide_one(d, batches[d], view, rates, options, memory, rng, own)
                together += own
        placed, wrong = 0, False
        for s in range(servers):
            placed += together[s]
            sent[s] += together[s]
            wrong |= (
                (together[s] < 0) | ((rates[s] == 0.0) & (together[s] != 0)) | (view[s] != seen[shown, s])
            )
        if wrong or placed != arrivals[row].sum():
            return pool, free, histogram, now
        if state[0] < servers:
            pool, free = enlarge(pool, free, state)
        if now - state[1] + 1 >= histogram.size:
            histogram = room_for(lengths, now, head, pool, state, histogram)
        totals[row] = serve_round(
            lengths, together, capacities[row], now, warmup, head, tail, pool, free, state, histogram
        )
        if now >= warmup:
            queued += lengths
        finish(lengths, capacities[row], rates, options, memory, rng)
    return pool, free, histogram, -1


@kernel(
    f"Tuple((int32[::1], int64[::1], int64[::1], int64))(FunctionType({ARRIVE}), FunctionType({DECIDE_ONE}),"
    f" FunctionType({FINISH}), FunctionType({INFORM}), FunctionType({TOUCH}), int64, int64[::1], float64[:, ::1],"
    " int64[:, ::1], float64[:, ::1], uint64[::1], float64[::1], int64[:, ::1], int32[:, ::1], int64, int64,"
    " float64[::1], float64[::1], float64[:, ::1], uint64[::1], float64[:, ::1], float64[::1], int64[::1], int64[::1],"
    " int32[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], int64[::1], int64[:, :, ::1],"
    " float64[:, ::1])"
)
def advance_apart(
    arrive, decide_one, finish, inform, touch, amount, live, known, stamps, pending, looks, counts,
    arrivals, capacities, start, warmup, rates, options, memory, rng,
    seen, lengths, head, tail, pool, free, state, histogram, sent, queued, totals, each, left,
):  # fmt: skip
    """`advance` where each dispatcher has a view of its own, what it knows of a queue and its jobs sent there since.

    Writes what each has sent to `each`, zeros at first, and the queues at each round's end to `left`.
    """
    servers = rates.size
    together, view = np.empty(servers, dtype=np.int64), np.empty(servers)
    for row in range(arrivals.shape[0]):
        now, batches, wrong = start + row, arrivals[row], False
        together[:] = 0
        seen[now % seen.shape[0]] = lengths
        shown = seen[(now + 1) % seen.shape[0]]
        inform(amount, now, shown, live, known, stamps, pending, looks, counts)
        arrive(batches, options, memory)
        for d in range(batches.size):
            for s in range(servers):
                view[s] = known[d, s] + pending[d, s]
            decide_one(d, batches[d], view, rates, options, memory, rng, each[row, d])
            placed = 0
            for s in range(servers):
                jobs = each[row, d, s]
                placed += jobs
                together[s] += jobs
                wrong |= (jobs < 0) | ((rates[s] == 0.0) & (jobs != 0))
                wrong |= view[s] != known[d, s] + pending[d, s]
            wrong |= placed != batches[d]
            if batches[d] > 0 and now >= warmup:
                for s in live:
                    counts[AGES] += now - stamps[d, s]
                counts[USED] += live.size
        if wrong:
            return pool, free, histogram, now
        sent += together
        if state[0] < servers:
            pool, free = enlarge(pool, free, state)
        if now - state[1] + 1 >= histogram.size:
            histogram = room_for(lengths, now, head, pool, state, histogram)
        totals[row] = serve_round(
            lengths, together, capacities[row], now, warmup, head, tail, pool, free, state, histogram
        )
        left[row] = lengths
        for d in range(batches.size):
            touch(d, now + 1, lengths, each[row, d], known, stamps, pending, counts)
        if now >= warmup:
            queued += lengths
        finish(lengths, capacities[row], rates, options, memory, rng)
    return pool, free, histogram, -1
