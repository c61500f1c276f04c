"""Does each policy decide as written? Laws of decisions against the twin's, and what holds for all policies."""

import heapq
import math
import re
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from twin import Twin, outcomes

import lbcore as lb
from lbcore.compiled import kernel
from lbcore.draws import generator
from lbcore.policies import ARRIVE, DECIDE_ALL, DECIDE_ONE, FINISH, find
from lbcore.policies.base import decide_one_by_one

NAMES = list(lb.POLICIES)
PLAYS = 4_000 if numba.config.DISABLE_JIT else 1_000_000
ESTIMATING = ["SCD(oracle)", "SCD(mean)", "TWF(own+mean)", "SCD(capacity)", "SCD(ewma)", "SCD(1)", "TWF(2.5)"]
VARIANTS = [*ESTIMATING, "SCD(systematic)", "TWF(oracle, systematic)"]
FORMS = [(name, "one") for name in NAMES] + [(n, "all") for n, p in lb.POLICIES.items() if p.decide_all]
LOAD = 0.7  # of a cluster's, for policies that reckon with the long-run mean

# rates, queues at the start, jobs of each dispatcher by round, capacities by round
EQUAL = ((2.0, 2.0, 2.0), (1, 0, 0), ((2, 1),), ((9, 9, 9),))
UNEQUAL = ((1.0, 3.0, 0.0, 4.0), (0, 1, 2, 1), ((1, 2),), ((9, 9, 9, 9),))
SMALL = ((1.0, 3.0, 5.0), (0, 2, 3), ((2, 2),), ((9, 9, 9),))
ROUNDS = ((1.0, 2.0, 2.0), (0, 0, 0), ((1, 0), (2, 0), (1, 1)), ((1, 0, 9), (0, 2, 1), (1, 1, 1)))
FEW = ((1.0, 2.0, 2.0), (0, 0, 0), ((1, 0), (1, 1)), ((0, 0, 9), (9, 9, 9)))  # of policies with many branches


IDLE = (
    (1.0, 2.0, 2.0),
    (0, 0, 0),
    ((0,), (1,), (2,)),
    ((0, 0, 0), (0, 1, 1), (9, 9, 9)),
)  # one token is not renewed
BULK = ((1.0, 1.0, 2.0), (0, 3, 1), ((9,),), ((9, 9, 9),))  # more jobs than servers


def cases(name):
    """The cases that a policy is tried on."""
    own = {"JIQ": [IDLE], "hJIQ": [IDLE], "JSQ": [BULK], "SED": [BULK], "SED+1": [BULK], "LSQ": [BULK]}
    return [EQUAL, UNEQUAL, SMALL, FEW if "LSQ" in name or "(2)" in name else ROUNDS, *own.get(name, [])]


@kernel(
    f"void(FunctionType({ARRIVE}), FunctionType({DECIDE_ONE}), FunctionType({DECIDE_ALL}), FunctionType({FINISH}),"
    " boolean, int64[:, ::1], int32[:, ::1], float64[::1], float64[::1], float64[::1], float64[:, ::1], uint64[::1],"
    " int64[:, :, ::1])"
)
def play(
    arrive,
    decide_one,
    decide_all,
    finish,
    jointly,
    batches,
    capacities,
    start,
    rates,
    options,
    memory,
    rng,
    sent,
):
    """Play the same few rounds many times; `sent` gets the jobs sent to each server in each round of each play."""
    own = np.empty(rates.size, dtype=np.int64)
    for i in range(sent.shape[0]):
        memory[:] = 0.0
        queues = start.copy()
        for t in range(batches.shape[0]):
            sent[i, t] = 0
            if jointly:
                decide_all(batches[t], queues, rates, options, memory, rng, sent[i, t])
            else:
                arrive(batches[t], options, memory)
                for d in range(batches.shape[1]):
                    own[:] = 0
                    decide_one(d, batches[t, d], queues, rates, options, memory, rng, own)
                    sent[i, t] += own
            for s in range(rates.size):
                queues[s] = max(0.0, queues[s] + sent[i, t, s] - capacities[t, s])
            finish(queues, capacities[t], rates, options, memory, rng)


