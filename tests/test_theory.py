"""Exact results, each against something that is not itself: a recursion, a sum, a plain simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import lbcore as lb
from lbcore import theory

RATE = st.floats(-2, 3).map(lambda power: 10**power)  # 1e-2 to 1e3, small ones as often as large ones
LOAD = st.floats(0.01, 0.98)
LEFT_OUT = 1e-14  # the tail that a law may leave out
HUNDRED = lb.Cluster.random(100, 10, 10, seed=1)


def rounding(load):
    """What theory.py promises: about 1e-16 / (1 - load) for an entry, 1e-15 / (1 - load) for a floor."""
    return 2e-15 / (1 - load)


def queue_by_recursion(mu, lam, terms):
    """g_n = (1/mu) sum_{k=1..n} P(A >= k) g_{n-k}, g_0 = 1 - lambda/mu: sums of positive terms."""
    at_least = stats.poisson.sf(np.arange(terms) - 1, lam)
    g = [1 - lam / mu]
    for n in range(1, terms):
        g.append(math.fsum(at_least[k] * g[n - k] for k in range(1, n + 1)) / mu)
    return np.array(g)


def response_by_places(mu, lam, rounds, terms):
    """P(T = t) for t < rounds: the job at place K of the line is there until t capacities add up to K."""
    in_batch = stats.poisson.sf(np.arange(terms) - 1, lam) / lam  # P(a job is the k-th of its round), k >= 1
    in_batch[0] = 0
    place = np.convolve(queue_by_recursion(mu, lam, terms), in_batch)[:terms]
    success = 1 / (1 + mu)
    longer = [place @ stats.nbinom.cdf(np.arange(terms) - 1, t, success) for t in range(1, rounds)]
    return -np.diff([1, 1, *longer])


def simulate(mu, lam, replications, rounds, seed):
    """One server, straight from the model: queues at each round's start, each job's (arrival, response)."""
    rng = np.random.default_rng(seed)
    arrived = rng.poisson(lam, (replications, rounds))
    capacity = rng.geometric(1 / (1 + mu), (replications, rounds)) - 1
    queue = np.zeros((replications, rounds + 1), dtype=int)
    for now in range(rounds):
        queue[:, now + 1] = np.maximum(0, queue[:, now] + arrived[:, now] - capacity[:, now])
    left = np.cumsum(arrived, axis=1) - queue[:, 1:]
    responses = []
    for k in range(replications):
        arrival = np.repeat(np.arange(rounds), arrived[k])
        departure = np.searchsorted(left[k], np.arange(1, arrival.size + 1))
        responses.append((arrival, departure - arrival + 1))
    return queue[:, :-1], responses


def floor_by_spitzer(rates, load, size):
    """1 + E[Q] / E[A] with the coefficients of -log(1 - phi) read off by FFT on the unit circle itself.

    1 - phi is divided by 1 - 1 / z: its logarithm has no positive powers, and 0 / 0 at z = 1 is the drift.
    Also returns what rounding may do: each factor puts phi off by a last bit, and coefficients count n times.
    """
    lam, bit = load * np.sum(rates), 2.0**-52
    angle = 2j * np.pi * np.arange(size) / size
    phi = np.exp(lam * np.expm1(angle))
    for mu in rates:
        phi = phi / (1 - mu * np.expm1(-angle))
    ratio = np.full(size, np.sum(rates) - lam, dtype=complex)
    ratio[1:] = (1 - phi[1:]) / -np.expm1(-angle[1:])
    coefficients = np.fft.fft(-np.log(np.abs(ratio)) - 1j * np.unwrap(np.angle(ratio))).real / size
    n = np.arange(1, size // 2)
    astray = np.mean(bit + (len(rates) + 2) * bit * np.abs(phi[1:] / (1 - phi[1:])))
    return 1 + n @ coefficients[n] / lam, n.sum() * astray / lam


@given(RATE, LOAD)
def test_queue_law_follows_its_recursion(mu, load):
    law = theory.queue_law(mu, load * mu)
    slow = queue_by_recursion(mu, load * mu, min(law.size, 60))
    np.testing.assert_allclose(law[: slow.size], slow, rtol=0, atol=rounding(load) + LEFT_OUT)


@pytest.mark.parametrize("mu, load", [(0.05, 0.3), (0.7, 0.8), (1, 0.05), (5.5, 0.9), (40, 0.6)])
def test_response_law_follows_from_places_in_the_line(mu, load):
    law = theory.response_law(mu, load * mu)
    slow = response_by_places(
        mu, load * mu, min(law.size, 40), terms=1400
    )  # P(Q >= 1400) < 1e-17 in all of them
    np.testing.assert_allclose(law[: slow.size], slow, rtol=0, atol=rounding(load) + LEFT_OUT)


@settings(max_examples=60)
@given(RATE, LOAD)
def test_laws_are_whole_and_have_the_means_of_the_formulas(mu, load):
    for make, mean in (
        (theory.queue_law, theory.mean_queue),
        (theory.response_law, theory.mean_response),
    ):
        law = make(mu, load * mu)
        assert law.min() >= 0 and abs(law.sum() - 1) <= LEFT_OUT + rounding(load)
        # what is left out lies beyond the end: a tail of 1e-14, on average at less than twice the length
        allowed = 2 * LEFT_OUT * law.size + rounding(load) * (1 + mean(mu, load * mu))
        assert abs(law @ np.arange(law.size) - mean(mu, load * mu)) <= allowed


def test_one_server_by_simulation():
    """Means and laws within 4 standard errors, taken from independent replications."""
    mu, lam, replications, first, last = 2.0, 1.5, 200, 300, 2000  # memory is lost within about 30 rounds
    queues, responses = simulate(mu, lam, replications, last + 300, seed=11)

    def agree(sums, counts, expected):
        ratio = sums.sum() / counts.sum()
        error = np.std(sums - ratio * counts, ddof=1) / counts.mean() / np.sqrt(replications)
        assert abs(ratio - expected) < 4 * error and error < 0.05 * expected

    kept = queues[:, first:last]
    rounds = np.full(replications, kept.shape[1])
    agree(kept.sum(axis=1), rounds, theory.mean_queue(mu, lam))
    for n, p in enumerate(theory.queue_law(mu, lam)[:12]):
        agree((kept == n).sum(axis=1), rounds, p)
    kept = [t[(arrival >= first) & (arrival < last)] for arrival, t in responses]
    jobs = np.array([t.size for t in kept])
    agree(np.array([t.sum() for t in kept]), jobs, theory.mean_response(mu, lam))
    for t, p in list(enumerate(theory.response_law(mu, lam)))[1:12]:
        agree(np.array([(own == t).sum() for own in kept]), jobs, p)


def test_a_lone_job_waits_for_the_first_capacity_above_0():
    assert theory.mean_queue(3, 0) == 0 and theory.mean_response(4, 0) == 1.25
    assert theory.queue_law(3, 0).tolist() == [1]
    law = theory.response_law(4, 0)
    t = np.arange(1, law.size)
    np.testing.assert_allclose(law, [0, *0.8 * 0.2 ** (t - 1)], rtol=0, atol=rounding(0))
    lone = 1 / (1 - 1 / (2 * 3 * 5))  # some server of rates 1, 2 and 4 has capacity: all have 0 once in 30
    for load in (0, 1e-300, 1e-17):
        assert theory.pooled_floor(lb.Cluster([1, 2, 4], 1), load) == pytest.approx(lone, rel=rounding(0))


def test_means_broadcast_and_are_infinite_where_queues_grow():
    assert theory.mean_response([[1], [2]], [0, 1, 1.5]).tolist() == [[2, np.inf, np.inf], [1.5, 2.5, 4.5]]
    assert theory.mean_queue(2, [1, 2, 1e300]).tolist() == [1.5, np.inf, np.inf]
    cluster = lb.Cluster([1, 0, 4], 3)
    assert theory.random_mean(cluster, [0.5, 1, 1e308]).tolist()[1:] == [np.inf, np.inf]
    assert np.ndim(theory.random_mean(cluster, 0.5)) == 0
    assert theory.pooled_floor(cluster, 1) == theory.choices_limit(1) == theory.choices_limit(7, 1) == np.inf


def test_laws_that_would_not_fit_are_refused():
    for make, mu, lam in ((theory.queue_law, 1e6, 9e5), (theory.response_law, 1e-3, 0.9999e-3)):
        with pytest.raises(ValueError) as error:
            make(mu, lam)
        assert "at most 2**22: lower the load, or use the mean" in str(error.value)
        assert np.isfinite(theory.mean_queue(mu, lam))


def test_random_servers_by_hand():
    """Two servers in use, of rates 1 and 4: a fifth and four fifths of the jobs."""
    cluster = lb.Cluster([1, 0, 4], 3)
    assert theory.random_mean(cluster, 0.5) == pytest.approx(0.2 * 3.5 + 0.8 * 2, rel=rounding(0.5))
    law, slow, fast = theory.random_law(cluster, 0.5), theory.response_law(1, 0.5), theory.response_law(4, 2)
    assert law.size == slow.size > fast.size
    np.testing.assert_allclose(law[: fast.size], 0.2 * slow[: fast.size] + 0.8 * fast, rtol=rounding(0.5))
    np.testing.assert_allclose(law[fast.size :], 0.2 * slow[fast.size :], rtol=rounding(0.5))


@pytest.mark.parametrize("load", [0, 0.3, 0.9, 0.99])
def test_random_law_has_its_mean(load):
    law = theory.random_law(HUNDRED, load)
    spare = HUNDRED.capacity * (1 - load)
    mean = 1 + (HUNDRED.servers + load * HUNDRED.capacity / 2) / spare  # the mixture, added up on paper
    assert theory.random_mean(HUNDRED, load) == pytest.approx(mean, rel=rounding(load))
    allowed = 2 * LEFT_OUT * law.size + rounding(load) * mean
    assert abs(law.sum() - 1) <= LEFT_OUT + rounding(load)
    assert abs(law @ np.arange(law.size) - mean) <= allowed


@settings(max_examples=60)
@given(st.floats(-3, 6).map(lambda power: 10**power), LOAD)
def test_floor_of_one_server_is_its_mean(mu, load):
    floor = theory.pooled_floor(lb.Cluster([mu, 0], 1), load)
    assert floor == pytest.approx(theory.mean_response(mu, load * mu), rel=2 * rounding(load))


@pytest.mark.parametrize("mu", [1e-100, 1e-3, 5.5, 1e9, 1e100])
@pytest.mark.parametrize("load", [1e-9, 0.05, 0.5, 0.999, 1 - 1e-9])
def test_floor_at_the_ends_of_the_rates(mu, load):
    floor, promised = theory.pooled_floor(lb.Cluster([mu], 1), load), 1e-7 if mu > 1e7 else 0
    assert floor == pytest.approx(theory.mean_response(mu, load * mu), rel=max(promised, 2 * rounding(load)))


@pytest.mark.parametrize(
    "rates, load, size",
    [
        ([1, 2, 3], 0.9, 2**12),
        ([0.01, 5], 0.5, 2**13),
        ([1e3, 1, 1], 0.3, 2**16),
        (np.full(40, 0.2), 0.7, 2**11),
        (np.linspace(1, 100, 100), 0.95, 2**15),
        (HUNDRED.rates, 0.9, 2**12),
        (HUNDRED.rates, 0.99, 2**15),
    ],
)
def test_floor_is_spitzers_sum_on_the_unit_circle(rates, load, size):
    """`size` is such that the coefficients have died away; the tolerance is the rounding of the twin."""
    slow, allowed = floor_by_spitzer(rates, load, size)
    assert abs(theory.pooled_floor(lb.Cluster(rates, 1), load) - slow) < allowed < 1e-5 * slow


def test_floor_by_simulation():
    """Lindley's recursion for one line served by three servers, from empty, its start cut off."""
    rng = np.random.default_rng(5)
    rates, load, replications, rounds = np.array([0.5, 1, 3]), 0.8, 4000, 300
    queue, total = np.zeros(replications), np.zeros(replications)
    for now in range(rounds):
        capacity = sum(rng.geometric(1 / (1 + mu), replications) - 1 for mu in rates)
        queue = np.maximum(0, queue + rng.poisson(load * rates.sum(), replications) - capacity)
        total += queue * (now >= 200)  # memory is lost within about 30 rounds
    held = total / (rounds - 200) / (load * rates.sum())
    error = held.std(ddof=1) / np.sqrt(replications)
    assert abs(1 + held.mean() - theory.pooled_floor(lb.Cluster(rates, 1), load)) < 4 * error < 0.1


