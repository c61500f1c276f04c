"""Does the round loop do what the model says? Against the plain twin, theory, bounds; and the same bits always."""

import os
import signal
import subprocess
import sys
import time

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from twin import Twin, chooser

import lbcore as lb
from lbcore.simulator import Simulation

NAMES = list(lb.POLICIES)
LONG = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="long runs")
SLOW = settings(max_examples=20 if numba.config.DISABLE_JIT else 100)


def follow(workload, policy, replication=0):
    """The rounds of a simulation one by one: (arrivals, capacities, simulation)."""
    simulation, source = Simulation(workload, policy, replication), workload.open(replication)
    while source.rest:
        arrivals, capacities = source.take(1)
        simulation.advance(arrivals, capacities)
        yield arrivals[0], capacities[0], simulation


# Where nothing is drawn in deciding: (policy, the twin's name for it, rates, dispatchers, load)
DISTINCT = [1.5, 2.0, 3.25, 0.0, 5.0, 0.3]
UNDRAWN = [
    ("SED", "SED", DISTINCT, 3, 0.9),
    ("SED", "SED", DISTINCT, 2, 1.1),
    ("SED+1", "SED+1", DISTINCT, 3, 0.9),
    ("SED", "SED", [30.5, 40.0, 0.0, 65.25, 100.0, 6.3], 2, 0.9),  # large batches
    ("SED+1", "SED+1", [30.5, 40.0, 0.0, 65.25, 100.0, 6.3], 1, 0.9),
    ("hJSQ(5)", "SED", DISTINCT, 4, 0.9),
    ("hLSQ(5)", "SED", DISTINCT, 2, 0.9),
    *((name, name, [0.0, 2.0, 0.0], 3, 0.9) for name in NAMES),
]


@pytest.mark.parametrize(("policy", "twin", "rates", "dispatchers", "load"), UNDRAWN)
def test_queue_by_queue_as_the_twin(policy, twin, rates, dispatchers, load):
    workload = lb.Workload(lb.Cluster(rates, dispatchers), load, 300, seed=11)
    plain, times = Twin(twin, rates, dispatchers, chooser(np.random.default_rng(1).random)), []
    for arrivals, capacities, simulation in follow(workload, policy):
        times += plain.round(arrivals.tolist(), capacities.tolist())
        assert simulation.queues.lengths.tolist() == plain.lengths()
    assert simulation.run().histogram.tolist() == np.bincount(times).tolist()


class FirstTwin(Twin):
    """The plain twin, but every tie goes to the lowest index."""

    def _any(self, servers):
        return min(servers)


def test_ties_to_the_first_as_the_twin():
    rates = [2.0, 0.0, 2.0, 2.0, 1.0]
    workload = lb.Workload(lb.Cluster(rates, 3), 0.9, 300, seed=11)
    plain = FirstTwin("JSQ", rates, 3, None)
    for arrivals, capacities, simulation in follow(workload, lb.policies.JSQFirst()):
        plain.round(arrivals.tolist(), capacities.tolist())
        assert simulation.queues.lengths.tolist() == plain.lengths()


def test_idle_tokens_as_the_twin():
    """hJIQ with one dispatcher and servers that are always idle again draws nothing after the first round."""
    rates, rng = [1.0, 2.0, 3.0, 5.0], np.random.default_rng(5)
    arrivals, capacities = rng.integers(0, 9, (300, 1)), rng.integers(9, 20, (300, 4))
    arrivals[0] = 0
    plain = Twin("hJIQ", rates, 1, chooser(rng.random))
    for jobs, able, simulation in follow(
        lb.Workload.from_arrays(lb.Cluster(rates, 1), arrivals, capacities), "hJIQ"
    ):
        before = simulation.sent.copy()
        plain.round(jobs.tolist(), able.tolist())
    assert before.sum() and simulation.served.sum() == arrivals.sum()
    sent = np.zeros(4)
    again = Twin("hJIQ", rates, 1, chooser(rng.random))
    for jobs, able in zip(arrivals, capacities, strict=True):
        again.round(jobs.tolist(), able.tolist())
        sent += again.totals
    assert simulation.sent.tolist() == sent.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_response_times_as_the_twin(name):
    """Means over independent runs of a small busy cluster, where all draws matter."""
    rates, dispatchers, runs = [1.0, 2.0, 0.0, 4.0], 3, 30
    workload = lb.Workload(lb.Cluster(rates, dispatchers), 0.7, 60, seed=6)
    mine = lb.simulate(workload, name, replications=runs).samples("mean")
    theirs, choose = [], chooser(np.random.default_rng(3).random)
    for replication in range(runs):
        plain, times = Twin(name, rates, dispatchers, choose), []
        for arrivals, capacities in zip(*workload.open(replication).take(60), strict=True):
            times += plain.round(arrivals.tolist(), capacities.tolist())
        theirs.append(np.mean(times))
    assert abs(stats.ttest_rel(mine, theirs).statistic) < 4.5 or np.allclose(mine, theirs)


