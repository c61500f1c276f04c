"""The distance panel: what different ideas of 'close to the ideal' choose."""

import ipywidgets as widgets
import numpy as np
import pandas as pd

from lbcore import figures
from lbcore.explore.panel import Panel
from lbcore.waterfill import ideal_workload

MEASURES = ("weighted squares (the paper's)", "squares", "absolute", "worst")


def compute(queues, rates, jobs):
    """Every split of whole jobs between two servers, and its distance from the ideal by four measures.

    Returns
    -------
    dict
        first: jobs to the first server; gaps: (2, jobs + 1) loads less iwl; errors: measure -> (jobs + 1,),
        each divided by its largest value; best: measure -> jobs to the first server.
    """
    mu = np.asarray(rates, float)[:, None]
    first = np.arange(jobs + 1)
    loads = (np.asarray(queues, float)[:, None] + [first, jobs - first]) / mu
    gaps = loads - ideal_workload(queues, rates, jobs)
    size = np.abs(gaps)
    totals = [(mu * gaps**2).sum(axis=0), (gaps**2).sum(axis=0), size.sum(axis=0), size.max(axis=0)]
    errors = {name: total / total.max() for name, total in zip(MEASURES, totals, strict=True)}
    return {
        "first": first,
        "gaps": gaps,
        "errors": errors,
        "best": {n: int(np.argmin(e)) for n, e in errors.items()},
    }


class DistancePanel(Panel):
    """Two servers; sliders for their rates, the first one's queue and the jobs; four measures as curves."""

    def __init__(self, fast=10, slow=1, queue=4, jobs=12):
        controls = {
            "fast": widgets.IntSlider(fast, min=1, max=20, description="rate of server 1"),
            "slow": widgets.IntSlider(slow, min=1, max=20, description="rate of server 2"),
            "queue": widgets.IntSlider(queue, min=0, max=40, description="queue of server 1"),
            "jobs": widgets.IntSlider(jobs, min=1, max=40, description="jobs"),
        }
        super().__init__(
            figures.curves(
                MEASURES, "jobs sent to server 1 (the rest go to server 2)", "distance (of its largest)"
            ),
            controls,
            "Four curves of the distance from the ideal against the jobs sent to the first of two servers; a mark "
            "on each shows its smallest value.",
        )

    def compute(self, fast, slow, queue, jobs):
        return compute([queue, 0], [fast, slow], jobs)

    def draw(self, arrays):
        curves = {name: (arrays["first"], error) for name, error in arrays["errors"].items()}
        figures.set_curves(self.figure, curves, arrays["best"])

    def words(self, arrays):
        jobs = arrays["first"][-1]
        return "Least distance: " + "; ".join(
            f"{name}: {best} + {jobs - best} jobs" for name, best in arrays["best"].items()
        )

    def table(self, arrays):
        return pd.DataFrame({"jobs to server 1": arrays["first"], **arrays["errors"]})
