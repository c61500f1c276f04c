"""Are the tests able to fail? Small wrong edits, in a copy, must each be noticed by a test that is no golden.

The copy runs without compiling (NUMBA_DISABLE_JIT=1), which also shows that plain Python gives the same.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Mutation:
    """Replace `old` by `new` in a module of lbcore; the tests (of these, `only`) and notebooks named must each fail."""

    module: str
    old: str
    new: str
    tests: tuple = ()
    notebooks: tuple = ()
    only: str = ""

    def __str__(self):
        return f"{self.module}:{self.old}->{self.new}"


ORDER, SAMPLED, IDLE, LOCAL, COORDINATED = (
    f"policies/{name}" for name in ("order", "sampled", "idle", "local", "coordinated")
)
FOUNDATIONS = [
    Mutation("waterfill", "heights[s] < level", "heights[s] <= 0.9 * level", ("waterfill",), ("01",)),
    Mutation("waterfill", "if floor > 4.0 * volume", "if False", ("waterfill",)),
    Mutation("waterfill", "rise = correction(", "rise = 0 * correction(", ("waterfill",)),
    Mutation(
        "assignment", "+ counted) / mu[0, s], -mu[0, s]", "+ counted) / mu[0, s], mu[0, s]", ("waterfill",)
    ),
    Mutation(
        "assignment",
        "q[0, s] + sent[s] + counted",
        "q[0, s] + counted",
        ("waterfill", "explore"),
        ("00",),
    ),
    Mutation("checks", "place % servers", "(place + 1) % servers", ("waterfill",)),
    Mutation("cluster", "rng.uniform(1, fastest", "rng.uniform(0, fastest", ("cluster",), ("07",)),
    Mutation("cluster", "rates.size - round(share", "round(share", ("cluster",)),
    Mutation("cluster", "load * self.capacity / self.dispatchers", "load * self.capacity", ("cluster",)),
    Mutation("derivation", "floors[wet] - level", "floors[wet]", ("waterfill",)),
    Mutation("derivation", "wet = q / mu < level", "wet = wet & (q / mu > 0)", ("waterfill",)),
    Mutation(
        "coordination",
        "0.5 * batch, arrivals",
        "0.0 * batch, arrivals",
        ("coordination",),
        ("02", "03"),
    ),
    Mutation("coordination", "arrivals - batch, 1.0", "arrivals, 1.0", ("coordination",)),
    Mutation("coordination", "2.0 * queues[s] + batch", "2.0 * queues[s]", ("coordination",)),
    Mutation("coordination", "(1.0 + 4.0 * 2.0**-52)", "1.0", ("coordination",)),
    Mutation(
        "coordination", "rng.random(jobs) * volume", "rng.random(jobs) * 0.95 * volume", ("coordination",)
    ),
    Mutation("coordination", "dispatchers * own", "own", ("coordination",)),
    Mutation("waterfill", "(values[s] + unit) - unit", "values[s] * 0", ("coordination",)),
    Mutation("derivation", "(a - beta) * p**2", "a * p**2", ("coordination",)),
    Mutation(
        "derivation", "2 * iwl - (2 * q[s] + 1) / mu[s] >= lambda_0", "True", ("coordination",), ("04",)
    ),
    Mutation(
        "derivation",
        "-2.0 * (arrivals - 1), 0.0, 0.0",
        "-2.0 * arrivals, 0.0, 0.0",
        ("coordination",),
        ("04",),
    ),
    Mutation("derivation", "pull[used]) / np.sum(mu[used])", "pull) / np.sum(mu)", ("coordination",)),
    Mutation("judge", "+ batch) / mu", ") / mu", ("coordination", "explore")),
    Mutation("timing", "np.log(late / early)", "np.log(late)", ("explore",)),
    Mutation("explore/distance", "(others * d).sum", "(others + d).sum", ("explore",), ("02",)),
    Mutation(
        "explore/solver",
        'figures.set_pairs(self.figure, arrays["ours"]',
        'figures.set_pairs(self.figure, arrays["rates"]',
        ("explore",),
        ("03",),
    ),
    Mutation("figures", "base=base", "base=None", ("explore",)),
    Mutation("figures", "(added, sent / rates", "(added, sent", ("explore",), ("00",)),
    Mutation("explore/herd", "many * greedy", "greedy", ("explore",)),
    Mutation("explore/panel", "if not self._held:", "if True:", ("explore",)),
    Mutation("explore/panel", "self._say(f", "raise ValueError(f", ("explore",)),
    Mutation("notebook", "<= tolerance", ">= tolerance", ("notebook",), ("01",)),
    Mutation("compiled", "+ sources[path] +", "+", ("architecture",)),
]
SIMULATION = [  # tried in test_mutations_simulation.py, so that another worker can take them
    Mutation("draws", "speed > other_speed", "speed < other_speed", ("policies",), only="law and SED-one"),
    Mutation("draws", "uniform(rng), -1", "0.9 * uniform(rng), -1", ("draws",)),
    Mutation("draws", "chance *= odds * (n - k + 1) / k", "chance *= odds * (n - k) / k", ("draws",)),
    Mutation("queues", "now - arrived + 1", "now - arrived", ("simulator",), only="twin"),
    Mutation("queues", "min(new, able)", "min(new, able + 1)", ("simulator",), only="pool"),
    Mutation("queues", "pool[place - CHUNK]) + 2", "place - CHUNK) + 2", ("simulator",), only="memory"),
    Mutation("workload", "(replication, *stream)", "tuple(stream)", ("workload",)),
    Mutation("workload", "log1p(1.0 / rates", "expm1(1.0 / rates", ("workload",)),
    Mutation("policies/ordered", "counted = 1.0", "counted = 0.5", ("policies",), only="law and SED"),
    Mutation("policies/ordered", "dispatchers - done", "dispatchers", ("policies",), only="law and SED-all"),
    Mutation(
        "policies/ordered",
        "view[s] + sent[s] < view[best]",
        "view[s] + sent[s] <= view[best]",
        ("simulator",),
        only="first",
    ),
    Mutation(ORDER, "(lengths[s] + sent[s] + counted)", "lengths[s]", ("policies",), only="law and JSQ-one"),
    Mutation(ORDER, "int(np.ceil(under - blur))", "int(np.ceil(under)) + 1", ("simulator",), only="queue_by"),
    Mutation(
        ORDER, "higher += filled[level + 1]", "higher += filled[level]", ("policies",), only="law and JSQ-all"
    ),
    Mutation(SAMPLED, "if a == b:", "if False:", ("policies",), only="law and JSQ"),
    Mutation(
        SAMPLED, "return cluster.rates", "return live_ones(cluster)", ("policies",), only="law and hJSQ"
    ),
    Mutation(SAMPLED, "view[b] + sent[b]", "view[b]", ("policies",), only="law and hJSQ"),
    Mutation(
        "policies/weighted",
        "raffle(cluster.rates)",
        "raffle(cluster.rates**2)",
        ("policies",),
        only="law and WR",
    ),
    Mutation(
        IDLE, "memory[d, s] = out[s] = 0.0", "memory[d, s] = 0.0", ("policies",), only="law and JIQ-one"
    ),
    Mutation(IDLE, "speeds[k] = s, rates[s]", "speeds[k] = s, 1.0", ("policies",), only="law and hJIQ"),
    Mutation(IDLE, "capacities[s] > 0", "True", ("policies",), only="law and JIQ"),
    Mutation(LOCAL, "memory[d, s] = view[s] + sent[s]", "pass", ("policies",), only="law and LSQ"),
    Mutation(LOCAL, "return cluster.rates", "return live_ones(cluster)", ("policies",), only="law and hLSQ"),
    Mutation(
        "policies/estimates",
        "options[0] * batches[d]",
        "2.0 * options[0] * batches[d]",
        ("policies",),
        only="law and SCD",
    ),
    Mutation(
        "policies/estimates",
        "memory[PAST, d] / memory[SEEN, d]",
        "memory[PAST, d]",
        ("policies",),
        only="ewma",
    ),
    Mutation(COORDINATED, "jobs - offset)", "jobs)", ("policies",), only="systematic"),
    Mutation(COORDINATED, "own - volume", "own - 1.5 * volume", ("policies",), only="law and SCD-all"),
    Mutation(
        COORDINATED,
        "return live_ones(cluster)",
        "return cluster.rates",
        ("policies",),
        only="law and TWF",
    ),
    Mutation(COORDINATED, "float(jobs), heights", "1.0, heights", ("tasks",), only="whole and SCD"),
    Mutation("policies/base", "sent[s] *= jobs", "pass", ("tasks",), only="whole and WR"),
    Mutation("tasks", "max(tasks[task, 2], first + row)", "first + row", ("tasks",), only="replayed"),
    Mutation(
        "messages", "stamps[d, k] < stamps[row, k]", "True", ("messages",), only="message_by and gossip"
    ),
    Mutation("messages", "pending[d, s] += sent[s]", "pass", ("messages",), only="message_by and sampled"),
    Mutation(
        "rounds", "now - stamps[d, s]", "now - stamps[0, s]", ("messages",), only="message_by and gossip"
    ),
    Mutation("comparisons", "growth if result.growing", "growth if False", ("results",), only="tables"),
    Mutation("information", "return Information(_count(", "return Information(1 + _count(", ("information",)),
    Mutation("rounds", "(now + 1) % seen.shape[0]", "now % seen.shape[0]", ("information",), only="shown"),
    Mutation("simulation", "max(0, self.warmup - self.now)", "0", ("simulator",), only="warm"),
    Mutation("rounds", "placed != arrivals[row].sum()", "False", ("simulator",), only="loses"),
    Mutation(
        "simulator",
        "if warmup >= workload.rounds",
        "if warmup > workload.rounds",
        ("simulator",),
        only="wrong",
    ),
    Mutation("intervals", "math.ceil(Fraction", "math.floor(Fraction", ("results",)),
    Mutation("results", "self.growth.low > 0", "self.growth.value > 0", ("results",)),
    Mutation("running", "rounds=self.now", "rounds=self.now + 1", ("live",), only="slices"),
    Mutation("summary", "None if result.growing else", "", ("charts",), only="tables"),
    Mutation("herding", 'state["queues"] + sent.sum', "sent.sum", ("charts",), ("05",), only="overshoot"),
    Mutation("guessing", "p * (1 - p)", "p", ("guessing",), ("09",), only="enumeration"),
    Mutation("areas", "- parts[-1] / 2", "", ("guessing",), only="areas"),
    Mutation("explore/estimate", "names[name]: it", "name: it", ("guessing",), only="moving"),
    Mutation("charts", "place % len(MARKS)", "place % 3", ("charts",), only="told"),
    Mutation(
        "animation", "np.cumsum(now, axis=0) - now", "np.cumsum(now, axis=0)", ("charts",), only="piles"
    ),
    Mutation("explore/live", "box.value = name in change.new", "pass", ("live",), only="ticks"),
    Mutation("explore/load", "min(groups, np.unique(rates).size)", "groups", ("live",), only="groups"),
    Mutation("homogeneous", "1 / wet.sum(", "0 / wet.sum(", ("limited",), ("06",), only="closed"),
    Mutation("limited", "None if result.growing", "None if False", ("limited",), only="lines"),
    Mutation("message_charts", "[mark if e else", "[mark if True else", ("limited",), only="arrows"),
    Mutation("explore/learning", "lb.{learning}({samples})", "lb.{learning}(2)", ("limited",), only="code"),
    Mutation("stability", "/ shares[forced]", "* shares[forced]", ("stability",), ("10",), only="worst"),
    Mutation("stability_charts", "jobs[half[0] :].mean()", "jobs.mean()", ("stability",), only="through"),
    Mutation(
        "explore/stability", "self.rounds, seed=1", "self.rounds, seed=2", ("stability",), only="panel_shows"
    ),
    Mutation("theory", "return 1 + float(weights", "return float(weights", ("theory",)),
]


MUTATIONS = FOUNDATIONS + SIMULATION


def copy_with(folder, mutation):
    for part in ("lbcore", "notebooks", "tests", "figures"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "mine-*"))
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    if mutation:
        path = folder / "lbcore" / f"{mutation.module}.py"
        assert mutation.old in path.read_text(), "the mutation no longer fits the code"
        path.write_text(path.read_text().replace(mutation.old, mutation.new))


@functools.cache
def forks():
    """The process that runs pytest in forks, with plain Python in place of compiled kernels."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / "tests" / "forks.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        text=True,
    )


