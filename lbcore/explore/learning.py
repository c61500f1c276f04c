"""The learning panel: what dispatchers learn of the queues, from few messages, and what it does to response times."""

import ipywidgets as widgets

from lbcore import charts, information
from lbcore.cluster import Cluster
from lbcore.explore.live import LivePanel, Ticks
from lbcore.explore.load import REPLICATIONS, LoadPanel
from lbcore.explore.panel import choice
from lbcore.running import Running
from lbcore.workload import Workload

EQUAL, UNEQUAL = "50 equal, rate 5", "50 unequal, rates 1 to 10"
ALL = "all queues shown"
TICKED = ("SCD", "TWF", "JSQ", "SED")
WARMUP, FIRST, ROUNDS = 100, 240, 1_000
STEPS = {
    "samples": [0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50],
    "load": [0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97],
    "dispatchers": [1, 2, 3, 5, 7, 10, 15, 20, 30, 50],
}


def cluster_of(servers, dispatchers):
    """The servers of some settings, and the code that makes them."""
    if servers == EQUAL:
        return Cluster([5.0] * 50, dispatchers), f"lb.Cluster([5.0] * 50, {dispatchers})"
    return Cluster.random(50, dispatchers, 10, 1), f"lb.Cluster.random(50, {dispatchers}, fastest=10, seed=1)"


def information_of(learning, samples):
    """What dispatchers see, and the code that says so."""
    if learning == ALL:
        return information.complete(), "lb.complete()"
    return getattr(information, learning)(samples), f"lb.{learning}({samples})"


def means_and_tails(names):
    """The upper two pictures of `charts.overview`; the curves of the third stay, without anything to show."""
    figure = charts.overview(names, height=420)
    figure.update_layout(
        xaxis3_visible=False, yaxis3_visible=False, yaxis_domain=[0, 1], yaxis2_domain=[0, 1]
    )
    figure.update_layout(xaxis3_domain=[0, 0.001], yaxis3_domain=[0, 0.001], legend_y=-0.24, title_y=0.96)
    for trace in figure.data[2 : 2 + len(names)]:
        trace.showlegend = True
    return figure


class LearningPanel(LoadPanel):
    """Choices of how dispatchers learn of the queues and from how many samples; simulated anew at every move.

    Parameters
    ----------
    policies : sequence of str
        What can be ticked.
    ticked : sequence of str
        Names ticked at first.
    **settings
        First values of the controls: servers, learning, samples, split, load, dispatchers.
    """

    def __init__(self, policies=(*TICKED, "JSQ(2)", "WR"), ticked=TICKED, **settings):
        self.known = {name: name for name in policies}
        first = {"servers": EQUAL, "learning": "gossip", "samples": 2, "split": True} | settings
        first = {"load": 0.9, "dispatchers": 10} | first
        controls = {
            "servers": widgets.Dropdown(
                options=[EQUAL, UNEQUAL], value=first["servers"], description="servers"
            ),
            "learning": widgets.Dropdown(
                options=[ALL, "sampled", "answered", "gossip"],
                value=first["learning"],
                description="dispatchers learn",
            ),
        }
        for name, steps in STEPS.items():
            controls[name] = choice(name, steps, first[name])
        controls["split"] = widgets.Checkbox(first["split"], description="batches may be split")
        controls["policies"] = Ticks(self.known, [n for n in self.known if n in ticked], "policies")
        LivePanel.__init__(  # the load panel's pictures and words, under controls of its own
            self,
            means_and_tails(self.known),
            controls,
            "For each policy a bar with the mean response time and its interval, over a line that no policy can go "
            "below; beside it the tail of the response times on a logarithmic axis.",
        )

    def idle(self, learning, **_):
        """Nobody samples where all is shown."""
        return {"samples": learning == ALL}

    def start(self, servers, learning, samples, split, load, dispatchers, policies):
        """The simulation of some settings, and how many rounds its first answer has."""
        workload = Workload(cluster_of(servers, dispatchers)[0], load, ROUNDS, seed=1)
        seen = information_of(learning, samples)[0]
        return Running(workload, list(policies), REPLICATIONS, WARMUP, seen, split), FIRST

    def arrays(self, running):
        """What the load panel draws, less the queues by speed, which say nothing of equal servers."""
        return super().arrays(running) | {"queues": {}}

    def title(self, results):
        result = next(iter(results.values()))
        return super().title(results).replace("rates 5 to 5", "all of rate 5") + result.conditions

    def words(self, arrays):
        """What the load panel says, and what the information costs and how old it is."""
        told = [
            f"{name} {result.messages:.0f} and {result.mean_age:.2f}"
            for name, result in arrays["results"].items()
            if result.messages == result.messages  # not nan
        ]
        more = f" Messages a round, and mean age of what is known: {', '.join(told)}." if told else ""
        return super().words(arrays) + more

    def code(self, servers, learning, samples, split, load, dispatchers, policies):
        """The lines that give the numbers now shown."""
        return (
            f"import lbcore as lb\n\ncluster = {cluster_of(servers, dispatchers)[1]}\n"
            f"workload = lb.Workload(cluster, load={load}, rounds={self.running.now}, seed=1)\n"
            f"seen = {information_of(learning, samples)[1]}\n"
            f"lb.compare(workload, {list(policies)}, replications={REPLICATIONS}, warmup={WARMUP}, "
            f"information=seen, splittable={split})"
        )