@settings(max_examples=60)
@given(st.lists(st.one_of(st.just(0.0), RATE), min_size=1, max_size=9).filter(any), LOAD)
def test_floor_lies_below_random_and_rises_with_the_load(rates, load):
    cluster, slack = lb.Cluster(rates, 2), 1 + 2 * rounding(load)
    floor = theory.pooled_floor(cluster, load)
    assert 1 - rounding(load) <= floor <= theory.random_mean(cluster, load) * slack
    assert theory.pooled_floor(cluster, load / 2) <= floor * slack


@given(st.lists(st.tuples(st.integers(0, 2**31), st.integers(0, 2**31)), min_size=1, max_size=30))
def test_path_floor_is_the_recursion(rounds):
    arrivals, capacities = zip(*rounds, strict=True)
    queue, queues = 0, []
    for a, c in rounds:
        queue = max(0, queue + a - c)
        queues.append(queue)
    floor = theory.path_floor(arrivals, capacities)
    assert floor.tolist() == queues and floor.dtype == np.int64
    assert theory.path_floor([arrivals] * 2, [capacities] * 2).tolist() == [queues] * 2


def test_choices_limit():
    assert theory.choices_limit([0, 0.7, 0.9]) == pytest.approx([1, 1.6145, 2.6141], abs=5e-5)  # as printed
    assert theory.choices_limit([0, 0.5, 0.9], 1) == pytest.approx([1, 2, 10], rel=rounding(0.9))
    for load, choices in ((0.3, 2), (0.9, 2), (0.99, 3), (0.999, 7)):
        busy, jobs = load, 0.0  # the share of servers with at least i jobs: s_1 = load, s_i+1 = load s_i**d
        while busy > 0:
            busy, jobs = load * busy**choices, jobs + busy
        assert theory.choices_limit(load, choices) == pytest.approx(jobs / load, rel=rounding(load))
    assert np.isfinite(theory.choices_limit(np.nextafter(1, 0)))


