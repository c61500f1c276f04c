"""Figures of results, in which every policy keeps its colour, dash and mark; nothing is computed here."""

import math
import re
import zlib

import numpy as np
from plotly.subplots import make_subplots

from lbcore import policies
from lbcore.figures import TEXT, plain_layout

COLOURS = (
    "#3b8fd4", "#d55e00", "#009e73", "#b06bb3", "#a08000", "#e0608c",
    "#7f7f7f", "#6f7cf0", "#b98252", "#c44536", "#2aa198", "#8c6d4a",
)  # fmt: skip
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
MARKS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down")
FLOOR = {"color": TEXT, "width": 2.5, "dash": "longdashdot"}
RESPONSE = "response time (rounds)"


def look(name):
    """Colour, dash and mark of a policy, the same in every figure.

    A family, "JSQ(d)", looks as its member in `POLICIES`; other members, "JSQ(5)", have its colour with another dash
    and mark. A policy of a user's own looks by its name.
    """
    place = list(policies.POLICIES).index(name) if name in policies.POLICIES else _place(name)
    return {
        "colour": COLOURS[place % len(COLOURS)],
        "dash": DASHES[place % len(DASHES)],
        "mark": MARKS[place % len(MARKS)],
    }


def _place(name):
    number = zlib.crc32(name.encode())
    try:
        kind = type(policies.find(re.sub(r"\((d|s)\)", "(2)", name)))
    except ValueError:
        return number
    family = name.endswith(("(d)", "(s)"))
    place = [type(policy) for policy in policies.POLICIES.values()].index(kind)
    return place if family else place + len(COLOURS) * (1 + number % (len(DASHES) * len(MARKS) - 1))


def _line(name, **where):
    """A trace of a policy's curve."""
    its = look(name)
    return {
        "name": name,
        "legendgroup": name,
        "mode": "lines+markers",
        "line": {"color": its["colour"], "dash": its["dash"], "width": 2.5},
        "marker": {"color": its["colour"], "symbol": its["mark"], "size": 8, "maxdisplayed": 9},
        **where,
    }


def overview(names, width=760, height=664):
    """Empty figure of one comparison: mean responses and their floor, tails, and queues by the servers' speed.

    Parameters
    ----------
    names : sequence of str
        The policies that it may show; traces are made once, and `set_overview` fills them.
    """
    figure = make_subplots(
        2, 2, specs=[[{}, {}], [{"colspan": 2}, None]], column_widths=[0.46, 0.54], horizontal_spacing=0.11,
        vertical_spacing=0.18,
    )  # fmt: skip
    bar = {"color": TEXT, "thickness": 1.5, "width": 5}
    figure.add_bar(name="mean", showlegend=False, error_y=bar, row=1, col=1)
    figure.add_scatter(name="floor in the long run", mode="lines", line=FLOOR, row=1, col=1)
    for name in names:
        figure.add_scatter(**_line(name, visible=False, showlegend=False), row=1, col=2)
    for name in names:
        figure.add_scatter(**_line(name, visible=False), row=2, col=1)
    plain_layout(figure, width, height)
    figure.update_layout(
        margin={"l": 64, "r": 16, "t": 72, "b": 112},
        legend={"y": -0.13, "yanchor": "top"},
        title={"x": 0.01, "y": 0.985, "yanchor": "top", "font": {"size": 14}},
    )
    figure.update_xaxes(title_font_size=13)
    figure.update_yaxes(title_font_size=13)
    figure.update_yaxes(title_text="mean " + RESPONSE, row=1, col=1)
    figure.update_xaxes(tickfont_size=12, showgrid=False, row=1, col=1)
    figure.update_xaxes(title_text=RESPONSE, row=1, col=2)
    figure.update_yaxes(
        title_text="share of jobs that took longer", type="log", exponentformat="power", row=1, col=2
    )
    steps = [10.0**k * m for k in range(-4, 8) for m in (1, 3)]
    figure.update_yaxes(title_text="mean queue (jobs)", type="log", tickvals=steps, row=2, col=1)
    figure.update_xaxes(
        title_text="server's rate (jobs a round)",
        type="log",
        tickvals=[1, 2, 5, 10, 20, 50, 100],
        row=2,
        col=1,
    )
    return figure


