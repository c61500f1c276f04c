"""JIQ and hJIQ: idle servers tell a dispatcher so, by tokens.

Memory: a row for each dispatcher, 1 where it holds a token of the server, and in the last column how many it holds;
then a row of the servers whose token is out (these give none), then whether the first round is over.
"""

from dataclasses import dataclass

import numpy as np

from lbcore.compiled import kernel
from lbcore.draws import below, draw, raffle, scatter, uniform
from lbcore.policies.base import DECIDE_ALL, DECIDE_ONE, FINISH, Policy, carry_along, live_ones
from lbcore.policies.order import fill


@kernel(FINISH)
def give_tokens(queues, capacities, rates, options, memory, rng):
    """At a round's end, each server in service whose token is not out gives one if it is idle.

    Idle is: its queue is empty and it could have served. To a dispatcher at random; a second one there is lost.
    After the first round every server gives one, busy or not.
    """
    servers, dispatchers = queues.size, memory.shape[0] - 2
    out, first = memory[dispatchers], memory[dispatchers + 1, 0] == 0.0
    for s in range(servers):
        if rates[s] > 0.0 and out[s] == 0.0 and (first or (queues[s] == 0.0 and capacities[s] > 0)):
            out[s] = 1.0
            d = below(rng, dispatchers)
            memory[d, servers] += 1.0 - memory[d, s]
            memory[d, s] = 1.0
    memory[dispatchers + 1, 0] = 1.0


@kernel("void(int64, float64[::1], float64[:, ::1], uint64[::1], int64[::1])")
def without_tokens(jobs, options, memory, rng, sent):
    """Each job by the weights of the options, anywhere; the token of a server that gets one may be given again."""
    servers, out = sent.size, memory[memory.shape[0] - 2]
    drawn = np.zeros(servers, dtype=np.int64)
    if jobs > 8 * servers:
        scatter(options[:servers], jobs, rng, drawn)
    else:
        for _ in range(jobs):
            drawn[draw(options[servers:], rng)] += 1
    for s in range(servers):
        sent[s] += drawn[s]
        if drawn[s] > 0:
            out[s] = 0.0


@kernel(DECIDE_ONE)
def evenly_to_idle(d, jobs, view, rates, options, memory, rng, sent):
    """JIQ: the batch evenly over the token servers, then all tokens are dropped.

    Options: the weights of draws without tokens, and their raffle.
    """
    servers, out = view.size, memory[memory.shape[0] - 2]
    held = int(memory[d, servers])
    if held == 0:
        without_tokens(jobs, options, memory, rng, sent)
    elif jobs > 0:
        each, rest = jobs // held, jobs % held
        for s in range(servers):
            if memory[d, s] == 1.0:
                sent[s] += each
                if uniform(rng) * held < rest:  # `rest` of the `held` that are left, each set as likely
                    sent[s] += 1
                    rest -= 1
                held -= 1
                memory[d, s] = out[s] = 0.0
        memory[d, servers] = 0.0


@kernel(DECIDE_ONE)
def best_of_idle(d, jobs, view, rates, options, memory, rng, sent):
    """hJIQ: each next job to the smallest own / rate of the token servers; used tokens are dropped."""
    servers, out = view.size, memory[memory.shape[0] - 2]
    held = int(memory[d, servers])
    if held == 0:
        without_tokens(jobs, options, memory, rng, sent)
    elif jobs > 0:
        idle, speeds, got = np.empty(held, dtype=np.int64), np.empty(held), np.zeros(held, dtype=np.int64)
        k = 0
        for s in range(servers):
            if memory[d, s] == 1.0:
                idle[k], speeds[k] = s, rates[s]
                k += 1
        fill(np.zeros(held), speeds, 0.0, jobs, np.inf, rng, got)
        for k in range(held):
            s = idle[k]
            if got[k] > 0:
                sent[s] += got[k]
                memory[d, s] = out[s] = 0.0
                memory[d, servers] -= 1.0


@kernel(DECIDE_ONE)
def whole_to_an_idle(d, jobs, view, rates, options, memory, rng, sent):
    """JIQ: the batch to one of the token servers, evenly at random; all tokens are dropped."""
    evenly_to_idle(d, min(jobs, 1), view, rates, options, memory, rng, sent)
    carry_along(jobs, sent)


@kernel(DECIDE_ONE)
def whole_to_best_of_idle(d, jobs, view, rates, options, memory, rng, sent):
    """hJIQ: the batch to the fastest of the token servers; its token is dropped."""
    best_of_idle(d, min(jobs, 1), view, rates, options, memory, rng, sent)
    carry_along(jobs, sent)


@kernel("int64(int64[::1], float64[:, ::1])")
def jobs_without_tokens(batches, memory):
    """Jobs of the dispatchers that hold no token."""
    jobs = 0
    for d in range(batches.size):
        jobs += batches[d] if memory[d, memory.shape[1] - 1] == 0.0 else 0
    return jobs


@kernel(DECIDE_ALL)
def all_evenly_to_idle(batches, queues, rates, options, memory, rng, sent):
    """JIQ: dispatchers without tokens draw alike, so all together."""
    without_tokens(jobs_without_tokens(batches, memory), options, memory, rng, sent)
    for d in range(batches.size):
        if memory[d, queues.size] > 0.0:
            evenly_to_idle(d, batches[d], queues, rates, options, memory, rng, sent)


@kernel(DECIDE_ALL)
def all_to_best_of_idle(batches, queues, rates, options, memory, rng, sent):
    """hJIQ: dispatchers without tokens draw alike, so all together."""
    without_tokens(jobs_without_tokens(batches, memory), options, memory, rng, sent)
    for d in range(batches.size):
        if memory[d, queues.size] > 0.0:
            best_of_idle(d, batches[d], queues, rates, options, memory, rng, sent)


@dataclass(frozen=True)
class JIQ(Policy):
    """Join the idle queue: a batch goes evenly to the idle servers that the dispatcher knows of.

    Without tokens each job goes to any server in service, evenly at random.
    """

    name = "JIQ"
    decide_one = staticmethod(evenly_to_idle)
    decide_whole = staticmethod(whole_to_an_idle)
    decide_all = staticmethod(all_evenly_to_idle)
    finish = staticmethod(give_tokens)

    def prepare(self, cluster):
        weights = live_ones(cluster)
        return np.concatenate([weights, raffle(weights)])

    def memory_shape(self, cluster):
        return (cluster.dispatchers + 2, cluster.servers + 1)


@dataclass(frozen=True)
class hJIQ(JIQ):
    """JIQ for unequal servers: each next job to the idle server with the fewest own jobs for its rate.

    Ties to the faster, then at random. Without tokens each job goes in proportion to the rates.
    """

    name = "hJIQ"
    decide_one = staticmethod(best_of_idle)
    decide_whole = staticmethod(whole_to_best_of_idle)
    decide_all = staticmethod(all_to_best_of_idle)

    def prepare(self, cluster):
        return np.concatenate([cluster.rates, raffle(cluster.rates)])
