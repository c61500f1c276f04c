"""Random choices inside kernels: a generator, draws in proportion to weights, and the order of candidates.

The generator is NumPy's SFC64, bit for bit, kept in an array of four words, so that kernels need no call into
NumPy for a number. `lbcore.draws.generator` makes its state from a SeedSequence.
"""

import math

import numpy as np

from lbcore.compiled import kernel

_ONE, _3, _11, _24, _40 = (np.uint64(k) for k in (1, 3, 11, 24, 40))


def generator(seeds):
    """State of a generator for kernels, uint64 array of shape (4,); `seeds` is a numpy.random.SeedSequence."""
    return np.random.SFC64(seeds).state["state"]["state"].copy()


@kernel("float64(uint64[::1])")
def uniform(rng):
    """Next number from [0, 1): what numpy.random.Generator(SFC64).random() would give."""
    word = rng[0] + rng[1] + rng[3]
    rng[3] += _ONE
    rng[0] = rng[1] ^ (rng[1] >> _11)
    rng[1] = rng[2] + (rng[2] << _3)
    rng[2] = ((rng[2] << _24) | (rng[2] >> _40)) + word
    return (word >> _11) * 2.0**-53


@kernel("int64(uint64[::1], int64)")
def below(rng, n):
    """A whole number from 0 to n - 1, evenly (to n parts in 2**53)."""
    return int(uniform(rng) * n)


def raffle(weights):
    """Table for draws in proportion to weights in one look-up: Walker's alias method, after Vose.

    Parameters
    ----------
    weights : array_like, shape (n,)
        At least one above 0; a weight of 0 is never drawn.

    Returns
    -------
    float64 array, shape (3 * k,)
        For the k weights above 0: the share of each cell that is its owner's, the owners, and who has the rest.
    """
    owners = np.flatnonzero(weights)
    share = np.asarray(weights, dtype=float)[owners]
    share = share / share.sum() * owners.size
    rest = owners.copy()
    small = [k for k in range(owners.size) if share[k] < 1]
    large = [k for k in range(owners.size) if share[k] >= 1]
    while small and large:
        k, giver = small.pop(), large[-1]
        rest[k] = owners[giver]
        share[giver] -= 1 - share[k]
        if share[giver] < 1:
            small.append(large.pop())
    share[[*small, *large]] = 1.0  # what rounding left over
    return np.concatenate([share, owners, rest])


@kernel("int64(float64[::1], uint64[::1])")
def draw(table, rng):
    """An index in proportion to the weights of `raffle`."""
    cells = table.size // 3
    place = uniform(rng) * cells
    cell = int(place)
    return int(table[cells + cell] if place - cell < table[cell] else table[2 * cells + cell])


@kernel("boolean(int64[::1], int64, int64)")
def among(chosen, count, s):
    """Whether s is one of the first `count` of `chosen`."""
    for k in range(count):
        if chosen[k] == s:
            return True
    return False


@kernel("int64(float64[::1], int64[::1], int64, uint64[::1])")
def draw_left(weights, chosen, count, rng):
    """An index in proportion to weights, other than the first `count` of `chosen`, in one walk over what is left."""
    left = 0.0
    for s in range(weights.size):
        left += 0.0 if among(chosen, count, s) else weights[s]
    left, last = left * uniform(rng), -1
    for s in range(weights.size):
        if weights[s] > 0.0 and not among(chosen, count, s):
            left, last = left - weights[s], s
            if left < 0.0:
                break
    return last


@kernel("int64(float64[::1], int64[::1], int64, uint64[::1])")
def draw_another(table, chosen, count, rng):
    """An index in proportion to weights, other than the first `count` of `chosen`; or -1, then `draw_left` must.

    After some tries in vain it gives up (weights of 10**6, 1, 1). Short, so that it is inlined: a call that is not
    costs five times a draw.
    """
    for _ in range(8):
        s = draw(table, rng)
        if not among(chosen, count, s):
            return s
    return -1


