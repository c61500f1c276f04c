"""The speed promises, measured: `make bench`. Machines differ, so most lines are ratios within this run."""

import subprocess
import sys
import timeit

import numpy as np

import lbcore as lb


def best(function, number=1, repeat=15):
    """Seconds a call, the best of several: what disturbs only adds."""
    function()
    return min(timeit.repeat(function, number=number, repeat=repeat)) / number


def line(what, value, unit, promise):
    print(f"{what:<66} {value:>9.3g} {unit:<12} {promise}")


def sort_and_scan(queues, rates, arrivals):
    """Ideal workload in NumPy by sorting, the usual way: the yardstick for large clusters."""
    heights = queues / rates
    order = np.argsort(heights)
    heights, rates, queues = heights[order], rates[order], queues[order]
    levels = (arrivals + np.cumsum(queues)) / np.cumsum(rates)
    return levels[np.argmax(levels <= np.append(heights[1:], np.inf))]


def water():
    rng = np.random.default_rng(1)
    rates = rng.uniform(1, 10, 100)
    capacity = rates.sum()
    kinds = {
        "short queues, load .5": (rng.poisson(2 * rates, (10_000, 100)), 0.5),
        "uneven queues, load .9": (rng.integers(0, 100, (10_000, 100)), 0.9),
        "balanced queues, load .1": (np.floor(rates * rng.uniform(3, 4, (10_000, 100))), 0.1),
    }
    for kind, (queues, load) in kinds.items():
        queues, arrivals = queues.astype(float), rng.poisson(load * capacity, 10_000).astype(float)
        seconds = best(lambda q=queues, a=arrivals: lb.ideal_workload(q, rates, a))
        line(
            f"ideal_workload, 10,000 states of 100 servers, {kind}",
            seconds / 1e6 * 1e9,
            "ns a server",
            "at most 6",
        )
    one, jobs = queues[0], float(arrivals[0])
    line(
        "ideal_workload, one state of 100 servers",
        best(lambda: lb.ideal_workload(one, rates, jobs), 2000) * 1e6,
        "µs",
        "at most 15",
    )
    rates = rng.uniform(1, 10, 1_000_000)
    queues = rng.poisson(20, rates.size).astype(float)
    by_sort = best(lambda: sort_and_scan(queues, rates, 2e6), repeat=5)
    ours = best(lambda: lb.ideal_workload(queues, rates, 2e6), repeat=5)
    line(
        "ideal_workload, 1,000,000 servers, against argsort and scan",
        by_sort / ours,
        "times faster",
        "at least 10",
    )


def coordination():
    rng = np.random.default_rng(2)
    rates = rng.uniform(1, 10, 100)
    queues = rng.poisson(2 * rates, (10_000, 100)).astype(float)
    arrivals = rng.poisson(0.9 * rates.sum(), 10_000).astype(float)
    seconds = best(lambda: lb.scd_probabilities(queues, rates, arrivals))
    line("scd_probabilities, 10,000 states of 100 servers", seconds / 1e6 * 1e9, "ns a server", "at most 6")
    one, jobs = queues[0], arrivals[0]
    seconds = best(lambda: lb.scd_probabilities(one, rates, jobs), number=2000)
    line("scd_probabilities, one state of 100 servers", seconds * 1e6, "µs", "at most 15")
    by_cvxpy = best(lambda: lb.judge.solve(one, rates, jobs), repeat=3)
    line(
        "scd_probabilities, 100 servers, against cvxpy with Clarabel", by_cvxpy / seconds, "times faster", ""
    )
    rates = rng.uniform(1, 10, 1_000_000)
    queues = rng.poisson(20, rates.size).astype(float)
    by_sort = best(lambda: sort_and_scan(queues, rates, 2e6), repeat=5)
    ours = best(lambda: lb.scd_probabilities(queues, rates, 2e6), repeat=5)
    line(
        "scd_probabilities, 1,000,000 servers, against argsort and scan",
        by_sort / ours,
        "times faster",
        "at least 10",
    )


def start():
    def python(code):
        return best(lambda: subprocess.run([sys.executable, "-c", code], check=True), repeat=3)

    empty = python("pass")
    line("import lbcore (above an empty Python)", python("import lbcore") - empty, "s", "under .5")
    first = "import lbcore as lb; lb.ideal_workload([1, 2], [1, 2], 3)"
    line("first answer of a fresh Python, kernels compiled before", python(first), "s", "under 2")


if __name__ == "__main__":
    lb.warm()
    print(f"{'what':<66} {'measured':>9} {'':<12} promise")
    water()
    coordination()
    start()
