"""Batches that stay together, and the times of tasks: against the twin, a plain replay, and the objective."""

from collections import deque

import cvxpy
import numba
import numpy as np
import pytest
from scipy import stats
from test_policies import (
    FEW,
    IDLE,
    PLAYS,
    ROUNDS,
    SMALL,
    UNEQUAL,
    VARIANTS,
    chi_square,
    counts_of,
    law_of,
    played,
)
from twin import Twin, chooser

import lbcore as lb
from lbcore.simulator import Simulation

DISTINCT = [1.5, 2.0, 3.25, 0.0, 5.0, 0.3]  # no ties in SED, so that nothing is drawn in deciding
PAIRS = ((1.0, 3.0, 4.0), (1, 0, 2), ((3, 1),), ((9, 9, 9),))


def cases(name):
    own = {"JIQ": [IDLE], "hJIQ": [IDLE]}
    return [PAIRS, SMALL, UNEQUAL, FEW if "LSQ" in name or "(2)" in name else ROUNDS, *own.get(name, [])]


@pytest.mark.parametrize("name", [*lb.POLICIES, *VARIANTS])
def test_law_of_whole_batches(name):
    """Against the exact law; what splits its batches is refused."""
    right, freedom = 0.0, 0
    for case in cases(name):
        counts, law = counts_of(name, "whole", case, PLAYS // 20), law_of(name, case, splittable=False)
        assert set(counts) <= set(law), "the kernel does what the rule never does"
        statistic, df = chi_square(counts, law)
        assert stats.chi2.sf(statistic, max(df, 1)) > 1e-6
        right, freedom = right + statistic, freedom + df
    assert stats.chi2.sf(right, max(freedom, 1)) > 1e-6
    if not numba.config.DISABLE_JIT and name != "SCD(1)":  # that sends all to one server anyway
        statistic, df = chi_square(
            counts_of(name, "one", PAIRS, PLAYS // 20), law_of(name, PAIRS, splittable=False)
        )
        assert stats.chi2.sf(statistic, max(df, 1)) < 1e-6


def replay(sent, capacities, warmup):
    """Response times of tasks, server by server and job by job."""
    dispatchers, servers = sent.shape[1:]
    lines, open_jobs, last = [deque() for _ in range(servers)], {}, {}
    for now in range(len(sent)):
        for k in range(dispatchers):
            d = (now + k) % dispatchers
            for s in range(servers):
                lines[s].extend([(now, d)] * sent[now, d, s])
            if sent[now, d].any():
                open_jobs[now, d] = sent[now, d].sum()
        for s in range(servers):
            for _ in range(min(len(lines[s]), capacities[now, s])):
                task = lines[s].popleft()
                open_jobs[task] -= 1
                last[task] = now
    return [
        last[task] - task[0] + 1 for task in open_jobs if open_jobs[task] == 0 and task[0] >= warmup
    ], len([task for task in open_jobs if task[0] >= warmup])


@pytest.mark.parametrize("load", [0.6, 1.1])
@pytest.mark.parametrize("splittable", [True, False])
@pytest.mark.parametrize(("policy", "twin"), [("SED", "SED"), ("SED+1", "SED+1"), ("hLSQ(5)", "SED")])
def test_tasks_as_replayed(policy, twin, splittable, load):
    workload, sent, able = lb.Workload(lb.Cluster(DISTINCT, 3), load, 200, seed=5), [], []
    plain = Twin(twin, DISTINCT, 3, chooser(np.random.default_rng(1).random), splittable=splittable)
    how = {"warmup": 20, "splittable": splittable, "tasks": True}
    for size in (1, 7, 200):
        simulation, source = Simulation(workload, policy, **how), workload.open()
        while source.rest:
            arrivals, capacities = source.take(size)
            simulation.advance(arrivals, capacities)
            if size == 1:
                sent.append(plain.dispatch(arrivals[0].tolist()))
                for queue, jobs, most in zip(plain.queues, plain.totals, capacities[0], strict=True):
                    queue.extend([0] * jobs)
                    for _ in range(min(len(queue), int(most))):
                        queue.popleft()
                assert simulation.queues.lengths.tolist() == plain.lengths()
                able.append(capacities[0])
        times, came = replay(np.array(sent), np.array(able), 20)
        run = simulation.run()
        assert np.trim_zeros(run.tasks, "b").tolist() == np.bincount(times).tolist()
        assert run.tasks_arrived == came


def test_a_task_of_one_job_is_the_job():
    arrivals = np.random.default_rng(3).integers(0, 2, (300, 4))
    workload = lb.Workload.from_arrays(lb.Cluster([0.8, 1.6], 4), arrivals, seed=1)
    for how in ({"tasks": True}, {"splittable": False}):
        result = lb.simulate(workload, "SCD", replications=2, **how)
        of_tasks = result.tasks
        assert of_tasks.histogram.tolist() == result.histogram.tolist()
        assert of_tasks.arrived == result.arrived and of_tasks.mean == result.mean
        assert of_tasks.percentile(99) == result.percentile(99)
        assert "tasks done" in repr(of_tasks) and of_tasks.unit == "tasks"


def test_asking_for_tasks_changes_no_job_where_nothing_is_drawn():
    workload = lb.Workload(lb.Cluster(DISTINCT, 3), 0.8, 300, seed=2)
    result, plain = lb.simulate(workload, "SED", tasks=True), lb.simulate(workload, "SED")
    assert result.histogram.tolist() == plain.histogram.tolist()
    assert result.tasks.mean > plain.mean  # the last of a batch's jobs
    whole = lb.compare(workload, ["SED", "SCD"], splittable=False)
    assert "tasks a policy" in str(whole.tasks) and "jobs a policy" in str(whole)
    assert lb.difference(whole.tasks["SED"], whole["SED"].tasks).value == 0
    with pytest.raises(
        ValueError, match="met different workloads, warm-ups or replications, or count other things"
    ):
        lb.difference(whole["SED"], whole["SED"].tasks)
    assert "; batches not split" in str(whole) and "not split" not in repr(plain)
    with pytest.raises(ValueError, match="differ in policy, workload, warm-up, information, splitting"):
        _ = plain + whole["SED"]


QUEUES, RATES, SIZE, BATCHES = np.array([6, 1, 9, 0]), np.array([2.0, 1.0, 5.0, 0.5]), 3, 4


def exact_error(p, queues, rates, size, batches):
    """Expected squared distance from the water level, over rates, if equal batches go each to one server."""
    total = size * batches
    level = float(lb.ideal_workload(queues, rates, total))
    mean, spread = total * p, batches * size**2 * p * (1 - p)
    return ((queues + mean - rates * level) ** 2 + spread) / rates


def test_the_objective_is_the_expected_error_of_whole_batches():
    """By Monte Carlo over the kernel's own draws, judged by its standard error; batches of one job have another."""
    p = lb.scd_probabilities(QUEUES, RATES, SIZE * BATCHES, SIZE)
    case = RATES, QUEUES, [[SIZE] * BATCHES], np.ones((1, 4))
    sent = played("SCD", "whole", case, 5_000 if numba.config.DISABLE_JIT else 100_000)[:, 0]
    level = float(lb.ideal_workload(QUEUES, RATES, SIZE * BATCHES))
    errors = ((QUEUES + sent - RATES * level) ** 2 / RATES).sum(axis=1)
    error = errors.std() / np.sqrt(len(errors))
    assert abs(errors.mean() - exact_error(p, QUEUES, RATES, SIZE, BATCHES).sum()) < 4.5 * error
    single = lb.scd_probabilities(QUEUES, RATES, SIZE * BATCHES)
    assert abs(errors.mean() - exact_error(single, QUEUES, RATES, 1, SIZE * BATCHES).sum()) > 20 * error


@pytest.mark.parametrize("seed", range(6))
def test_probabilities_of_whole_batches_by_a_general_solver(seed):
    """The expected error itself, handed to cvxpy term by term."""
    rng = np.random.default_rng(seed)
    queues, rates = rng.integers(0, 12, 5), rng.uniform(0.5, 6, 5)
    size, batches = int(rng.integers(1, 6)), int(rng.integers(2, 8))
    total, level = size * batches, float(lb.ideal_workload(queues, rates, size * batches))
    p = cvxpy.Variable(5)
    # (total p)^2 of the mean's distance, less batches (size p)^2 of the variance batches size^2 (p - p^2)
    squares = cvxpy.multiply(total**2 - batches * size**2, cvxpy.square(p))
    terms = squares + batches * size**2 * p + cvxpy.multiply(2 * total * (queues - rates * level), p)
    problem = cvxpy.Problem(cvxpy.Minimize((1 / rates) @ terms), [cvxpy.sum(p) == 1, p >= 0])
    problem.solve(solver="CLARABEL")
    ours = lb.scd_probabilities(queues, rates, total, size)
    constant = (((queues - rates * level) ** 2) / rates).sum()
    assert exact_error(ours, queues, rates, size, batches).sum() == pytest.approx(
        problem.value + constant, rel=1e-7
    )
    assert np.abs(ours - p.value).max() < 1e-4


class TwoPlaces(lb.Policy):
    """Splits what it should keep together."""

    name = "two places"

    @staticmethod
    def decide_one(d, jobs, view, rates, options, memory, rng, sent):
        sent[0] += jobs // 2
        sent[1] += jobs - jobs // 2

    decide_whole = decide_one


def test_what_is_wrong_is_named():
    workload = lb.Workload(lb.Cluster([1, 2], 2), 0.5, 60)
    with pytest.raises(
        ValueError, match="tasks are not told: simulate with tasks=True, or with splittable=False"
    ):
        _ = lb.simulate(workload, "SED").tasks
    with pytest.raises(ValueError, match="splittable = 'no': must be True or False"):
        lb.simulate(workload, "SED", splittable="no")
    with pytest.raises(ValueError, match="tasks = 1: must be True or False"):
        lb.simulate(workload, "SED", tasks=1)
    own = type("Own", (lb.policies.JSQ,), {"name": "own", "decide_one": staticmethod(TwoPlaces.decide_one)})()
    with pytest.raises(
        ValueError, match="policy 'own' has no rule for splittable=False: give it a decide_whole"
    ):
        lb.simulate(workload, own, splittable=False)
    with pytest.raises(
        ValueError, match=r"'two places' sent jobs of dispatcher \d in round \d+ to more than one"
    ):
        lb.simulate(workload, TwoPlaces(), splittable=False)
    assert lb.simulate(workload, TwoPlaces(), tasks=True).tasks.completed > 0