def set_overview(figure, shown, title):
    """Put results into what `overview` made, in one batch where the figure is live.

    Parameters
    ----------
    figure : what `overview` made, or a FigureWidget of it
    shown : dict
        policies: names; means: Estimates; growing: jobs a round, or None, a policy; floor: float;
        tails and queues: name -> (x, y).
    title : str
        The settings that the curves belong to.
    """
    bars, floor, *curves = figure.data
    names, places = shown["policies"], np.arange(len(shown["policies"]))
    steady = [k for k in places if shown["growing"][k] is None]
    labels = [
        name if more is None else f"{name} grows" for name, more in zip(names, shown["growing"], strict=True)
    ]
    means = [shown["means"][k] for k in steady]
    half = len(curves) // 2
    with figure.batch_update():
        figure.layout.title.text = title
        bars.update(
            x=steady,
            y=[mean.value for mean in means],
            error_y={"array": [0.0 if math.isnan(m.high) else m.high - m.value for m in means]},
            marker={"color": [look(names[k])["colour"] for k in steady]},
            hovertext=[f"{names[k]}: {mean} rounds" for k, mean in zip(steady, means, strict=True)],
            hoverinfo="text",
        )
        ends = [-0.5, len(names) - 0.5]
        known = math.isfinite(shown["floor"])
        floor.update(x=ends if known else [], y=[shown["floor"]] * 2 if known else [])
        figure.layout.xaxis.update(tickvals=places, ticktext=labels, range=ends)
        for place, curve in enumerate(curves):
            given = shown["tails" if place < half else "queues"].get(curve.name)
            if given is not None:
                curve.update(x=given[0], y=given[1], visible=True)
            elif curve.visible:
                curve.update(visible=False)


def responses(lines, x, y="mean " + RESPONSE, log=False, level=None, width=760, height=420):
    """Curves with intervals along a setting, one a policy; queues that grow stand at the top.

    Parameters
    ----------
    lines : dict
        policy, or any name -> list of (x, Estimate or None), as `summary.curves` gives; None where queues grow.
    x, y : str
        Titles of the axes.
    log : bool
        Whether the x axis is logarithmic.
    level : pair (str, float), optional
        A line across, with its name: a policy's, or another.
    """
    figure = make_subplots()
    told = [e.value for points in lines.values() for _, e in points if e is not None]
    top = 1.08 * max(told, default=1.0)
    for name, points in lines.items():
        steady = [(value, e) for value, e in points if e is not None]
        figure.add_scatter(
            **_line(name),
            x=[value for value, _ in steady],
            y=[e.value for _, e in steady],
            error_y={"array": [e.high - e.value for _, e in steady], "thickness": 1.5, "width": 4},
        )
        growing = [value for value, e in points if e is None]
        if growing:
            its = look(name)
            figure.add_scatter(
                x=growing, y=[top] * len(growing), mode="markers", name=f"{name}: grows",
                marker={"symbol": "arrow-up", "size": 14, "color": its["colour"]},
            )  # fmt: skip
    values = sorted({value for points in lines.values() for value, _ in points})
    if level:
        line = _line(level[0]) if level[0] in policies.POLICIES else {"name": level[0], "line": FLOOR}
        figure.add_scatter(**line | {"mode": "lines"}, x=[values[0], values[-1]], y=[level[1]] * 2)
    plain_layout(figure, width, height)
    figure.update_xaxes(title_text=x, tickvals=values, type="log" if log else "linear")
    figure.update_yaxes(title_text=y)
    return figure


def errors(lines, width=760, height=340):
    """The error of every round, by policy: lines is name -> (rounds,), on a logarithmic axis."""
    figure = make_subplots()
    for name, values in lines.items():
        figure.add_scatter(**_line(name), x=np.arange(1, len(values) + 1), y=values)
    plain_layout(figure, width, height)
    figure.update_xaxes(title_text="round")
    figure.update_yaxes(title_text="error a job (SCD, Eq. 4)", type="log", exponentformat="power")
    return figure
