"""Several comparisons side by side: how something changes with a setting."""

import pandas as pd

from lbcore.comparisons import Comparison


def curves(runs, of="mean"):
    """Estimates by policy, along a setting.

    Parameters
    ----------
    runs : dict
        Value of the setting -> Comparison.
    of : "mean", "unfinished share" or float
        As in `Result.estimate`.

    Returns
    -------
    dict
        policy -> list of (value, Estimate); None in place of an Estimate where the queues grow.
    """
    _check(runs)
    lines = {}
    for value, comparison in runs.items():
        for name, result in comparison.items():
            lines.setdefault(name, []).append((value, None if result.growing else result.estimate(of)))
    return lines


def told(result, of="mean"):
    """An estimate with its interval, or "growing, +x" in jobs a round, as a text."""
    return f"growing, {result.growth.value:+.3g}" if result.growing else str(result.estimate(of))


def _check(runs):
    if not (isinstance(runs, dict) and runs and all(isinstance(run, Comparison) for run in runs.values())):
        raise ValueError(f"runs = {runs!r:.80}: must be a dict from a setting's values to what compare gives")


def across(runs, setting, of="mean"):
    """The same as a table of texts: values one way, policies the other, whichever are more from top to bottom.

    Parameters
    ----------
    runs, of
        As in `curves`.
    setting : str
        What the values are called.

    Returns
    -------
    pandas.DataFrame
        Estimates with their intervals, or "growing, +x": jobs a round.
    """
    _check(runs)
    texts = {value: {name: told(r, of) for name, r in found.items()} for value, found in runs.items()}
    names = list(dict.fromkeys(name for comparison in runs.values() for name in comparison))
    table = pd.DataFrame.from_dict(texts, orient="columns").fillna("").reindex(names)
    long = len(names) > len(runs)
    return (table if long else table.T).rename_axis(columns=setting)
