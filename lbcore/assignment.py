"""Jobs are whole, water is not: assignments of whole jobs, and how far they are from the ideal."""

import heapq

import numpy as np

from lbcore.checks import as_floats, lay_out, raise_fault
from lbcore.waterfill import find_fault, ideal_workload


def greedy_assignment(queues, rates, jobs, counted=0.5):
    """Where do whole jobs go if one all-seeing dispatcher places them one by one?

    Each next job goes to the smallest (queue + placed so far + `counted`) / rate; ties to the faster server,
    then to the first. `counted` is how much of the job itself is counted:

    - 0.5 gives the whole-job assignment with the least weighted error (ours: adding a job at s changes that
      error by (2 q_s + 2 k_s + 1) / mu_s - 2 iwl, and the steps at a server only grow);
    - 1 is the paper's rule for a single dispatcher (SCD, section 3);
    - 0 ranks servers as SED does.

    Parameters
    ----------
    queues, rates : array_like, shape (n,)
        As in `ideal_workload`.
    jobs : int
        Jobs to place.
    counted : float, 0 to 1

    Returns
    -------
    int64 array, shape (n,)
        Jobs sent to each server; sums to `jobs`.
    """
    (q, mu), _ = lay_out(queues, rates)
    if q.shape[0] != 1 or mu.shape[0] != 1:
        raise ValueError(
            f"queues {np.shape(queues)}, rates {np.shape(rates)}: give one state at a time, shape (n,)"
        )
    fault = find_fault(q, mu, np.zeros(1), 0)
    if fault:
        raise_fault(fault, (), q.shape[1], queues=queues, rates=rates)
    if int(jobs) != jobs or jobs < 0:
        raise ValueError(f"jobs = {jobs}: must be a whole number, at least 0")
    if not 0 <= counted <= 1:
        raise ValueError(f"counted = {counted}: must be from 0 (SED's ranking) to 1 (the paper's rule)")
    sent = np.zeros(q.shape[1], dtype=np.int64)
    line = [((q[0, s] + counted) / mu[0, s], -mu[0, s], s) for s in np.flatnonzero(mu[0])]
    heapq.heapify(line)
    for _ in range(int(jobs)):
        _, _, s = line[0]
        sent[s] += 1
        heapq.heapreplace(line, ((q[0, s] + sent[s] + counted) / mu[0, s], -mu[0, s], s))
    return sent


def assignment_error(assigned, queues, rates, arrivals):
    """How far is an assignment from the ideal? Squared distances of the loads from the iwl, weighted by rate.

    SCD, Eq. 4: the sum over servers in use of mu_s * ((q_s + assigned_s) / mu_s - iwl)**2.

    Parameters
    ----------
    assigned : array_like, shape (..., n)
        Jobs each server gets.
    queues, rates, arrivals
        As in `ideal_workload`.

    Returns
    -------
    float64 or array, shape (...,)
        In jobs * rounds.
    """
    level = np.expand_dims(ideal_workload(queues, rates, arrivals), -1)
    mu = as_floats("rates", rates)
    live = mu > 0
    gap = (as_floats("assigned", assigned) + as_floats("queues", queues)) / np.where(live, mu, 1.0) - level
    return np.sum(np.where(live, mu * gap**2, 0.0), axis=-1)
