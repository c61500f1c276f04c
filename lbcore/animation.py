"""One round as an animation: dispatcher by dispatcher, and what is left of the ideal."""

import numpy as np
from plotly.subplots import make_subplots

from lbcore.figures import LEVEL, QUEUE, TEXT, WATER, plain_layout

NOW = {"color": "#f2c14e"}
PARTS = (("queue", QUEUE), ("sent by dispatchers before", WATER), ("sent by this dispatcher", NOW))


def dispatching(state, over, columns=3, width=980, height=640):
    """An animation of one round, dispatcher by dispatcher: a picture a policy, with Play, Pause and steps.

    Parameters
    ----------
    state : dict
        What `herding.one_round` gives.
    over : dict
        policy -> jobs above the ideal when all have sent.
    """
    names, dispatchers = list(state["sent"]), len(state["batches"])
    live = state["rates"] > 0  # a server out of service has no column
    rates, queues = state["rates"][live], state["queues"][live]
    titles = [f"{name}: {over[name]:.0f} jobs above the ideal" for name in names]
    figure = make_subplots(
        -(-len(names) // columns), columns, shared_yaxes="all", shared_xaxes=True, subplot_titles=titles,
        horizontal_spacing=0.03, vertical_spacing=0.12,
    )  # fmt: skip
    left = np.concatenate([[0.0], np.cumsum(rates)])
    for k in range(len(names)):
        where = {"row": k // columns + 1, "col": k % columns + 1}
        bar = {"x": left[:-1], "width": rates, "offset": 0, "showlegend": k == 0}
        for name, marker in PARTS:
            outline = {"line": {"color": TEXT, "width": 0.5}}
            figure.add_bar(name=name, legendgroup=name, marker=marker | outline, **bar, **where)
        figure.add_scatter(
            name="ideal workload", legendgroup="ideal", mode="lines", line=LEVEL, showlegend=k == 0,
            x=[0, left[-1]], y=[state["level"]] * 2, **where,
        )  # fmt: skip
    steps = [_heights(rates, state["sent"][name][:, live]) for name in names]
    figure.frames = [
        {
            "name": str(step),
            "data": [bar for heights in steps for bar in heights[step]],
            "traces": [4 * k + part for k in range(len(names)) for part in (1, 2)],
        }
        for step in range(dispatchers + 2)
    ]
    for trace, first in zip(figure.frames[-1].traces, figure.frames[-1].data, strict=True):
        figure.data[trace].update(y=first.y)
    for k in range(len(names)):
        figure.data[4 * k].update(y=_short(queues / rates))
    plain_layout(figure, width, height)
    figure.update_xaxes(showgrid=False, showticklabels=False)
    figure.update_xaxes(title_text="servers; width = rate", row=-(-len(names) // columns))
    figure.update_yaxes(title_text="work (rounds)", col=1)
    figure.update_layout(margin={"t": 84, "b": 150}, legend_y=1.08, barmode="stack")
    _add_player(figure, ["start", *map(str, range(1, dispatchers + 1)), "all"])
    return figure


def _heights(rates, sent):
    """What a policy's bars are at every step: nobody has sent, dispatcher 1, 2, ... sends, all have sent."""
    nothing = np.zeros((1, rates.size))
    now = np.concatenate([nothing, sent, nothing])
    before = np.cumsum(now, axis=0) - now
    return [
        [
            {"type": "bar", "y": _short(height / rates)},
            {"type": "bar", "y": _short(own / rates)},
        ]
        for height, own in zip(before, now, strict=True)
    ]


def _short(values):
    """As few digits as can be seen: a notebook keeps every frame."""
    return np.asarray(values, dtype=np.float32)


def _add_player(figure, labels):
    """Play, Pause and a slider of steps."""
    at_once = {"frame": {"duration": 0, "redraw": True}, "mode": "immediate", "transition": {"duration": 0}}
    playing = {"frame": {"duration": 700, "redraw": True}, "transition": {"duration": 0}, "fromcurrent": True}
    buttons = [
        {"label": "▶ Play", "method": "animate", "args": [None, playing]},
        {"label": "Pause", "method": "animate", "args": [[None], at_once]},
    ]
    steps = [
        {"label": label, "method": "animate", "args": [[str(k)], at_once]} for k, label in enumerate(labels)
    ]
    figure.update_layout(
        updatemenus=[
            {
                "type": "buttons", "direction": "left", "buttons": buttons, "showactive": False,
                "x": 0, "xanchor": "left", "y": -0.13, "yanchor": "top", "pad": {"t": 14},
            }
        ],
        sliders=[
            {
                "steps": steps, "active": len(steps) - 1, "x": 0.19, "len": 0.81, "y": -0.13, "yanchor": "top",
                "currentvalue": {"prefix": "dispatcher: ", "xanchor": "left"}, "pad": {"t": 4},
            }
        ],
    )  # fmt: skip
