"""Random choices inside kernels: a generator, draws in proportion to weights, and the order of candidates.

The generator is NumPy's SFC64, bit for bit, kept in an array of four words, so that kernels need no call into
NumPy for a number. `lbcore.draws.generator` makes its state from a SeedSequence.
"""

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


@kernel("int64(float64[::1], float64[::1], int64[::1], int64, uint64[::1])")
def draw_another(table, weights, chosen, count, rng):
    """An index in proportion to weights, other than the first `count` of `chosen`.

    Draws until one is new; after some tries in vain (weights of 10**6, 1, 1), in proportion to what is left.
    """
    for _ in range(8):
        s = draw(table, rng)
        if not np.any(chosen[:count] == s):
            return s
    left = 0.0
    for s in range(weights.size):
        left += 0.0 if np.any(chosen[:count] == s) else weights[s]
    left, last = left * uniform(rng), -1
    for s in range(weights.size):
        if weights[s] > 0.0 and not np.any(chosen[:count] == s):
            left, last = left - weights[s], s
            if left < 0.0:
                break
    return last


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
