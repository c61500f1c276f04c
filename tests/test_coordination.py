"""Dispatch probabilities: exact cases, the optimality conditions, another solver, laws, and draws."""

import math
from fractions import Fraction

import naive
import numpy as np
import pytest
from conftest import RATE, balanced_states, golden, states
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import lbcore as lb

EPS = 2.0**-52
JOBS = st.one_of(st.integers(2, 1000).map(float), st.floats(1.0, 1e6))


def exact(case):
    if case["probabilities"]:
        return case["probabilities"]
    width = sum(Fraction(case["rates"][s]) for s in case["ties"])
    n = len(case["rates"])
    return [Fraction(case["rates"][s]) / width if s in case["ties"] else Fraction(0) for s in range(n)]


def off(p, right):
    return max(abs(Fraction(float(a)) - b) for a, b in zip(p, right, strict=True))


def state_of(case):
    return case["queues"], case["rates"], case["arrivals"]


def last_bits(state, batch):
    """What rounding may do to a probability: as for the ideal assignment, some last bits of the water handled.

    That is up to five times the volume (a shortcut allows three bits to cancel), and the water that the last
    bits of a first level put astray before it is corrected.
    """
    queues, rates, arrivals = state
    level = max((q + batch / 2) / mu for q, mu in zip(queues, rates, strict=True) if mu) + arrivals / max(
        rates
    )
    astray = max(rates) * level * (len(rates) + 2) * EPS
    return (len(rates) + 8) * EPS * (5 + astray / max(arrivals - batch, EPS))


@pytest.mark.parametrize("name, tolerance", [("golden_probabilities", 1e-12), ("golden_long_queues", 1e-11)])
def test_golden_probabilities(name, tolerance):
    for case in golden(name):
        p = lb.scd_probabilities(*state_of(case), case["batch"])
        assert off(p, exact(case)) <= tolerance, case["name"]
        assert abs(math.fsum(p) - 1) <= 4 * EPS
        for got, right in zip(p, exact(case), strict=True):
            assert (got > 0) == (right > 0) or right < 1e-15, case["name"]


@pytest.mark.parametrize(
    "search, largest", [("subset_search", 12), ("prefix_search", 400), ("prefix_scan", 10**6)]
)
def test_golden_probabilities_by_the_papers_roads(search, largest):
    tried = 0
    for case in golden("golden_probabilities"):
        if case["batch"] == 1 and len(case["rates"]) <= largest and case["arrivals"] >= 1:
            p = getattr(lb.derivation, search)(*state_of(case))
            assert off(p, exact(case)) <= 1e-12, case["name"]
            tried += 1
    assert tried >= 20


@given(st.one_of(states(volume=JOBS), balanced_states()), st.sampled_from([1.0, 1.5, 4.0, 0.0]))
def test_probabilities_are_those_of_exact_arithmetic(state, batch):
    queues, rates, arrivals = state
    p = lb.scd_probabilities(*state, batch)
    assert abs(math.fsum(p) - 1) <= 4 * EPS and p.min() >= 0
    assert not p[np.array(rates) == 0].any()
    volume = Fraction(arrivals) - Fraction(batch)
    if volume <= 0:
        return
    _, water = naive.water([q + Fraction(batch) / 2 for q in queues], rates, volume)
    assert off(p, [w / volume for w in water]) <= last_bits(state, batch)


def test_probabilities_of_many_servers_sum_to_one():
    rng = np.random.default_rng(7)
    for n in (1_000, 100_000):
        p = lb.scd_probabilities(rng.integers(0, 60, n), rng.uniform(1, 10, n), 3 * n)
        assert abs(math.fsum(p) - 1) <= 4 * EPS
    values = np.append(1.0, np.full(100_000, 1e-17))  # a plain sum stays at 1
    assert lb.waterfill.exact_sum(values, 1.0) == math.fsum(values) > 1


@given(states(queue=st.integers(0, 1000), volume=JOBS))
def test_optimality_conditions_hold(state):
    queues, rates, arrivals = state
    if arrivals <= 1:
        return
    residuals = lb.derivation.kkt_residuals(lb.scd_probabilities(*state), *state)
    # the conditions as stated take differences of numbers this large, over 2 (a - 1)
    scale = max(queues) + max(rates) * lb.ideal_workload(*state) + arrivals
    slack = (
        4 * (len(rates) + 4) * EPS * (1 + scale * max(rates) / min(r for r in rates if r) / (arrivals - 1))
    )
    assert max(residuals[:5]) <= slack


