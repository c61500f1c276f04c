"""What dispatchers see of the queues when they decide."""

from dataclasses import dataclass

import numpy as np

MORE = {"sampled": "", "answered": ", jobs answered", "gossip": ", with gossip"}


@dataclass(frozen=True)
class Information:
    """What dispatchers see of the queues. Made by `complete`, `stale`, `sampled`, `answered` and `gossip`.

    Attributes
    ----------
    age : int
        In rounds, of what all dispatchers see; 0 shows the queues as they are at the round's start.
    kind : str
        How they learn of it: "shown", all queues to all; "sampled", "answered" or "gossip", each for itself.
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
        return f"{asked} sampled a round" + MORE[self.kind]


COMPLETE = Information()


def complete():
    """Every dispatcher sees all queues as they are at the round's start: the model of both papers."""
    return COMPLETE


def sampled(d):
    """Every dispatcher knows of each queue what it was told last, and what it has itself sent there since (ours).

    Before each round's decisions it asks `d` distinct servers, drawn evenly, for their queues. What others send, and
    what is served, it does not know until it asks again.

    Parameters
    ----------
    d : int
        At least 0, at most 1,000,000; all servers in service if these are fewer.

    Returns
    -------
    Information
        A sample counts as two messages, question and answer.
    """
    return Information(kind="sampled", samples=_count("d", d, "servers of sampled", 1_000_000))


def answered(d):
    """Like `sampled`, and a server that got a dispatcher's jobs tells it, after service, how many it has left.

    This is gossip without the gossip: dispatchers learn of the servers that they are in touch with (TWF, the fourth
    phase of a round).

    Parameters
    ----------
    d : int
        As in `sampled`.

    Returns
    -------
    Information
        Messages: two a sample, and one an answer to a dispatcher's jobs.
    """
    return Information(kind="answered", samples=_count("d", d, "servers of answered", 1_000_000))


def gossip(d):
    """Like `answered`, but whoever is in touch, both keep the newer of all they know (TWF, limited information).

    Servers too hold an array of all queues, with a stamp for each entry. Whenever a dispatcher and a server are in
    touch, by a sample or by jobs, they compare their arrays and both keep, entry by entry, the newer one. After
    service first all jobs are answered, then all dispatchers ask; one after the other, so that what one tells a
    server the next may hear (ours; the paper leaves the order open).

    Parameters
    ----------
    d : int
        As in `sampled`.

    Returns
    -------
    Information
        Messages counted as for `answered`; they are longer.
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
