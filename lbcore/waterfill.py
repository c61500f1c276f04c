"""If jobs were water: how high would it stand, and how much over each server?

A server is a column as wide as its rate; the queue already in it is a floor of height queue / rate. Poured
water finds one level. Letters of the papers: rates mu_s, queues q_s, arrivals a, level iwl.
"""

import math

import numpy as np

from lbcore.checks import (
    ARRIVALS,
    LARGEST_QUEUE,
    LARGEST_RATE,
    NO_RATE,
    QUEUE,
    RATE,
    SMALLEST_RATE,
    lay_out,
    raise_fault,
)
from lbcore.compiled import kernel


@kernel("int64(float64[::1])")
def faulty_rate(rates):
    """Code and place (code + 8 * server) of the first rate that breaks its rule, or 0."""
    live = False
    for s in range(rates.size):
        if not (rates[s] == 0.0 or SMALLEST_RATE <= rates[s] <= LARGEST_RATE):
            return RATE + 8 * s
        live = live or rates[s] > 0.0
    return 0 if live else NO_RATE


@kernel("int64(float64[::1])")
def faulty_queue(queues):
    """Code and place (code + 8 * server) of the first queue that breaks its rule, or 0."""
    fine = True
    for s in range(queues.size):  # without a branch, so that it is vectorised
        fine &= (queues[s] >= 0.0) & (queues[s] < LARGEST_QUEUE) & (queues[s] == np.floor(queues[s]))
    if fine:
        return 0
    for s in range(queues.size):
        if not (0.0 <= queues[s] < LARGEST_QUEUE and queues[s] == np.floor(queues[s])):
            return QUEUE + 8 * s
    return 0


@kernel("int64(float64[:, ::1], float64[:, ::1], float64[::1], int64)")
def find_fault(queues, rates, volumes, row):
    """Code and place (code + 8 * (row * servers + server)) of the first fault in a row of a layout, or 0.

    An argument of one row serves all rows and is looked at once, with row 0.
    """
    fault = 0
    if row < rates.shape[0]:
        fault = faulty_rate(rates[row])
    if fault == 0 and row < queues.shape[0]:
        fault = faulty_queue(queues[row])
    if fault == 0 and row < volumes.size and not 0.0 <= volumes[row] <= LARGEST_QUEUE:
        fault = ARRIVALS
    return fault + 8 * queues.shape[1] * row if fault else 0


@kernel("UniTuple(float64, 2)(float64[::1], float64[::1], float64, float64[::1], float64)")
def wet_sums(queues, rates, half, heights, level):
    """Sums of queues + half and of rates over the servers whose height is below the level.

    Four sums side by side, in a fixed order: they do not wait for one another, and no fast-math is needed.
    """
    t0 = t1 = t2 = t3 = w0 = w1 = w2 = w3 = 0.0
    full = queues.size - queues.size % 4
    for s in range(0, full, 4):
        t0 += (queues[s] + half) * (heights[s] < level)
        t1 += (queues[s + 1] + half) * (heights[s + 1] < level)
        t2 += (queues[s + 2] + half) * (heights[s + 2] < level)
        t3 += (queues[s + 3] + half) * (heights[s + 3] < level)
        w0 += rates[s] * (heights[s] < level)
        w1 += rates[s + 1] * (heights[s + 1] < level)
        w2 += rates[s + 2] * (heights[s + 2] < level)
        w3 += rates[s + 3] * (heights[s + 3] < level)
    for s in range(full, queues.size):
        t0 += (queues[s] + half) * (heights[s] < level)
        w0 += rates[s] * (heights[s] < level)
    return (t0 + t1) + (t2 + t3), (w0 + w1) + (w2 + w3)


