"""What a wrong guess of the arrivals does: to one round, exactly, and to the response times."""

import math

import numpy as np

from lbcore import policies
from lbcore.assignment import assignment_error
from lbcore.checks import as_floats
from lbcore.coordination import scd_probabilities
from lbcore.intervals import Estimate, estimate
from lbcore.policies.base import prepared
from lbcore.policies.estimates import ESTIMATE
from lbcore.results import Result
from lbcore.simulation import Simulation

COLUMNS = ("off", "by job", "aim", "noise")


def aim_and_noise(queues, rates, batches, guesses):
    """How far from the ideal does a round end, if each dispatcher draws by its own guess?

    The expected error (SCD, Eq. 4, as `assignment_error`) is the sum of two parts (ours): the error
    of the jobs that each server expects, and the variance of these jobs over the servers' rates.

    Parameters
    ----------
    queues, rates : array_like, shape (n,)
    batches : array_like, shape (m,)
        Jobs at each dispatcher.
    guesses : array_like, shape (m,)
        How many jobs each takes to arrive in all.

    Returns
    -------
    aim, noise : float
        In jobs * rounds.
    """
    p = scd_probabilities(queues, rates, guesses)
    batches, rates = as_floats("batches", batches), as_floats("rates", rates)
    if batches.shape != p.shape[:1]:
        shapes = f"batches has shape {batches.shape}, guesses {np.shape(guesses)}"
        raise ValueError(f"{shapes}: give one of each a dispatcher")
    aim = assignment_error(batches @ p, queues, rates, batches.sum())
    spread = batches @ (p * (1 - p))
    return float(aim), float(np.sum(spread[rates > 0] / rates[rates > 0]))


def rounds(workload, estimates, before=50, replications=1):
    """How good are the guesses, and how far from the ideal do rounds end by them?

    The cluster is run under SCD; the same rounds are then looked at with each way to guess.

    Parameters
    ----------
    workload : Workload
    estimates : sequence of str or float
        As of `policies.SCD`.
    before : int
        Rounds run first.
    replications : int

    Returns
    -------
    dict
        estimate -> {column: array, shape (replications,)}, means over the rounds. Columns: "off", the root of the mean
        square of guess / total - 1 over the dispatchers with jobs; "by job", the mean of guess / total - 1 over the
        jobs; "aim" and "noise", as in `aim_and_noise`, divided by the round's jobs.
    """
    found = np.array([_looked_at(workload, estimates, before, r) for r in range(replications)])
    return {
        guess: {column: found[:, k, c] for c, column in enumerate(COLUMNS)}
        for k, guess in enumerate(estimates)
    }


def _looked_at(workload, estimates, before, replication):
    """Means over the rounds of one replication, shape (estimates, columns)."""
    guide, source = Simulation(workload, "SCD", replication), workload.open(replication)
    rules = [policies.SCD(guess) for guess in estimates]
    kept = [prepared(rule, workload) for rule in rules]
    found = []
    while source.rest:
        queues = guide.queues.lengths.copy()
        arrivals, capacities = source.take(1)
        for rule, (options, memory) in zip(rules, kept, strict=True):
            rule.arrive(arrivals[0], options, memory)
        if source.now > before and arrivals.any():
            guesses = [memory[ESTIMATE] for _, memory in kept]
            found.append([_of_round(queues, guide.rates, arrivals[0], guess) for guess in guesses])
        guide.advance(arrivals, capacities)
    return np.mean(found, axis=0)


def _of_round(queues, rates, batches, guesses):
    """The columns of one round."""
    jobs, live = batches.sum(), batches > 0
    wrong = np.maximum(guesses, 1.0) / jobs - 1  # a guess below 1 is taken as 1
    off = np.sqrt(np.mean(wrong[live] ** 2))
    return off, batches @ wrong / jobs, *np.divide(aim_and_noise(queues, rates, batches, guesses), jobs)


def tolerance(results, guesses, share):
    """How wrong may a guess be before the mean response is `share` above its least?

    Parameters
    ----------
    results : sequence of Result
        Of one compare, one a guess.
    guesses : sequence of float
        Rising; in any unit, as multiples of the truth.
    share : float
        0.05 = 5 %.

    Returns
    -------
    low, high : Estimate
        Between them the mean is within `share` of the least of the curve; interpolated on a logarithmic axis of
        guesses, with intervals by the jackknife over replications. The first or last guess where the curve ends first.
    """
    results, guesses = list(results), as_floats("guesses", list(guesses))
    if not all(isinstance(result, Result) for result in results) or len(results) != guesses.size:
        raise ValueError(f"results = {results!r:.80}: give one Result for each of the {guesses.size} guesses")
    if not (guesses.size > 1 and guesses[0] > 0 and (np.diff(guesses) > 0).all()):
        raise ValueError(f"guesses = {guesses}: must rise from above 0")
    curves = np.array([np.inf * r.samples() if r.growing else r.samples() for r in results])
    x, count = np.log(guesses), curves.shape[1]
    left_out = [np.delete(curves, r, axis=1).mean(axis=1) for r in range(count)] if count > 1 else []
    without = [_ends(x, curve, share) for curve in left_out]
    every = _ends(x, curves.mean(axis=1), share)
    return tuple(_jackknifed(value, [ends[k] for ends in without]) for k, value in enumerate(every))


def _ends(x, curve, share):
    """Where a curve leaves what is within `share` of its least value, to the left and to the right of it."""
    limit, best, ends = curve.min() * (1 + share), int(curve.argmin()), []
    for step, last in ((-1, 0), (1, x.size - 1)):
        k = best
        while k != last and curve[k + step] <= limit:
            k += step
        inside = k if k == last else k + step
        rise = curve[inside] - curve[k]
        ends.append(float(x[k] + (x[inside] - x[k]) * ((limit - curve[k]) / rise if rise else 0.0)))
    return ends


def _jackknifed(value, left_out):
    """exp of a number, with an interval from what it is without each replication."""
    count = len(left_out)
    if count == 0:
        return Estimate(math.exp(value), math.nan, math.nan)
    told = estimate(count * value - (count - 1) * np.array(left_out))
    half = (told.high - told.low) / 2
    return Estimate(*(math.exp(value + by) for by in (0.0, -half, half)))
