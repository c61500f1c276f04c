"""The papers' own road, written to be read beside them; for teaching, in plain Python."""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from lbcore.waterfill import ideal_workload


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


def objective(probabilities, queues, rates, arrivals, batch=1.0):
    """What SCD minimises: the expected weighted error, less constants, divided by the arrivals (Eq. 10).

    f(P) = sum of (1/mu_s) [ (a - batch) p_s^2 + (2 (q_s - mu_s iwl) + batch) p_s ] over servers in use; batch = 1
    is the paper's, others are ours.

    Parameters
    ----------
    probabilities : array_like, shape (..., n)
    queues, rates, arrivals, batch
        As in `scd_probabilities`.

    Returns
    -------
    float64 or array, shape (...,)
    """
    p, q, mu = (np.asarray(x, float) for x in (probabilities, queues, rates))
    a, beta, iwl = (
        np.expand_dims(np.asarray(x, float), -1)
        for x in (arrivals, batch, ideal_workload(queues, rates, arrivals))
    )
    live = mu > 0
    terms = ((a - beta) * p**2 + (2 * (q - mu * iwl) + beta) * p) / np.where(live, mu, 1)
    return np.sum(np.where(live, terms, 0), axis=-1)


def multiplier(members, queues, rates, arrivals):
    """The Lagrange multiplier Lambda_0 that makes the probabilities on `members` sum to 1 (Eq. 16)."""
    q, mu = (np.asarray(x, float)[members] for x in (queues, rates))
    iwl = ideal_workload(queues, rates, arrivals)
    return (-2 * (arrivals - 1) + np.sum(2 * (mu * iwl - q) - 1)) / np.sum(mu)


def stationary(members, queues, rates, arrivals):
    """Probabilities with the servers `members` as the probable set, others 0 (Eq. 14); may come out negative."""
    q, mu = np.asarray(queues, float), np.asarray(rates, float)
    iwl, lambda_0 = ideal_workload(queues, rates, arrivals), multiplier(members, queues, rates, arrivals)
    p = np.zeros(mu.size)
    p[members] = (-2 * (q - mu * iwl) - 1 - mu * lambda_0)[members] / (2 * (arrivals - 1))
    return p


class Residuals(NamedTuple):
    """How far probabilities are from each KKT condition (Eq. 12); 0 = fulfilled. In units of probability."""

    stationarity: float  # largest distance of a p_s > 0 from its closed form, Eq. 14
    primal_sum: float  # |sum of p - 1|
    primal_sign: float  # largest -p_s
    dual_sign: float  # largest shortfall of a Lambda_s below 0, where p_s = 0
    slackness: float  # largest Lambda_s * p_s
    multiplier: float  # the Lambda_0 that these hold for


def kkt_residuals(probabilities, queues, rates, arrivals, batch=1.0):
    """Is this the optimum? The conditions that are necessary and sufficient for it (SCD, Eq. 12).

    With g_s the derivative of the objective, stationarity says g_s + Lambda_0 - Lambda_s = 0. Lambda_0 is the
    mean of -g_s over the servers with p_s > 0, by rate; Lambda_s is 0 there, and g_s + Lambda_0 elsewhere.
    Multiplied by mu_s / (2 (a - batch)), a residual is a distance in probability.

    Parameters as in `objective`, for one state with arrivals > batch.

    Returns
    -------
    Residuals
    """
    p, q, mu = (np.asarray(x, float) for x in (probabilities, queues, rates))
    p, q, mu = p[mu > 0], q[mu > 0], mu[mu > 0]
    level = ideal_workload(q, mu, arrivals)
    pull = 2 * (arrivals - batch) * p + 2 * (q - mu * level) + batch  # mu_s g_s
    used = p > 0
    lambda_0 = -np.sum(pull[used]) / np.sum(mu[used])
    gap = (pull + mu * lambda_0) / (2 * (arrivals - batch))
    return Residuals(
        stationarity=float(np.max(np.abs(gap[used]))),
        primal_sum=float(abs(np.sum(p) - 1)),
        primal_sign=float(max(0, -p.min())),
        dual_sign=float(np.max(-gap[~used], initial=0)),
        slackness=float(np.max(np.maximum(gap, 0) * p * ~used, initial=0)),
        multiplier=float(lambda_0),
    )


class Candidate(NamedTuple):
    """One probable set that a search looked at."""

    servers: np.ndarray  # its members, in order of r_s
    multiplier: float  # Lambda_0, Eq. 16
    feasible: bool  # no probability is negative
    objective: float  # f, Eq. 10; nan where it is not feasible
    terms: int  # servers' terms that were handled to know this