@kernel("UniTuple(float64, 2)(float64[::1], float64[::1], float64, float64, float64[::1], float64)")
def settle(queues, rates, half, volume, heights, level):
    """Level of `volume` poured over `heights`, sought from any `level` on, and what lies under water.

    Newton's method on the poured volume, which is convex in the level: the first step may rise to or above
    the answer, from there the level only falls, and stops when the set of wet servers does (ours; no sort as
    in the paper's Algorithm 3).
    """
    falling = False
    while volume > 0.0:
        floor, width = wet_sums(queues, rates, half, heights, level)
        if width == 0.0:
            if falling or level == np.inf:  # too little water to tell from none at this height
                break
            level = np.inf  # it began below every floor
            continue
        lower = (floor + volume) / width
        if falling and lower >= level:
            return level, floor
        level, falling = lower, True
    return np.min(heights), np.inf


@kernel("UniTuple(float64, 2)(float64[::1], float64[::1], float64, float64, float64[::1])")
def water_level(queues, rates, half, volume, heights):
    """Level of `volume` poured over heights (queues + half) / rates, and what lies under water; fills `heights`.

    It is sought with every server wet at first, or in a large cluster from where a sample stands.
    """
    for s in range(queues.size):
        heights[s] = (queues[s] + half) / rates[s] if rates[s] > 0.0 else np.inf
    level = np.inf
    every = queues.size // 1000
    if every >= 20:
        sample = slice(0, 1000 * every, every)
        few = heights[sample].copy()
        level, _ = water_level(queues[sample].copy(), rates[sample].copy(), half, volume / every, few)
    return settle(queues, rates, half, volume, heights, level)


@kernel("void(float64[::1], float64[::1], float64, float64, float64[::1])")
def depths(queues, rates, half, near, poured):
    """rates * near - queues - half without cancellation: the product is error-free (Dekker's)."""
    big = near * 134217729.0  # 2**27 + 1: splits a double into two halves whose products are exact
    near_high = big - (big - near)
    near_low = near - near_high
    for s in range(queues.size):
        big = rates[s] * 134217729.0
        high = big - (big - rates[s])
        low = rates[s] - high
        product = rates[s] * near
        error = ((high * near_high - product) + high * near_low + low * near_high) + low * near_low
        poured[s] = (product - queues[s]) + error - half


@kernel("float64(float64[::1], float64[::1], float64)")
def correction(depth, rates, volume):
    """What to add to a level, given the depths below it, for `volume` to stand there; Newton's method again."""
    rise, falling = 0.0, False  # the first step may go up; from there it only falls
    while True:
        total = width = 0.0
        for s in range(rates.size):
            wet = (depth[s] + rates[s] * rise > 0.0) & (rates[s] > 0.0)
            total += depth[s] if wet else 0.0
            width += rates[s] if wet else 0.0
        if width == 0.0 and falling:
            return rise
        closer = (volume - total) / width if width > 0.0 else np.inf
        if falling and closer >= rise:
            return rise
        rise, falling = closer, True


@kernel("float64(float64[::1], float64)")
def exact_sum(values, most):
    """Sum of numbers >= 0 that is at most about `most`, right to a last bit however many there are.

    Adding and taking away a power of 2 cuts each number on one grid; on it every sum is exact.
    """
    unit = math.ldexp(1.0, math.frexp(most)[1])
    h0 = h1 = h2 = h3 = low = 0.0
    full = values.size - values.size % 4
    for s in range(0, full, 4):
        c0 = (values[s] + unit) - unit
        c1 = (values[s + 1] + unit) - unit
        c2 = (values[s + 2] + unit) - unit
        c3 = (values[s + 3] + unit) - unit
        h0 += c0
        h1 += c1
        h2 += c2
        h3 += c3
        low += ((values[s] - c0) + (values[s + 1] - c1)) + ((values[s + 2] - c2) + (values[s + 3] - c3))
    for s in range(full, values.size):
        cut = (values[s] + unit) - unit
        h0 += cut
        low += values[s] - cut
    return ((h0 + h1) + (h2 + h3)) + low