def played(name, form, case, plays, seed=7):
    """Jobs sent to each server, shape (plays, rounds, servers), by the kernels."""
    rates, start, batches, capacities = (np.array(x) for x in case)
    policy, cluster = find(name), lb.Cluster(rates, batches.shape[1])
    workload = lb.Workload(cluster, LOAD, 1)
    sent = np.zeros((plays, len(batches), rates.size), dtype=np.int64)
    with np.errstate(over="ignore"):
        play(
            policy.arrive, policy.decide_whole if form == "whole" else policy.decide_one,
            policy.decide_all if form == "all" else decide_one_by_one,
            policy.finish, form == "all", batches, capacities.astype(np.int32), start.astype(float),
            rates.astype(float),
            policy.prepare_for(workload), np.zeros(policy.memory_shape(cluster)),
            generator(np.random.SeedSequence(seed)), sent,
        )  # fmt: skip
    return sent


def counts_of(name, form, case, plays=PLAYS):
    """How often each outcome came, by the kernels; an outcome is all jobs sent, written as one number."""
    sent = played(name, form, case, plays)
    sent = sent.reshape(len(sent), -1)
    base = sum(map(sum, case[2])) + 1
    codes = sent @ base ** np.arange(sent.shape[1] - 1, -1, -1)
    return dict(zip(*(x.tolist() for x in np.unique(codes, return_counts=True)), strict=True))


def law_of(name, case, tilt=0.0, splittable=True):
    """The exact law of the same outcomes, by the twin."""
    rates, start, batches, capacities = case
    base = sum(map(sum, batches)) + 1

    def one_play(choose):
        twin, code = Twin(name, rates, len(batches[0]), choose, start, LOAD * sum(rates), splittable), 0
        for jobs, able in zip(batches, capacities, strict=True):
            twin.round(jobs, able)
            for sent in twin.totals:
                code = code * base + sent
        return code

    return {code: float(p) for code, p in outcomes(one_play, tilt).items() if p > 0}


def chi_square(counts, law):
    """Statistic and degrees of freedom; outcomes expected fewer than ten times are taken together."""
    total = sum(counts.values())
    often = [code for code, p in law.items() if p * total >= 10]
    seen = np.array([counts.get(code, 0) for code in often] + [0.0])
    expected = np.array([law[code] * total for code in often] + [0.0])
    seen[-1], expected[-1] = total - seen.sum(), total - expected.sum()
    kept = expected > 1e-9 * total
    return float(np.sum((seen - expected)[kept] ** 2 / expected[kept])), int(kept.sum()) - 1


@pytest.mark.parametrize(("name", "form"), FORMS, ids=[f"{n}-{f}" for n, f in FORMS])
def test_law_of_decisions(name, form):
    """Against the exact law, and against one whose draws are 2 % off, which must be refused."""
    right, wrong, freedom = 0.0, 0.0, 0
    for case in cases(name):
        counts, law = counts_of(name, form, case), law_of(name, case)
        assert set(counts) <= set(law), "the kernel does what the rule never does"
        statistic, df = chi_square(counts, law)
        assert stats.chi2.sf(statistic, max(df, 1)) > 1e-6
        right, freedom = right + statistic, freedom + df
        wrong += chi_square(counts, law_of(name, case, tilt=0.02))[0]
    assert stats.chi2.sf(right, freedom) > 1e-6
    if not numba.config.DISABLE_JIT:  # a few thousand plays cannot tell 2 %
        assert stats.chi2.sf(wrong, freedom) < 1e-6


