"""With which probabilities should a dispatcher draw its jobs' servers? SCD, and TWF for equal rates.

The probabilities that minimise the expected squared distance from the ideal are themselves a pouring of water
(ours): p_s is the share of the water over server s, when arrivals - batch is poured over the heights
(queues + batch / 2) / rates. With batch = 1 this is half a job added to each queue, and one job less to pour.
"""

import math

import numpy as np

from lbcore.checks import BATCH, as_floats, lay_out, raise_fault
from lbcore.compiled import kernel
from lbcore.waterfill import find_fault, pour


@kernel("void(float64[::1], float64[::1], float64, float64[::1], float64[::1])")
def lowest(queues, rates, batch, heights, p):
    """All mass on the servers with the smallest (2 queue + batch) / rate, shared among ties by rate.

    Heights within 4 last bits are ties: 3 / .3 and 1 / .1 are one number to a person, not to a computer.
    """
    least = np.inf
    for s in range(queues.size):
        heights[s] = (2.0 * queues[s] + batch) / rates[s] if rates[s] > 0.0 else np.inf
        least = min(least, heights[s])
    width = 0.0
    for s in range(queues.size):
        p[s] = rates[s] if heights[s] <= least * (1.0 + 4.0 * 2.0**-52) else 0.0
        width += p[s]
    for s in range(queues.size):
        p[s] /= width


@kernel("void(float64[::1], float64[::1], float64, float64, float64[::1], float64[::1])")
def probabilities(queues, rates, arrivals, batch, heights, p):
    """Dispatch probabilities of one state into `p`; an estimate of the arrivals below the batch is taken as it."""
    if arrivals <= 0.0:
        p[:] = 0.0
    elif arrivals <= batch:
        lowest(queues, rates, batch, heights, p)
    else:
        pour(queues, rates, 0.5 * batch, arrivals - batch, 1.0, heights, p)


@kernel("int64(float64[:, ::1], float64[:, ::1], float64[::1], float64[::1], float64[:, ::1])")
def _many(queues, rates, arrivals, batches, p):
    servers = queues.shape[1]
    heights = np.empty(servers)
    for row in range(p.shape[0]):
        fault = find_fault(queues, rates, arrivals, row)
        if fault == 0 and row < batches.size and not 0.0 <= batches[row] < np.inf:
            fault = BATCH + 8 * servers * row
        if fault:
            return fault
        q, mu = queues[row % queues.shape[0]], rates[row % rates.shape[0]]
        probabilities(q, mu, arrivals[row % arrivals.size], batches[row % batches.size], heights, p[row])
    return 0


def scd_probabilities(queues, rates, arrivals, batch=1.0):
    """With which probability should each job go to each server? SCD: the solution of Eq. 10 (and Eq. 9).

    Parameters
    ----------
    queues : array_like, shape (..., n)
        Jobs waiting at each server at the start of the round; whole numbers.
    rates : array_like, shape (n,) or (..., n)
        Mean jobs a round each server can do; 0 = out of service.
    arrivals : array_like, shape (...,)
        All jobs of the round together, or a dispatcher's estimate of it (`estimate_arrivals`).
    batch : array_like, shape (...,)
        Size of the batch in which a random job finds itself, sum of squares over sum; 1 where jobs are sent one
        by one. The estimate in the TWF paper's unsplittable case is the dispatcher's own jobs. 0 treats jobs
        as water.

    Returns
    -------
    array, shape (..., n)
        Rows sum to 1. With one job (arrivals at most `batch`) all mass is on the smallest
        (2 queue + batch) / rate, shared among ties in proportion to the rates. Rows of zeros where there are no
        arrivals: nothing is sent.

    Raises
    ------
    ValueError
        Names the argument and the place that breaks its rule.

    Notes
    -----
    p_s = max(0, rate * level - queue - batch / 2) / (arrivals - batch), the level by water-filling (ours). A few
    passes over the servers without a sort; accurate to last bits also for long, nearly balanced queues.
    """
    (q, mu, volumes, batches), shape = lay_out(queues, rates, arrivals=arrivals, batch=batch)
    p = np.empty((math.prod(shape), q.shape[1]))
    fault = _many(q, mu, volumes, batches, p)
    if fault:
        raise_fault(fault, shape, q.shape[1], queues=queues, rates=rates, arrivals=arrivals, batch=batch)
    return p.reshape((*shape, -1))


