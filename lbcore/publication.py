"""What `make figures` publishes: for each picture the figure, the table behind it, and its settings."""

import pandas as pd

from lbcore import figures
from lbcore.explore import herd


def herding():
    """The same jobs in the hands of one, four and twenty dispatchers."""
    settings = {"queues": herd.HerdPanel.QUEUES, "rates": herd.HerdPanel.RATES, "jobs": 40}
    counts = (1, 4, 20)
    titles = ["1 dispatcher"] + [f"{count} dispatchers" for count in counts[1:]]
    figure = figures.columns(titles, sent="jobs sent this round", width=980, height=420)
    figure.update_xaxes(title_text="servers; width = rate")
    tables = []
    for col, count in enumerate(counts, start=1):
        arrays = herd.compute(**settings, dispatchers=count)
        shown = {name: arrays[name] for name in ("queues", "rates", "sent", "level")}
        figures.set_columns(figure, **shown, col=col)
        tables.append(
            pd.DataFrame(shown).assign(dispatchers=count, server=range(1, len(arrays["rates"]) + 1))
        )
    return figure, pd.concat(tables), settings | {"dispatchers": counts}


FIGURES = {"herding": herding}
