"""Figures of queues that grow: totals with their growth, maps, mean changes of a queue; nothing is computed here."""

import numpy as np
from plotly.subplots import make_subplots

from lbcore.charts import look
from lbcore.figures import TEXT, plain_layout

UNIFORM = {"colour": "#a95fd0", "dash": "dot", "mark": "star"}  # uniform random, not to be taken for JSQ(2)
LINES = ({"color": TEXT, "width": 1.5, "dash": "dash"}, {"color": TEXT, "width": 2, "dash": "solid"})


def _look(name):
    return UNIFORM if name == "JSQ(1)" else look(name)


def _stroke(its, width=2.5):
    return {"color": its["colour"], "dash": its["dash"], "width": width}


def totals(names, width=700, height=360):
    """Empty figure of the jobs in all queues by round; `set_totals` fills it.

    Parameters
    ----------
    names : sequence of str
        The policies that it shows: a line each, and a broad one for its growth.
    """
    figure = make_subplots()
    for name in names:
        its = _look(name)
        figure.add_scatter(name=name, mode="lines", line=_stroke(its), legendgroup=name)
        figure.add_scatter(
            mode="lines", line={"color": its["colour"], "width": 9}, opacity=0.35, legendgroup=name,
            showlegend=False, hoverinfo="skip",
        )  # fmt: skip
    plain_layout(figure, width, height)
    figure.update_layout(margin_t=64, margin_b=48)
    figure.update_xaxes(title_text="round")
    figure.update_yaxes(title_text="jobs in all queues")
    return figure


def set_totals(figure, runs, points=100):
    """Put results into what `totals` made, in one batch; a straight line of the growth where it is told from 0.

    Parameters
    ----------
    figure : what `totals` made for the same policies, or a FigureWidget of it
    runs : Comparison
    points : int
        At most so many a curve.
    """
    with figure.batch_update():
        for curve, line, result in zip(figure.data[::2], figure.data[1::2], runs.values(), strict=True):
            jobs = result.queue_totals
            shown = np.unique(np.linspace(0, jobs.size - 1, points).astype(int))
            curve.update(x=shown + 1, y=np.round(jobs[shown], 1))
            half = np.array([jobs.size // 2, jobs.size - 1])
            fitted = jobs[half[0] :].mean() + result.growth.value * (half - half.mean())
            line.update(x=half + 1 if result.growing else [], y=fitted if result.growing else [])


def region(table, lines=None, setting="rate of the fast ones", width=720, height=430):
    """A small map a policy: a triangle where growth is told from 0, a ring where not.

    Parameters
    ----------
    table : DataFrame
        As `stability.region` gives.
    lines : dict, optional
        Name -> (settings, loads): boundaries, drawn in every map.
    """
    names = list(dict.fromkeys(table.policy))
    columns = min(4, len(names))
    rows = -(-len(names) // columns)
    figure = make_subplots(
        rows, columns, shared_xaxes=True, shared_yaxes=True, subplot_titles=names,
        horizontal_spacing=0.025, vertical_spacing=0.11,
    )  # fmt: skip
    for k, name in enumerate(names):
        place = {"row": k // columns + 1, "col": k % columns + 1}
        mine = table[table.policy == name]
        for grows, told in ((True, "queues grow"), (False, "growth not told from 0")):
            part = mine[mine.growing == grows]
            colour = _look(name)["colour"] if grows else TEXT
            figure.add_scatter(
                x=part.setting, y=part.load, mode="markers", name=told, legendgroup=told, showlegend=False,
                marker={"symbol": "triangle-up" if grows else "circle-open", "size": 11 if grows else 5,
                        "color": colour},
                customdata=part.growth.round(2), hovertemplate="%{x}, load %{y}: %{customdata} jobs a round",
                **place,
            )  # fmt: skip
        for (line, (x, y)), stroke in zip((lines or {}).items(), LINES, strict=False):
            figure.add_scatter(
                x=x, y=y, mode="lines", name=line, legendgroup=line, showlegend=k == 0, line=stroke, **place
            )
    for told, symbol, size in (
        ("queues grow", "triangle-up", 11),
        ("growth not told from 0", "circle-open", 5),
    ):
        figure.add_scatter(
            x=[None], y=[None], mode="markers", name=told, marker={"symbol": symbol, "size": size, "color": TEXT}
        )  # fmt: skip
    plain_layout(figure, width, height)
    figure.update_layout(margin={"t": 62, "b": 46}, legend_y=1.08)
    ticks = sorted(set(table.setting))
    reach = np.log10([ticks[0] / 1.15, ticks[-1] * 1.15]).tolist()
    figure.update_xaxes(type="log", tickvals=ticks, range=reach, tickfont_size=11)
    figure.update_xaxes(title_text=setting, row=rows, title_font_size=12)
    figure.update_yaxes(range=[0, 1.03])
    figure.update_yaxes(title_text="load", col=1)
    return figure


def drifts(pictures, low=-1.2, high=3.0, reach=40.0, width=700, height=360):
    """Mean change of the work in a round against the work, a picture a kind of server, a curve a policy.

    Parameters
    ----------
    pictures : dict
        Title -> dict of policy -> list of (work, Estimate), as `stability.drift` gives.
    low, high, reach : float
        Changes and work that are shown.
    """
    figure = make_subplots(1, len(pictures), shared_yaxes=True, subplot_titles=list(pictures))
    for col, curves in enumerate(pictures.values(), start=1):
        for name, points in curves.items():
            its = _look(name)
            figure.add_scatter(
                name=name, legendgroup=name, showlegend=col == 1, mode="lines+markers",
                x=[work for work, _ in points], y=[change.value for _, change in points],
                error_y={"array": [change.high - change.value for _, change in points], "thickness": 1.2, "width": 3},
                line=_stroke(its, 2), marker={"symbol": its["mark"], "color": its["colour"], "size": 7},
                row=1, col=col,
            )  # fmt: skip
    plain_layout(figure, width, height)
    figure.update_layout(margin_t=70, margin_b=48, legend_y=1.09)
    figure.update_xaxes(title_text="work before the round (rounds)", range=[0, reach])
    figure.update_yaxes(range=[low, high], zeroline=True, zerolinewidth=2, zerolinecolor=TEXT)
    figure.update_yaxes(title_text="mean change of it in the round", col=1)
    return figure
