"""Response times against messages: colours for policies, dashes and marks for how dispatchers learn."""

from plotly.subplots import make_subplots

from lbcore.charts import RESPONSE, look
from lbcore.figures import plain_layout

LEARNING = {"sampled": ("dot", "circle"), "answered": ("dash", "square"), "gossip": ("solid", "diamond")}
TICKS = [m * 10**k for k in range(6) for m in (1, 2, 5)]


def by_messages(panels, levels, width=760, height=500):
    """Curves along the messages a round, one picture a cluster, side by side; arrows at the top where queues grow.

    Parameters
    ----------
    panels : dict
        Title -> (policy, kind) -> list of (messages, Estimate or None), as `limited.lines` gives.
    levels : dict
        Title -> policy -> Estimate: its response when all queues are shown to all, drawn as a line across.
    """
    figure = make_subplots(
        1, len(panels), subplot_titles=list(panels), shared_yaxes=True, horizontal_spacing=0.04
    )
    told = [e.value for lines in panels.values() for points in lines.values() for _, e in points if e]
    ends = [x for lines in panels.values() for points in lines.values() for x, _ in points]
    shown = set()
    for col, (title, lines) in enumerate(panels.items(), 1):
        for policy, level in levels[title].items():
            for kind in (kind for name, kind in lines if name == policy):
                curve = _curve(policy, kind, lines[policy, kind], 1.15 * max(told))
                figure.add_scatter(**curve, **_first(shown, f"{policy}, {kind}"), row=1, col=col)
            line = {"color": look(policy)["colour"], "width": 1.5, "dash": "longdashdot"}
            first = _first(shown, f"{policy}, shown all")
            figure.add_scatter(
                x=[min(ends), max(ends)],
                y=[level.value] * 2,
                mode="lines",
                line=line,
                **first,
                row=1,
                col=col,
            )
    plain_layout(figure, width, height)
    figure.update_layout(margin_t=136, legend={"y": 1.1, "font_size": 12})
    figure.update_xaxes(title_text="messages a round", type="log", tickvals=TICKS)
    figure.update_yaxes(type="log", tickvals=[*TICKS, 3, 4, 7])
    figure.update_yaxes(title_text="mean " + RESPONSE, col=1)
    return figure


def _first(shown, name):
    """Name of a trace; it has a place in the legend the first time only."""
    new = name not in shown
    shown.add(name)
    return {"name": name, "legendgroup": name, "showlegend": new}


def _curve(policy, kind, points, top):
    colour, (dash, mark) = look(policy)["colour"], LEARNING[kind]
    return {
        "mode": "lines+markers",
        "x": [x for x, _ in points],
        "y": [e.value if e else top for _, e in points],
        "error_y": {"array": [e.high - e.value if e else 0 for _, e in points], "thickness": 1.5, "width": 3},
        "line": {"color": colour, "dash": dash, "width": 2},
        "marker": {"color": colour, "size": 8, "symbol": [mark if e else "arrow-up" for _, e in points]},
    }
