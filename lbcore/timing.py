"""How long do the roads to the dispatch probabilities take? For reading growth, not for promises of speed."""

from time import perf_counter

import numpy as np
import pandas as pd

from lbcore import derivation, figures, judge
from lbcore.coordination import scd_probabilities

ROADS = {  # name -> (function, sizes)
    "all subsets": (derivation.subset_search, (4, 8, 12, 16)),
    "Algorithm 1": (derivation.prefix_search, (10, 100, 1000, 10_000)),
    "Algorithm 4": (derivation.prefix_scan, (10, 100, 1000, 10_000, 100_000, 1_000_000)),
    "water": (scd_probabilities, (10, 100, 1000, 10_000, 100_000, 1_000_000)),
    "cvxpy": (judge.solve, (10, 100, 1000, 10_000, 40_000)),
}


def growth(seed, roads=ROADS):
    """Seconds of one solution on a random cluster of each size; the best of three where that is quick.

    Returns
    -------
    DataFrame with columns road, servers, seconds
    """
    rng = np.random.default_rng(seed)
    table = []
    for name, (solve, sizes) in roads.items():
        for n in sizes:
            queues, rates = rng.integers(0, 20, n), rng.uniform(1, 10, n)
            took = []
            while len(took) < 3 and sum(took) < 0.5:
                begun = perf_counter()
                solve(queues, rates, 3.0 * n)
                took.append(perf_counter() - begun)
            table.append((name, n, min(took)))
    return pd.DataFrame(table, columns=["road", "servers", "seconds"])


def slopes(table):
    """Exponent of growth between the two largest sizes, of each road that grows like a power."""
    fitted = []
    for name, road in table.groupby("road", sort=False):
        if name != "all subsets":
            (n, more), (early, late) = road.servers.iloc[-2:], road.seconds.iloc[-2:]
            fitted.append((name, round(np.log(late / early) / np.log(more / n), 2)))
    return pd.DataFrame(fitted, columns=["road", "exponent"])


def figure(table):
    """Seconds against servers, on doubly logarithmic axes."""
    names = list(dict.fromkeys(table.road))
    drawn = figures.curves(names, "servers", "seconds for one solution", log=True)
    lines = {name: (road.servers.tolist(), road.seconds.tolist()) for name, road in table.groupby("road")}
    figures.set_curves(
        drawn, {name: lines[name] for name in names}, {name: lines[name][0][-1] for name in names}
    )
    return drawn
