"""Plain dispatchers and servers that tell each other of queues, message by message: lists and loops only.

Every array is a list of entries (stamp, length), one a server: how long its queue was at the start of the round of
the stamp.
"""


class Network:
    """Who knows what.

    Parameters
    ----------
    live : list of int
        Servers in service.
    servers, dispatchers : int
    asked : int
        How many servers each dispatcher asks in a round.
    kind : str
        "sampled": only samples tell; "answered": jobs are answered too; "gossip": and whole arrays are told, both ways.
    uniform : callable
        Returns floats in [0, 1).
    """

    def __init__(self, live, servers, dispatchers, asked, kind, uniform):
        self.live, self.asked, self.kind, self.uniform = live, asked, kind, uniform
        self.of_dispatchers = [[(0, 0)] * servers for _ in range(dispatchers)]
        self.of_servers = [[(0, 0)] * servers for _ in range(servers)]
        self.mailed = []  # (dispatcher, server, round, jobs), all that was ever sent
        self.messages = 0

    def touch(self, d, s, now, length):
        """Dispatcher d and server s are in touch; the server's queue was so long at the round's start."""
        mine, its = self.of_dispatchers[d], self.of_servers[s]
        its[s] = (now, length)
        for k in range(len(mine)) if self.kind == "gossip" else [s]:
            mine[k] = its[k] = max(mine[k], its[k], key=lambda entry: entry[0])

    def ask(self, now, lengths):
        """Each dispatcher asks a few servers, all distinct."""
        line = list(self.live)
        for d in range(len(self.of_dispatchers)):
            if self.asked < len(line):
                for k in range(self.asked):
                    other = k + int(self.uniform() * (len(line) - k))
                    line[k], line[other] = line[other], line[k]
            for s in line[: self.asked]:
                self.messages += 2
                self.touch(d, s, now, lengths[s])

    def view(self, d):
        """What dispatcher d takes the queues to be: what it knows, and its own jobs sent since."""
        return [
            length + sum(jobs for by, to, at, jobs in self.mailed if (by, to) == (d, s) and at >= stamp)
            for s, (stamp, length) in enumerate(self.of_dispatchers[d])
        ]

    def ages(self, d, now):
        """Rounds since what it knows of each server in service was true."""
        return [now - self.of_dispatchers[d][s][0] for s in self.live]

    def send(self, now, sent, left):
        """Jobs `sent[d][s]` went out in round `now`; servers have `left` queues after service, and may answer."""
        for d, row in enumerate(sent):
            for s, jobs in enumerate(row):
                if jobs:
                    self.mailed.append((d, s, now, jobs))
                    if self.kind != "sampled":
                        self.messages += 1
                        self.touch(d, s, now + 1, left[s])
