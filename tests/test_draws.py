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
    """The first is taken out; with 10**6, 1, 1 nearly every draw would find it again."""
    weights = np.array(weights)
    rng, table = draws.generator(np.random.SeedSequence(2)), draws.raffle(weights)
    chosen = np.array([0, 9])
    with np.errstate(over="ignore"):
        seen = np.bincount(
            [draws.draw_another(table, weights, chosen, 1, rng) for _ in range(DRAWS)], minlength=4
        )
    left = np.where(np.arange(4) == 0, 0, weights)
    assert seen[0] == 0 and not seen[left == 0].any()
    live = left > 0
    assert stats.chisquare(seen[live], left[live] / left.sum() * DRAWS).pvalue > 1e-6


def test_order_of_candidates():
    assert draws.precedes(1.0, 1.0, 0.9, 2.0, 5.0, 0.1)  # the smaller key
    assert draws.precedes(1.0, 2.0, 0.9, 1.0, 1.0, 0.1)  # then the faster
    assert draws.precedes(1.0, 1.0, 0.1, 1.0, 1.0, 0.9)  # then the lot
    assert not draws.precedes(1.0, 1.0, 0.9, 1.0, 1.0, 0.1)
