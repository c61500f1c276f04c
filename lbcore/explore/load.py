"""The load panel: what load and heterogeneity do to the policies, simulated anew at every move."""

from functools import lru_cache
from types import MappingProxyType

import ipywidgets as widgets
import numpy as np
import pandas as pd

from lbcore import charts
from lbcore.cluster import Cluster
from lbcore.explore.live import LivePanel, Ticks
from lbcore.explore.panel import choice
from lbcore.policies import POLICIES, find
from lbcore.results import difference
from lbcore.running import Running
from lbcore.theory import pooled_floor
from lbcore.workload import Workload

REPLICATIONS = 8
TICKED = ("SCD", "TWF", "JSQ", "SED", "hJSQ(2)", "hLSQ")
SPREAD, TWO = "evenly from 1 to H", "two speeds, 1 and H"
STEPS = {
    "load": [round(0.01 * k, 2) for k in range(5, 106)],
    "heterogeneity": [float(f"{10 ** (k / 20):.3g}") for k in range(41)],
    "servers": [10, 20, 30, 50, 70, 100, 150, 200, 300, 400],
    "dispatchers": [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100],
}


def cluster_of(heterogeneity, kind, share, servers, dispatchers, seed):
    """The servers of some settings, and the line of code that makes them."""
    if kind == TWO:
        made = Cluster.two_speeds(servers, dispatchers, heterogeneity, share / 100)
        return made, (
            f"lb.Cluster.two_speeds({servers}, {dispatchers}, fast={heterogeneity}, share={share / 100})"
        )
    made = Cluster.random(servers, dispatchers, heterogeneity, seed)
    return made, f"lb.Cluster.random({servers}, {dispatchers}, fastest={heterogeneity}, seed={seed})"


def plan(cluster, load):
    """How many rounds: of warm-up, of the first answer and of the refined one, the warm-up's in both.

    The last has sixteen times as many rounds that count as the first, so that its intervals are a third as wide
    and less, though they are guessed from eight samples. A round of six policies is taken to cost what was once
    measured, so that the numbers do not depend on the clock.
    """
    jobs = load * cluster.capacity
    cost = 3 + 0.25 * cluster.servers + 0.035 * jobs + 0.012 * cluster.servers * cluster.dispatchers  # in µs
    short = min(2_000, max(60, round(172_000 / REPLICATIONS / cost)))
    warmup = min(0.3 * short, max(50, 10 / max(1e-9, 1 - load)))
    return int(warmup), short, int(warmup) + 16 * (short - int(warmup))


