"""What came out of a simulation: raw counts, from which means, percentiles and intervals are computed when asked."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lbcore.information import COMPLETE, Information
from lbcore.intervals import estimate, nearest_rank
from lbcore.messages import AGES, MESSAGES, USED
from lbcore.workload import Workload


@dataclass(frozen=True, eq=False)
class Run:
    """Raw counts of one replication. Jobs that arrived in the warm-up are in neither `histogram` nor `arrived`."""

    histogram: np.ndarray  # completed jobs by response time in rounds (index)
    arrived: int
    queue_totals: np.ndarray  # (rounds,): jobs in all queues at the end of each round, the warm-up's too
    sent: np.ndarray  # (n,): jobs sent to each server, in all rounds
    served: np.ndarray  # (n,): jobs done by each server, in all rounds
    queued: (
        np.ndarray
    )  # (n,): jobs left at each server at a round's end, summed over rounds after the warm-up
    tasks: np.ndarray | None = None  # completed tasks by response time, where they are told
    tasks_arrived: int = 0
    counts: np.ndarray | None = (
        None  # messages in all rounds; after the warm-up, ages of entries used, and entries
    )

    @property
    def mean(self):
        """Mean response time in rounds of completed jobs; nan if there are none."""
        done = self.histogram.sum()
        return float(self.histogram @ np.arange(self.histogram.size) / done) if done else math.nan

    def percentile(self, percent):
        """Nearest-rank percentile of the response time; nan without completed jobs."""
        return nearest_rank(self.histogram, percent)


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A policy's replications of a workload. Results of other replications of the same add up with `+`.

    Attributes
    ----------
    policy : str
    workload : Workload
    warmup : int
        Rounds whose arrivals are not counted.
    runs : tuple of Run
        Raw counts of each replication.
    replications : tuple of int
        Which of the workload's replications these are.
    information : Information
        What the dispatchers saw.
    splittable : bool
        Whether a dispatcher's jobs of a round might go to several servers.
    unit : str
        What is counted: "jobs", or "tasks".
    """

    policy: str
    workload: Workload
    warmup: int
    runs: tuple
    replications: tuple
    information: Information = COMPLETE
    splittable: bool = True
    unit: str = "jobs"

    @property
    def histogram(self):
        """Completed jobs by response time in rounds (index), all replications together."""
        total = np.zeros(max(run.histogram.size for run in self.runs), dtype=np.int64)
        for run in self.runs:
            total[: run.histogram.size] += run.histogram
        return total

    @property
    def arrived(self):
        """Jobs that arrived after the warm-up."""
        return sum(run.arrived for run in self.runs)

    @property
    def completed(self):
        """Those of them that were done by the end."""
        return int(self.histogram.sum())

    @property
    def unfinished(self):
        """Those of them that were still queued at the end; the mean and the percentiles leave them out."""
        return self.arrived - self.completed

    @property
    def unfinished_share(self):
        """Share of the jobs that were still queued at the end, 0 to 1; nan if none arrived."""
        return self.unfinished / self.arrived if self.arrived else math.nan

    @property
    def mean(self):
        """Mean response time of completed jobs in rounds: of each replication, then of these. See `growing` first."""
        return self.estimate("mean").value

    def percentile(self, percent):
        """Nearest-rank percentile of the response time in rounds, over the completed jobs of all replications."""
        return nearest_rank(self.histogram, percent)

    def ccdf(self):
        """Tail of the response time: t = 0, 1, ..., and the share of completed jobs that took longer than t."""
        histogram = self.histogram
        done = histogram.sum()
        t = np.arange(histogram.size)
        return t, (done - np.cumsum(histogram)) / done if done else np.full(t.size, math.nan)

    def samples(self, of="mean"):
        """One number a replication, shape (replications,): `of` is "mean", "unfinished share" or a percentage."""
        if of == "mean":
            return np.array([run.mean for run in self.runs])
        if of == "unfinished share":
            return np.array(
                [1 - run.histogram.sum() / run.arrived if run.arrived else math.nan for run in self.runs]
            )
        if isinstance(of, str):
            raise ValueError(f"of = {of!r}: must be 'mean', 'unfinished share' or a percentage such as 99.9")
        return np.array([run.percentile(of) for run in self.runs], dtype=float)

    def estimate(self, of="mean", confidence=0.95):
        """Mean over replications of the mean or a percentile, with Student's t interval.

        Parameters
        ----------
        of : "mean", "unfinished share" or float
            A number is a percentage: 99.9 for the response time that all but one job in 1,000 do not exceed.
        confidence : float

        Returns
        -------
        Estimate
            In rounds, or a share. A percentile is that of each replication, then the mean of these; replications in
            which no job was done are left out. The interval is (nan, nan) with one replication: jobs of one run are
            not independent.
        """
        return estimate(self.samples(of), confidence)

    @cached_property
    def growth(self):
        """Jobs a round by which all queues together grow in the second half of a run, with a 99.9 % interval.

        The half is cut into 20 stretches; their increments, of all replications, are the samples. Where queues
        grow for ever increments are nearly independent; in a steady state they cancel, and the interval is wider
        than need be (ours). nan for runs under 40 rounds.
        """
        steps = []
        for run in self.runs:
            totals = run.queue_totals
            if totals.size < 40:
                continue
            cuts = np.linspace(totals.size // 2, totals.size - 1, 21).astype(int)
            steps.extend(np.diff(totals[cuts]) / np.diff(cuts))
        return estimate(steps, 0.999)

    @property
    def growing(self):
        """Whether the growth is told from 0: then no mean is a steady one."""
        return self.growth.low > 0

    @property
    def queue_totals(self):
        """Jobs in all queues at the end of each round, mean over replications, shape (rounds,)."""
        return np.mean([run.queue_totals for run in self.runs], axis=0)

    @property
    def mean_queues(self):
        """Jobs at each server at a round's end, mean over the rounds after the warm-up, shape (n,)."""
        rounds = self.workload.rounds - self.warmup
        return np.mean([run.queued for run in self.runs], axis=0) / rounds

    @property
    def sent(self):
        """Jobs sent to each server, all rounds and replications, shape (n,)."""
        return np.sum([run.sent for run in self.runs], axis=0)

    @property
    def served(self):
        """Jobs done by each server, all rounds and replications, shape (n,)."""
        return np.sum([run.served for run in self.runs], axis=0)

    @property
    def utilisation(self):
        """Work done by each server as a share of what it can do, shape (n,); nan where that is nothing."""
        able = self.workload.capacity_of(len(self.runs))
        return np.divide(self.served, able, out=np.full(able.shape, math.nan), where=able > 0)

    @property
    def tasks(self):
        """The same of tasks: a dispatcher's jobs of a round are one, done when the last of them is. A `Result`.

        Everything that it says of response times and of what is unfinished is then of tasks.
        """
        if any(run.tasks is None for run in self.runs):
            raise ValueError("tasks are not told: simulate with tasks=True, or with splittable=False")
        runs = (replace(run, histogram=run.tasks, arrived=run.tasks_arrived, tasks=None) for run in self.runs)
        return replace(self, runs=tuple(runs), unit="tasks")

    @property
    def messages(self):
        """Messages a round for knowing the queues, mean over all rounds; nan where these are shown to all."""
        if self.information.kind == "shown":
            return math.nan
        return float(np.mean([run.counts[MESSAGES] / run.queue_totals.size for run in self.runs]))

    @property
    def mean_age(self):
        """Rounds since what a dispatcher knows of a queue was true: mean over all servers whenever it has jobs."""
        if self.information.kind == "shown":
            return float(self.information.age)
        ages, used = np.sum([run.counts for run in self.runs], axis=0)[[AGES, USED]]
        return float(ages / used) if used else math.nan

    def __add__(self, other):
        if not isinstance(other, Result):
            return NotImplemented
        mine, theirs = (replace(result, runs=(), replications=()) for result in (self, other))
        if vars(mine) != vars(theirs):
            raise ValueError(
                f"results do not add up: {self!r} and {other!r} differ in policy, workload, warm-up, information, "
                "splitting, or in what they count"
            )
        both = set(self.replications) & set(other.replications)
        if both:
            raise ValueError(f"results do not add up: both hold replication {min(both)}")
        return replace(self, runs=self.runs + other.runs, replications=self.replications + other.replications)

    @property
    def conditions(self):
        """What was unlike complete information and splittable dispatching, in words that begin with "; "."""
        seen = f"; {self.information}" if self.information != COMPLETE else ""
        return seen + ("" if self.splittable else "; batches not split")

    def __repr__(self):
        if self.growing:
            told = f"growing, +{self.growth.value:.3g} jobs a round"
        else:
            told = f"mean response {self.estimate()} rounds"
        jobs = f"{self.completed:,} {self.unit} done, {self.unfinished:,} queued"
        return f"Result({self.policy}: {told}; {jobs}; {self.workload!r}{self.conditions})"


def difference(first, second, of="mean", confidence=0.95):
    """How much larger is a quantity under one policy than under another, replication by replication?

    Parameters
    ----------
    first, second : Result
        Of the same workload and replications: their common random numbers make the interval narrow.
    of, confidence
        As in `Result.estimate`.

    Returns
    -------
    Estimate
        first - second, with the paired t interval; in rounds, or a share.
    """
    for name, given in (("first", first), ("second", second)):
        if not isinstance(given, Result):
            raise ValueError(f"{name} = {given!r}: must be a Result")
    met = [(result.workload, result.warmup, result.replications, result.unit) for result in (first, second)]
    if met[0] != met[1]:
        raise ValueError(
            f"{first.policy} and {second.policy} met different workloads, warm-ups or replications, "
            "or count other things: take both from one compare"
        )
    return estimate(first.samples(of) - second.samples(of), confidence)
