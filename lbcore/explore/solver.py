"""The solver panel: dispatch probabilities by ours and by cvxpy, side by side."""

import ipywidgets as widgets
import numpy as np

from lbcore import figures, judge
from lbcore.coordination import scd_probabilities
from lbcore.derivation import objective
from lbcore.explore.panel import Panel, read_numbers, rows


def compute(queues, rates, arrivals):
    """Probabilities by both roads, from the panel's settings (lists as typed text, or numbers)."""
    queues = read_numbers("queues", queues) if isinstance(queues, str) else queues
    rates = read_numbers("rates", rates) if isinstance(rates, str) else rates
    ours = scd_probabilities(queues, rates, arrivals)
    queues, rates = np.asarray(queues, float), np.asarray(rates, float)
    live = rates > 0
    theirs = np.zeros(rates.size)
    theirs[live] = judge.solve(queues[live], rates[live], arrivals).probabilities
    best, other = (float(objective(p, queues, rates, arrivals)) for p in (ours, theirs))
    return {"queues": queues, "rates": rates, "ours": ours, "cvxpy": theirs, "objectives": (best, other)}


class SolverPanel(Panel):
    """Boxes for queues and rates, slider for the arrivals; the probabilities by water and by cvxpy."""

    compute = staticmethod(compute)

    def __init__(self, queues=(2, 14, 1, 9, 6), rates=(2, 5, 1, 3, 8), arrivals=12):
        controls = {
            "arrivals": widgets.IntSlider(arrivals, min=2, max=100, description="arrivals (jobs)"),
            "rates": widgets.Text(", ".join(f"{x:g}" for x in rates), description="rates (jobs/round)"),
            "queues": widgets.Text(", ".join(f"{x:g}" for x in queues), description="queues (jobs)"),
        }
        super().__init__(
            figures.pairs(("ours, by water", "cvxpy, by Clarabel"), "server", "probability"),
            controls,
            "For each server the probability found by water-filling as a bar and the one found by cvxpy as a cross.",
        )

    def draw(self, arrays):
        figures.set_pairs(self.figure, arrays["ours"], arrays["cvxpy"])

    def words(self, arrays):
        apart = np.abs(arrays["ours"] - arrays["cvxpy"]).max()
        agree = "agree to 1e-6" if apart <= 1e-6 else f"are up to {apart:.0e} apart"
        return (
            f"The probabilities {agree}; {np.sum(arrays['ours'] > 0)} of {arrays['ours'].size} servers may get jobs. "
            f"Objective: {arrays['objectives'][0]:.6g} (ours), {arrays['objectives'][1]:.6g} (cvxpy)."
        )

    def table(self, arrays):
        return rows(**{name: arrays[name] for name in ("rates", "queues", "ours", "cvxpy")})