@kernel("float64(float64[::1], float64[::1], float64, float64, float64, float64[::1], float64[::1])")
def pour(queues, rates, half, volume, total, heights, poured):
    """Fill `poured` with the water over each server for `volume` > 0, scaled to sum to `total`; return the level.

    rates * level - queues cancels when long queues are nearly balanced and little is poured. Only then the
    depths are found with an error-free product, and the level is corrected by what they leave over.
    """
    level, floor = water_level(queues, rates, half, volume, heights)
    rise = 0.0
    if floor > 4.0 * volume:  # else at most three bits cancel
        depths(queues, rates, half, level, poured)
        rise = correction(poured, rates, volume)
        for s in range(queues.size):
            depth = poured[s] + rates[s] * rise
            poured[s] = depth if (depth > 0.0) & (rates[s] > 0.0) else 0.0
    else:
        for s in range(queues.size):
            depth = rates[s] * level - queues[s] - half
            poured[s] = depth if (depth > 0.0) & (rates[s] > 0.0) else 0.0
    scale = total / exact_sum(poured, volume)
    for s in range(queues.size):
        poured[s] *= scale
    return level + rise


@kernel("int64(float64[:, ::1], float64[:, ::1], float64[::1], float64[::1])")
def _levels(queues, rates, arrivals, levels):
    heights = np.empty(queues.shape[1])
    for row in range(levels.size):
        fault = find_fault(queues, rates, arrivals, row)
        if fault:
            return fault
        q, mu = queues[row % queues.shape[0]], rates[row % rates.shape[0]]
        volume = arrivals[row % arrivals.size]
        levels[row], _ = water_level(q, mu, 0.0, volume, heights)
    return 0


@kernel("int64(float64[:, ::1], float64[:, ::1], float64[::1], float64[:, ::1])")
def _assignments(queues, rates, arrivals, assigned):
    heights = np.empty(queues.shape[1])
    for row in range(assigned.shape[0]):
        fault = find_fault(queues, rates, arrivals, row)
        if fault:
            return fault
        q, mu = queues[row % queues.shape[0]], rates[row % rates.shape[0]]
        volume = arrivals[row % arrivals.size]
        if volume > 0.0:
            pour(q, mu, 0.0, volume, volume, heights, assigned[row])
        else:
            assigned[row] = 0.0
    return 0


def ideal_workload(queues, rates, arrivals):
    """How high would the load stand if jobs were water? The papers' iwl (SCD: Eq. 1, Algorithm 3).

    Parameters
    ----------
    queues : array_like, shape (..., n)
        Jobs waiting at each server at the start of the round; whole numbers.
    rates : array_like, shape (n,) or (..., n)
        Mean jobs a round each server can do; 0 = out of service.
    arrivals : array_like, shape (...,)
        All jobs of the round together, from 0 up; fractions are allowed.

    Returns
    -------
    float64 or array, shape (...,)
        Rounds of work at the least loaded server in use, once the arrivals are spread as evenly as can be.
        With no arrivals, the smallest queue / rate.

    Raises
    ------
    ValueError
        Names the argument and the place that breaks its rule.

    Notes
    -----
    Newton's method without a sort (ours): a few passes over the servers. In contrived cases (heights that
    grow like factorials) it takes a pass a server. `lb.derivation.sorted_level` is the paper's Algorithm 3.
    """
    (q, mu, volumes), shape = lay_out(queues, rates, arrivals=arrivals)
    levels = np.empty(math.prod(shape))
    fault = _levels(q, mu, volumes, levels)
    if fault:
        raise_fault(fault, shape, q.shape[1], queues=queues, rates=rates, arrivals=arrivals)
    return levels.reshape(shape) if shape else levels[0]


def ideal_assignment(queues, rates, arrivals):
    """How much water would stand over each server? The papers' iba (SCD: Eq. 1 and 2).

    Parameters and errors are those of `ideal_workload`.

    Returns
    -------
    array, shape (..., n)
        Jobs, as fractions, that each server gets: max(0, rate * iwl - queue). They sum to the arrivals.
    """
    (q, mu, volumes), shape = lay_out(queues, rates, arrivals=arrivals)
    assigned = np.empty((math.prod(shape), q.shape[1]))
    fault = _assignments(q, mu, volumes, assigned)
    if fault:
        raise_fault(fault, shape, q.shape[1], queues=queues, rates=rates, arrivals=arrivals)
    return assigned.reshape((*shape, -1))
