"""The givens of a system: how fast its servers are and how many dispatchers send to them."""

from dataclasses import dataclass

import numpy as np

from lbcore.checks import LARGEST_RATE, NO_RATE, RATE, RULES, SMALLEST_RATE, as_floats, brief


@dataclass(frozen=True, eq=False, repr=False)
class Cluster:
    """Servers with their rates, and the number of dispatchers that send jobs to them.

    Parameters
    ----------
    rates : array_like, shape (n,)
        Mean jobs a round that each server can do (mu_s of the papers); 0 = out of service.
    dispatchers : int
        How many dispatchers, at least 1 (m of the papers).

    Raises
    ------
    ValueError
        Names the argument and the place that breaks its rule.
    """

    rates: np.ndarray
    dispatchers: int

    def __post_init__(self):
        rates = np.array(as_floats("rates", self.rates))
        if rates.ndim != 1 or rates.size == 0:
            raise ValueError(f"rates has shape {rates.shape}: must be one row, one rate for each server")
        for s in np.flatnonzero(~((rates == 0) | (rates >= SMALLEST_RATE) & (rates <= LARGEST_RATE))):
            raise ValueError(f"rates[{s}] = {brief(rates[s])}: {RULES[RATE][1]}")
        if not rates.any():
            raise ValueError(f"rates = {rates.tolist()}: {RULES[NO_RATE][1]}")
        rates.flags.writeable = False
        object.__setattr__(self, "rates", rates)
        object.__setattr__(self, "dispatchers", _whole("dispatchers", self.dispatchers))

    @classmethod
    def random(cls, servers, dispatchers, fastest, seed):
        """Rates drawn evenly from [1, fastest], as in the evaluation of the SCD paper (section 6).

        Parameters
        ----------
        servers, dispatchers : int
        fastest : float
            At least 1; the paper uses 10 and 100.
        seed : int
            The same seed gives the same rates.
        """
        if not 1 <= fastest <= LARGEST_RATE:
            raise ValueError(
                f"fastest = {fastest}: must be at least 1, since rates are drawn from [1, fastest]"
            )
        rng = np.random.default_rng(seed)
        return cls(rng.uniform(1, fastest, _whole("servers", servers)), dispatchers)

    @classmethod
    def two_speeds(cls, servers, dispatchers, fast, share=0.5):
        """Servers of rate 1, and some of rate `fast` after them.

        Parameters
        ----------
        servers, dispatchers : int
        fast : float
            Rate of the fast servers; at least 1.
        share : float
            Share of them among the servers, 0 to 1; rounded to whole servers.
        """
        if not 1 <= fast <= LARGEST_RATE:
            raise ValueError(f"fast = {fast}: must be at least 1, the rate of the slow servers")
        if not 0 <= share <= 1:
            raise ValueError(f"share = {share}: must be from 0 (none is fast) to 1 (all are)")
        rates = np.ones(_whole("servers", servers))
        rates[rates.size - round(share * rates.size) :] = fast
        return cls(rates, dispatchers)

    @property
    def servers(self):
        """Number of servers, those out of service included."""
        return self.rates.size

    @property
    def capacity(self):
        """Mean jobs a round that all servers together can do."""
        return float(self.rates.sum())

    def arrival_rates(self, load):
        """Mean jobs a round at each dispatcher, equal for all, at an offered load.

        Parameters
        ----------
        load : float
            Arrivals as a share of the capacity (rho of the papers), at least 0; from 1 on queues grow for ever.

        Returns
        -------
        array, shape (dispatchers,)
        """
        if not 0 <= load < np.inf:
            raise ValueError(
                f"load = {load}: must be finite and at least 0 (1 = arrivals equal the capacity)"
            )
        return np.full(self.dispatchers, load * self.capacity / self.dispatchers)

    def __eq__(self, other):
        if not isinstance(other, Cluster):
            return NotImplemented
        return self.dispatchers == other.dispatchers and np.array_equal(self.rates, other.rates)

    def __hash__(self):
        return hash((self.dispatchers, self.rates.tobytes()))

    def __repr__(self):
        return (
            f"Cluster({self.servers} servers with rates {self.rates.min():.4g} to {self.rates.max():.4g}, "
            f"capacity {self.capacity:.4g} jobs a round, {self.dispatchers} dispatchers)"
        )


def _whole(name, value):
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} = {value!r}: must be a whole number, at least 1")
    return int(value)
