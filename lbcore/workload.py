"""What happens to a cluster: the jobs that arrive at each dispatcher and the jobs each server can do, by rounds."""

import math
import reprlib
from dataclasses import dataclass

import numpy as np

from lbcore.checks import as_floats, brief
from lbcore.cluster import Cluster

LARGEST_COUNT = 2**31 - 1  # jobs of a server or dispatcher in a round; kernels count them in 32 bits
LARGEST_RATE = 1e7  # its capacities stay far below LARGEST_COUNT
ARRIVALS, CAPACITIES, CHOICES, LOOKS = 0, 1, 2, 3  # the streams of a replication


@dataclass(frozen=True, eq=False)
class Workload:
    """Arrivals and capacities of many rounds, the same for every policy that meets them.

    Jobs arrive at each dispatcher by a Poisson law; a server can do a geometric number of jobs from 0 up, with its
    rate as mean (SCD, section 6). Nothing is drawn until it is needed; the seed fixes every number.

    Parameters
    ----------
    cluster : Cluster
        Rates at most 1e7 jobs a round.
    load : float
        Mean arrivals as a share of the capacity (rho of the papers).
    rounds : int
        Length of a run.
    seed : int
        At least 0. Replication r of a seed has streams of its own for arrivals, capacities and each policy.
    shares : array_like, shape (m,), optional
        Share of the arrivals that comes to each dispatcher, in any unit; equal if not given.

    Raises
    ------
    ValueError
        Names the argument, what was found and the rule.
    """

    cluster: Cluster
    load: float
    rounds: int
    seed: int = 0
    shares: np.ndarray | None = None
    _arrivals: np.ndarray | None = None  # of a trace
    _capacities: np.ndarray | None = None

    def __post_init__(self):
        if not isinstance(self.cluster, Cluster):
            raise ValueError(f"cluster = {self.cluster!r}: must be a Cluster")
        rates = self.cluster.rates
        for s in np.flatnonzero(rates > LARGEST_RATE):
            raise ValueError(
                f"rates[{s}] = {brief(rates[s])}: at most 1e7 jobs a round can be simulated; count rounds shorter"
            )
        if isinstance(self.load, bool) or not isinstance(self.load, int | float | np.number):
            raise ValueError(f"load = {self.load!r}: must be a number, such as 0.9")
        for name, least in (("rounds", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise ValueError(f"{name} = {value!r}: must be a whole number, at least {least}")
        if self.rounds > LARGEST_COUNT:
            raise ValueError(f"rounds = {self.rounds}: must be at most {LARGEST_COUNT}")
        if self.shares is not None:
            object.__setattr__(self, "shares", self._checked_shares())
        if self._arrivals is None and self.arrival_rates.sum() > 1e9:
            raise ValueError(f"load = {self.load}: more than 1e9 jobs a round; count rounds shorter")

    @classmethod
    def from_arrays(cls, cluster, arrivals, capacities=None, seed=0):
        """A trace: what happened, round by round.

        Parameters
        ----------
        cluster : Cluster
        arrivals : array_like of whole numbers, shape (rounds, m)
            Jobs that arrive at each dispatcher.
        capacities : array_like of whole numbers, shape (rounds, n), optional
            Jobs each server can do; drawn from the seed if not given.
        seed : int
            For the policies' own draws, and for the capacities if these are not given; replications differ in these.

        Raises
        ------
        ValueError
            Names the array, and the round and place of the first count that is not a whole number from 0 up.
        """
        if not isinstance(cluster, Cluster):
            raise ValueError(f"cluster = {cluster!r}: must be a Cluster")
        arrivals = _counts("arrivals", arrivals, "dispatchers", cluster.dispatchers)
        for row in np.flatnonzero(arrivals.sum(axis=1) > LARGEST_COUNT):
            raise ValueError(
                f"arrivals[{row}] sum to {arrivals[row].sum()}: at most {LARGEST_COUNT} jobs a round; "
                "count rounds shorter"
            )
        if capacities is not None:
            capacities = _counts("capacities", capacities, "servers", cluster.servers).astype(np.int32)
            if len(capacities) != len(arrivals):
                raise ValueError(
                    f"capacities has {len(capacities)} rounds, arrivals {len(arrivals)}: must be as many"
                )
        able = len(arrivals) * cluster.capacity if capacities is None else capacities.sum(dtype=float)
        load = float(arrivals.sum() / able) if able else math.inf
        return cls(cluster, load, len(arrivals), seed, None, arrivals, capacities)

    @property
    def is_trace(self):
        """Whether its arrivals, or its capacities, were given and not drawn."""
        return self._arrivals is not None

    @property
    def arrival_rates(self):
        """Mean jobs a round at each dispatcher, shape (m,); of a trace its means."""
        if self._arrivals is not None:
            return self._arrivals.mean(axis=0)
        equal = self.cluster.arrival_rates(self.load)
        return equal if self.shares is None else self.shares * equal.sum()

    def capacity_of(self, replications=1):
        """Jobs each server can do in whole replications, shape (n,): expected, or of a trace as given."""
        if self._capacities is not None:
            return self._capacities.sum(axis=0, dtype=float) * replications
        return self.cluster.rates * self.rounds * replications

    def seeds(self, replication, *stream):
        """The SeedSequence of a stream of a replication."""
        return np.random.SeedSequence(self.seed, spawn_key=(replication, *stream))

    def open(self, replication=0):
        """Begin at the first round of a replication; returns a `Source`."""
        return Source(self, replication)

    def __eq__(self, other):
        if not isinstance(other, Workload):
            return NotImplemented
        return self._recipe() == other._recipe()

    def __hash__(self):
        return hash((self.cluster, self.load, self.rounds, self.seed))

    def _recipe(self):
        arrays = (self.shares, self._arrivals, self._capacities)
        return (
            self.cluster,
            self.load,
            self.rounds,
            self.seed,
            *(a if a is None else a.tobytes() for a in arrays),
        )

    def __repr__(self):
        kind = "trace" if self._arrivals is not None else "Workload"
        unequal = ", unequal shares" if self.shares is not None else ""
        return f"{kind}({self.cluster!r}, load {self.load:.4g}, {self.rounds:,} rounds, seed {self.seed}{unequal})"

    def _checked_shares(self):
        shares = np.array(as_floats("shares", self.shares))
        if shares.shape != (self.cluster.dispatchers,):
            raise ValueError(
                f"shares has shape {shares.shape}: must be one number for each of the "
                f"{self.cluster.dispatchers} dispatchers"
            )
        for d in np.flatnonzero(~((shares >= 0) & (shares < np.inf))):
            raise ValueError(f"shares[{d}] = {brief(shares[d])}: must be finite and at least 0")
        if not shares.any():
            raise ValueError("shares are all 0: at least one dispatcher must get jobs")
        shares /= shares.max()  # so that their sum cannot overflow
        shares /= shares.sum()
        shares.flags.writeable = False
        return shares


class Source:
    """A replication of a workload, taken in blocks of any size; the numbers do not depend on the sizes."""

    def __init__(self, workload, replication):
        self.workload, self.replication, self.now = workload, replication, 0
        self._arrivals, self._capacities = (
            np.random.Generator(np.random.SFC64(workload.seeds(replication, stream)))
            for stream in (ARRIVALS, CAPACITIES)
        )
        rates = workload.cluster.rates
        self._scale = np.zeros(rates.size)  # a standard exponential times this, cut to whole, is geometric
        self._scale[rates > 0] = 1.0 / np.log1p(1.0 / rates[rates > 0])

    @property
    def rest(self):
        """Rounds not taken yet."""
        return self.workload.rounds - self.now

    def take(self, rounds):
        """The next rounds, or what is left of them.

        Returns
        -------
        arrivals : int64 array, shape (rounds, m)
        capacities : int32 array, shape (rounds, n)
        """
        rounds = min(rounds, self.rest)
        block = slice(self.now, self.now + rounds)
        self.now += rounds
        given, cluster = self.workload, self.workload.cluster
        if given._arrivals is not None:
            arrivals = given._arrivals[block]
        else:
            arrivals = self._arrivals.poisson(given.arrival_rates, (rounds, cluster.dispatchers))
        if given._capacities is not None:
            return arrivals, given._capacities[block]
        drawn = self._capacities.standard_exponential((rounds, cluster.servers))
        drawn *= self._scale
        return arrivals, drawn.astype(np.int32)


def _counts(name, value, what, width):
    """A trace's array as int64, or a ValueError with the position of what is wrong."""
    array = as_floats(name, value)
    if array.ndim != 2 or array.shape[1] != width or array.shape[0] == 0:
        raise ValueError(
            f"{name} has shape {array.shape}: must be (rounds, {width}), a row a round, one count for each of the "
            f"{width} {what}"
        )
    wrong = ~((array >= 0) & (array <= LARGEST_COUNT) & (array == np.floor(array)))
    for row, place in np.argwhere(wrong):
        raise ValueError(
            f"{name}[{row}, {place}] = {reprlib.repr(float(array[row, place]))}: every count must be a whole number "
            f"from 0 to {LARGEST_COUNT}"
        )
    return array.astype(np.int64)
