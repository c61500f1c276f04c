"""Places in order: each next job to the server that looks best, in time that hardly grows with the jobs.

The places of a server are its next jobs: place k has the key (length + k + counted) / speed. A dispatcher with a
jobs takes the first a places of all servers; ties go to the faster server, then at random.
"""

import numpy as np

from lbcore.compiled import kernel
from lbcore.draws import below, precedes, uniform
from lbcore.waterfill import settle, wet_sums


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
        if not precedes(keys[a], speeds[a], lots[a], keys[s], speeds[s], lots[s]):
            break
        heap[root] = a
        root = child
    heap[root] = s


@kernel("void(int64[::1], int64, int64, float64[::1], float64[::1], float64[::1])")
def rise(heap, s, size, keys, speeds, lots):
    """Put server s into a heap of `size`."""
    place = size
    while place > 0:
        parent = heap[(place - 1) // 2]
        if not precedes(keys[s], speeds[s], lots[s], keys[parent], speeds[parent], lots[parent]):
            break
        heap[place] = parent
        place = (place - 1) // 2
    heap[place] = s


@kernel("float64(float64[::1], float64[::1], float64, float64, float64, float64[::1])")
def above_the_last(lengths, speeds, counted, jobs, guess, heights):
    """A level at or a little above the last of the first `jobs` places; fills `heights`.

    Water of that volume stands so high, for a server has at least as many places under it as water over it. Newton's
    steps never end below; from a good guess one is enough.
    """
    for s in range(lengths.size):
        heights[s] = (lengths[s] + counted) / speeds[s] if speeds[s] > 0.0 else np.inf
    level, again = guess, False
    while True:
        floor, width = wet_sums(lengths, speeds, counted, heights, level)
        if (
            width == 0.0
        ):  # a guess below all; or, the second time, too few jobs to tell from none at this height
            if again:
                return np.min(heights) * (1.0 + 1e-9)
            level, again = np.inf, True
            continue
        before, level = level, (floor + jobs) / width
        if abs(before - level) <= 0.1 * level:
            return level * (1.0 + 1e-9)


@kernel(
    "Tuple((int64, int64, float64))(float64[::1], float64[::1], float64, int64, int64, float64, float64[::1],"
    " int64[::1], int64[::1])"
)
def begin(lengths, speeds, counted, fewest, most, guess, keys, own, heap):
    """Skip what needs no order: `own` gets places that are surely among the first `fewest`.

    Servers whose next place may be among the first `most` go to `heap`, not in order yet, and that place's key to
    `keys`. Returns how many places were skipped, the size of the heap, and a level to guess from next time.
    """
    high = above_the_last(lengths, speeds, counted, most, guess, keys)
    width, size = 0.0, 0
    for s in range(lengths.size):
        inside = keys[s] <= high
        width += speeds[s] if inside else 0.0
        own[s], heap[size] = 0, s
        size += inside
    low, step = high - (most - fewest + 0.55 * size) / width, 1e-12 * high
    while True:
        skipped = bound = 0
        for k in range(size):
            s = heap[k]
            under, blur = speeds[s] * low - lengths[s] - counted, 1e-9 * (1.0 + lengths[s])
            bound += max(0, int(np.floor(under + blur)) + 1)  # blur is more than rounding can hide
            own[s] = max(0, int(np.ceil(under - blur)))
            skipped += own[s]
        if bound <= fewest:  # no more than `fewest` places lie under `low`
            break
        step = max(2.0 * step, (bound - fewest) / width)
        low -= step
    left = 0
    for k in range(size):
        s = heap[k]
        keys[s] = (lengths[s] + own[s] + counted) / speeds[s]
        heap[left] = s
        left += keys[s] <= high
    return skipped, left, high


@kernel("float64(float64[::1], float64[::1], float64, int64, float64, uint64[::1], int64[::1])")
def fill(lengths, speeds, counted, jobs, guess, rng, sent):
    """Put into `sent` the first `jobs` places of all servers; speed 0 is out of service.

    `guess` is a level near the last place, or inf; returns one to guess from next time.
    """
    servers = lengths.size
    keys, lots, heap = np.empty(servers), np.empty(servers), np.empty(servers, dtype=np.int64)
    skipped, size, high = begin(lengths, speeds, counted, jobs, jobs, guess, keys, sent, heap)
    for k in range(size):
        lots[heap[k]] = uniform(rng)
    for root in range(size // 2 - 1, -1, -1):
        sift(heap, root, size, keys, speeds, lots)
    for _ in range(jobs - skipped):
        s = heap[0]
        sent[s] += 1
        keys[s], lots[s] = (lengths[s] + sent[s] + counted) / speeds[s], uniform(rng)
        sift(heap, 0, size, keys, speeds, lots)
    return high


@kernel("void(int64[::1], int64, int64, uint64[::1], int64[::1])")
def some_of(group, size, chosen, rng, sent):
    """A job more to `chosen` distinct servers of the first `size` of a group, drawn evenly; the group is shuffled."""
    spared = 2 * chosen > size  # then draw those that get none
    for k in range(size - chosen if spared else chosen):
        other = k + below(rng, size - k)
        group[k], group[other] = group[other], group[k]
        sent[group[k]] += -1 if spared else 1
    if spared:
        for k in range(size):
            sent[group[k]] += 1


@kernel("float64(float64[::1], float64[::1], int64, float64, uint64[::1], int64[::1])")
def level_off(lengths, live, jobs, guess, rng, sent):
    """`fill` for servers of one speed: up to the whole level under the water's, and the rest at random among these."""
    servers, used, count = lengths.size, 0, 0
    heights, line = np.empty(servers), np.empty(servers, dtype=np.int64)
    for s in range(servers):
        heights[s] = lengths[s] if live[s] > 0.0 else np.inf
    level, _ = settle(lengths, live, 0.0, float(jobs), heights, guess)
    whole = np.floor(level)
    for s in range(servers):
        if heights[s] <= whole:
            sent[s] = int(whole - heights[s])
            used += sent[s]
            line[count] = s
            count += 1
    some_of(line, count, jobs - used, rng, sent)
    return level


@kernel("UniTuple(float64, 2)(float64[::1], float64[::1])")
def reach(queues, live):
    """The shortest and the longest queue of the servers in service."""
    least, longest = np.inf, 0.0
    for s in range(queues.size):
        if live[s] > 0.0:
            least, longest = min(least, queues[s]), max(longest, queues[s])
    return least, longest


@kernel("int64(float64[::1], float64[::1], float64, int64, int64[::1], int64[::1])")
def line_up(queues, live, least, span, ends, line):
    """Servers whose queue is less than `span` longer than `least`, shortest first, into `line`; returns how many.

    `ends[k + 1]` becomes the number of them at most k longer.
    """
    for s in range(queues.size):
        if live[s] > 0.0 and queues[s] - least < span:
            ends[int(queues[s] - least) + 1] += 1
    for level in range(span):
        ends[level + 1] += ends[level]
    place = ends.copy()
    for s in range(queues.size):
        if live[s] > 0.0 and queues[s] - least < span:
            level = int(queues[s] - least)
            line[place[level]] = s
            place[level] += 1
    return ends[span]


@kernel("void(int64[::1], float64, float64, float64[::1], float64[::1], uint64[::1], int64[::1])")
def level_up(ordered, least, longest, queues, live, rng, sent):
    """Each batch, the smallest first, to the shortest queues, as if it were alone; queues reach from least to longest.

    It fills these up to a level of its own, and some of those at the level, drawn evenly, get one job more.
    """
    span = (
        int(min(longest - least, float(ordered[-1]))) + 1
    )  # levels at which servers join those that are filled
    ends, line = np.zeros(span + 1, dtype=np.int64), np.empty(queues.size, dtype=np.int64)
    count = line_up(queues, live, least, span, ends, line)
    filled = np.zeros(span + 1, dtype=np.int64)  # how many dispatchers fill up to each level
    level, used, above = 0, 0, 0
    for batch in ordered:
        while level < span - 1 and used + ends[level + 1] <= batch:
            used += ends[level + 1]
            level += 1
        if level >= span - 1:  # all servers are at one level
            used, level = used + (batch - used) // count * count, level + (batch - used) // count
        filled[min(level, span)] += 1
        above += max(0, level - span)
        some_of(line, ends[min(level + 1, span)], batch - used, rng, sent)
    gain, higher = above, 0  # jobs that a server at a level gets of all dispatchers together
    ends[span] = gain
    for level in range(span - 1, -1, -1):
        higher += filled[level + 1]
        gain += higher
        ends[level] = gain
    for k in range(count):
        sent[line[k]] += ends[int(queues[line[k]] - least)]