class LoadPanel(LivePanel):
    """Sliders for load, heterogeneity, servers and dispatchers, boxes for the policies; simulated at every move.

    Parameters
    ----------
    policies : sequence of str or Policy
        What can be ticked; all that are built in if not given. Names or policies of your own.
    ticked : sequence of str, optional
        Names ticked at first.
    **settings
        First values of the controls: load, heterogeneity, servers, dispatchers, kind, share, seed.

    Raises
    ------
    ValueError
        For a policy or a setting that it does not know.
    """

    FIRST = MappingProxyType(
        {
            "load": 0.9,
            "heterogeneity": 10.0,
            "servers": 100,
            "dispatchers": 10,
            "kind": SPREAD,
            "share": 20,
            "seed": 1,
        }
    )

    def __init__(self, policies=tuple(POLICIES), ticked=None, **settings):
        self.known = {policy.name: policy for policy in map(find, policies)}
        for name in settings:
            if name not in self.FIRST:
                raise ValueError(f"unknown setting {name!r}; known: {', '.join(self.FIRST)}")
        first = self.FIRST | settings
        if ticked is None:
            ticked = [name for name in self.known if name in TICKED] or list(self.known)
        units = {"heterogeneity": "heterogeneity H"}
        controls = {name: choice(units.get(name, name), steps, first[name]) for name, steps in STEPS.items()}
        controls["kind"] = widgets.Dropdown(options=[SPREAD, TWO], value=first["kind"], description="rates")
        controls["share"] = widgets.IntSlider(
            first["share"], min=0, max=100, step=5, description="fast servers (%)"
        )
        controls["seed"] = widgets.BoundedIntText(first["seed"], min=0, max=10**6, description="seed")
        controls["policies"] = Ticks(self.known, ticked, "policies")
        super().__init__(
            charts.overview(self.known),
            controls,
            "For each policy a bar with the mean response time and its interval, over a line that no policy can go "
            "below; the tail of the response times on a logarithmic axis; and the mean queue by the server's rate.",
        )

    def arrange(self, controls):
        """Sliders in two columns where there is room, the policies below."""
        for control in controls[:-1]:
            control.layout.width = "370px"
        controls[-1].layout.width = "auto"
        return [
            widgets.Box(controls[:-1], layout={"flex_flow": "row wrap", "max_width": "800px"}),
            controls[-1],
        ]

    def refresh(self):
        """As every live panel; what has no meaning now cannot be moved."""
        for name, disabled in self.idle(**self.settings()).items():
            self.controls[name].disabled = disabled
        super().refresh()

    def idle(self, kind, **_):
        """Controls that may have no meaning, and whether they have none: only two speeds have a share."""
        return {"share": kind != TWO}

    def start(self, load, policies, **servers):
        """The simulation of some settings, and how many rounds its first answer has."""
        cluster, _ = cluster_of(**servers)
        warmup, first, rounds = plan(cluster, load)
        workload = Workload(cluster, load, rounds, servers["seed"])
        return Running(workload, [self.known[p] for p in policies], REPLICATIONS, warmup), first

    def arrays(self, running):
        """What is drawn and said: plain numbers, from the results so far."""
        results = running.results()
        cluster, load = running.workload.cluster, running.workload.load
        groups = by_speed(cluster.rates)
        speeds = [cluster.rates[group].mean() for group in groups]
        queues = {name: result.mean_queues for name, result in results.items()}
        steady = {name: result for name, result in results.items() if not result.growing}
        return {
            "policies": list(results),
            "means": [result.estimate() for result in results.values()],
            "growing": [r.growth.value if r.growing else None for r in results.values()],
            "floor": floor_of(cluster, load),
            "tails": {name: thin(*result.ccdf()) for name, result in steady.items()},
            "queues": {name: (speeds, [queue[g].mean() for g in groups]) for name, queue in queues.items()},
            "results": results,
        }

    def draw(self, arrays):
        charts.set_overview(self.figure, arrays, self.title(arrays["results"]))
        table = arrays["results"].table()
        table["jobs simulated"] = [f"{r.arrived:,}" for r in arrays["results"].values()]
        self.results.value = table.to_html() + "<p>Response times in rounds; ± 95 % intervals.</p>"

    def title(self, results):
        """The settings that the curves belong to."""
        result = next(iter(results.values()))
        load, cluster = result.workload.load, result.workload.cluster
        rates = f"rates {cluster.rates.min():.3g} to {cluster.rates.max():.3g}"
        rounds = f"{REPLICATIONS} × {result.workload.rounds - result.warmup:,} rounds"
        return (
            f"load {load:g}, {cluster.servers} servers, {rates}, {cluster.dispatchers} "
            f"dispatcher{'s' * (cluster.dispatchers > 1)}<br>{rounds} after {result.warmup} of warm-up"
        )

    def words(self, arrays):
        results = arrays["results"]
        growing = [
            f"{name} ({result.growth.value:+.3g} jobs a round)"
            for name, result in results.items()
            if result.growing
        ]
        ranked = sorted((r for r in results.values() if not r.growing), key=lambda r: r.mean)
        told = f" Queues grow, so no mean: {', '.join(growing)}." if growing else ""
        if not ranked:
            return f"Every policy's queues grow.{told}"
        best = f"Least mean response: {ranked[0].policy}, {ranked[0].estimate()} rounds"
        if np.isfinite(arrays["floor"]):
            best += f" (in the long run no policy can be below {arrays['floor']:.3g})"
        if len(ranked) == 1:
            return f"{best}.{told}"
        more = difference(ranked[1], ranked[0])
        apart = f"{more} more" if more.low > 0 else f"not told apart from it ({more} more)"
        return f"{best}. Next: {ranked[1].policy}, {apart}.{told}"

    def table(self, arrays):
        rows = [
            (name, "mean response", "", m.value, m.low, m.high)
            for name, m in zip(arrays["policies"], arrays["means"], strict=True)
            if name in arrays["tails"]
        ]
        rows += [
            (name, "growth (jobs a round)", "", r.growth.value, r.growth.low, r.growth.high)
            for name, r in arrays["results"].items()
        ]
        for what, x in (("tails", "longer than (rounds)"), ("queues", "mean queue at rate")):
            rows += [
                (name, x, *point, "", "")
                for name, xy in arrays[what].items()
                for point in zip(*xy, strict=True)
            ]
        return pd.DataFrame(rows, columns=["policy", "quantity", "at", "value", "low", "high"])

    def code(self, load, policies, **servers):
        """The lines that give the numbers now shown."""
        _, made = cluster_of(**servers)
        names, own = [], []
        for name in policies:
            policy = self.known[name]
            if name in POLICIES:
                names.append(repr(name))
            elif type(policy).__module__.startswith("lbcore."):
                names.append(f"lb.policies.{policy!r}")
            else:
                names.append(f"own_{len(own)}")
                own.append(f"{names[-1]} = ...  # your policy {name!r}\n")
        return (
            f"import lbcore as lb\n\n{''.join(own)}cluster = {made}\n"
            f"workload = lb.Workload(cluster, load={load}, rounds={self.running.now}, seed={servers['seed']})\n"
            f"lb.compare(workload, [{', '.join(names)}], replications={REPLICATIONS}, warmup={self.running.warmup})"
        )


@lru_cache(maxsize=64)
def floor_of(cluster, load):
    """The pooled floor; asked again and again while a panel refines."""
    return pooled_floor(cluster, load)


def by_speed(rates, groups=20):
    """Servers in service in groups of like rates, slowest first: lists of their places."""
    order = np.argsort(rates, kind="stable")
    return [part for part in np.array_split(order, min(groups, np.unique(rates).size)) if part.size]


def thin(t, share, points=200):
    """A tail for drawing: its first points, then ever fewer; zeros have no place on a logarithmic axis."""
    t, share = t[share > 0], share[share > 0]
    if t.size <= points:
        return t, share
    kept = np.unique(np.geomspace(1, t.size, points).astype(int)) - 1
    return t[kept], share[kept]
