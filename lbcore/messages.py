"""What each dispatcher knows of the queues, from the messages it gets: all, a few samples, answers, or gossip.

Everyone holds an array of all queues; each entry is a queue's length at the start of a round, stamped with that round.
At a run's start all know that queues are empty. Rows of the arrays: the dispatchers, then with gossip the servers.
`pending` is what a dispatcher has sent to a server and cannot be in its entry. Counted: messages, ages of entries
used, and how many of these.
"""

import numpy as np

from lbcore.compiled import kernel
from lbcore.draws import below

# Signatures: what is done before a round's decisions; and, after service, between a dispatcher and the servers that
# it has sent jobs to, when `now` is the round to come and `queues` are those at its start.
INFORM = (
    "void(int64, int64, float64[::1], int64[::1], float64[:, ::1], int64[:, ::1], float64[:, ::1], uint64[::1],"
    " float64[::1])"
)
TOUCH = "void(int64, int64, float64[::1], int64[::1], float64[:, ::1], int64[:, ::1], float64[:, ::1], float64[::1])"
MESSAGES, AGES, USED = 0, 1, 2  # what is counted


@kernel(INFORM)
def show_all(amount, now, queues, live, known, stamps, pending, rng, counts):
    """All see the same queues, of `amount` rounds ago."""
    for d in range(pending.shape[0]):
        known[d] = queues
        stamps[d] = max(0, now - amount)


@kernel(TOUCH)
def stay_silent(d, now, queues, sent, known, stamps, pending, counts):
    """Jobs that are sent tell nothing."""


@kernel("void(int64, int64, int64, float64, float64[:, ::1], int64[:, ::1], float64[:, ::1])")
def learn(d, s, now, length, known, stamps, pending):
    """Dispatcher d gets to know the queue of server s."""
    if stamps[d, s] < now:
        known[d, s], stamps[d, s], pending[d, s] = length, now, 0.0


@kernel("void(int64, int64, int64, float64, float64[:, ::1], int64[:, ::1])")
def exchange(d, s, now, length, known, stamps):
    """Dispatcher d and server s, which knows its own queue, both keep the newer of each entry."""
    row = known.shape[0] - known.shape[1] + s
    known[row, s], stamps[row, s] = length, now
    for k in range(known.shape[1]):
        if stamps[d, k] < stamps[row, k]:
            known[d, k], stamps[d, k] = known[row, k], stamps[row, k]
        else:
            known[row, k], stamps[row, k] = known[d, k], stamps[d, k]


@kernel("void(int64[::1], int64, uint64[::1])")
def draw_first(line, amount, rng):
    """Put `amount` distinct members of a line, drawn evenly, to its front; nothing is drawn where that is all."""
    if amount < line.size:
        for k in range(amount):
            other = k + below(rng, line.size - k)
            line[k], line[other] = line[other], line[k]


@kernel(INFORM)
def sample(amount, now, queues, live, known, stamps, pending, rng, counts):
    """Each dispatcher asks `amount` servers for their queues."""
    line, amount = live.copy(), min(amount, live.size)
    for d in range(pending.shape[0]):
        draw_first(line, amount, rng)
        for k in range(amount):
            learn(d, line[k], now, queues[line[k]], known, stamps, pending)
    counts[MESSAGES] += 2.0 * amount * pending.shape[0]


@kernel(TOUCH)
def remember(d, now, queues, sent, known, stamps, pending, counts):
    """A dispatcher knows what it has sent."""
    for s in range(sent.size):
        pending[d, s] += sent[s]


@kernel(TOUCH)
def hear_back(d, now, queues, sent, known, stamps, pending, counts):
    """Each server that got jobs answers with its queue."""
    for s in range(sent.size):
        if sent[s] > 0:
            learn(d, s, now, queues[s], known, stamps, pending)
            counts[MESSAGES] += 1.0


@kernel(INFORM)
def sample_and_gossip(amount, now, queues, live, known, stamps, pending, rng, counts):
    """As `sample`, by exchanges; one dispatcher after the other."""
    line, amount = live.copy(), min(amount, live.size)
    for d in range(pending.shape[0]):
        draw_first(line, amount, rng)
        for k in range(amount):
            exchange(d, line[k], now, queues[line[k]], known, stamps)
    counts[MESSAGES] += 2.0 * amount * pending.shape[0]


@kernel(TOUCH)
def gossip_back(d, now, queues, sent, known, stamps, pending, counts):
    """Each server that got jobs got the dispatcher's array with them, and answers with its own."""
    for s in range(sent.size):
        if sent[s] > 0:
            exchange(d, s, now, queues[s], known, stamps)
            counts[MESSAGES] += 1.0


KINDS = {  # how dispatchers learn -> the kernels, and whether servers keep arrays too
    "shown": (show_all, stay_silent, False),
    "sampled": (sample, remember, False),
    "answered": (sample, hear_back, False),
    "gossip": (sample_and_gossip, gossip_back, True),
}


class Knowledge:
    """What everyone knows in a run."""

    def __init__(self, cluster, kind):
        self.inform, self.touch, servers_too = KINDS[kind]
        rows = cluster.dispatchers + servers_too * cluster.servers
        self.live = np.flatnonzero(cluster.rates > 0)
        self.known = np.zeros((rows, cluster.servers))
        self.stamps = np.zeros((rows, cluster.servers), dtype=np.int64)
        self.pending = np.zeros((cluster.dispatchers, cluster.servers))
        self.counts = np.zeros(3)
