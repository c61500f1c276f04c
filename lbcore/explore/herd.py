"""The herding panel: the same jobs, in the hands of one dispatcher or of many."""

import ipywidgets as widgets
import numpy as np

from lbcore import figures
from lbcore.assignment import greedy_assignment
from lbcore.explore.panel import Panel, rows
from lbcore.waterfill import ideal_assignment, ideal_workload


def compute(queues, rates, jobs, dispatchers):
    """One round in which each dispatcher sends its share to the servers that look least loaded to it.

    All see the same queues and count their own jobs, but not each other's: SED of the papers, except that
    ties go to the first of the fastest servers.
    """
    shares = np.bincount(np.arange(jobs) % dispatchers, minlength=dispatchers)
    batches, holders = np.unique(shares, return_counts=True)  # equal batches go the same way
    sent = sum(
        many * greedy_assignment(queues, rates, batch, counted=0)
        for batch, many in zip(batches, holders, strict=True)
    )
    return {
        "queues": np.asarray(queues, float),
        "rates": np.asarray(rates, float),
        "sent": sent,
        "ideal": ideal_assignment(queues, rates, jobs),
        "level": float(ideal_workload(queues, rates, jobs)),
        "dispatchers": dispatchers,
    }


class HerdPanel(Panel):
    """Slider for the number of dispatchers, over columns that show where their jobs pile up.

    Parameters
    ----------
    queues, rates : sequences of numbers, one for each server
    jobs : int
        Jobs of the round, whoever holds them.
    dispatchers : int
        Where the slider starts.
    """

    QUEUES = (3, 14, 5, 21, 9, 2, 17, 8, 12, 6)
    RATES = (1.5, 6, 2, 9, 4, 1, 8, 3, 5, 2.5)

    def __init__(self, queues=QUEUES, rates=RATES, jobs=40, dispatchers=1):
        self.queues, self.rates = queues, rates
        controls = {
            "dispatchers": widgets.IntSlider(dispatchers, min=1, max=40, description="dispatchers"),
            "jobs": widgets.IntSlider(jobs, min=1, max=120, description="jobs in all"),
        }
        super().__init__(
            figures.columns(sent="jobs sent this round"),
            controls,
            "Ten servers as columns. With one dispatcher the jobs of the round level the columns; with many "
            "dispatchers the same jobs pile up on the few servers that looked least loaded.",
        )

    def compute(self, dispatchers, jobs):
        return compute(self.queues, self.rates, jobs, dispatchers)

    def draw(self, arrays):
        figures.set_columns(self.figure, arrays["queues"], arrays["rates"], arrays["sent"], arrays["level"])

    def words(self, arrays):
        work = (arrays["queues"] + arrays["sent"]) / arrays["rates"]
        chosen = arrays["sent"] > 0
        missed = int(np.sum(~chosen & (arrays["ideal"] >= 1)))
        many = (
            "1 dispatcher sends"
            if arrays["dispatchers"] == 1
            else f"{arrays['dispatchers']} dispatchers send"
        )
        return (
            f"{many} {arrays['sent'].sum()} jobs to {chosen.sum()} of {chosen.size} servers. "
            f"Fullest of them: {work[chosen].max():.1f} rounds of work (ideal {arrays['level']:.1f}). "
            f"Left out, though a job or more should go there: {missed}."
        )

    def table(self, arrays):
        return rows(**{name: arrays[name] for name in ("rates", "queues", "sent", "ideal")})
