"""A plain twin of the simulator: one job at a time, lists and loops only, to check the fast one against.

Every draw goes through one function `choose(weights)`, which returns an index in proportion to the weights.
With `chooser` the twin simulates; with `outcomes` the same code is walked through all its branches, and gives
the exact law of what it does.
"""

import itertools
import math
from collections import deque
from fractions import Fraction


def chooser(uniform):
    """Make a `choose` that draws at random with `uniform`, a function returning floats in [0, 1)."""

    def choose(weights):
        weights = [float(w) for w in weights]
        mark = uniform() * sum(weights)
        for i, w in enumerate(weights):
            if mark < w:
                return i
            mark -= w
        return max(i for i, w in enumerate(weights) if w > 0)  # only if rounding pushed the mark past the end

    return choose


def outcomes(play, tilt=0.0):
    """Exact law of `play(choose)`, by running it through every branch of its choices.

    Parameters
    ----------
    play : callable
        Takes `choose`, starts afresh at each call, and returns something hashable.
    tilt : float
        Negative control: the first possible option of each choice has its weight multiplied by 1 + tilt.

    Returns
    -------
    dict
        Outcome -> probability; Fractions where all weights met are whole numbers or Fractions.
    """
    script = []  # per choice on the present path: (index, probability) of the options left, present one last
    depth = 0

    def choose(weights):
        nonlocal depth
        options = [(i, w) for i, w in enumerate(weights) if w > 0]
        if len(options) == 1:
            return options[0][0]
        if depth == len(script):
            if tilt:
                options[0] = (options[0][0], options[0][1] * (1 + tilt))
            total = sum(w for _, w in options)
            if isinstance(total, int):
                total = Fraction(total)
            script.append([(i, w / total) for i, w in reversed(options)])
        depth += 1
        return script[depth - 1][-1][0]

    law = {}
    while True:
        depth = 0
        outcome = play(choose)
        law[outcome] = law.get(outcome, 0) + math.prod(options[-1][1] for options in script)
        while script and len(script[-1]) == 1:
            script.pop()
        if not script:
            return law
        script[-1].pop()


def shares(queues, rates, estimate, beta=1):
    """Dispatch probabilities of SCD: the water-filling form, exact.

    Parameters
    ----------
    queues, rates : sequence
        One entry per server; a rate of 0 is out of service and has probability 0.
    estimate : int or Fraction
        Estimated jobs of the round, at least beta.
    beta : int
        Jobs that stay together; 1 where each goes by itself.
    """
    live = [s for s, mu in enumerate(rates) if mu > 0]
    mu = [Fraction(r) for r in rates]
    half_more = [q + Fraction(beta, 2) for q in queues]
    p = [Fraction(0) for _ in rates]
    volume = estimate - beta
    if volume == 0:
        height = {s: (2 * queues[s] + beta) / float(rates[s]) for s in live}
        least = min(height.values())
        tied = [s for s in live if height[s] - least <= 4 * math.ulp(least)]
        for s in tied:
            p[s] = mu[s] / sum(mu[t] for t in tied)
        return p
    level, under, width = None, 0, 0
    for s in sorted(live, key=lambda s: half_more[s] / mu[s]):
        if level is not None and half_more[s] / mu[s] >= level:
            break
        under += half_more[s]
        width += mu[s]
        level = (volume + under) / width
    for s in live:
        p[s] = max(Fraction(0), mu[s] * level - half_more[s]) / volume
    return p