@pytest.mark.parametrize("name", VARIANTS)
def test_law_of_variants(name):
    """As above; their kernels are mostly those of policies tried there, so fewer plays will do."""
    for form in ("one", "all") if find(name).decide_all else ("one",):
        for case in (SMALL, ROUNDS, UNEQUAL) if form == "one" else (SMALL, ROUNDS):
            counts, law = counts_of(name, form, case, PLAYS // 20), law_of(name, case)
            assert set(counts) <= set(law), "the kernel does what the rule never does"
            statistic, df = chi_square(counts, law)
            assert stats.chi2.sf(statistic, max(df, 1)) > 1e-6
    other = counts_of("SCD" if name[:3] == "TWF" else "TWF", "one", SMALL, PLAYS // 20)
    statistic, df = chi_square(other, law_of(name, SMALL))
    assert numba.config.DISABLE_JIT or stats.chi2.sf(statistic, max(df, 1)) < 1e-6


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="many plays")
@pytest.mark.parametrize("jobs", [0.2, 1, 4, 12, 100], ids=lambda jobs: f"{jobs}-jobs-a-server")
@pytest.mark.parametrize("name", [*(name for name, form in FORMS if form == "all"), "SCD(ewma)"])
def test_all_at_once_as_one_by_one(name, jobs):
    """Two rounds of 12 servers and 5 dispatchers, from few jobs to what is drawn in bulk: means and spreads agree."""
    rng, plays = np.random.default_rng(int(10 * jobs)), 20_000
    rates = np.array([1.0, 2.0, 2.0, 2.0, 0.0, 3.5, 5.0, 8.0, 8.0, 13.0, 20.0, 1.5])
    start = rng.poisson(rates * jobs)
    batches = rng.poisson(12 * jobs / 5, (2, 5))
    case = rates, start, batches, rng.poisson(2 * rates * jobs, (2, 12))
    one, every = played(name, "one", case, plays), played(name, "all", case, plays, seed=8)
    assert (every.sum(axis=2) == batches.sum(axis=1)).all() and not every[:, :, 4].any()
    for power in (1, 2):  # of the distance from the mean of both
        middle = (one.mean(axis=0) + every.mean(axis=0)) / 2 if power == 2 else 0.0
        a, b = (one - middle) ** power, (every - middle) ** power
        error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / plays)
        apart = np.abs(a.mean(axis=0) - b.mean(axis=0))
        assert (apart <= 5.5 * error + 1e-9 * (1 + np.abs(middle))).all()
        together = [x[:, :, :6].sum(axis=2) for x in (one, every)]  # half of the servers at once: covariances
        spread = np.sqrt(sum(x.var(axis=0) for x in together) / plays)
        assert (np.abs(together[0].mean(axis=0) - together[1].mean(axis=0)) <= 5.5 * spread + 1e-9).all()
        widths = [(x - together[0].mean(axis=0)) ** 2 for x in together]
        spread = np.sqrt(sum(x.var(axis=0) for x in widths) / plays)
        assert (np.abs(widths[0].mean(axis=0) - widths[1].mean(axis=0)) <= 5.5 * spread + 1e-9).all()


def one_after_the_other(rates, queues, jobs, counted):
    """SED with a heap of (key, slower, server), job by job."""
    line = [
        ((q + counted) / mu, -mu, s) for s, (q, mu) in enumerate(zip(queues, rates, strict=True)) if mu > 0
    ]
    heapq.heapify(line)
    sent = np.zeros(len(rates), dtype=np.int64)
    for _ in range(jobs):
        s = line[0][2]
        sent[s] += 1
        heapq.heapreplace(line, ((queues[s] + sent[s] + counted) / rates[s], -rates[s], s))
    return sent


@given(data=st.data())
def test_sed_all_at_once_exactly_as_job_by_job(data):
    """Where rates differ nothing is drawn: any sizes of batches, ties of heights, queues and rates of all sizes."""
    servers, dispatchers = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    wide = data.draw(st.sampled_from([[0.5, 1.0, 2.0, 3.0, 10.0], [0.0, 1.0, 1.5], [1e-3, 1.0, 1e6]]))
    rates = rng.choice(wide, servers)
    rates[rates > 0] *= 1 + np.arange(servers)[rates > 0] / 1024
    rates[0] = max(rates[0], 1e-3)
    queues = rng.poisson(rates * rng.choice([0.0, 1.0, 30.0, 1e6])).astype(float)
    batches = rng.poisson(rng.choice([0.3, 5.0, 100.0, 1000.0]), dispatchers)
    for name, counted in (("SED", 0.0), ("SED+1", 1.0)):
        case = rates, queues, [batches], np.ones((1, servers))
        one_by_one = sum(one_after_the_other(rates, queues, jobs, counted) for jobs in batches)
        assert np.array_equal(played(name, "one", case, 1)[0, 0], one_by_one)
        assert np.array_equal(played(name, "all", case, 1)[0, 0], one_by_one)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="many jobs")
@given(data=st.data())
def test_extreme_states(data):
    """Queues up to 2**50, rates from 1e-3 to 1e7, one job to a million: every form ends and sends what came."""
    servers, dispatchers = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 4))
    rates = data.draw(
        st.lists(st.sampled_from([0.0, 1e-3, 1.0, 7.3, 1e7]), min_size=servers, max_size=servers).filter(any)
    )
    queues = data.draw(st.lists(st.sampled_from([0, 1, 10**6, 2**50]), min_size=servers, max_size=servers))
    batches = data.draw(
        st.lists(st.sampled_from([0, 1, 40, 10**6]), min_size=dispatchers, max_size=dispatchers)
    )
    case = rates, queues, [batches], np.ones((1, servers))
    for name, form in FORMS:
        if "(2)" in name and max(batches) > 1000:
            continue  # takes its time with each job
        sent = played(name, form, case, 1)[0, 0]
        assert sent.sum() == sum(batches) and (sent >= 0).all() and not sent[np.array(rates) == 0].any(), name


