"""What is known exactly: means, laws and bounds to hold a simulated system against.

One round: arrivals (Poisson), dispatching, first-come-first-served service of up to c_s jobs at server s (c_s
geometric on 0, 1, 2, ...). A job's response is its departure round less its arrival round, plus 1. "Ours" is
in neither paper. Bad input is a ValueError that names the argument, the value and the rule.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.special import expm1, log1p

from lbcore.checks import LARGEST_RATE, SMALLEST_RATE, as_floats, brief

TAIL = 1e-14  # the probability that may be left out at the end of a law
LONGEST = 2**22  # entries of a law
LONE = 1e-17  # from this load down, nothing differs from a lone job's by more than rounding
RULES = {  # smallest, largest, whole, and how it is told; all must be finite
    "rate": (SMALLEST_RATE, LARGEST_RATE, False, "must be from 1e-100 to 1e100 jobs a round"),
    "arrivals": (0, np.inf, False, "must be finite and at least 0 jobs a round"),
    "load": (0, np.inf, False, "must be finite and at least 0 (1 = arrivals equal the capacity)"),
    "choices": (1, 2**53, True, "must be a whole number of servers, at least 1"),
    "jobs": (0, 2**31, True, "must be a whole number of jobs from 0 to 2**31"),
}


def mean_queue(rate, arrivals):
    """How many jobs does one server hold at a round's start? Ours: lambda (2 + lambda) / (2 (mu - lambda)).

    Parameters
    ----------
    rate, arrivals : array_like
        Mean jobs a round that the server can do (mu), and that arrive there (lambda); they broadcast.

    Returns
    -------
    float64 or array
        In jobs, in the long run; inf where arrivals >= rate.
    """
    return as_floats("arrivals", arrivals) * _mean_wait(rate, arrivals)  # Little's law


def mean_response(rate, arrivals):
    """How many rounds does a job spend at one server? Ours: 1 + (1 + lambda / 2) / (mu - lambda).

    Parameters
    ----------
    rate, arrivals : array_like
        As in `mean_queue`.

    Returns
    -------
    float64 or array
        In rounds; inf where arrivals >= rate, and a lone job's 1 + 1 / mu at arrivals = 0.
    """
    return 1 + _mean_wait(rate, arrivals)


def _mean_wait(rate, arrivals):
    mu, lam = _read("rate", rate), _read("arrivals", arrivals)
    try:
        spare = mu - lam
    except ValueError:
        raise ValueError(f"rate has shape {mu.shape}, arrivals {lam.shape}: they must broadcast") from None
    return np.where(spare > 0, (1 + lam / 2) / np.where(spare > 0, spare, 1), np.inf)[()]


def queue_law(rate, arrivals):
    """With which probability does one server hold n jobs at a round's start?

    Ours: the transform of Q is G(z) = (1 - rho) / (1 - rho y(z)), with rho = lambda / mu and
    y(z) = z (1 - exp(lambda (z - 1))) / (lambda (1 - z)); inverted by FFT.

    Parameters
    ----------
    rate, arrivals : float
        As in `mean_queue`, and arrivals < rate.

    Returns
    -------
    array
        P(Q = n) at index n, exact to about 1e-16 / (1 - rho); what is left out sums to at most 1e-14. At most
        33 (lambda + mu + mu**2) / (mu - lambda) entries; a ValueError where it takes more than 2**22.
    """
    mu, lam = _stable_server(rate, arrivals)
    length = -np.log(TAIL) / _decay([mu], lam)
    return _invert(lambda turn: _line(turn, mu, lam)[0], length, mu, lam)


def response_law(rate, arrivals):
    """With which probability does a job spend t rounds at one server?

    Ours: a job is done once the capacities since its arrival add up to its place in the line, so the
    transform of T - 1 is G(w) y(w), with G and y as in `queue_law` and w = mu / (1 + mu - z).

    Parameters
    ----------
    rate, arrivals : float
        As in `queue_law`.

    Returns
    -------
    array
        P(T = t) at index t; index 0 holds 0. Exact, and limited, as in `queue_law`.
    """
    mu, lam = _stable_server(rate, arrivals)
    # P(T - 1 >= t) <= z**-t / rho where w(z) = exp(decay): Lundberg's bound for a geometric sum
    length = -np.log(TAIL * lam / mu) / log1p(-mu * expm1(-_decay([mu], lam)))
    law = _invert(lambda turn: np.multiply(*_line(turn / (mu - turn), mu, lam)), length, mu, lam)
    return np.append(0.0, law)


def _line(turn, mu, lam):
    """G and y at 1 + turn: transforms of the queue, and of a job's place, from 1, in its round's arrivals."""
    x = lam * turn
    y = (1 + turn) * np.divide(expm1(x), x, out=np.ones_like(x), where=x != 0)
    return (1 - lam / mu) / (1 - lam / mu * y), y


def _decay(rates, lam):
    """The u > 0 with E exp(u (A - C)) = 1; P(Q >= n) <= exp(-u n) for every n (Kingman)."""
    drift = np.sum(rates) - lam
    low = drift / (lam + np.sum(rates) + np.dot(rates, rates))  # <= 1, and there E exp(..) is still below 1
    high = 2 * log1p(drift / lam)  # by log(1 + x) <= x, E exp(..) is above 1 from half of it on
    return brentq(_log_step, low, high, args=(rates, lam), xtol=low / 1e3, maxiter=1000)


def _log_step(s, rates, lam):
    """log E exp(s (A - C)), C summed over the servers."""
    return lam * expm1(s) - sum(log1p(-mu * expm1(-s)) for mu in rates)


def _invert(transform, length, mu, lam):
    """The first `length` probabilities of a law, from its transform as a function of z - 1."""
    if length > LONGEST:
        told = f"the law takes {length:.2g} entries, at most 2**22: lower the load, or use the mean"
        raise ValueError(f"rate = {brief(mu)}, arrivals = {brief(lam)}: {told}")
    length = int(np.ceil(length))
    size = 1 << (length - 1).bit_length()  # the next power of two
    turn = expm1(-2j * np.pi * np.arange(size // 2 + 1) / size)
    return np.maximum(np.fft.irfft(transform(turn), size)[:length], 0)  # rounding may leave -1e-20


def random_mean(cluster, load):
    """Mean response when each job goes to a server drawn in proportion to its rate (WR).

    Ours: server s stands alone with lambda_s = load mu_s, and gets mu_s / sum(mu) of the jobs.

    Parameters
    ----------
    cluster : Cluster
    load : array_like
        Arrivals as a share of the capacity (rho), at least 0.

    Returns
    -------
    float64 or array, as `load`
        In rounds; inf from load 1 on.
    """
    rates = cluster.rates[cluster.rates > 0]
    load = np.minimum(_read("load", load), 1)
    return mean_response(rates, load[..., None] * rates) @ (rates / rates.sum())


def random_law(cluster, load):
    """Law of the response when each job goes to a server drawn in proportion to its rate (WR). Ours.

    Parameters
    ----------
    cluster, load
        As in `random_mean`, with one load below 1.

    Returns
    -------
    array
        P(T = t) at index t, as in `response_law`.
    """
    load = _read_one("load", load)
    if load >= 1:
        raise ValueError(f"load = {brief(load)}: must be below 1; else there is no law")
    rates = cluster.rates[cluster.rates > 0]
    laws = [response_law(rate, load * rate) for rate in rates]
    size = max(law.size for law in laws)
    return rates / rates.sum() @ [np.pad(law, (0, size - law.size)) for law in laws]


def pooled_floor(cluster, load):
    """The mean response that no policy can beat: that of one line served by all servers together.

    Ours: 1 + E[Q] / E[A], with Q' = max(0, Q + A - C) of a round's totals A and C. By Spitzer's identity E[Q]
    is the sum over n > 0 of n c_n, with c_n the coefficients of -log(1 - phi), phi(z) the transform of A - C.
    By parts: 1 / (2 pi i) integral phi' / ((1 - phi) (z - 1)) dz, on a circle |z| > 1 where |phi| < 1.

    Parameters
    ----------
    cluster, load
        As in `random_mean`, with one load.

    Returns
    -------
    float
        In rounds; inf from load 1 on, a lone job's mean at load 0. It bounds the long-run mean of all jobs,
        not of completed ones. Relative error about 1e-15 / (1 - load), up to 1e-7 for rates above 1e7.
    """
    load = max(_read_one("load", load), LONE)
    if load >= 1:
        return np.inf
    if 1 - load < 1e-12:
        raise ValueError(f"load = {brief(load)}: so near 1 rounding decides; at most 1 - 1e-12, or 1")
    lam = load * cluster.capacity
    radius = _decay(cluster.rates, lam) / 2
    angles, weights = _arc(radius, lam * np.exp(radius))
    s = radius + 1j * angles  # z = exp(s)
    log_phi = _log_step(s, cluster.rates, lam)
    slope = lam * np.exp(s) - sum(mu * np.exp(-s) / (1 - mu * expm1(-s)) for mu in cluster.rates)
    terms = slope * np.exp(log_phi) / (-expm1(log_phi) * expm1(s))
    return 1 + float(weights @ terms.real) / np.pi / lam


def _arc(radius, rush):
    """Nodes and weights for angles 0 to pi, on panels as wide as the terms of `pooled_floor` are smooth.

    Their poles lie `radius` away from angle 0, and exp(lambda z) turns `rush` times as fast as the angle. The
    arc ends where that is below 1e-17, or after 20,000 radians of turning: terms fall with the third power.
    """
    end = min(2 * np.arcsin(min(1, np.sqrt(20 / rush))), 2e4 / rush)
    growing = radius * np.sinh(np.arange(0, np.arcsinh(end / radius), 0.5))
    edges = np.append(np.union1d(growing, np.arange(0, end, min(0.5, 2 / rush))), end)
    nodes, weights = np.polynomial.legendre.leggauss(16)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (1 + nodes)).ravel(), (half * weights).ravel()


def path_floor(arrivals, capacities):
    """How many jobs does every policy leave in the system after each round, at least? One line for all. Ours.

    Parameters
    ----------
    arrivals, capacities : array_like of whole numbers, shape (..., rounds)
        Jobs that arrive, and jobs that all servers together can do, in each round.

    Returns
    -------
    int64 array, shape (..., rounds)
        Q' = max(0, Q + a - c), from an empty system.
    """
    a, c = _read("arrivals", arrivals, "jobs"), _read("capacities", capacities, "jobs")
    if a.shape != c.shape or a.ndim == 0:
        raise ValueError(f"arrivals have shape {a.shape}, capacities {c.shape}: give one number a round each")
    walk = np.cumsum(a - c, axis=-1, dtype=np.int64)
    return walk - np.minimum(0, np.minimum.accumulate(walk, axis=-1))


def choices_limit(load, choices=2):
    """Mean response of JSQ(d) with many equal servers and small rates, in units of the mean service time.

    The sum over i >= 1 of load**((d**i - d) / (d - 1)): Mitzenmacher 2001, Vvedenskaya and others 1996.

    Parameters
    ----------
    load : array_like
        As in `random_mean`.
    choices : int
        Servers that each job samples (d), at least 1.

    Returns
    -------
    float64 or array, as `load`
        inf from load 1 on.
    """
    load, choices = _read("load", load), _read_one("choices", choices)
    rho = np.where(load < 1, load, 0)
    powers = [0.0]
    while choices > 1 and powers[-1] < 1e18:  # the load next to 1 is 1 - 1e-16: its power is then exp(-100)
        powers.append(choices * (powers[-1] + 1))
    total = sum(rho**power for power in powers) if choices > 1 else 1 / (1 - rho)
    return np.where(load < 1, total, np.inf)[()]


def _read(name, value, rule=None):
    smallest, largest, whole, told = RULES[rule or name]
    array = as_floats(name, value)
    whole_enough = (np.floor(array) == array) | (not whole)
    for at in np.argwhere(~(np.isfinite(array) & (array >= smallest) & (array <= largest) & whole_enough)):
        index = f"[{', '.join(map(str, at))}]" if at.size else ""
        raise ValueError(f"{name}{index} = {brief(array[tuple(at)])}: {told}")
    return array


def _read_one(name, value):
    if np.ndim(value):
        raise ValueError(f"{name} has shape {np.shape(value)}: must be one number")
    return float(_read(name, value))


def _stable_server(rate, arrivals):
    mu, lam = _read_one("rate", rate), _read_one("arrivals", arrivals)
    if lam >= mu:
        raise ValueError(f"arrivals = {brief(lam)}: must be below rate = {brief(mu)}; else there is no law")
    return mu, max(lam, LONE * mu)