@pytest.mark.parametrize("name", NAMES)
@SLOW
@given(data=st.data())
def test_no_path_beats_the_pool_and_no_job_is_lost(name, data):
    """Made-up clusters and traces: rates from 1e-3 to 1e6, servers out of service, bursts, idle rounds."""
    rate = st.sampled_from([0.0, 1e-3, 0.7, 1.0, 2.0, 30.0, 1e6])
    rates = data.draw(st.lists(rate, min_size=1, max_size=6).filter(any))
    dispatchers, rounds = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 40))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    arrivals = rng.poisson(rng.choice([0.0, 0.5, 4.0, 50.0], (rounds, dispatchers)))
    capacities = rng.poisson(rng.choice([0.0, 1.0, 10.0], (rounds, len(rates))))
    trace = lb.Workload.from_arrays(lb.Cluster(rates, dispatchers), arrivals, capacities)
    floor = lb.theory.path_floor(arrivals.sum(axis=1), capacities.sum(axis=1))
    come = done = 0
    for now, (jobs, _, simulation) in enumerate(follow(trace, name)):
        queues = simulation.queues
        come, before, done = come + jobs.sum(), done, simulation.served.sum()
        assert queues.lengths.sum() == come - done == simulation._totals[-1][0]
        assert queues.lengths.sum() >= floor[now]
        assert (queues.lengths >= 0).all() and 0 <= done - before <= capacities[now].sum()
        assert not queues.lengths[simulation.rates == 0].any()
    run = simulation.run()
    assert run.histogram.sum() == done and run.arrived == come and run.sent.sum() == come


@LONG
def test_no_long_run_beats_the_pool():
    """The same bound, round by round, for all policies in a cluster of the papers' size."""
    workload = lb.Workload(lb.Cluster.random(100, 10, 10, 3), 0.95, 10_000, seed=3)
    arrivals, capacities = workload.open().take(10_000)
    floor = lb.theory.path_floor(arrivals.sum(axis=1), capacities.sum(axis=1))
    for name, result in lb.compare(workload, NAMES).items():
        assert (result.queue_totals >= floor).all(), name
        waited = 1 + result.queue_totals.sum() / arrivals.sum()  # all jobs' mean so far, finished or not
        assert waited >= 1 + floor.sum() / arrivals.sum()


