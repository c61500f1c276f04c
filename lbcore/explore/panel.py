"""The manners that all panels share."""

import base64
import html
import os

import ipywidgets as widgets
import pandas as pd
import plotly.graph_objects as go

INVITATION = "Run ▸ Run All Cells to make this live"
# Plotly writes its colours into the picture; in JupyterLab the text follows the theme's instead.
_THEME = """<style>
.lb-panel .js-plotly-plot .main-svg text {fill: var(--jp-ui-font-color1, #444) !important}
.lb-panel .lb-words {font-size: 14px; line-height: 1.4; color: var(--jp-ui-font-color1, #222)}
.lb-panel .lb-error {color: var(--jp-error-color1, #c00)}
.lb-panel a.lb-csv {padding: 0 12px; text-decoration: none}
.lb-panel .lb-state {font-size: 13px; color: var(--jp-ui-font-color1, #222)}
.lb-panel table {border-collapse: collapse; font-size: 13px; color: var(--jp-ui-font-color1, #222)}
.lb-panel th, .lb-panel td {padding: 3px 12px; text-align: right; border: none}
.lb-panel tbody tr:nth-child(odd) {background: var(--jp-layout-color2, #eee)}
</style>"""


def read_numbers(name, text):
    """Numbers typed into a panel: separated by commas, semicolons or spaces."""
    numbers = []
    for place, word in enumerate(text.replace(",", " ").replace(";", " ").split()):
        try:
            numbers.append(float(word))
        except ValueError:
            raise ValueError(
                f"{name}[{place}] = {word!r}: must be a number; write them as 5, 2.5, 1"
            ) from None
    return numbers


class Panel(widgets.VBox):
    """Controls above one live figure, a sentence that says the result, undo by Reset, and the data as CSV.

    A subclass gives the figure and the controls, and has `compute(**settings)`, `draw(arrays)`,
    `words(arrays)` and `table(arrays)`. The figure is made once; each change goes into it in one batch.
    """

    def __init__(self, figure, controls, alt):
        self.figure = go.FigureWidget(figure)
        self.controls = controls
        self.alt = alt
        self.message = widgets.HTML()
        self._start = {name: control.value for name, control in controls.items()}
        self._held = False
        reset = widgets.Button(description="Reset", tooltip="Back to the settings at the start", icon="undo")
        reset.layout.width = "90px"
        reset.on_click(lambda _: self.reset())
        self._csv = widgets.HTML()
        self.buttons = widgets.HBox([reset, self._csv], layout={"flex_flow": "row wrap"})
        for name, control in controls.items():
            setattr(self, name, control)
            if hasattr(control, "style"):
                control.style.description_width = "130px"
            control.layout.width = "520px"
            control.observe(self._changed, "value")
        super().__init__(
            [
                widgets.HTML(_THEME),
                *self.arrange(list(controls.values())),
                self.buttons,
                self.message,
                self.figure,
            ]
        )
        self.add_class("lb-panel")
        self.refresh()

    def arrange(self, controls):
        """The widgets above the buttons: the controls, one below the other."""
        return controls

    def settings(self):
        """The controls' values by name."""
        return {name: control.value for name, control in self.controls.items()}

    def reset(self):
        """Put every control back to its first value."""
        self._held = True
        try:
            for name, value in self._start.items():
                self.controls[name].value = value
        finally:
            self._held = False
        self.refresh()

    def refresh(self):
        """Compute from the settings and draw; a mistake in them is told in the panel."""
        try:
            arrays = self.compute(**self.settings())
        except ValueError as error:
            self._say(f"{error}. The figure still shows the settings before.", wrong=True)
            return
        self._show(arrays)

    def _show(self, arrays):
        """Draw, say and offer as CSV."""
        self.draw(arrays)
        self._say(self.words(arrays))
        text = self.table(arrays).to_csv(index=False)
        link = "data:text/csv;base64," + base64.b64encode(text.encode()).decode()
        name = type(self).__name__.removesuffix("Panel").lower()
        self._csv.value = (
            f'<a class="jupyter-button lb-csv" download="{name}.csv" href="{link}" '
            'title="The numbers behind the figure">Save CSV</a>'
        )

    def settle(self):
        """Wait until the panel shows its last word; most panels do at once."""

    def _changed(self, _):
        if not self._held:
            self.refresh()

    def _say(self, text, wrong=False):
        kind, role = ("lb-words lb-error", "alert") if wrong else ("lb-words", "status")
        self.message.value = f'<div class="{kind}" role="{role}">{html.escape(text)}</div>'

    @property
    def text(self):
        """The sentence now shown, as plain text."""
        return html.unescape(self.message.value.split(">", 1)[1].rsplit("<", 1)[0])

    def __repr__(self):
        return f"{type(self).__name__}: {INVITATION}."

    def _repr_mimebundle_(self, **kwargs):
        """What a notebook stores: with LBCORE_PICTURES set, also a picture for those who have not run it."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if os.environ.get("LBCORE_PICTURES"):
            self.settle()
            plain = go.Figure(self.figure)
            plain.update_layout(paper_bgcolor="white", plot_bgcolor="white", font_color="#333333")
            picture = base64.b64encode(plain.to_image("png", scale=1)).decode()
            bundle["image/png"] = picture
            bundle["text/html"] = (
                f'<img alt="{html.escape(self.alt)}" width="{plain.layout.width}" '
                f'src="data:image/png;base64,{picture}"><p><em>{INVITATION}.</em></p>'
            )
        return bundle


def choice(name, steps, first, form="g"):
    """A slider over some numbers and its first value, which may be another; no bouncing as of a FloatSlider."""
    options = [(f"{value:{form}}", value) for value in sorted({*steps, first})]
    return widgets.SelectionSlider(options=options, value=first, description=name)


def rows(**arrays):
    """A table for the CSV button: one row a server, counted from 1."""
    table = pd.DataFrame(arrays)
    table.insert(0, "server", range(1, len(table) + 1))
    return table
