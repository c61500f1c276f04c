"""What `make figures` publishes: for each picture the figure, the table behind it, and its settings."""

import numpy as np
import pandas as pd

from lbcore import figures
from lbcore.coordination import draw_servers, scd_probabilities
from lbcore.explore import herd
from lbcore.waterfill import ideal_assignment, ideal_workload

ABOVE = {"queues": [0, 0, 1, 2, 2, 2, 2, 46], "rates": [1, 1, 1, 1, 1, 1, 1, 20], "arrivals": 7}


def _side_by_side(states, titles, sent):
    """Columns of several states; `states` are dicts of queues, rates, sent and level."""
    figure = figures.columns(titles, sent=sent, width=980, height=420)
    figure.update_xaxes(title_text="servers; width = rate")
    tables = []
    for col, (title, state) in enumerate(zip(titles, states, strict=True), start=1):
        figures.set_columns(figure, **state, col=col)
        tables.append(pd.DataFrame(state).assign(picture=title, server=range(1, len(state["rates"]) + 1)))
    return figure, pd.concat(tables)


def herding():
    """The same jobs in the hands of one, four and twenty dispatchers."""
    settings = {"queues": herd.HerdPanel.QUEUES, "rates": herd.HerdPanel.RATES, "jobs": 40}
    counts = (1, 4, 20)
    titles = ["1 dispatcher"] + [f"{count} dispatchers" for count in counts[1:]]
    states = [herd.compute(**settings, dispatchers=count) for count in counts]
    shown = [{name: state[name] for name in ("queues", "rates", "sent", "level")} for state in states]
    figure, table = _side_by_side(shown, titles, "jobs sent this round")
    return figure, table, settings | {"dispatchers": counts}


def workload():
    """In kind the SCD paper's Figure 1: queues, the work they are, and the ideally balanced assignment."""
    settings = {"queues": [6, 4, 14, 2, 3], "rates": [2, 1, 5, 1, 3], "arrivals": 12}
    iba = {"queues": settings["queues"], "rates": settings["rates"]}
    level = float(ideal_workload(**settings))
    states = [
        iba | {"sent": np.zeros(5), "level": level},
        iba | {"sent": ideal_assignment(**settings), "level": level},
    ]
    figure, table = _side_by_side(states, ["before", "12 jobs, ideally balanced"], "jobs, as water")
    return figure, table, settings


def above_the_ideal():
    """In kind the SCD paper's Figure 2, on our instance: a server above the ideal workload may get jobs."""
    level = float(ideal_workload(**ABOVE))
    iba, expected = ideal_assignment(**ABOVE), ABOVE["arrivals"] * scd_probabilities(**ABOVE)
    state = {"queues": ABOVE["queues"], "rates": ABOVE["rates"], "level": level}
    titles = ["as water", "expected under the best probabilities"]
    figure, table = _side_by_side([state | {"sent": iba}, state | {"sent": expected}], titles, "jobs")
    figure.update_yaxes(range=[0, 3.2])
    return figure, table, ABOVE


def random_drops():
    """Water over floors raised by half a job, and 60 drops picked at random in it; a job goes where its drop is."""
    settings = {"queues": [6, 4, 14, 2, 3], "rates": [2, 1, 5, 1, 3], "arrivals": 12}
    queues, rates, arrivals = settings.values()
    raised = np.array(queues) + 0.5
    p = scd_probabilities(queues, rates, arrivals)
    water = (arrivals - 1) * p
    level = np.max((raised + water)[p > 0] / np.array(rates)[p > 0])
    rng = np.random.default_rng(3)
    servers = draw_servers(queues, rates, arrivals, 60, rng)
    left = np.cumsum([0, *rates])[servers]
    x = left + rng.random(60) * np.array(rates)[servers]
    y = (raised[servers] + rng.random(60) * water[servers]) / np.array(rates)[servers]
    figure = figures.columns(sent="water: one job less than arrives")
    figures.set_columns(figure, raised, rates, water, level)
    figures.add_drops(figure, x, y)
    figure.data[0].name, figure.data[2].name = "queue and half a job", "water level"
    return figure, pd.DataFrame({"server": servers + 1, "x": x, "y": y}), settings | {"drops": 60, "seed": 3}


FIGURES = {
    "herding": herding,
    "workload": workload,
    "above_the_ideal": above_the_ideal,
    "random_drops": random_drops,
}