@pytest.mark.parametrize(
    "name",
    [
        *NAMES,
        "SCD(ewma)",
        "SCD(1)",
        "TWF(oracle, systematic)",
        "JSQ(1)",
        "JSQ(5)",
        "hJSQ(3)",
        "LSQ(0)",
        "hLSQ(7)",
    ],
)
@given(data=st.data())
def test_contract(name, data):
    """Sends exactly what arrived, none out of service; writes neither the queues nor what it was given."""
    servers, dispatchers = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 4))
    rate = st.sampled_from([0.0, 1e-3, 0.5, 1.0, 3.0, 1e6])
    rates = np.array(data.draw(st.lists(rate, min_size=servers, max_size=servers).filter(any)))
    policy, cluster = find(name), lb.Cluster(rates, dispatchers)
    options, memory = (
        policy.prepare_for(lb.Workload(cluster, LOAD, 1)),
        np.zeros(policy.memory_shape(cluster)),
    )
    queues = np.array(
        data.draw(st.lists(st.integers(0, 50), min_size=servers, max_size=servers)), dtype=float
    )
    given_arrays = queues.copy(), rates.copy(), options.copy()
    rng = generator(np.random.SeedSequence(data.draw(st.integers(0, 99))))
    capacities = np.ones(servers, dtype=np.int32)
    with np.errstate(over="ignore"):
        for _ in range(3):
            batches = np.array(
                data.draw(st.lists(st.integers(0, 60), min_size=dispatchers, max_size=dispatchers))
            )
            sent = np.zeros((dispatchers, servers), dtype=np.int64)
            policy.arrive(batches, options, memory)
            for d in range(dispatchers):
                policy.decide_one(d, batches[d], queues, rates, options, memory, rng, sent[d])
            if policy.decide_all:
                together = np.zeros(servers, dtype=np.int64)
                policy.decide_all(batches, queues, rates, options, memory, rng, together)
                sent = np.vstack([sent, together])
                batches = np.append(batches, batches.sum())
            assert (sent.sum(axis=1) == batches).all() and (sent >= 0).all()
            assert not sent[:, rates == 0].any()
            policy.finish(queues, capacities, rates, options, memory, rng)
            for now, before in zip((queues, rates, options), given_arrays, strict=True):
                assert np.array_equal(now, before)


def test_names():
    assert find("JSQ(3)").name == "JSQ(3)" and find("hLSQ(2)").name == "hLSQ"
    assert find(lb.policies.hJSQd(4)).name == "hJSQ(4)"
    with pytest.raises(ValueError, match=r"unknown policy 'SDC'; nearest: 'SCD'. Known: SCD, TWF, JSQ"):
        find("SDC")
    with pytest.raises(ValueError, match=r"unknown policy 3"):
        find(3)
    with pytest.raises(ValueError, match=r"d = 0 of hJSQ\(d\): must be a whole number, at least 1"):
        find("hJSQ(0)")
    with pytest.raises(ValueError, match=r"samples = -1 of LSQ: must be a whole number"):
        lb.policies.LSQ(-1)


def test_names_tell_the_estimate():
    for name in VARIANTS:
        assert find(name).name == name and find(name).family == name[:3]
    assert lb.policies.SCD(20.0).name == "SCD(20)" and find("TWF(own)").name == "TWF"
    words = "'own', 'oracle', 'mean', 'own\\+mean', 'capacity', 'ewma'"
    for wrong in ("men", 0.5, 2e6, True, math.nan, None):
        with pytest.raises(
            ValueError, match=rf"estimate = .* of TWF: must be one of {words}, or a number from 1"
        ):
            lb.policies.TWF(wrong)
    with pytest.raises(ValueError, match="draws = 'even' of SCD: must be 'independent' or 'systematic'"):
        lb.policies.SCD(draws="even")
    with pytest.raises(ValueError, match="estimate = 'men' of SCD: must be one of"):
        find("SCD(men)")
    with pytest.raises(ValueError, match="estimate = 'mean' needs the workload's mean arrivals"):
        find("SCD(mean)").prepare(lb.Cluster([1, 2], 2))


