"""What dispatchers see of the queues when they decide."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Information:
    """How old the queue lengths are that every dispatcher sees. Made by `complete` and `stale`.

    Attributes
    ----------
    age : int
        In rounds; 0 shows the queues as they are at the round's start.
    """

    age: int = 0

    def __str__(self):
        late = "1 round" if self.age == 1 else f"{self.age} rounds"
        return f"queues seen {late} late" if self.age else "complete information"


COMPLETE = Information()


def complete():
    """Every dispatcher sees all queues as they are at the round's start: the model of both papers."""
    return COMPLETE


def stale(k):
    """Every dispatcher sees all queues as they were at the start of the round `k` rounds ago (ours).

    Jobs that it sent since are not in what it sees; those of the present round it counts as always. In the first
    `k` rounds it sees empty queues.

    Parameters
    ----------
    k : int
        At least 0, at most 100,000; 0 is complete information.

    Returns
    -------
    Information
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k <= 100_000:
        raise ValueError(f"k = {k!r} rounds of stale: must be a whole number from 0 to 100000")
    return Information(int(k))