@pytest.mark.parametrize(
    "make, told",
    [
        (lambda: theory.mean_queue(0, 1), "rate = 0: must be from 1e-100 to 1e100 jobs a round"),
        (lambda: theory.mean_queue([1, 2], [0, np.nan]), "arrivals[1] = nan: must be finite and at least 0"),
        (lambda: theory.mean_response([[1, np.inf]], 0), "rate[0, 1] = inf: must be from 1e-100"),
        (lambda: theory.mean_response([1, 2], [1, 2, 3]), "rate has shape (2,), arrivals (3,): they must"),
        (lambda: theory.mean_response("fast", 1), "rate = 'fast': must be real numbers"),
        (lambda: theory.queue_law([1, 2], 0.5), "rate has shape (2,): must be one number"),
        (lambda: theory.queue_law(1, -0.5), "arrivals = -0.5: must be finite and at least 0"),
        (lambda: theory.queue_law(1, 1), "arrivals = 1: must be below rate = 1; else there is no law"),
        (lambda: theory.response_law(2, 2.5), "arrivals = 2.5: must be below rate = 2"),
        (lambda: theory.random_mean(HUNDRED, -1), "load = -1: must be finite and at least 0 (1 = arrivals"),
        (lambda: theory.random_mean(HUNDRED, [0, np.inf]), "load[1] = inf: must be finite"),
        (lambda: theory.random_law(HUNDRED, 1), "load = 1: must be below 1; else there is no law"),
        (lambda: theory.random_law(HUNDRED, [0.5]), "load has shape (1,): must be one number"),
        (lambda: theory.pooled_floor(HUNDRED, -0.1), "load = -0.1: must be finite"),
        (lambda: theory.pooled_floor(HUNDRED, 1 - 1e-13), "so near 1 rounding decides; at most 1 - 1e-12"),
        (lambda: theory.path_floor([1, 0.5], [1, 1]), "arrivals[1] = 0.5: must be a whole number of jobs"),
        (lambda: theory.path_floor([1], [-1]), "capacities[0] = -1: must be a whole number of jobs from 0"),
        (lambda: theory.path_floor([1, 2], [1]), "arrivals have shape (2,), capacities (1,): give one"),
        (lambda: theory.path_floor(1, 1), "arrivals have shape (), capacities ()"),
        (lambda: theory.choices_limit(0.5, 0), "choices = 0: must be a whole number of servers, at least 1"),
        (lambda: theory.choices_limit(0.5, 1.5), "choices = 1.5: must be a whole number"),
        (lambda: theory.choices_limit(np.nan), "load = nan: must be finite"),
    ],
)
def test_bad_input_is_named(make, told):
    with pytest.raises(ValueError) as error:
        make()
    assert told in str(error.value)