def twf_probabilities(queues, arrivals, batch=1.0):
    """Dispatch probabilities for servers of equal rates: tidal water filling (TWF, section 4).

    Parameters, returned values and errors are those of `scd_probabilities` with every rate 1. The TWF paper's
    closed form, (water level - queue - 1/|S|) / (arrivals - 1) on the set S below the water level, is the same
    for whole arrivals and batch 1; for fractional estimates only the form used here is right (ours).
    """
    return scd_probabilities(queues, np.ones(np.shape(queues)[-1:] or 1), arrivals, batch)


def estimate_arrivals(own_jobs, dispatchers):
    """How many jobs arrive in all, to a dispatcher that knows its own? Dispatchers times own jobs (SCD, Eq. 18).

    Parameters
    ----------
    own_jobs : array_like
        Jobs at this dispatcher, or at each.
    dispatchers : int

    Returns
    -------
    float64 or array, of the shape of `own_jobs`
        The mean of these over all dispatchers is the true total.
    """
    own = as_floats("own_jobs", own_jobs)
    if not (np.all(own >= 0) and np.all(np.isfinite(own))):
        raise ValueError(f"own_jobs = {own_jobs}: every number must be finite and at least 0")
    if dispatchers < 1:
        raise ValueError(f"dispatchers = {dispatchers}: must be at least 1")
    return dispatchers * own


def draw_servers(queues, rates, arrivals, jobs, rng, batch=1.0):
    """Draw a server for each of a dispatcher's jobs by picking random drops of the water (ours).

    A drop is picked evenly from the arrivals - batch units of water; its depth lies between two neighbouring
    floors; the job goes to one of the servers under water at that depth, in proportion to their rates. One
    uniform number and two look-ups a job. (The probabilities are computed once, to check what was given and for
    the ties of a single job; a drop needs none.)

    Parameters
    ----------
    queues, rates : array_like, shape (n,)
        One state, as in `scd_probabilities`.
    arrivals, batch : float
    jobs : int
        How many jobs to draw for.
    rng : numpy.random.Generator

    Returns
    -------
    int64 array, shape (jobs,)
        Index of each job's server.
    """
    p = scd_probabilities(queues, rates, arrivals, batch)  # also checks what was given
    if p.ndim != 1 or not p.any():
        raise ValueError(
            f"arrivals = {arrivals}, queues of shape {np.shape(queues)}: give one state with arrivals > 0"
        )
    if isinstance(jobs, bool) or not isinstance(jobs, int | np.integer) or jobs < 0:
        raise ValueError(f"jobs = {jobs!r}: must be a whole number, at least 0")
    mu = as_floats("rates", rates)
    heights = np.full(mu.size, np.inf)
    np.divide(as_floats("queues", queues) + batch / 2, mu, out=heights, where=mu > 0)
    if arrivals <= batch:
        heights = np.where(p > 0, 0.0, np.inf)
    order = np.argsort(heights, kind="stable")[: np.count_nonzero(heights < np.inf)]
    widths = np.cumsum(mu[order])
    under = np.append(0.0, np.cumsum(np.diff(heights[order]) * widths[:-1]))  # water below each floor
    volume = max(arrivals - batch, 0.0) or 1.0
    drop = rng.random(jobs) * volume
    layer = np.searchsorted(under, drop, side="right") - 1
    top = np.append(under[1:], np.inf)[layer]
    along = (drop - under[layer]) / (np.minimum(top, volume) - under[layer])  # even on [0, 1) again
    place = np.searchsorted(widths, along * widths[layer], side="right")
    return order[np.minimum(place, layer)]  # rounding could point past the last server under water
