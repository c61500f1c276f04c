"""Stacked areas: how something is shared out, along a setting; nothing is computed here."""

import numpy as np
from plotly.subplots import make_subplots

from lbcore.charts import COLOURS
from lbcore.figures import plain_layout


def shares(x, parts, names, title, y="share of the jobs", width=760, height=360):
    """Parts of a whole along a logarithmic axis, the first at the bottom; each is named inside, at the right.

    Parameters
    ----------
    x : array_like, shape (k,)
    parts : array_like, shape (k, n)
        Rows sum to 1.
    names : sequence of str
        One a part.
    title, y : str
        Titles of the axes.
    """
    figure, parts = make_subplots(), np.asarray(parts)
    for s, name in enumerate(names):
        colour = COLOURS[s % len(COLOURS)]
        figure.add_scatter(
            x=x, y=parts[:, s], name=name, mode="lines", stackgroup="all", fillcolor=colour,
            line={"color": "#ffffff", "width": 1.5},
        )  # fmt: skip
    middles = np.cumsum(parts[-1]) - parts[-1] / 2
    figure.add_scatter(
        x=[x[-1]] * len(names), y=middles, text=[f"{name} " for name in names], mode="text",
        textposition="middle left", textfont={"color": "#111111", "size": 13}, hoverinfo="skip",
    )  # fmt: skip
    plain_layout(figure, width, height)
    figure.update_layout(showlegend=False)
    ends = np.log10([x[0], x[-1]])
    figure.update_xaxes(
        title_text=title, type="log", range=ends, dtick=1, showgrid=False, exponentformat="power"
    )
    figure.update_yaxes(title_text=y, range=[0, 1], showgrid=False)
    return figure
