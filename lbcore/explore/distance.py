"""The distance panel: which probability is best depends on what 'close to the ideal' means."""

import ipywidgets as widgets
import numpy as np
import pandas as pd
from scipy import stats

from lbcore import figures
from lbcore.explore.panel import Panel
from lbcore.waterfill import ideal_workload

MEASURES = ("squares by rate (the paper's)", "squares", "absolute", "worst server")
CHANCES = np.linspace(0, 1, 201)


def compute(fast, slow, queue, jobs):
    """Expected distance from the ideal when each job goes to the first of three servers with probability p.

    Server 1 has rate `fast` and `queue` jobs; servers 2 and 3 have rate `slow`, are idle, and share the other
    jobs evenly at random. The expectation is summed in full, for each p of `CHANCES` and four measures.

    Returns
    -------
    dict
        chances: (201,); expected: measure -> (201,), divided by its largest; best: measure -> its least p.
    """
    rates = np.array([fast, slow, slow], float)[:, None, None]
    first, second = np.arange(jobs + 1)[:, None], np.arange(jobs + 1)
    sent = np.stack(np.broadcast_arrays(first, second, jobs - first - second))
    loads = (np.array([queue, 0, 0])[:, None, None] + sent) / rates
    gaps = loads - ideal_workload([queue, 0, 0], rates[:, 0, 0], jobs)
    size = np.abs(gaps)
    distances = [(rates * gaps**2).sum(axis=0), (gaps**2).sum(axis=0), size.sum(axis=0), size.max(axis=0)]
    others = stats.binom.pmf(second, jobs - first, 0.5)  # how the others split what server 1 does not get
    weights = stats.binom.pmf(first[:, 0], jobs, CHANCES[:, None])
    expected = {n: weights @ (others * d).sum(axis=1) for n, d in zip(MEASURES, distances, strict=True)}
    best = {name: float(CHANCES[np.argmin(values)]) for name, values in expected.items()}
    return {"chances": CHANCES, "expected": {n: v / v.max() for n, v in expected.items()}, "best": best}


class DistancePanel(Panel):
    """One fast server and two slow ones; sliders for rates, queue and jobs; four measures as curves."""

    compute = staticmethod(compute)

    def __init__(self, fast=10, slow=1, queue=4, jobs=12):
        controls = {
            "fast": widgets.IntSlider(fast, min=1, max=20, description="rate, server 1"),
            "slow": widgets.IntSlider(slow, min=1, max=20, description="rates, 2 and 3"),
            "queue": widgets.IntSlider(queue, min=0, max=40, description="queue, server 1"),
            "jobs": widgets.IntSlider(jobs, min=1, max=40, description="jobs"),
        }
        super().__init__(
            figures.curves(
                MEASURES, "probability of server 1, for each job", "expected distance (1 = largest)"
            ),
            controls,
            "Four curves of the expected distance from the ideal against the probability of the first of three "
            "servers; a mark on each shows where it is least.",
        )

    def draw(self, arrays):
        curves = {name: (arrays["chances"], values) for name, values in arrays["expected"].items()}
        figures.set_curves(self.figure, curves, arrays["best"])

    def words(self, arrays):
        told = "; ".join(f"{name} {best:.3f}" for name, best in arrays["best"].items())
        return f"Best probability of server 1 by each measure: {told}."

    def table(self, arrays):
        return pd.DataFrame({"probability": arrays["chances"], **arrays["expected"]})
