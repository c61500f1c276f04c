"""The stability panel: the jobs in all queues, round by round, under policies that blow up and others."""

import ipywidgets as widgets
import pandas as pd

from lbcore import stability, stability_charts
from lbcore.cluster import Cluster
from lbcore.explore.panel import Panel, choice
from lbcore.simulator import compare
from lbcore.workload import Workload

POLICIES = ("JSQ(1)", "JSQ(2)", "JIQ", "JSQ", "hJSQ(2)", "hJIQ", "WR", "SCD")
STEPS = {
    "load": [round(0.05 * k, 2) for k in range(1, 22)],
    "fast": [1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20],
    "dispatchers": [1, 2, 5, 10, 20, 50],
}
SERVERS, REPLICATIONS = 20, 4


class StabilityPanel(Panel):
    """Sliders for load, speeds and dispatchers over the total of all queues; twenty servers, started empty.

    Parameters
    ----------
    policies : sequence of str
    rounds : int
        Length of each of four runs.
    **settings
        First values of the controls: load, fast (the rate of the fast servers; the slow ones have 1), share (of the
        fast ones, in %), dispatchers.
    """

    def __init__(self, policies=POLICIES, rounds=600, **settings):
        self.policies, self.rounds = tuple(policies), rounds
        first = {"load": 0.9, "fast": 6, "share": 50, "dispatchers": 10} | settings
        words = {"fast": "rate of fast ones"}
        controls = {name: choice(words.get(name, name), steps, first[name]) for name, steps in STEPS.items()}
        controls["share"] = widgets.IntSlider(
            first["share"], min=0, max=100, step=10, description="fast servers (%)"
        )
        super().__init__(
            stability_charts.totals(self.policies),
            controls,
            "Jobs in all queues by round, a line a policy. Some climb steadily, with a broad straight line of the "
            "same slope behind them; the others stay near zero.",
        )

    def compute(self, load, fast, dispatchers, share):
        """Results of all policies, and the exact loads from which JSQ(1) and JSQ(2) must grow."""
        cluster = Cluster.two_speeds(SERVERS, dispatchers, fast, share / 100)
        workload = Workload(cluster, load, self.rounds, seed=1)
        return {
            "runs": compare(workload, self.policies, REPLICATIONS, progress=False),
            "limits": {f"JSQ({d})": stability.limit(cluster, d) for d in (1, 2)},
        }

    def draw(self, arrays):
        stability_charts.set_totals(self.figure, arrays["runs"])

    def words(self, arrays):
        runs = arrays["runs"].items()
        growing = [f"{name} {run.growth.value:+.3g}" for name, run in runs if run.growing]
        told = f"Growing, jobs a round: {', '.join(growing)}." if growing else "No growth is told from 0."
        rest = [name for name, run in runs if not run.growing]
        if growing and rest:
            told += f" Growth not told from 0: {', '.join(rest)}."
        limits = " and ".join(f"{limit:.3g} ({name})" for name, limit in arrays["limits"].items())
        return f"{told} With these servers queues must grow from load {limits} on."

    def table(self, arrays):
        rows = [(name, *run.growth, run.growing) for name, run in arrays["runs"].items()]
        return pd.DataFrame(rows, columns=["policy", "growth (jobs a round)", "low", "high", "told from 0"])
