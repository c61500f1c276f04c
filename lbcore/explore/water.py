"""The water panel: pour arrivals over the servers' columns."""

import ipywidgets as widgets
import numpy as np

from lbcore import figures
from lbcore.explore.panel import Panel, read_numbers, rows
from lbcore.waterfill import ideal_assignment, ideal_workload


def compute(queues, rates, arrivals):
    """Level and water over each server, from the panel's settings (lists as typed text, or numbers)."""
    queues = read_numbers("queues", queues) if isinstance(queues, str) else queues
    rates = read_numbers("rates", rates) if isinstance(rates, str) else rates
    return {
        "queues": np.asarray(queues, float),
        "rates": np.asarray(rates, float),
        "assigned": ideal_assignment(queues, rates, arrivals),
        "level": float(ideal_workload(queues, rates, arrivals)),
    }


class WaterPanel(Panel):
    """Slider for the arrivals, and boxes for the servers' queues and rates, over columns that fill with water.

    Parameters
    ----------
    queues, rates : sequences of numbers, one for each server
    arrivals : int
        Where the slider starts.
    most : int
        Where the slider ends.
    """

    compute = staticmethod(compute)

    def __init__(self, queues=(2, 9, 1, 6, 0), rates=(2, 5, 1, 3, 1), arrivals=12, most=60):
        controls = {
            "arrivals": widgets.IntSlider(arrivals, min=0, max=most, description="arrivals (jobs)"),
            "rates": widgets.Text(", ".join(f"{x:g}" for x in rates), description="rates (jobs/round)"),
            "queues": widgets.Text(", ".join(f"{x:g}" for x in queues), description="queues (jobs)"),
        }
        super().__init__(
            figures.columns(),
            controls,
            "Servers as columns, each as wide as its rate and as high as its queue divided by its rate; "
            "arriving jobs fill the lowest columns like water up to one level, the ideal workload.",
        )

    def draw(self, arrays):
        figures.set_columns(
            self.figure, arrays["queues"], arrays["rates"], arrays["assigned"], arrays["level"]
        )

    def words(self, arrays):
        wet = int(np.sum(arrays["assigned"] > 0))
        live = int(np.sum(arrays["rates"] > 0))
        return (
            f"{arrays['assigned'].sum():g} jobs as water stand at {arrays['level']:.4g} rounds of work (the ideal "
            f"workload) over {wet} of {live} servers."
        )

    def table(self, arrays):
        return rows(**{name: arrays[name] for name in ("rates", "queues", "assigned")})
