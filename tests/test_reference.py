"""Does the simulator agree with exact chains, and with the paper's authors' own simulator?"""

import csv
import json
from collections import defaultdict
from pathlib import Path

import numba
import numpy as np
import pytest

import lbcore as lb

HERE = Path(__file__).parent / "reference"
RATES = json.loads((HERE / "rates.json").read_text())
pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="long runs")


def rows(name):
    return list(csv.DictReader((HERE / f"{name}.csv").open()))


def systems():
    """The two-server rows by their cluster and load: {(rates, load, dispatchers): {policy: exact mean}}."""
    exact = defaultdict(dict)
    for row in rows("two_servers_exact"):
        rates = float(row["rate_1"]), float(row["rate_2"])
        system = rates, float(row["load"]), int(row["dispatchers"])
        exact[system][row["policy"]] = float(row["mean_response"])
    return exact


@pytest.mark.parametrize("system", systems(), ids=str)
def test_two_servers_exactly(system):
    """Within 4 standard errors, which are under .3 %, for every policy with an exact chain."""
    rates, load, dispatchers = system
    workload = lb.Workload(lb.Cluster(rates, dispatchers), load, 200_000, seed=list(systems()).index(system))
    results = lb.compare(workload, systems()[system], replications=40 if load > 0.7 else 16, warmup=1_000)
    for policy, exact in systems()[system].items():
        means = results[policy].samples("mean")
        error = means.std(ddof=1) / np.sqrt(means.size)
        print(
            f"two servers {system} {policy}: z = {(means.mean() - exact) / error:+.2f}, s.e. {error / exact:.2%}"
        )
        assert error < 0.003 * exact
        assert abs(means.mean() - exact) < 4 * error


def authors(load, servers="100", dispatchers="10", fastest="10"):
    """Their runs of one system: {policy: [row of a seed, ...]}."""
    runs = defaultdict(list)
    for row in rows("authors_simulator"):
        told = row["servers"], row["dispatchers"], row["max_rate"], float(row["load"])
        if told == (servers, dispatchers, fastest, load):
            runs[row["policy"]].append(row)
    return runs


def ours(load, policies, rounds, replications):
    cluster = lb.Cluster(RATES["100 servers, U[1,10]"], 10)
    return lb.compare(lb.Workload(cluster, load, rounds, seed=1), policies, replications)


@pytest.mark.parametrize("load", [0.5, 0.7, 0.9])
def test_moderate_loads_as_the_authors_simulator(load):
    """Means within 2 %, the 99th and 99.9th percentile within a round; JIQ's transient within 3 %."""
    theirs = authors(load)
    results = ours(load, ["SCD", "TWF", "JSQ", "SED", "hJIQ", "LSQ", "hLSQ"], 20_000, 3)
    if load < 0.9:
        results |= ours(load, ["JIQ"], 100_000, 3)
    for policy, result in results.items():
        mean = np.mean([float(row["mean_response"]) for row in theirs[policy]])
        print(f"authors {load} {policy}: {result.mean / mean - 1:+.2%}")
        assert result.mean == pytest.approx(mean, rel=0.03 if policy == "JIQ" else 0.02)
        for percent in (99, 99.9) if policy != "JIQ" else ():
            told = [int(row[f"p{percent}"]) for row in theirs[policy]]
            assert min(told) - 1 <= result.percentile(percent) <= max(told) + 1


@pytest.mark.parametrize("load", [0.95, 0.99])
def test_high_loads_as_the_authors_simulator(load):
    """Runs of the same length from empty, compared by the spread of both."""
    theirs = authors(load)
    for policy, result in ours(load, ["SCD", "TWF", "JSQ", "SED", "hJIQ"], 100_000, 4).items():
        told = np.array([float(row["mean_response"]) for row in theirs[policy]])
        means = result.samples("mean")
        spread = np.sqrt((told.var(ddof=1) * 2 + means.var(ddof=1) * 3) / 5)  # pooled, 5 degrees of freedom
        off = (means.mean() - told.mean()) / (spread * np.sqrt(1 / 3 + 1 / 4))
        print(f"authors {load} {policy}: {means.mean() / told.mean() - 1:+.2%}, t = {off:+.2f}")
        assert abs(off) < 6.9  # Student's t with 5 degrees of freedom: once in 1,000 runs