def _single_job(queues, rates):
    q, mu = np.asarray(queues, float), np.asarray(rates, float)
    rank = np.divide(2 * q + 1, mu, out=np.full(mu.size, np.inf), where=mu > 0)
    least = np.flatnonzero(rank <= rank.min() * (1 + 2.0**-50))
    p = np.zeros(mu.size)
    p[least] = mu[least] / mu[least].sum()
    return p


def _by_rank(queues, rates):
    """Servers in use, sorted by r_s = (2 q_s + 1) / mu_s (Corollary 1)."""
    q, mu = np.asarray(queues, float), np.asarray(rates, float)
    live = np.flatnonzero(mu)
    return live[np.argsort((2 * q[live] + 1) / mu[live], kind="stable")]


def _best(candidates, queues, rates, arrivals, steps):
    """The feasible candidate with the least objective; of equals to rounding, the larger set, seen later."""
    best = None
    taken = []
    for candidate in candidates:
        if steps:
            taken.append(candidate)
        slack = 0 if best is None else 8 * 2.0**-52 * abs(best.objective)
        if candidate.feasible and (best is None or candidate.objective <= best.objective + slack):
            best = candidate
    p = stationary(best.servers, queues, rates, arrivals)
    return (p, taken) if steps else p


def _fresh(members, queues, rates, arrivals):
    """Look at one probable set from nothing: Lambda_0, the signs, the objective."""
    p = stationary(members, queues, rates, arrivals)
    feasible = bool(np.all(p[members] >= 0))
    f = float(objective(p, queues, rates, arrivals)) if feasible else np.nan
    lambda_0 = float(multiplier(members, queues, rates, arrivals))
    return Candidate(members, lambda_0, feasible, f, len(members))


def subset_search(queues, rates, arrivals, steps=False):
    """Dispatch probabilities by trying all 2^n - 1 sets of servers (SCD, section 4: the trivial algorithm).

    Parameters
    ----------
    queues, rates : array_like, shape (n,)
    arrivals : float, at least 1
        With 1, Eq. 9 and no search.
    steps : bool
        Also return the candidates looked at.

    Returns
    -------
    array (n,), or (array, list of Candidate)
    """
    if arrivals <= 1:
        return (_single_job(queues, rates), []) if steps else _single_job(queues, rates)
    live = _by_rank(queues, rates)
    sets = (np.array(c) for size in range(1, live.size + 1) for c in combinations(live, size))
    return _best((_fresh(c, queues, rates, arrivals) for c in sets), queues, rates, arrivals, steps)


def prefix_search(queues, rates, arrivals, steps=False):
    """Dispatch probabilities by Algorithm 1: the n prefixes in order of r_s, each looked at afresh; O(n^2).

    Parameters and returned values as in `subset_search`.
    """
    if arrivals <= 1:
        return (_single_job(queues, rates), []) if steps else _single_job(queues, rates)
    order = _by_rank(queues, rates)
    prefixes = (order[:size] for size in range(1, order.size + 1))
    return _best((_fresh(c, queues, rates, arrivals) for c in prefixes), queues, rates, arrivals, steps)


def prefix_scan(queues, rates, arrivals, steps=False):
    """Dispatch probabilities by Algorithm 4: the n prefixes with running sums; O(n log n), the sort included.

    A prefix is feasible if 2 iwl - r_s >= Lambda_0 for its last server (Eq. 17), and its objective is
    v_1 Lambda_0^2 - v_2 (Lemma 2). Parameters and returned values as in `subset_search`.
    """
    if arrivals <= 1:
        return (_single_job(queues, rates), []) if steps else _single_job(queues, rates)
    order = _by_rank(queues, rates)
    return _best(_prefixes(order, queues, rates, arrivals), queues, rates, arrivals, steps)


def _prefixes(order, queues, rates, arrivals):
    q, mu = np.asarray(queues, float), np.asarray(rates, float)
    iwl = ideal_workload(queues, rates, arrivals)
    rise, width, v2 = -2.0 * (arrivals - 1), 0.0, 0.0
    for size, s in enumerate(order, start=1):
        own = 2 * (mu[s] * iwl - q[s]) - 1
        rise += own
        width += mu[s]
        v2 += own**2 / (4 * mu[s] * (arrivals - 1))
        lambda_0 = rise / width
        feasible = bool(2 * iwl - (2 * q[s] + 1) / mu[s] >= lambda_0)
        f = width / (4 * (arrivals - 1)) * lambda_0**2 - v2 if feasible else np.nan
        yield Candidate(order[:size], float(lambda_0), feasible, float(f), 1)