@given(states(volume=JOBS), st.randoms(use_true_random=False))
def test_order_of_servers_does_not_matter(state, random):
    queues, rates, arrivals = state
    order = random.sample(range(len(rates)), len(rates))
    p = lb.scd_probabilities(np.take(queues, order), np.take(rates, order), arrivals)
    assert np.allclose(p, lb.scd_probabilities(*state)[order], rtol=0, atol=2 * last_bits(state, 1.0))


@given(states(volume=JOBS))
def test_a_server_that_gets_nothing_may_as_well_not_be_there(state):
    queues, rates, arrivals = state
    high = max(rates) * (lb.ideal_workload(*state) + arrivals / min(r for r in rates if r)) + max(queues) + 1
    if high < 2**50:
        p = lb.scd_probabilities([*queues, math.ceil(high) + 1], [*rates, max(rates)], arrivals)
        assert p[-1] == 0
        assert np.allclose(p[:-1], lb.scd_probabilities(*state), rtol=0, atol=1e-13)


@given(
    states(rate=RATE.filter(lambda r: r == 0 or r > 0.05), queue=st.integers(0, 100)),
    st.sampled_from([1.0, 3.0]),
)
def test_limits_in_the_arrivals(state, batch):
    queues, rates, _ = state
    mu = np.array(rates)
    rank = np.divide(2 * np.array(queues) + batch, mu, out=np.full(mu.size, np.inf), where=mu > 0)
    one = lb.scd_probabilities(queues, rates, batch, batch)
    assert np.array_equal(one > 0, np.isclose(rank, rank.min(), rtol=1e-15, atol=0))  # SED for a single job
    assert np.allclose(one, np.where(one > 0, mu, 0) / mu[one > 0].sum())
    below = lb.scd_probabilities(queues, rates, 0.3, batch)
    assert np.array_equal(below, one)  # an estimate below the batch is taken as the batch
    above = lb.scd_probabilities(queues, rates, batch + 1e-9, batch)
    assert (
        np.allclose(above, one, atol=1e-3) or np.ptp(np.sort(rank)[: np.sum(above > 0)]) < 1e-8
    )  # continuous
    many = lb.scd_probabilities(queues, rates, 1e15, batch)
    assert np.allclose(many, mu / mu.sum(), rtol=0, atol=1e-11)  # weighted random


def test_ties_are_those_of_the_exact_heights():
    three = 3 * 0.1
    assert 3 / three != 1 / 0.1  # to a computer
    p = lb.scd_probabilities([1, 0, 4], [three, 0.1, 0.9], 1)  # 3/.3 and 1/.1 and 9/.9
    assert p.tolist() == pytest.approx([3 / 13, 1 / 13, 9 / 13])


def test_no_arrivals_send_nothing():
    assert lb.scd_probabilities([1, 2], [1, 2], 0).tolist() == [0, 0]
    p = lb.scd_probabilities([1, 2], [1, 2], [0, 5])
    assert p[0].tolist() == [0, 0] and p[1].sum() == pytest.approx(1)


@given(states(rate=st.just(1.0), queue=st.integers(0, 30), volume=st.integers(2, 200)))
def test_equal_rates_give_twf_in_its_own_closed_form(state):
    """TWF, section 4: on S = {queue < water level}, p = (water level - queue - 1/|S|) / (a - 1)."""
    queues, rates, arrivals = state
    level, _ = naive.water(queues, rates, arrivals)
    below = [q for q in queues if q < level]
    right = [
        (level - q - Fraction(1, len(below))) / (arrivals - 1) if q < level else Fraction(0) for q in queues
    ]
    assert off(lb.twf_probabilities(queues, arrivals), right) <= 40 * EPS
    assert np.array_equal(lb.twf_probabilities(queues, arrivals), lb.scd_probabilities(*state))


def test_a_server_above_the_ideal_gets_jobs():
    queues, rates = [0, 0, 1, 2, 2, 2, 2, 46], [1, 1, 1, 1, 1, 1, 1, 20]
    assert queues[-1] / rates[-1] > lb.ideal_workload(queues, rates, 7)
    assert lb.scd_probabilities(queues, rates, 7)[-1] == pytest.approx(0.2210, abs=5e-5)