def test_memory_follows_what_waits():
    """Long queues are kept whole: a server that stops for long and then works it all off, first come first served."""
    arrivals, capacities = np.ones((3000, 2), dtype=int), np.zeros((3000, 1), dtype=int)
    arrivals[2000:], capacities[2000:] = 0, 500
    result = lb.simulate(lb.Workload.from_arrays(lb.Cluster([1], 2), arrivals, capacities), "WR")
    assert result.completed == 4000 and result.unfinished == 0
    waited = [2000 + k // 500 - k // 2 + 1 for k in range(4000)]  # job k comes in round k // 2
    assert result.histogram.tolist() == np.bincount(waited).tolist()


ONE = lb.Cluster([0.0, 5.5], 3)


@LONG
@pytest.mark.parametrize("name", NAMES)
def test_one_server_has_the_law_of_theory(name):
    """Mean, and the whole law, against the spread over replications; and a rate 5 % off is told."""
    rounds, runs = 10_000, 24
    result = lb.simulate(lb.Workload(ONE, 0.7, rounds, seed=2), name, replications=runs)
    law = lb.theory.response_law(5.5, 0.7 * 5.5)
    tails = np.array([1 - np.cumsum(run.histogram / run.histogram.sum())[:12] for run in result.runs])
    means = result.samples("mean")
    error = means.std(ddof=1) / np.sqrt(runs)
    assert abs(means.mean() - lb.theory.mean_response(5.5, 0.7 * 5.5)) < 4 * error
    off = (tails.mean(axis=0) - (1 - np.cumsum(law)[:12]))[1:] / (
        tails.std(axis=0, ddof=1)[1:] / np.sqrt(runs)
    )
    assert np.abs(off).max() < 5
    assert abs(means.mean() - lb.theory.mean_response(5.5 * 1.05, 0.7 * 5.5)) > 6 * error


@LONG
@pytest.mark.parametrize("load", [0.5, 0.7, 0.9])
def test_weighted_random_on_100_servers(load):
    cluster = lb.Cluster.random(100, 10, 10, seed=1)
    means = lb.simulate(
        lb.Workload(cluster, load, 10_000, seed=5), "WR", replications=8, warmup=1_000
    ).samples()
    assert abs(means.mean() - lb.theory.random_mean(cluster, load)) < 4 * means.std(ddof=1) / np.sqrt(8)


@LONG
def test_many_equal_servers_with_two_choices():
    """JSQ(2) with many equal slow servers comes near its limit, in units of the service time."""
    rate = 0.02
    cluster = lb.Cluster([rate] * 200, 200)
    result = lb.simulate(lb.Workload(cluster, 0.7, 20_000, seed=1), "JSQ(2)", replications=4, warmup=4_000)
    assert rate * result.mean == pytest.approx(lb.theory.choices_limit(0.7), rel=0.02)  # of order the rate


WORKLOAD = lb.Workload(lb.Cluster([1, 2, 0, 5, 5], 4), 0.8, 400, seed=9)
BITS = (
    "import numpy as np, lbcore as lb;"
    "w = lb.Workload(lb.Cluster([1, 2, 0, 5, 5], 4), 0.8, 400, seed=9);"
    "r = lb.compare(w, {names}, replications=2);"
    "print([(n, r[n].histogram.tolist(), r[n].sent.tolist()) for n in sorted(r)])"
)


def elsewhere(names, **env):
    done = subprocess.run(
        [sys.executable, "-c", BITS.format(names=names)],
        capture_output=True,
        text=True,
        env=os.environ | env,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="compares compiled runs with plain ones")
def test_same_bits_in_any_company_order_and_process():
    told = elsewhere(NAMES)
    alone = sorted((n, lb.simulate(WORKLOAD, n, replications=2)) for n in NAMES)
    assert told == str([(n, r.histogram.tolist(), r.sent.tolist()) for n, r in alone])
    assert told == elsewhere(NAMES[::-1]) == elsewhere(NAMES, NUMBA_DISABLE_JIT="1")
    assert told == elsewhere(
        NAMES, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=os.environ.get("TMPDIR", "/tmp") + "/lbcore-bounds"
    )


@pytest.mark.parametrize("name", NAMES)
def test_same_bits_in_blocks_of_any_size(name):
    histograms = []
    for size in (1, 17, 10_000):
        simulation, source = Simulation(WORKLOAD, name), WORKLOAD.open()
        while source.rest:
            simulation.advance(*source.take(size))
        histograms.append(simulation.run().histogram.tolist())
    assert histograms[0] == histograms[1] == histograms[2] == lb.simulate(WORKLOAD, name).histogram.tolist()


def test_replications_and_policies_draw_differently():
    results = lb.compare(WORKLOAD, ["WR", "JSQ(1)"], replications=5)
    assert len({run.histogram.tobytes() for result in results.values() for run in result.runs}) == 10


@pytest.mark.parametrize("name", NAMES)
def test_overload_grows(name):
    result = lb.simulate(lb.Workload(lb.Cluster([1, 2, 4, 8], 3), 1.3, 2_000, seed=3), name)
    assert result.growing and result.growth.low > 0.3 * 0.3 * 15
    assert "growing, +" in str(lb.compare(result.workload, [name]))


@LONG
def test_what_is_blind_to_rates_grows_below_load_1():
    """Even choices send more to a slow server than it can do; the weighed versions do not grow."""
    workload = lb.Workload(lb.Cluster([0.3] * 10 + [10] * 10, 5), 0.9, 20_000, seed=4)
    results = lb.compare(workload, ["JSQ(2)", "JIQ", "JSQ(1)", "hJSQ(2)", "hJIQ", "WR", "SCD"])
    assert [name for name, result in results.items() if result.growing] == ["JSQ(2)", "JIQ", "JSQ(1)"]
    even = results["JSQ(1)"].growth  # each slow server gets 1/20 of the jobs
    assert even.low < 10 * (0.9 * 103 / 20 - 0.3) < even.high


def test_warm_up_is_served_but_not_counted():
    whole, rest = lb.simulate(WORKLOAD, "SED"), lb.simulate(WORKLOAD, "SED", warmup=100)
    assert np.array_equal(whole.queue_totals, rest.queue_totals) and np.array_equal(whole.served, rest.served)
    arrivals, _ = WORKLOAD.open().take(400)
    assert rest.arrived == arrivals[100:].sum() == rest.completed + rest.unfinished


def test_mean_queues_are_what_is_left_after_each_round():
    left = [s.queues.lengths.copy() for _, _, s in follow(WORKLOAD, "TWF")]
    assert np.allclose(lb.simulate(WORKLOAD, "TWF", warmup=100).mean_queues, np.mean(left[100:], axis=0))


def test_a_policy_that_loses_jobs_is_refused():
    class Loses(lb.Policy):
        name = "loses"

        @staticmethod
        def decide_one(d, jobs, view, rates, options, memory, rng, sent):
            sent[0] += max(0, jobs - 1)

    class Revives(Loses):
        @staticmethod
        def decide_one(d, jobs, view, rates, options, memory, rng, sent):
            sent[2] += jobs

    class Peeks(Loses):
        @staticmethod
        def decide_one(d, jobs, view, rates, options, memory, rng, sent):
            sent[0] += jobs
            view[0] += jobs

    for wrong in (Loses, Revives, Peeks):
        with pytest.raises(
            ValueError, match=r"policy 'loses' did not send exactly the jobs that arrived in round \d+, or"
        ):
            lb.simulate(WORKLOAD, wrong())


def to_the_first(d, jobs, view, rates, options, memory, rng, sent):
    sent[0] += jobs


def own_policy(**parts):
    """A policy of a user with some parts of it changed."""
    return type("Own", (lb.Policy,), {"decide_one": staticmethod(to_the_first)} | parts)()


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (lb.Policy(), "its decide_one must be a function held with staticmethod"),
        (own_policy(decide_one=to_the_first), "its decide_one must be a function held with staticmethod"),
        (own_policy(name=3), "its name is 3: must be a text"),
        (
            own_policy(prepare=lambda self, cluster: np.zeros((2, 2))),
            "prepare must give an array of one axis, not of 2",
        ),
        (
            own_policy(memory_shape=lambda self, cluster: 3),
            r"memory_shape = 3: must be a pair \(rows, columns\)",
        ),
    ],
)
def test_a_policy_with_something_missing_is_named(policy, message):
    with pytest.raises(ValueError, match=message):
        lb.simulate(WORKLOAD, policy)


