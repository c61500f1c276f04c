"""The papers' own road, written to be read beside them; for teaching, in plain Python."""

from typing import NamedTuple

import numpy as np


class LevelStep(NamedTuple):
    """One turn of Algorithm 3: the water rises to the next floor, or to where the volume ends."""

    wet: int  # servers under water
    width: float  # sum of their rates
    level: float  # before the turn
    next_floor: float  # the next queue / rate, inf when every server is wet
    poured: float  # jobs used by the turn
    rest: float  # jobs left after it


def sorted_level(queues, rates, arrivals, steps=False):
    """Find the ideal workload as the SCD paper does (Algorithm 3): sort the floors, then raise the water.

    Parameters
    ----------
    queues, rates : array_like, shape (n,)
        As in `ideal_workload`; rates of 0 are left out.
    arrivals : float
    steps : bool
        Also return the turns taken.

    Returns
    -------
    float, or (float, list of LevelStep)
    """
    q, mu = np.asarray(queues, float), np.asarray(rates, float)
    order = sorted(np.flatnonzero(mu), key=lambda s: q[s] / mu[s])
    floors = [q[s] / mu[s] for s in order] + [np.inf]
    level, rest, width, taken = floors[0], float(arrivals), 0.0, []
    for wet, s in enumerate(order, start=1):
        width += mu[s]
        poured = min(rest, width * (floors[wet] - level))
        rest -= poured
        taken.append(LevelStep(wet, width, level, floors[wet], poured, rest))
        if rest <= 0:
            level += poured / width
            break
        level = floors[wet]
    return (level, taken) if steps else level


class NewtonStep(NamedTuple):
    """One step from above: pour everything over the servers still wet."""

    wet: int  # servers whose floor is under the level before
    width: float  # sum of their rates
    level: float  # after the step


def newton_level(queues, rates, arrivals, steps=False):
    """Find the ideal workload without a sort (ours): start with every server wet, drop those that are not.

    Parameters and returned values as in `sorted_level`; the steps are `NewtonStep`.
    """
    q, mu = np.asarray(queues, float), np.asarray(rates, float)
    q, mu = q[mu > 0], mu[mu > 0]
    wet, level, taken = np.ones(q.size, bool), np.inf, []
    while wet.any() and arrivals > 0:
        lower = (arrivals + q[wet].sum()) / mu[wet].sum()
        if lower >= level:
            break
        level = lower
        taken.append(NewtonStep(int(wet.sum()), mu[wet].sum(), level))
        wet = q / mu < level
    level = max(level, (q / mu).min()) if taken else (q / mu).min()
    return (level, taken) if steps else level
