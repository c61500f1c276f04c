"""The water: against exact rational arithmetic, by its laws, and at the door."""

from fractions import Fraction
from itertools import pairwise

import naive
import numpy as np
import pytest
from conftest import balanced_states, golden, states
from hypothesis import given
from hypothesis import strategies as st

import lbcore as lb

EPS = 2.0**-52


@pytest.mark.parametrize("name", ["golden_probabilities", "golden_long_queues"])
def test_golden_ideal_workloads(name):
    for case in golden(name):
        level = lb.ideal_workload(case["queues"], case["rates"], case["arrivals"])
        assert abs(Fraction(float(level)) - case["ideal_workload"]) <= 1e-12 * case["ideal_workload"], case[
            "name"
        ]


@given(st.one_of(states(), balanced_states()))
def test_level_and_water_are_those_of_exact_arithmetic(state):
    queues, rates, arrivals = state
    level, water = naive.water(queues, rates, arrivals)
    # sums of n positive numbers in doubles: n + 2 roundings of half a last bit
    assert abs(Fraction(float(lb.ideal_workload(*state))) - level) <= (len(rates) + 2) * EPS * level
    # a first level is (n + 2) half bits off, which moves the water by `astray`; that is corrected, and what
    # stays is some last bits of the water handled: the arrivals and what was astray
    astray = max(rates) * float(level) * (len(rates) + 2) * EPS
    slack = (len(rates) + 8) * EPS * (arrivals + astray)
    poured = lb.ideal_assignment(*state)
    assert all(abs(Fraction(float(p)) - w) <= slack for p, w in zip(poured, water, strict=True))


@given(st.one_of(states(), balanced_states()))
def test_poured_volume_is_the_arrivals(state):
    poured = lb.ideal_assignment(*state)
    assert poured.min() >= 0
    assert poured.sum() == pytest.approx(state[2], rel=len(poured) * EPS)


@given(states(), st.randoms(use_true_random=False))
def test_order_of_servers_does_not_matter(state, random):
    queues, rates, arrivals = state
    order = random.sample(range(len(rates)), len(rates))
    level = lb.ideal_workload(np.take(queues, order), np.take(rates, order), arrivals)
    assert level == pytest.approx(lb.ideal_workload(*state), rel=2 * (len(rates) + 2) * EPS)


@given(states(), st.integers(-20, 20))
def test_rates_in_another_unit_scale_the_level(state, power):
    queues, rates, arrivals = state
    scaled = lb.ideal_workload(queues, np.ldexp(rates, power), arrivals)
    assert scaled == np.ldexp(lb.ideal_workload(*state), -power)  # a power of 2 rounds nothing


