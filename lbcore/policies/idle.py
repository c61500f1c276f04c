"""JIQ and hJIQ: idle servers tell a dispatcher so, by tokens.

Memory: a row of tokens for each dispatcher (1 = holds one of that server), then a row of the servers whose token
is out (these give none), then whether the first round is over.
"""

from dataclasses import dataclass

import numpy as np

from lbcore.compiled import kernel
from lbcore.draws import below, draw, raffle, uniform
from lbcore.policies.base import DECIDE_ONE, FINISH, Policy, live_ones
from lbcore.policies.ordered import fill


@kernel(FINISH)
def give_tokens(queues, capacities, rates, options, memory, rng):
    """At a round's end, each server in service whose token is not out gives one if it is idle.

    Idle is: its queue is empty and it could have served. To a dispatcher at random; a second one there is lost.
    After the first round every server gives one, busy or not.
    """
    dispatchers = memory.shape[0] - 2
    out, first = memory[dispatchers], memory[dispatchers + 1, 0] == 0.0
    for s in range(queues.size):
        if rates[s] > 0.0 and out[s] == 0.0 and (first or (queues[s] == 0.0 and capacities[s] > 0)):
            out[s] = 1.0
            memory[below(rng, dispatchers), s] = 1.0
    memory[dispatchers + 1, 0] = 1.0


@kernel(DECIDE_ONE)
def evenly_to_idle(d, jobs, view, rates, options, memory, rng, sent):
    """JIQ: the batch evenly over the token servers, then all tokens are dropped. Options: the raffle."""
    tokens, out = memory[d], memory[memory.shape[0] - 2]
    held = int(tokens.sum())
    if held == 0:
        for _ in range(jobs):
            s = draw(options, rng)
            sent[s] += 1
            out[s] = 0.0
    elif jobs > 0:
        each, rest = jobs // held, jobs % held
        for s in range(tokens.size):
            if tokens[s] == 1.0:
                sent[s] = each
                if uniform(rng) * held < rest:  # `rest` of the `held` that are left, each set as likely
                    sent[s] += 1
                    rest -= 1
                held -= 1
                tokens[s] = out[s] = 0.0


@kernel(DECIDE_ONE)
def best_of_idle(d, jobs, view, rates, options, memory, rng, sent):
    """hJIQ: each next job to the smallest own / rate of the token servers; used tokens are dropped."""
    tokens, out = memory[d], memory[memory.shape[0] - 2]
    if not np.any(tokens == 1.0):
        for _ in range(jobs):
            s = draw(options, rng)
            sent[s] += 1
            out[s] = 0.0
    elif jobs > 0:
        fill(np.zeros(tokens.size), tokens * rates, 0.0, jobs, rng, sent)
        for s in range(tokens.size):
            if sent[s] > 0:
                tokens[s] = out[s] = 0.0


@dataclass(frozen=True)
class JIQ(Policy):
    """Join the idle queue: a batch goes evenly to the idle servers that the dispatcher knows of.

    Without tokens each job goes to any server in service, evenly at random.
    """

    name = "JIQ"
    decide_one = staticmethod(evenly_to_idle)
    finish = staticmethod(give_tokens)

    def prepare(self, cluster):
        return raffle(live_ones(cluster))

    def memory_shape(self, cluster):
        return (cluster.dispatchers + 2, cluster.servers)


@dataclass(frozen=True)
class hJIQ(JIQ):
    """JIQ for unequal servers: each next job to the idle server with the fewest own jobs for its rate.

    Ties to the faster, then at random. Without tokens each job goes in proportion to the rates.
    """

    name = "hJIQ"
    decide_one = staticmethod(best_of_idle)

    def prepare(self, cluster):
        return raffle(cluster.rates)
