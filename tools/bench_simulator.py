"""The simulator's speed: `make bench`. Microseconds a round, beside the paper's authors' C++ scaled to this machine."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numba
import numpy as np

import lbcore as lb
from lbcore.simulator import Simulation

RATES = json.loads((Path(__file__).parent.parent / "tests" / "reference" / "rates.json").read_text())
NINE = ["SCD", "TWF", "JSQ", "SED", "WR", "JIQ", "hJIQ", "LSQ", "hLSQ"]
# Microseconds a round of their simulator (C++, -O3, one core, load .9) where the yardstick below took 1.42 s, and
# what we want of the nine together and of SCD alone.
SYSTEMS = {
    ("100 servers, U[1,10]", 10): ([58.0, 50.2, 26.4, 37.4, 36.4, 12.4, 23.8, 32.6, 57.0], 33, 7),
    ("100 servers, U[1,100]", 10): ([247.5, 248.4, 114.0, 167.2, 232.6, 56.6, 152.0, 114.8, 222.0], 75, 15),
    ("200 servers, U[1,10]", 20): ([163.4, 143.6, 62.8, 90.0, 79.7, 24.9, 52.0, 87.2, 169.6], 85, 18),
    ("400 servers, U[1,10]", 10): ([283.0, 222.4, 104.8, 190.4, 162.7, 40.2, 87.2, 133.2, 243.2], 150, 35),
}
ROUNDS, BLOCKS = 400, 12


@numba.njit
def yardstick(steps):
    """A loop that only computes: how fast is this machine, in this hour?"""
    x, total = np.uint64(88172645463325252), np.uint64(0)
    for _ in range(steps):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        total += x
    return total


def slowness():
    """This machine's time for the yardstick, over the 1.42 s beside which the authors' figures were taken."""
    yardstick(10)
    began = time.perf_counter()
    yardstick(10**9 // 4)
    return 4 * (time.perf_counter() - began) / 1.42


@lb.kernel(lb.policies.DECIDE_ALL)
def again(batches, queues, rates, options, memory, rng, sent):
    """Send what is written in memory, a row a round."""
    row = int(memory[0, 0])
    for s in range(queues.size):
        sent[s] = int(memory[row + 1, s])
    memory[0, 0] += 1.0


class Replay(lb.Policy):
    """Decides nothing: what is left of the time is serving."""

    name = "replay"
    decide_one = staticmethod(lb.POLICIES["WR"].decide_one)  # never asked
    decide_all = staticmethod(again)


def median_round(simulation, blocks):
    """Microseconds a round, the median over blocks; the first warms up."""
    times = []
    for arrivals, capacities in blocks:
        began = time.perf_counter()
        simulation.advance(arrivals, capacities)
        times.append((time.perf_counter() - began) / len(arrivals) * 1e6)
    return float(np.median(times[1:]))


def measure(cluster, names, load=0.9):
    """{policy: (microseconds a round for deciding and serving, for serving alone)}, and for drawing."""
    workload = lb.Workload(cluster, load, ROUNDS * BLOCKS, seed=1)
    source, times, blocks = workload.open(), [], []
    for _ in range(BLOCKS):
        began = time.perf_counter()
        blocks.append(source.take(ROUNDS))
        times.append((time.perf_counter() - began) / ROUNDS * 1e6)
    spent = {}
    for name in names:
        both = median_round(Simulation(workload, name), blocks)
        record, replay = Simulation(workload, name), Simulation(workload, Replay())
        rows, before = [np.zeros(cluster.servers)], record.sent.copy()
        for arrivals, capacities in blocks[:4]:
            for t in range(ROUNDS):
                record.advance(arrivals[t : t + 1], capacities[t : t + 1])
                rows.append(record.sent - before)
                before = record.sent.copy()
        replay.memory = np.array(rows, dtype=float)
        spent[name] = both, median_round(replay, blocks[:4])
    return spent, float(np.median(times))


def against_the_authors():
    print(
        "\nMicroseconds a round, load .9, one core: deciding + serving (drawing is shared), beside the authors'"
    )
    for (key, dispatchers), (theirs, wanted, wanted_scd) in SYSTEMS.items():
        scale = slowness()
        spent, drawing = measure(lb.Cluster(RATES[key], dispatchers), [*NINE, "JSQ(2)", "hJSQ(2)", "SED+1"])
        scale = (scale + slowness()) / 2
        print(
            f"\n{key}, {dispatchers} dispatchers; drawing {drawing:.1f}; yardstick {scale:.2f} times slower"
        )
        for place, (name, (both, serving)) in enumerate(spent.items()):
            told = f"{name:<8} {both - serving:6.1f} + {serving:4.1f} = {both:6.1f}"
            if place < len(NINE):
                told += f"   authors {theirs[place] * scale:7.1f}   {theirs[place] * scale / both:5.1f} times"
            print(told)
        nine = drawing + sum(spent[name][0] for name in NINE)
        print(
            f"nine, drawing included: {nine:.0f}; authors {sum(theirs) * scale:.0f}; "
            f"{sum(theirs) * scale / nine:.1f} times; wanted {wanted * scale:.0f}"
        )
        scd = drawing + spent["SCD"][0]
        print(
            f"SCD, drawing included: {scd:.1f}; authors {theirs[0] * scale:.0f}; "
            f"{theirs[0] * scale / scd:.1f} times; wanted {wanted_scd * scale:.1f}"
        )


def growth():
    """How does the cost of a round grow? One thing varied at a time around 100 servers, 10 dispatchers, 5 jobs each."""
    names = ["SCD", "TWF", "JSQ", "SED", "WR", "JSQ(2)", "hLSQ"]
    sweeps = {
        "servers": [(n, lb.Cluster.random(n, 10, 10, 1)) for n in (10, 30, 100, 300, 1000)],
        "dispatchers": [(m, lb.Cluster.random(100, m, 10, 1)) for m in (1, 3, 10, 30, 100)],
        "jobs a server": [
            (j, lb.Cluster(lb.Cluster.random(100, 10, 10, 1).rates / 5 * j, 10)) for j in (0.1, 1, 10, 100)
        ],
    }
    print("\nMicroseconds a round, deciding and serving, and the exponent of a power law fitted to them")
    for what, points in sweeps.items():
        table = {value: measure(cluster, names)[0] for value, cluster in points}
        print(f"{what:<14}" + "".join(f"{value:>9}" for value in table) + "   exponent")
        for name in names:
            times = [table[value][name][0] for value in table]
            slope = np.polyfit(np.log(list(table)), np.log(times), 1)[0]
            print(f"  {name:<12}" + "".join(f"{t:9.1f}" for t in times) + f"   {slope:8.2f}")


def once(what, code, promise, **env):
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | env, check=True
    )
    print(f"{what:<60} {done.stdout.strip() or f'{time.perf_counter() - began:.1f} s':>12}   {promise}")


def start_and_memory():
    print()
    with tempfile.TemporaryDirectory() as folder:
        once(
            "all kernels, compiled from nothing",
            "import lbcore as lb; lb.warm()",
            "under 60 s",
            NUMBA_CACHE_DIR=folder,
        )
    small = "import lbcore as lb; lb.simulate(lb.Workload(lb.Cluster([1, 2], 2), 0.5, 10), 'SCD')"
    once("first simulation of a fresh Python, kernels kept", small, "under 1 s above 'import'")
    once(
        "  of it importing NumPy, SciPy, pandas, numba, tqdm",
        "import numpy, scipy.special, pandas, numba, tqdm.auto",
        "",
    )
    once(
        "peak memory, 10**5 rounds of all twelve on 400 servers",
        "import lbcore as lb, resource; w = lb.Workload(lb.Cluster.random(400, 10, 10, 1), 0.9, 100_000);"
        "lb.compare(w, list(lb.POLICIES), progress=False);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, 'MB')",
        "under 400 MB",
    )
    workload = lb.Workload(lb.Cluster.random(100, 10, 10, 1), 0.9, 20_000)
    times = []
    for replications in (1, 2):
        began = time.perf_counter()
        lb.compare(workload, NINE, replications, progress=False)
        times.append(time.perf_counter() - began)
    print(f"{'two replications on two cores, against one':<60} {times[1] / times[0]:>10.2f} x   near 1")


if __name__ == "__main__":
    lb.warm()
    against_the_authors()
    growth()
    start_and_memory()