def run(folder, tests, notebooks, only=""):
    """Exit code and last lines of pytest on the copy, stopping at the first failure."""
    arguments = ["-x", "-q", "-p", "no:cacheprovider", "-k", f"not golden {only}"]
    arguments += [f"tests/test_{name}.py" for name in tests]
    if notebooks:
        arguments += ["--nbval", "--nbval-current-env", "--nbval-sanitize-with", "tests/nbval.cfg"]
        arguments += [
            str(p.relative_to(folder)) for n in notebooks for p in (folder / "notebooks").glob(f"{n}*.ipynb")
        ]
    env = {"PYTHONPATH": str(folder), "HYPOTHESIS_PROFILE": "mutation"}
    if tests == ("architecture",):  # with kernels compiled
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *arguments],
            cwd=folder,
            env=os.environ | env,
            capture_output=True,
            text=True,
            timeout=600,
        )
        return done.returncode, done.stdout[-3000:]
    forks().stdin.write(json.dumps([str(folder), arguments, env]) + "\n")
    forks().stdin.flush()
    return json.loads(forks().stdout.readline())


def check(mutation, folder):
    """All tests and notebooks that a mutation names must notice it."""
    copy_with(folder, mutation)
    only = f"and ({mutation.only})" if mutation.only else ""
    for tests, notebooks in [((t,), ()) for t in mutation.tests] + [((), (n,)) for n in mutation.notebooks]:
        code, told = run(folder, tests, notebooks, only if tests else "")
        assert code == 1, f"{tests or notebooks} did not notice it\n{told}"


@pytest.mark.parametrize("mutation", FOUNDATIONS, ids=str)
def test_a_wrong_edit_is_noticed(mutation, tmp_path):
    check(mutation, tmp_path)


def test_every_notebook_and_module_is_mutated():
    noticed = {prefix for mutation in MUTATIONS for prefix in mutation.notebooks}
    assert {path.name[:2] for path in (ROOT / "notebooks").glob("*.ipynb")} == noticed
    modules = {
        str(p.relative_to(ROOT / "lbcore").with_suffix("")) for p in (ROOT / "lbcore").rglob("[!_]*.py")
    }
    # what has no line of its own to get wrong, or only draws what others compute
    assert modules - {mutation.module for mutation in MUTATIONS} <= {
        "explore/water",
        "publication",
    }
