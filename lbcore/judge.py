"""An independent judge of the dispatch probabilities: cvxpy, which knows nothing of water or prefixes."""

from typing import NamedTuple

import numpy as np

from lbcore.waterfill import ideal_workload


class Verdict(NamedTuple):
    """What cvxpy made of Eq. 10."""

    probabilities: np.ndarray  # (n,), as the solver gave them: signs and sum only as exact as its tolerance
    multiplier: float  # dual value of sum(p) = 1: Lambda_0
    slacks: np.ndarray  # (n,), dual values of p >= 0: Lambda_s
    status: str  # the solver's own word; judge by residuals, not by this


def solve(queues, rates, arrivals, batch=1.0, solver="CLARABEL"):
    """Solve Eq. 10 by a general convex solver.

    Parameters
    ----------
    queues, rates : array_like, shape (n,)
        Rates above 0.
    arrivals, batch : float
        As in `scd_probabilities`, arrivals > batch.
    solver : str
        Any of cvxpy's that takes quadratic programs: "CLARABEL" (interior point), "OSQP" (operator splitting).

    Returns
    -------
    Verdict

    Raises
    ------
    ValueError
        For a rate of 0, arrivals not above the batch, or a solver that is not installed.
    """
    import cvxpy

    q, mu = np.asarray(queues, float), np.asarray(rates, float)
    if solver not in cvxpy.installed_solvers():
        known = ", ".join(cvxpy.installed_solvers())
        raise ValueError(f"solver = {solver!r}: must be an installed solver of cvxpy; there are: {known}")
    for s in np.flatnonzero(~(mu > 0)):
        raise ValueError(f"rates[{s}] = {mu[s]:g}: Eq. 10 divides by every rate; leave out servers of rate 0")
    if not arrivals > batch:
        raise ValueError(
            f"arrivals = {arrivals}: must be above the batch, {batch}; below it there is no Eq. 10"
        )
    p = cvxpy.Variable(mu.size)
    linear = (2 * (q - mu * ideal_workload(q, mu, arrivals)) + batch) / mu
    cost = cvxpy.sum(cvxpy.multiply((arrivals - batch) / mu, cvxpy.square(p))) + linear @ p
    whole, sign = cvxpy.sum(p) == 1, p >= 0
    problem = cvxpy.Problem(cvxpy.Minimize(cost), [whole, sign])
    problem.solve(solver=solver)
    return Verdict(p.value, float(whole.dual_value), sign.dual_value, problem.status)
