"""What dispatchers see of the queues when they decide."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Information:
    """What dispatchers see of the queues. Made by `complete`, `stale`, `sampled` and `gossip`.

    Attributes
    ----------
    age : int
        In rounds, of what all dispatchers see; 0 shows the queues as they are at the round's start.
    kind : str
        How they learn of it: "shown", all queues to all; "sampled" or "gossip", each for itself.
    samples : int
        How many servers each dispatcher asks in a round.
    """

    age: int = 0
    kind: str = "shown"
    samples: int = 0

    @property
    def amount(self):
        """Its number: rounds or samples."""
        return self.age if self.kind == "shown" else self.samples

    def __str__(self):
        late = "1 round" if self.age == 1 else f"{self.age} rounds"
        if self.kind == "shown":
            return f"queues seen {late} late" if self.age else "complete information"
        asked = "1 server" if self.samples == 1 else f"{self.samples} servers"
        return f"{asked} sampled a round" + (", with gossip" if self.kind == "gossip" else "")


COMPLETE = Information()


def complete():
    """Every dispatcher sees all queues as they are at the round's start: the model of both papers."""
    return COMPLETE


def sampled(d):
    """Every dispatcher knows of the queues what the servers that it is in touch with have told it.

    Before each round's decisions it asks `d` distinct servers, drawn evenly, for their queues; and a server that it
    sends jobs to answers with its queue at the round's start. To what it knows of a queue it adds the jobs that it
    has itself sent there since. (The information of LSQ, for every policy: JSQ on `sampled(2)` is LSQ.)

    Parameters
    ----------
    d : int
        At least 0, at most 1,000,000; all servers in service if these are fewer.

    Returns
    -------
    Information
        Messages counted: two a sample, and one a server that answers a dispatcher's jobs.
    """
    return Information(kind="sampled", samples=_count("d", d, "servers of sampled", 1_000_000))


def gossip(d):
    """Like `sampled`, but whoever is in touch, both keep the newer of all they know (TWF, limited information).

    Servers too hold an array of all queues, with a stamp for each entry. Whenever a dispatcher and a server are in
    touch, by a sample or by jobs, they compare their arrays and both keep, entry by entry, the newer one. In a round
    first all dispatchers ask, then all decide, then all send; one after the other, so that what one tells a server
    the next may hear.

    Parameters
    ----------
    d : int
        At least 0, at most 1,000,000; all servers in service if these are fewer.

    Returns
    -------
    Information
        Messages counted as for `sampled`; they are longer.
    """
    return Information(kind="gossip", samples=_count("d", d, "servers of gossip", 1_000_000))


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
    return Information(_count("k", k, "rounds of stale", 100_000))


def _count(name, value, of, most):
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= most:
        raise ValueError(f"{name} = {value!r} {of}: must be a whole number from 0 to {most}")
    return int(value)