@pytest.mark.parametrize("solver", ["CLARABEL", "OSQP"])
def test_another_solver_agrees(solver):
    """100 random instances each: judged by objective and residual, within what that solver promises."""
    rng = np.random.default_rng(8)
    # what their default tolerances come to in p on these instances, rounded up; the law below needs no number
    tolerance = {"CLARABEL": 1e-5, "OSQP": 2e-2}[solver]
    for _ in range(100):
        n = rng.integers(2, 30)
        queues, rates, arrivals = rng.integers(0, 40, n), rng.uniform(1, 10, n), int(rng.integers(2, 60))
        ours, verdict = (
            lb.scd_probabilities(queues, rates, arrivals),
            lb.judge.solve(queues, rates, arrivals, solver=solver),
        )
        theirs = np.clip(verdict.probabilities, 0, None) / np.clip(verdict.probabilities, 0, None).sum()
        best, other = (lb.objective(p, queues, rates, arrivals) for p in (ours, theirs))
        assert best <= other + 1e-9 * abs(other)
        # f rises from its least value at least by its own square term, so this holds only if ours is the least
        rise = np.sum((arrivals - 1) / rates * (ours - theirs) ** 2)
        assert rise <= other - best + 1e-9 * abs(other)
        assert np.abs(ours - theirs).max() <= tolerance
        if solver == "CLARABEL":
            lambda_0 = lb.derivation.kkt_residuals(ours, queues, rates, arrivals).multiplier
            assert verdict.multiplier == pytest.approx(lambda_0, rel=1e-4, abs=1e-4)


def test_an_unknown_solver_is_named():
    with pytest.raises(
        ValueError, match=r"solver = 'ABACUS': must be an installed solver of cvxpy; .*CLARABEL"
    ):
        lb.judge.solve([0, 1], [1, 1], 5, solver="ABACUS")


def test_objective_is_the_expected_error():
    """Against the expectation over the binomials, summed in full: f = (E[error] - constants) / a."""
    queues, rates, a = [3, 0, 1], [2.0, 1.0, 4.0], 5
    for p in ([0.2, 0.3, 0.5], [0.0, 1.0, 0.0], lb.scd_probabilities(queues, rates, a)):
        iwl = float(lb.ideal_workload(queues, rates, a))
        expected = constant = 0.0
        for q, mu, share in zip(queues, rates, p, strict=True):
            k = np.arange(a + 1)
            expected += np.sum(stats.binom.pmf(k, a, share) * mu * ((q + k) / mu - iwl) ** 2)
            constant += mu * (q / mu - iwl) ** 2
        assert lb.objective(p, queues, rates, a) == pytest.approx((expected - constant) / a, rel=1e-12)


def test_batches_have_the_objective_of_unsplittable_dispatching():
    """Batches 3 and 1 sent whole: expectation over both choices in full."""
    queues, rates, batches = [3, 0], [2.0, 1.0], [3, 1]
    a, beta = 4, (9 + 1) / 4
    iwl = float(lb.ideal_workload(queues, rates, a))
    constant = sum(mu * (q / mu - iwl) ** 2 for q, mu in zip(queues, rates, strict=True))
    for share in (0.0, 0.35, 1.0):
        expected = 0.0
        for first in (0, 1):
            for second in (0, 1):
                sent = [batches[0] * (first == s) + batches[1] * (second == s) for s in (0, 1)]
                chance = math.prod(share if choice == 0 else 1 - share for choice in (first, second))
                cost = zip(queues, rates, sent, strict=True)
                expected += chance * sum(mu * ((q + k) / mu - iwl) ** 2 for q, mu, k in cost)
        f = lb.objective([share, 1 - share], queues, rates, a, beta)
        assert f == pytest.approx((expected - constant) / a, rel=1e-12)