@given(states(queue=st.integers(0, 2**39).map(lambda q: 2 * q)), st.data())
def test_splitting_a_server_in_two_changes_nothing(state, data):
    queues, rates, arrivals = state
    s = data.draw(st.integers(0, len(rates) - 1))
    halves = [q // 2 if i == s else q for i, q in enumerate(queues)] + [queues[s] // 2]
    speeds = [mu / 2 if i == s else mu for i, mu in enumerate(rates)] + [rates[s] / 2]
    level = lb.ideal_workload(halves, speeds, arrivals)
    assert level == pytest.approx(lb.ideal_workload(*state), rel=2 * (len(rates) + 3) * EPS)


@given(states(), st.floats(0, 1e6))
def test_more_arrivals_never_lower_the_level(state, more):
    queues, rates, arrivals = state
    level = lb.ideal_workload(queues, rates, arrivals)
    assert lb.ideal_workload(queues, rates, arrivals + more) >= level * (1 - (len(rates) + 2) * EPS)


def test_no_arrivals_stand_at_the_lowest_floor():
    assert lb.ideal_workload([4, 6, 1], [2.0, 5.0, 0.0], 0) == 1.2
    assert lb.ideal_assignment([4, 6, 1], [2.0, 5.0, 0.0], 0).tolist() == [0, 0, 0]


def test_heights_that_grow_like_factorials_take_a_pass_each_and_end():
    heights = np.cumprod(np.arange(1, 18, dtype=float))
    _, steps = lb.derivation.newton_level(heights, np.ones(17), 0.5, steps=True)
    assert len(steps) > 10  # contrived indeed
    assert lb.ideal_workload(heights, np.ones(17), 0.5) == 1.5


@pytest.mark.parametrize("far", [0, 10**9])
def test_a_large_cluster_starts_from_a_sample_and_ends_the_same(far):
    """Every 20th server is sampled; with `far` those are nothing like the rest, so the start is no help."""
    rng = np.random.default_rng(4)
    queues, rates = rng.integers(0, 60, 20_000), rng.uniform(1, 10, 20_000)
    queues[::20] += far
    order = np.argsort(queues / rates)
    levels = (2e4 + np.cumsum(queues[order])) / np.cumsum(rates[order])
    by_sorting = levels[np.argmax(levels <= np.append((queues / rates)[order][1:], np.inf))]
    assert lb.ideal_workload(queues, rates, 2e4) == pytest.approx(by_sorting, rel=20_000 * EPS)


def test_shapes_broadcast():
    rng = np.random.default_rng(3)
    queues, rates, arrivals = (
        rng.integers(0, 9, (4, 1, 3)),
        rng.uniform(1, 5, (5, 3)),
        rng.integers(0, 20, (4, 5)),
    )
    levels, water = lb.ideal_workload(queues, rates, arrivals), lb.ideal_assignment(queues, rates, arrivals)
    assert levels.shape == (4, 5) and water.shape == (4, 5, 3)
    for i in range(4):
        for j in range(5):
            assert levels[i, j] == lb.ideal_workload(queues[i, 0], rates[j], arrivals[i, j])
            assert (water[i, j] == lb.ideal_assignment(queues[i, 0], rates[j], arrivals[i, j])).all()
    assert lb.ideal_workload(np.zeros((0, 3)), [1, 2, 3], 1).shape == (0,)
    assert isinstance(lb.ideal_workload([1], [1], 1), float)


def test_what_is_given_is_not_changed():
    queues, rates = np.array([3.0, 1.0]), np.array([1.0, 2.0])
    queues.flags.writeable = False
    lb.ideal_assignment(queues, rates, 4)
    assert queues.tolist() == [3, 1] and rates.tolist() == [1, 2]


BAD = [
    (([1, -1], [1, 1], 1), "queues[1] = -1: every queue must be a whole number"),
    (([1, 0.5], [1, 1], 1), "queues[1] = 0.5: every queue must be a whole number"),
    (([1, float("nan")], [1, 1], 1), "queues[1] = nan: every queue"),
    (([1, 2**53], [1, 1], 1), "queues[1] = 9007199254740992: every queue"),
    (([[1, 1], [1, -2]], [1, 1], 1), "queues[1, 1] = -2: every queue"),
    (([1, 1], [1, -1], 1), "rates[1] = -1: every rate must be finite and at least 0 (0 = out of service"),
    (([1, 1], [1, float("inf")], 1), "rates[1] = inf: every rate"),
    (([1, 1], [1, 1e-200], 1), "rates[1] = 1e-200"),
    (([1, 1], [0, 0], 1), "rates = [0.0, 0.0]: at least one rate must be above 0"),
    (([1, 1], [[1, 2], [0, 0]], 1), "at least one rate must be above 0"),
    (([1, 1], [1, 1], -1), "arrivals = -1: the arrivals of a round must be finite"),
    (([1, 1], [1, 1], [3, float("nan")]), "arrivals[1] = nan: the arrivals"),
    (([[1, 1], [2, 2]], [1, 1], [[1], [-4]]), "arrivals[1, 0] = -4"),
    (([1, 1, 1], [1, 1], 1), "queues are 3 long, rates 2: both need one number for each server"),
    ((3, [1], 1), "queues = 3: must hold one number for each server"),
    (([], [], 1), "must hold one number for each server, and at least one server"),
    (([[1, 2], [3]], [1, 1], 1), "queues = [[1, 2], [3]]: must be real numbers in rows of equal length"),
    ((["a"], [1], 1), "queues = ['a']: must be real numbers"),
    (([1j], [1], 1), "queues = [1j]: must be real numbers"),
    (([1], [None], 1), "rates = [None]: must be real numbers"),
    (([True], [1], 1), "queues = [True]: must be real numbers"),
    (
        (np.ones((3, 2)), [1, 1], [1, 2]),
        "shapes do not fit together: queues (3, 2), rates (2,), arrivals (2,)",
    ),
]


@pytest.mark.parametrize("given, told", BAD, ids=[told[:40] for _, told in BAD])
@pytest.mark.parametrize("function", [lb.ideal_workload, lb.ideal_assignment])
def test_bad_input_is_named(function, given, told):
    with pytest.raises(ValueError) as error:
        function(*given)
    assert told in str(error.value)


@given(
    states(
        servers=st.integers(1, 3), rate=st.floats(0.1, 10), queue=st.integers(0, 9), volume=st.integers(0, 6)
    )
)
def test_greedy_has_the_least_weighted_error_of_all_whole_assignments(state):
    queues, rates, jobs = state
    level, _ = naive.water(queues, rates, jobs)
    errors = {
        sent: naive.weighted_error(sent, queues, rates, level) for sent in naive.splits(jobs, len(rates))
    }
    sent = tuple(lb.greedy_assignment(queues, rates, jobs).tolist())
    best = min(errors.values())
    assert errors[sent] - best <= 1e-9 * (best + 1)  # doubles may part or join a tie
    error = lb.assignment_error(sent, queues, rates, jobs)
    assert error == pytest.approx(float(errors[sent]), rel=1e-9, abs=1e-9)


def test_greedy_rules_differ_and_ties_go_to_the_faster():
    assert lb.greedy_assignment([0, 0], [5, 2], 2, counted=1).tolist() == [2, 0]
    assert lb.greedy_assignment([0, 0], [5, 2], 2).tolist() == [1, 1]
    assert lb.greedy_assignment([0, 0, 0, 0], [1, 4, 4, 0], 1, counted=0).tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    "given, told",
    [
        (([1], [1], 1.5), "jobs = 1.5: must be a whole number"),
        (([1], [1], -1), "jobs = -1: must be a whole number"),
        (([1], [1], 1, 2), "counted = 2: must be from 0"),
        (([[1], [2]], [1], 1), "give one state at a time"),
        (([1, -1], [1, 1], 1), "queues[1] = -1"),
    ],
)
def test_greedy_names_bad_input(given, told):
    with pytest.raises(ValueError) as error:
        lb.greedy_assignment(*given)
    assert told in str(error.value)


@given(states(queue=st.integers(0, 10_000), rate=st.floats(1e-3, 1e3)))
def test_teaching_levels_agree_with_exact_arithmetic_and_their_steps(state):
    queues, rates, arrivals = state
    exact = float(naive.water(queues, rates, arrivals)[0])
    level, turns = lb.derivation.sorted_level(*state, steps=True)
    assert level == pytest.approx(exact, rel=1e-9)  # a sum of differences, for reading rather than precision
    assert sum(turn.poured for turn in turns) == pytest.approx(arrivals)
    assert [turn.wet for turn in turns] == list(range(1, len(turns) + 1))
    level, passes = lb.derivation.newton_level(*state, steps=True)
    assert level == pytest.approx(exact, rel=1e-12)
    assert all(later.level < earlier.level for earlier, later in pairwise(passes))
