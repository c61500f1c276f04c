"""Is the generator NumPy's, and are draws in proportion?"""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lbcore import draws

DRAWS = 3_000 if numba.config.DISABLE_JIT else 300_000


@pytest.mark.parametrize("seed", [0, 1, 2**70])
def test_generator_is_numpys_sfc64(seed):
    mine = draws.generator(np.random.SeedSequence(seed, spawn_key=(3, 1)))
    theirs = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(3, 1))))
    with np.errstate(over="ignore"):
        assert [draws.uniform(mine) for _ in range(1000)] == theirs.random(1000).tolist()


@given(st.lists(st.sampled_from([0.0, 1e-3, 0.1, 1.0, 3.0, 1e6]), min_size=1, max_size=40).filter(any))
def test_raffle_holds_exactly_the_weights(weights):
    """The share of each server over all cells; rounding adds up over the cells that give to it."""
    share, owners, rest = np.split(draws.raffle(weights), 3)
    held = np.zeros(len(weights))
    np.add.at(held, owners.astype(int), share / share.size)
    np.add.at(held, rest.astype(int), (1 - share) / share.size)
    assert held == pytest.approx(np.array(weights) / sum(weights), abs=len(weights) * 2.0**-50)
    assert not held[np.array(weights) == 0].any()


def test_draws_follow_the_weights():
    weights = np.array([0.0, 1.0, 2.0, 7.0])
    rng, table = draws.generator(np.random.SeedSequence(1)), draws.raffle(weights)
    with np.errstate(over="ignore"):
        seen = np.bincount([draws.draw(table, rng) for _ in range(DRAWS)], minlength=4)
        evenly = np.bincount([draws.below(rng, 5) for _ in range(DRAWS)], minlength=5)
    assert seen[0] == 0 and stats.chisquare(seen[1:], weights[1:] / 10 * DRAWS).pvalue > 1e-6
    assert stats.chisquare(evenly).pvalue > 1e-6


@pytest.mark.parametrize("weights", [(1e6, 1.0, 1.0, 0.0), (1.0, 2.0, 3.0, 4.0)])
def test_second_draws_follow_what_is_left(weights):
    """The first is taken out; with 10**6, 1, 1 nearly every draw would find it again, and the walk must do it."""
    weights = np.array(weights)
    rng, table = draws.generator(np.random.SeedSequence(2)), draws.raffle(weights)
    chosen, seen, walks = np.array([0, 9]), np.zeros(4), 0
    with np.errstate(over="ignore"):
        for _ in range(DRAWS):
            s = draws.draw_another(table, chosen, 1, rng)
            walks += s < 0
            seen[s if s >= 0 else draws.draw_left(weights, chosen, 1, rng)] += 1
    left = np.where(np.arange(4) == 0, 0, weights)
    assert not seen[left == 0].any() and (walks > 0.9 * DRAWS) == (weights[0] > 10)
    assert stats.chisquare(seen[left > 0], left[left > 0] / left.sum() * DRAWS).pvalue > 1e-6


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.3), (40, 0.02), (40, 0.5), (500, 0.03), (500, 0.98), (100_000, 0.3)]
)
def test_binomials(n, p):
    """Both ways, from either side, against the law; and a p of 2 % more is refused."""
    rng = draws.generator(np.random.SeedSequence(4))
    with np.errstate(over="ignore"):
        seen = [draws.binomial(n, p, rng) for _ in range(DRAWS)]
        assert draws.binomial(n, 0.0, rng) == 0 and draws.binomial(n, 1.0, rng) == n

    def chance(p):
        law = stats.binom(n, p)
        cells = np.unique(law.ppf(np.linspace(0, 1, 20)[1:-1]))
        expected = np.diff([0, *law.cdf(cells), 1]) * DRAWS
        kept = expected > 5
        counts = np.histogram(seen, [-1, *(cells + 0.5), np.inf])[0]
        return stats.chi2.sf(((counts - expected)[kept] ** 2 / expected[kept]).sum(), kept.sum())

    assert chance(p) > 1e-6
    if not numba.config.DISABLE_JIT and n * p > 10:
        assert chance(p * 1.02 if p < 0.9 else p - 0.005) < 1e-6


@given(st.lists(st.sampled_from([0.0, 1e-3, 0.1, 1.0, 3.0, 1e6]), min_size=1, max_size=40).filter(any))
def test_raffle_made_in_kernels_holds_the_weights(weights):
    weights = np.array(weights)
    table = np.empty(3 * weights.size)
    draws.fill_raffle(weights, table)
    share, owners, rest = np.split(table, 3)
    held = np.zeros(weights.size)
    np.add.at(held, owners.astype(int), share / share.size)
    np.add.at(held, rest.astype(int), (1 - share) / share.size)
    assert held == pytest.approx(weights / weights.sum(), abs=weights.size * 2.0**-50)
    assert not held[weights == 0].any()


@pytest.mark.parametrize("jobs", [30, 41, 400])
def test_many_jobs_scatter_as_a_multinomial(jobs):
    """One by one and in bulk, on both sides of the switch: counts of each server, and of pairs of servers together."""
    weights = np.array([0.0, 1.0, 2.5, 0.5, 6.0])
    rng, runs = draws.generator(np.random.SeedSequence(3)), DRAWS // 10
    sent = np.zeros((runs, 5), dtype=np.int64)
    with np.errstate(over="ignore"):
        for row in sent:
            draws.scatter(weights, jobs, rng, row)
    assert (sent.sum(axis=1) == jobs).all() and not sent[:, 0].any()
    for group in ([1], [2], [3], [4], [1, 4], [2, 3]):
        p = weights[group].sum() / weights.sum()
        counts, law = sent[:, group].sum(axis=1), stats.binom(jobs, p)
        cells = np.unique(law.ppf(np.linspace(0, 1, 12)[1:-1]))
        expected = np.diff([0, *law.cdf(cells), 1]) * runs
        seen = np.histogram(counts, [-1, *(cells + 0.5), np.inf])[0]
        assert stats.chisquare(seen[expected > 0], expected[expected > 0]).pvalue > 1e-6


def test_order_of_candidates():
    assert draws.precedes(1.0, 1.0, 0.9, 2.0, 5.0, 0.1)  # the smaller key
    assert draws.precedes(1.0, 2.0, 0.9, 1.0, 1.0, 0.1)  # then the faster
    assert draws.precedes(1.0, 1.0, 0.1, 1.0, 1.0, 0.9)  # then the lot
    assert not draws.precedes(1.0, 1.0, 0.9, 1.0, 1.0, 0.1)
