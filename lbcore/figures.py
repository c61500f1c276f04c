"""Plotly figures from finished numbers; nothing is computed here.

The ground is transparent and the text mid-grey, so that figures can be read in light and in dark themes.
"""

import numpy as np
from plotly.subplots import make_subplots

TEXT, GRID = "#767676", "rgba(128,128,128,0.25)"
QUEUE = {"color": "#8c8c8c", "pattern": {"shape": "-", "fgcolor": "#8c8c8c", "size": 6}}
WATER = {"color": "#3b8fd4"}
LEVEL = {"color": "#d55e00", "width": 3, "dash": "dash"}
WORK = "work ahead (rounds)"


def plain_layout(figure, width, height):
    """Give a figure the size, the transparent ground and the legible text that all share."""
    figure.update_layout(
        template="none",
        width=width,
        height=height,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": TEXT, "size": 13},
        margin={"l": 64, "r": 16, "t": 56, "b": 64},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "xanchor": "left"},
        barmode="overlay",
    )
    figure.update_xaxes(gridcolor=GRID, zerolinecolor=GRID, title_standoff=8)
    figure.update_yaxes(gridcolor=GRID, zerolinecolor=GRID, rangemode="tozero", title_standoff=8)
    return figure


def columns(titles=(), sent="water", width=760, height=400):
    """Empty figure of servers as columns: as wide as a rate, as high as work; an area is a number of jobs.

    Parameters
    ----------
    titles : sequence of str
        One a picture side by side; empty for a single picture without a title.
    sent : str
        What the legend calls the jobs that come on top of the queues.
    """
    count = max(1, len(titles))
    figure = make_subplots(
        1, count, shared_yaxes=True, subplot_titles=titles or None, horizontal_spacing=0.03
    )
    for col in range(1, count + 1):
        shared = {"offset": 0, "showlegend": col == 1, "hovertemplate": "%{customdata}<extra></extra>"}
        line = {"color": TEXT, "width": 1}
        figure.add_bar(name="queue", marker={**QUEUE, "line": line}, row=1, col=col, **shared)
        figure.add_bar(name=sent, marker={**WATER, "line": line}, row=1, col=col, **shared)
        figure.add_scatter(
            name="ideal workload",
            mode="lines",
            line=LEVEL,
            showlegend=col == 1,
            row=1,
            col=col,
            hoverinfo="y",
        )
    plain_layout(figure, width, height)
    figure.update_xaxes(title_text="servers; a column is as wide as its rate (jobs a round)", showgrid=False)
    figure.update_yaxes(title_text=WORK, col=1)
    if titles:
        figure.update_layout(margin_t=78, legend_y=1.09)
    return figure


def set_columns(figure, queues, rates, sent, level, col=1):
    """Put one state into a picture of `columns`, in one batch where the figure is live.

    Parameters
    ----------
    figure : what `columns` made, or a FigureWidget of it
    queues, rates, sent : arrays, shape (n,)
        Servers of rate 0 have no column.
    level : float
        Ideal workload.
    """
    live = np.flatnonzero(np.asarray(rates) > 0)
    queues, rates, sent = (np.asarray(x, float)[live] for x in (queues, rates, sent))
    left = np.concatenate([[0.0], np.cumsum(rates)])
    told = [
        f"server {s + 1}: rate {mu:.4g}<br>queue {q:.0f} + {k:.4g} = {(q + k) / mu:.4g} rounds of work"
        for s, mu, q, k in zip(live, rates, queues, sent, strict=True)
    ]
    waiting, added, line = figure.data[3 * col - 3 : 3 * col]
    with figure.batch_update():
        for bars, y, base in ((waiting, queues / rates, None), (added, sent / rates, queues / rates)):
            bars.update(x=left[:-1], width=rates, y=y, base=base, customdata=told)
        line.update(x=[0, left[-1]], y=[level, level])
        axis = figure.layout.xaxis if col == 1 else figure.layout[f"xaxis{col}"]
        every = max(1, live.size // 16)  # more labels than that would run into one another
        axis.update(
            tickvals=(left[:-1] + rates / 2)[::every],
            ticktext=[str(s + 1) for s in live[::every]],
            range=[0, left[-1]],
        )


DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
COLOURS = ("#3b8fd4", "#d55e00", "#009e73", "#b06bb3", "#a08000")
MARKS = ("circle", "square", "diamond", "triangle-up", "cross", "x")


def curves(names, x, y, log=False, width=760, height=400):
    """Empty figure with a curve a name, told apart by dash and colour, each with a mark for its special point."""
    figure = make_subplots()
    for place, name in enumerate(names):
        colour = COLOURS[place % len(COLOURS)]
        line = {"color": colour, "width": 2.5, "dash": DASHES[place % len(DASHES)]}
        figure.add_scatter(name=name, mode="lines", line=line, legendgroup=name)
    for place, name in enumerate(names):
        marker = {"color": COLOURS[place % len(COLOURS)], "size": 13, "symbol": MARKS[place % len(MARKS)]}
        figure.add_scatter(name=name, mode="markers", marker=marker, legendgroup=name, showlegend=False)
    plain_layout(figure, width, height)
    figure.update_xaxes(title_text=x)
    figure.update_yaxes(title_text=y)
    if log:
        figure.update_xaxes(type="log", exponentformat="power")
        figure.update_yaxes(type="log", exponentformat="power")
    return figure


def set_curves(figure, curves, special):
    """Put x and y of each curve into what `curves` made, and a mark at one x of each."""
    half = len(figure.data) // 2
    with figure.batch_update():
        for place, (name, (x, y)) in enumerate(curves.items()):
            figure.data[place].update(x=x, y=y)
            at = special.get(name)
            chosen = [] if at is None else [list(x).index(at)]
            figure.data[half + place].update(x=[x[i] for i in chosen], y=[y[i] for i in chosen])


def pairs(names, x, y, width=760, height=360):
    """Empty figure that compares two numbers a place: the first as a bar, the second as a cross."""
    figure = make_subplots()
    figure.add_bar(name=names[0], marker={**WATER, "line": {"color": TEXT, "width": 1}})
    marker = {
        "color": LEVEL["color"],
        "size": 11,
        "symbol": "x-thin",
        "line": {"width": 3, "color": LEVEL["color"]},
    }
    figure.add_scatter(name=names[1], mode="markers", marker=marker)
    plain_layout(figure, width, height)
    figure.update_xaxes(title_text=x, showgrid=False, type="category")
    figure.update_yaxes(title_text=y)
    return figure


def set_pairs(figure, bars, crosses):
    """Put the two numbers a place, counted from 1, into what `pairs` made."""
    places = [str(s + 1) for s in range(len(bars))]
    with figure.batch_update():
        for trace, y in zip(figure.data, (bars, crosses), strict=True):
            trace.update(x=places, y=y)


def add_drops(figure, x, y, col=1):
    """Random drops in a picture of `columns`."""
    marker = {"color": "#f2c14e", "size": 7, "symbol": "circle", "line": {"color": "#333333", "width": 1}}
    figure.add_scatter(x=x, y=y, mode="markers", name="random drops", marker=marker, row=1, col=col)
