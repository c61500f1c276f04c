"""Little communication: comparisons by how dispatchers learn of the queues, and what it costs in messages."""

import pandas as pd

from lbcore import information
from lbcore.simulator import compare
from lbcore.summary import told

KINDS = ("sampled", "answered", "gossip")


def grid(workload, policies, samples, kinds=KINDS, **plan):
    """The same comparison for each way to learn and each number of samples.

    Parameters
    ----------
    workload, policies
        As in `compare`.
    samples : sequence of int
        How many servers each dispatcher asks in a round.
    kinds : sequence of str
        Of "sampled", "answered" and "gossip".
    **plan
        Passed on to `compare`: replications, warmup, ...

    Returns
    -------
    dict
        (kind, samples) -> Comparison.
    """
    return {
        (kind, d): compare(workload, policies, information=getattr(information, kind)(d), **plan)
        for kind in kinds
        for d in samples
    }


def lines(runs, of="mean"):
    """Estimates along the messages a round.

    Parameters
    ----------
    runs : dict
        What `grid` gives.
    of : "mean" or float
        As in `Result.estimate`.

    Returns
    -------
    dict
        (policy, kind) -> list of (messages a round, Estimate), by messages; None for an Estimate where queues grow.
    """
    found = {}
    for (kind, _), comparison in runs.items():
        for name, result in comparison.items():
            mean = None if result.growing else result.estimate(of)
            found.setdefault((name, kind), []).append((result.messages, mean))
    return {key: sorted(points, key=lambda point: point[0]) for key, points in found.items()}


def table(runs):
    """What `grid` gives as texts: messages a round and mean age under the last policy, responses under each.

    Returns
    -------
    pandas.DataFrame
        A row for each way to learn and number of samples.
    """
    rows = {}
    for (kind, d), comparison in runs.items():
        last = list(comparison.values())[-1]
        rows[f"{kind}({d})"] = {"messages": f"{last.messages:.0f}", "mean age": f"{last.mean_age:.2f}"} | {
            name: told(result) for name, result in comparison.items()
        }
    return pd.DataFrame.from_dict(rows, orient="index")