def test_a_rule_of_ones_own_is_not_overruled():
    """A subclass of a policy that decides all at once, with another decide_one: that one is asked."""
    own = type("Own", (lb.policies.SCD,), {"name": "own", "decide_one": staticmethod(to_the_first)})()
    result = lb.simulate(WORKLOAD, own)
    assert result.sent[0] == result.arrived and not result.sent[1:].any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lb.simulate(3, "SCD"), r"workload = 3: must be a Workload"),
        (lambda: lb.simulate(WORKLOAD, "SDC"), r"unknown policy 'SDC'; nearest: 'SCD'"),
        (lambda: lb.compare(WORKLOAD, "SCD"), r"policies = 'SCD': must be a list"),
        (lambda: lb.compare(WORKLOAD, 3), r"policies = 3: must be a list"),
        (lambda: lb.compare(WORKLOAD, []), r"policies = \[\]: must hold at least one"),
        (lambda: lb.compare(WORKLOAD, [["SCD"]]), r"unknown policy \['SCD'\]"),
        (lambda: lb.compare(WORKLOAD, ["SCD", "SED", "SCD"]), r"policies: 'SCD' is there twice"),
        (
            lambda: lb.compare(WORKLOAD, ["SCD"], replications=0),
            r"replications = 0: must be a whole number, at least 1",
        ),
        (
            lambda: lb.simulate(WORKLOAD, "SCD", warmup=400),
            r"warmup = 400: must be less than the workload's 400 rounds",
        ),
        (lambda: lb.simulate(WORKLOAD, "SCD", warmup=-1), r"warmup = -1: must be a whole number, at least 0"),
    ],
)
def test_what_is_wrong_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="compiled runs")
def test_a_long_run_shows_progress_and_stops():
    """Ctrl-C, which is what the notebook's stop sends, ends it; then the same call begins afresh."""
    code = """
import signal, lbcore as lb
signal.signal(signal.SIGINT, signal.default_int_handler)  # background processes are born without it
workload = lb.Workload(lb.Cluster.random(400, 10, 10, 1), 0.9, 10**8)
try:
    lb.compare(workload, list(lb.POLICIES))
except KeyboardInterrupt:
    print("stopped")
"""
    env = {k: v for k, v in os.environ.items() if k != "TQDM_DISABLE"}
    running = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )
    seen, give_up = "", time.monotonic() + 120
    while "rounds/s" not in seen and time.monotonic() < give_up:
        seen += running.stderr.read(40)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert "rounds/s" in seen and out.strip() == "stopped"