class Twin:
    """Servers, dispatchers and one policy, round by round.

    Parameters
    ----------
    policy : str
        JSQ, SED, SED+1, JSQ(d), hJSQ(d), WR, JIQ, hJIQ, LSQ, hLSQ, TWF or SCD; d a number, as in JSQ(2). The last
        two may tell how they estimate the arrivals, as in SCD(mean) or SCD(20), and how they draw: SCD(systematic).
    rates : sequence of float
        One per server; 0 is out of service.
    dispatchers : int
        How many.
    choose : callable
        From `chooser`, or handed out by `outcomes`.
    queued : sequence of int, optional
        Jobs in the queues at the start, as if they had come in round 0; default none.
    mean : number, optional
        Jobs that come in a round in the long run, where the policy reckons with it.
    splittable : bool
        False: a dispatcher's jobs of a round all go where its rule sends the first.

    Attributes
    ----------
    now : int
        Number of the round to come (or under way), from 1.
    queues : list of deque
        Per server, the arrival rounds of its jobs, first come first.
    totals : list of int
        Per server, the jobs sent to it in the last round.
    tokens : list of set
        Per dispatcher, the servers it holds a token of (JIQ, hJIQ).
    out : list of bool
        Per server, whether its token is out: it gives none until it is freed (JIQ, hJIQ).
    local : list of list
        Per dispatcher, what it takes the queues to be (LSQ, hLSQ).
    """

    def __init__(self, policy, rates, dispatchers, choose, queued=None, mean=None, splittable=True):
        name, bracket, inside = policy.partition("(")
        self.words = inside.removesuffix(")").split(", ") if name in ("TWF", "SCD") and bracket else []
        self.policy = name + "(d)" if bracket and not self.words else name
        self.d = int(inside.removesuffix(")")) if bracket and not self.words else None
        self.rule = {
            "JSQ": self._jsq,
            "SED": self._sed,
            "SED+1": self._sed_plus_one,
            "JSQ(d)": self._jsq_d,
            "hJSQ(d)": self._hjsq_d,
            "WR": self._wr,
            "JIQ": self._jiq,
            "hJIQ": self._hjiq,
            "LSQ": self._lsq,
            "hLSQ": self._hlsq,
            "TWF": self._twf,
            "SCD": self._scd,
        }[self.policy]
        self.rates = [float(mu) for mu in rates]
        self.live = [s for s, mu in enumerate(self.rates) if mu > 0]
        if not self.live:
            raise ValueError("all rates are 0")
        self.dispatchers = dispatchers
        self.choose = choose
        self.now = 1
        self.mean = mean
        self.splittable = splittable
        self.carried = 1  # jobs that go wherever the rule sends one
        self.batches = [[] for _ in range(dispatchers)]
        self.queues = [deque([0] * int(q)) for q in ([0] * len(self.rates) if queued is None else queued)]
        self.totals = [0] * len(self.rates)
        self.tokens = [set() for _ in range(dispatchers)]
        self.out = [False] * len(self.rates)
        self.local = [[0] * len(self.rates) for _ in range(dispatchers)]

    def lengths(self):
        """Jobs in each queue now."""
        return [len(queue) for queue in self.queues]

    def dispatch(self, batches):
        """Decide where a round's jobs go, and update the policy's memory; the queues stay as they are.

        `batches` holds the jobs per dispatcher; returns `sent[d][s]`, jobs of dispatcher d for server s.
        """
        q = self.lengths()
        for past, jobs in zip(self.batches, batches, strict=True):
            past.append(jobs)
        sent = []
        for d, jobs in zip(range(self.dispatchers), batches, strict=True):
            own = [0] * len(q)
            if not self.splittable:
                self.carried, jobs = int(jobs), min(jobs, 1)
            self.rule(d, int(jobs), q, own)
            sent.append([self.carried * x for x in own])
        self.totals = [sum(column) for column in zip(*sent, strict=True)]
        for s, jobs in enumerate(self.totals):
            if jobs:
                self.out[s] = False
        return sent

    def round(self, batches, capacities):
        """One whole round: dispatch, join, serve, give tokens.

        `capacities` holds the most jobs each server can finish; returns the response times of jobs that left.
        """
        self.dispatch(batches)
        times, busy = [], []
        for queue, jobs, capacity in zip(self.queues, self.totals, capacities, strict=True):
            queue.extend([self.now] * jobs)
            busy.append(len(queue) > 0)
            for _ in range(min(len(queue), int(capacity))):
                times.append(self.now - queue.popleft() + 1)
        if self.policy in ("JIQ", "hJIQ"):
            self._give_tokens(busy, capacities)
        self.now += 1
        return times

    def _give_tokens(self, busy, capacities):
        for s in self.live:
            idle = not self.out[s] and not self.queues[s] and (busy[s] or capacities[s] > 0)
            if idle or self.now == 1:
                self.tokens[self.choose([1] * self.dispatchers)].add(s)
                self.out[s] = True

    # Draws and comparisons shared by the rules.

    def _any(self, servers):
        """One of the servers, uniformly."""
        return servers[self.choose([1] * len(servers))]

    def _shortest(self, servers, size):
        """The server of smallest size, ties at random."""
        least = min(size[s] for s in servers)
        return self._any([s for s in servers if size[s] == least])

    def _soonest(self, servers, size):
        """The server of smallest size / rate, ties to the faster, then at random."""
        rank = {s: (size[s] / self.rates[s], -self.rates[s]) for s in servers}
        least = min(rank.values())
        return self._any([s for s in servers if rank[s] == least])

    def _sample(self, k, weights):
        """min(k, live) distinct live servers, drawn one after the other in proportion to the weights."""
        left = list(self.live)
        if k >= len(left):
            return left
        return [left.pop(self.choose([weights[s] for s in left])) for _ in range(k)]

    # The rules: what dispatcher d does with its jobs; q are the queues at the round's start, `own` is filled.

    def _jsq(self, d, jobs, q, own):
        for _ in range(jobs):
            own[self._shortest(self.live, _sum(q, own))] += 1

    def _sed(self, d, jobs, q, own):
        for _ in range(jobs):
            own[self._soonest(self.live, _sum(q, own))] += 1

    def _sed_plus_one(self, d, jobs, q, own):
        self._sed(d, jobs, [x + 1 for x in q], own)

    def _jsq_d(self, d, jobs, q, own):
        for _ in range(jobs):
            own[self._shortest(self._sample(self.d, [1] * len(q)), _sum(q, own))] += 1

    def _hjsq_d(self, d, jobs, q, own):
        for _ in range(jobs):
            own[self._soonest(self._sample(self.d, self.rates), _sum(q, own))] += 1

    def _wr(self, d, jobs, q, own):
        for _ in range(jobs):
            own[self.choose(self.rates)] += 1

    def _jiq(self, d, jobs, q, own):
        held = sorted(self.tokens[d])
        if not held:
            for _ in range(jobs):
                own[self._any(self.live)] += 1
        elif jobs:
            for s in held:
                own[s] = jobs // len(held)
                self.out[s] = False  # by a job, or by its token dropped unused
            self.tokens[d].clear()
            for _ in range(jobs % len(held)):
                own[held.pop(self.choose([1] * len(held)))] += 1

    def _hjiq(self, d, jobs, q, own):
        held = sorted(self.tokens[d])
        for _ in range(jobs):
            own[self._soonest(held, own) if held else self.choose(self.rates)] += 1
        self.tokens[d] = {s for s in held if own[s] == 0}

    def _lsq(self, d, jobs, q, own):
        self._local(d, jobs, q, own, [1] * len(q), self._shortest)

    def _hlsq(self, d, jobs, q, own):
        self._local(d, jobs, q, own, self.rates, self._soonest)

    def _local(self, d, jobs, q, own, weights, best):
        view = self.local[d]
        for s in self._sample(2, weights):
            view[s] = q[s]
        for _ in range(jobs):
            s = best(self.live, view)
            own[s] += 1
            view[s] += 1
        for s, n in enumerate(own):
            if n:
                view[s] = q[s] + n * self.carried  # the truth is learnt once the batch is sent

    def _twf(self, d, jobs, q, own):
        self._by_shares(d, jobs, q, own, [1.0 if mu > 0 else 0.0 for mu in self.rates])

    def _scd(self, d, jobs, q, own):
        self._by_shares(d, jobs, q, own, self.rates)

    def _by_shares(self, d, jobs, q, own, rates):
        if not jobs:
            return
        beta = self.carried
        p = shares(q, rates, max(beta, self._estimate(d, jobs * beta)), beta)
        if "systematic" in self.words and self.splittable:
            self._spread(jobs, p, own)
            return
        p = [float(x) for x in p]
        for _ in range(jobs):
            own[self.choose(p)] += 1

    def _estimate(self, d, jobs):
        """What dispatcher d takes to arrive in all."""
        told = [word for word in self.words if word != "systematic"] or ["own"]
        if told[0] == "oracle":
            return sum(past[-1] for past in self.batches)
        if told[0] == "mean":
            return Fraction(self.mean)
        if told[0] == "own+mean":
            return jobs + Fraction(self.mean) * (self.dispatchers - 1) / self.dispatchers
        if told[0] == "capacity":
            return sum(Fraction(mu) for mu in self.rates)
        if told[0] == "ewma":
            past = self.batches[d][::-1]
            weights = [Fraction(9, 10) ** k for k in range(len(past))]
            return self.dispatchers * sum(x * w for x, w in zip(past, weights, strict=True)) / sum(weights)
        return self.dispatchers * jobs if told[0] == "own" else Fraction(told[0])

    def _spread(self, jobs, p, own):
        """One offset u: job k goes where (k + u) / jobs falls among the probabilities, laid end to end."""
        ends = [sum(p[: s + 1]) for s in range(len(p))]
        edges = sorted({Fraction(0), Fraction(1), *(jobs * end % 1 for end in ends)})
        piece = self.choose([b - a for a, b in itertools.pairwise(edges)])
        offset = (edges[piece] + edges[piece + 1]) / 2
        for k in range(jobs):
            own[min(s for s, end in enumerate(ends) if (k + offset) / jobs < end)] += 1


def _sum(q, own):
    return [x + y for x, y in zip(q, own, strict=True)]
