"""The estimate panel: SCD with any fixed guess of the arrivals, between SED and weighted random."""

from lbcore import charts, policies
from lbcore.cluster import Cluster
from lbcore.explore.live import LivePanel
from lbcore.explore.load import REPLICATIONS, STEPS, LoadPanel, plan
from lbcore.explore.panel import Panel, choice
from lbcore.results import difference
from lbcore.running import Running
from lbcore.workload import Workload

GUESS = "one guess"  # one name for a policy whose own changes, so that its traces are made once
SHOWN = ("SCD", GUESS, "SED", "WR")
GUESSES = [float(m * 10**k) for k in range(6) for m in (1, 1.5, 2, 3, 5, 7)] + [1e6]


class EstimatePanel(LoadPanel):
    """Sliders for a fixed guess of all arrivals, load and dispatchers; simulated at every move, as `LoadPanel`.

    Parameters
    ----------
    servers, fastest, seed
        The cluster, as of `Cluster.random`.
    **settings
        First values of the controls: guess, load, dispatchers.
    """

    def __init__(self, servers=100, fastest=10.0, seed=1, **settings):
        self.cluster = {"servers": servers, "fastest": fastest, "seed": seed}
        first = {"guess": 500.0, "load": 0.9, "dispatchers": 10} | settings
        titles = {"guess": "guess of the total"}
        steps = {"guess": GUESSES, "load": STEPS["load"], "dispatchers": STEPS["dispatchers"]}
        controls = {
            name: choice(titles.get(name, name), values, first[name], form=",.10g")
            for name, values in steps.items()
        }
        LivePanel.__init__(
            self,
            charts.overview(SHOWN),
            controls,
            "For SCD, SCD with the guess, SED and WR a bar with the mean response time and its interval, over a line "
            "that no policy can go below; the tail of the response times; and the mean queue by the server's rate.",
        )

    def arrange(self, controls):
        """One slider below the other."""
        return Panel.arrange(self, controls)

    def idle(self, **_):
        """Every control has a meaning always."""
        return {}

    def start(self, guess, load, dispatchers):
        """The simulation of some settings, and how many rounds its first answer has."""
        cluster = Cluster.random(dispatchers=dispatchers, **self.cluster)
        warmup, first, rounds = plan(cluster, load)
        workload = Workload(cluster, load, rounds, self.cluster["seed"])
        return Running(workload, ["SCD", policies.SCD(guess), "SED", "WR"], REPLICATIONS, warmup), first

    def arrays(self, running):
        """As of a LoadPanel, the guess under its one name."""
        arrays = super().arrays(running)
        names = dict(zip(arrays["policies"], SHOWN, strict=True))
        arrays["policies"] = list(SHOWN)
        for part in ("tails", "queues", "results"):
            arrays[part] = type(arrays[part])({names[name]: it for name, it in arrays[part].items()})
        return arrays

    def title(self, results):
        """The settings that the curves belong to."""
        result = results[GUESS]
        workload, cluster = result.workload, result.workload.cluster
        guess, mean = policies.find(result.policy).estimate, workload.arrival_rates.sum()
        times = float(f"{guess / mean:.3g}")
        many = f"{cluster.dispatchers} dispatcher{'s' * (cluster.dispatchers > 1)}"
        return (
            f"guess {guess:,.10g}, {times:,.10g} times the mean total {mean:.4g}; load {workload.load:g}, {many}<br>"
            f"{cluster.servers} servers, rates {cluster.rates.min():.3g} to {cluster.rates.max():.3g}; "
            f"{REPLICATIONS} × {workload.rounds - result.warmup:,} rounds after {result.warmup} of warm-up"
        )

    def words(self, arrays):
        guess, own, wr = (arrays["results"][name] for name in (GUESS, "SCD", "WR"))
        if guess.growing:
            return f"With this guess the queues grow, {guess.growth.value:+.3g} jobs a round."
        told = f"Mean response with this one guess for all: {guess.estimate()} rounds"
        if not own.growing:
            times, more = guess.mean / own.mean, difference(guess, own)
            told += f", {times:.2f} times that of SCD's own guesses (difference {more})"
        return f"{told}." if wr.growing else f"{told}. WR, which looks at no queue: {wr.estimate()}."

    def code(self, guess, load, dispatchers):
        """The lines that give the numbers now shown."""
        servers, fastest, seed = self.cluster.values()
        running = self.running
        names = [policy.name for policy in running.policies]
        return (
            "import lbcore as lb\n\n"
            f"cluster = lb.Cluster.random({servers}, {dispatchers}, fastest={fastest}, seed={seed})\n"
            f"workload = lb.Workload(cluster, load={load}, rounds={running.now}, seed={seed})\n"
            f"lb.compare(workload, {names}, replications={REPLICATIONS}, warmup={running.warmup})"
        )