def test_the_papers_roads_agree_and_count_their_candidates():
    rng = np.random.default_rng(2)
    for _ in range(20):
        queues, rates, a = rng.integers(0, 20, 7), rng.uniform(1, 10, 7), int(rng.integers(2, 40))
        ours = lb.scd_probabilities(queues, rates, a)
        taken = {}
        for search in ("subset_search", "prefix_search", "prefix_scan"):
            p, taken[search] = getattr(lb.derivation, search)(queues, rates, a, steps=True)
            assert np.allclose(p, ours, rtol=0, atol=1e-12)
        assert [len(steps) for steps in taken.values()] == [127, 7, 7]
        for fresh, running in zip(taken["prefix_search"], taken["prefix_scan"], strict=True):
            assert fresh.multiplier == pytest.approx(running.multiplier)
            assert fresh.feasible == running.feasible  # Eq. 17 needs the last server alone
            if fresh.feasible:
                assert fresh.objective == pytest.approx(running.objective)  # Lemma 2
        feasible = [step.feasible for step in taken["prefix_scan"]]
        assert feasible == sorted(feasible, reverse=True)  # the search can stop at the first failure


def chi_square(counts, p):
    """p-value of draws against probabilities, cells of fewer than 5 expected put together."""
    expected = p / p.sum() * counts.sum()
    assert not counts[expected == 0].any()
    few = (expected < 5) & (expected > 0)
    counts = np.append(counts[expected >= 5], counts[few].sum())
    expected = np.append(expected[expected >= 5], expected[few].sum())
    used = expected > 0
    return stats.chisquare(counts[used], expected[used]).pvalue if used.sum() > 1 else 1.0


def sampled(seed, spoil=None):
    """Smallest p-value over many states, of `draw_servers` or of a sampler that is spoiled."""
    rng = np.random.default_rng(seed)
    least = 1.0
    for _ in range(60):
        n = int(rng.integers(1, 12))
        queues, rates = rng.integers(0, 15, n), np.append(rng.choice([0, 1, 2.5, 7], n - 1), 3.0)
        a, batch = float(rng.choice([1, 2, 5.5, 40])), float(rng.choice([1, 2.5]))
        p = lb.scd_probabilities(queues, rates, a, batch)
        drawn = lb.draw_servers(queues, rates, a, 200_000, rng, batch)
        if spoil:
            drawn = spoil(drawn, p, rng)
        least = min(least, chi_square(np.bincount(drawn, minlength=n), p))
    return least


def test_random_drops_have_the_probabilities():
    assert sampled(seed=11) * 60 > 1e-6


def test_a_sampler_two_percent_wrong_is_rejected():
    def spoil(drawn, p, rng):
        wrong = rng.random(drawn.size) < 0.02
        return np.where(wrong, np.argmax(p), drawn)

    assert sampled(seed=11, spoil=spoil) * 60 < 1e-6


def test_estimates_average_to_the_truth():
    own = np.random.default_rng(0).poisson(7, (50, 10))
    assert np.array_equal(lb.estimate_arrivals(own, 10).mean(axis=1), own.sum(axis=1))


@pytest.mark.parametrize(
    "make, told",
    [
        (lambda: lb.scd_probabilities([1], [1], 1, batch=-1), "batch = -1: the mean batch must be finite"),
        (lambda: lb.scd_probabilities([1], [1], 1, batch=[1, np.nan]), "batch[1] = nan"),
        (lambda: lb.scd_probabilities([1, 0.5], [1, 1], 1), "queues[1] = 0.5"),
        (lambda: lb.scd_probabilities([1, 1], [1, -3], 1), "rates[1] = -3"),
        (lambda: lb.scd_probabilities([1], [1], np.inf), "arrivals = inf"),
        (lambda: lb.twf_probabilities([1, -1], 1), "queues[1] = -1"),
        (lambda: lb.twf_probabilities(3, 1), "queues = 3: must hold one number for each server"),
        (lambda: lb.estimate_arrivals(-1, 3), "own_jobs = -1"),
        (lambda: lb.estimate_arrivals(1, 0), "dispatchers = 0"),
        (
            lambda: lb.draw_servers([1], [1], 2, -1, np.random.default_rng(0)),
            "jobs = -1: must be a whole number",
        ),
        (lambda: lb.judge.solve([1, 1], [2, 0], 5), "rates[1] = 0: Eq. 10 divides by every rate"),
        (lambda: lb.judge.solve([1, 1], [2, 1], 1), "arrivals = 1: must be above the batch, 1.0"),
        (
            lambda: lb.draw_servers([1], [1], 0, 1, np.random.default_rng(0)),
            "give one state with arrivals > 0",
        ),
    ],
)
def test_bad_input_is_named(make, told):
    with pytest.raises(ValueError) as error:
        make()
    assert told in str(error.value)