def test_a_subclass_may_prepare_itself_from_the_cluster():
    """As before estimates were told: prepare gets the cluster alone."""

    class Slower(lb.policies.SCD):
        name = "slower"

        def prepare(self, cluster):
            return super().prepare(lb.Cluster(cluster.rates / 2, cluster.dispatchers))

    workload = lb.Workload(lb.Cluster([1, 2, 5], 2), 0.7, 100)
    slower, plain = lb.compare(workload, [Slower(), "SCD"]).values()
    assert slower.completed > 0 and slower.histogram.tolist() != plain.histogram.tolist()


@given(data=st.data())
def test_an_estimate_of_one_takes_the_best_server_for_the_whole_batch(data):
    """All to the smallest (2 queue + 1) / rate; rates without ties."""
    rates = np.array([1.0, 2.5, 0.0, 3.7, 9.1])
    queues, batches = np.array(data.draw(st.lists(st.integers(0, 60), min_size=5, max_size=5))), [3, 0, 40]
    keys = np.divide(2 * queues + 1, rates, out=np.full(5, np.inf), where=rates > 0)
    if np.sort(keys)[1] - np.min(keys) < 1e-9:
        return
    for form in ("one", "all"):
        sent = played("SCD(1)", form, (rates, queues, [batches], np.ones((1, 5))), 1)[0, 0]
        assert sent[np.argmin(keys)] == 43


def test_a_large_estimate_is_weighted_random():
    """Sent by estimates of 20 and of 1e6: the one keeps away from long queues, the other follows the rates."""
    rates, plays = np.array([1.0, 2.0, 5.0, 0.0]), 2_000
    case = rates, [9, 0, 30, 0], [[5, 20]], np.ones((1, 4))
    for form in ("one", "all"):
        for estimate, like in ((1e6, True), (20, False)):
            sent = played(f"SCD({estimate:.0f})", form, case, plays)[:, 0].sum(axis=0)
            gap = stats.chisquare(sent[:3], 25 * plays * rates[:3] / 8)
            assert (gap.pvalue > 1e-6) == like


def test_systematic_draws_are_each_by_the_probabilities_and_as_even_as_can_be():
    """Each server gets its expected jobs rounded up or down, and in the mean exactly these."""
    rates, queues = np.array([1.0, 3.0, 0.0, 4.0, 9.0, 0.5]), [0, 4, 0, 2, 11, 7]
    plays, jobs = 20_000, 7
    sent = played("SCD(systematic)", "one", (rates, queues, [[jobs]], np.ones((1, 6))), plays)[:, 0]
    expected = jobs * lb.scd_probabilities(queues, rates, jobs)
    assert (np.abs(sent - expected) < 1).all()
    error = np.sqrt((expected % 1) * (1 - expected % 1) / plays)
    assert (np.abs(sent.mean(axis=0) - expected) <= 5 * error + 1e-12).all()
    free = played("SCD", "one", (rates, queues, [[jobs]], np.ones((1, 6))), plays)[:, 0]
    assert (np.abs(free - expected) >= 1).any()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="long runs")
def test_systematic_draws_shorten_the_wait():
    """By about 2 % at load .9: told from 0 on common random numbers."""
    rates = np.random.default_rng(5).uniform(1, 10, 100)
    workload = lb.Workload(lb.Cluster(rates, 10), 0.9, 4_000, seed=1)
    even, free = lb.compare(workload, ["SCD(systematic)", "SCD"], replications=8, warmup=500).values()
    assert lb.difference(even, free, confidence=0.999).high < 0


def test_policies_written_in_contributing_run():
    """The thirteenth policy of CONTRIBUTING, in plain Python and as a kernel: one law, two speeds."""
    text = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text()
    listings = [code for code in re.findall(r"```python\n(.*?)```", text, re.S) if "lb.Policy" in code]
    assert len(listings) == 2 and all(code.count("\n") < 30 for code in listings)
    workload = lb.Workload(lb.Cluster([1, 2, 3, 0], 3), 0.7, 300, seed=4)
    results = []
    for listing in listings:
        names = {}
        exec(listing, names)
        (policy,) = (
            x for x in names.values() if isinstance(x, type) and x.__module__ not in ("lbcore.policies.base",)
        )
        results.append(lb.simulate(workload, policy()))
    plain, fast = results
    assert np.array_equal(plain.histogram, fast.histogram) and plain.completed > 1000