@kernel("int64(int64, float64, uint64[::1])")
def binomial(n, p, rng):
    """How many of n trials of probability p succeed.

    By going up from 0 where few are expected, else by Hoermann's transformed rejection (BTRS, 1993) with ratios of
    probabilities as products: no logarithm, so that the bits do not depend on the system's mathematics library.
    """
    if p > 0.5:
        return n - binomial(n, 1.0 - p, rng)
    odds, expected = p / (1.0 - p), n * p
    if expected < 12.0:
        chance, base, power = 1.0, 1.0 - p, n
        while power > 0:  # (1 - p)**n
            chance, base, power = chance * base if power & 1 else chance, base * base, power >> 1
        k, mark = 0, uniform(rng)
        while mark >= chance and chance > 1e-18:  # else the mark lies in what rounding lost
            mark -= chance
            k += 1
            chance *= odds * (n - k + 1) / k
        return k
    spread = math.sqrt(expected * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    mode = int((n + 1) * p)
    while True:
        u, v = uniform(rng) - 0.5, uniform(rng)
        edge = 0.5 - abs(u)
        k = math.floor((2.0 * a / edge + b) * u + expected + 0.5) if edge > 0.0 else -1
        if edge >= 0.07 and v <= 0.92 - 4.2 / b:
            return k
        if 0 <= k <= n:
            ratio = 1.0  # of the probabilities of k and of the mode
            for i in range(mode + 1, k + 1):
                ratio *= odds * (n - i + 1) / i
            for i in range(k + 1, mode + 1):
                ratio *= i / (odds * (n - i + 1))
            if v * (2.83 + 5.1 / b) * spread <= ratio * (a / (edge * edge) + b):
                return k


@kernel("void(float64[::1], float64[::1])")
def fill_raffle(weights, table):
    """Walker's table as in `raffle`, but with a cell for every weight, made inside kernels."""
    cells, total, most = weights.size, 0.0, 0
    for s in range(cells):
        total += weights[s]
        most = s if weights[s] > weights[most] else most
    line, low, high = (
        np.empty(cells, dtype=np.int64),
        0,
        cells,
    )  # small shares from the front, large from the back
    for s in range(cells):
        share = weights[s] * (cells / total)
        table[s], table[cells + s], table[2 * cells + s] = share, s, s
        small = share < 1.0
        line[low if small else high - 1] = s
        low += small
        high -= not small
    while low > 0 and high < cells:
        s, giver = line[low - 1], line[high]
        table[2 * cells + s] = giver
        table[giver] -= 1.0 - table[s]
        small = table[giver] < 1.0
        line[low - 1] = giver  # if small, in place of s; else left behind
        low -= not small
        high += small
    for k in range(high, cells):  # what rounding left over
        table[line[k]] = 1.0
    for k in range(low):
        s = line[k]
        table[s] = 1.0 if weights[s] > 0.0 else 0.0
        table[2 * cells + s] = most


@kernel("void(float64[::1], int64, uint64[::1], int64[::1])")
def scatter(weights, jobs, rng, sent):
    """Add jobs to `sent`, each drawn in proportion to the weights: few one by one, many by a binomial a server."""
    servers = weights.size
    if jobs > 8 * servers:
        upto, left = np.empty(servers), 0.0
        for s in range(servers - 1, -1, -1):
            left += weights[s]
            upto[s] = left
        for s in range(servers):
            if weights[s] > 0.0 and jobs > 0:
                come = binomial(jobs, weights[s] / upto[s], rng)
                sent[s] += come
                jobs -= come
    elif jobs > 0:
        table = np.empty(3 * servers)
        fill_raffle(weights, table)
        for _ in range(jobs):
            sent[draw(table, rng)] += 1


@kernel("boolean(float64, float64, float64, float64, float64, float64)")
def precedes(key, speed, lot, other_key, other_speed, other_lot):
    """Whether a candidate comes before another: the smaller key, then the faster, then the smaller lot.

    Every policy that breaks ties does it here. Lots are uniform numbers, drawn anew for each decision.
    """
    if key != other_key:
        return key < other_key
    if speed != other_speed:
        return speed > other_speed
    return lot < other_lot
