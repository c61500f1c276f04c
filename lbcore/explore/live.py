"""Panels that simulate: they answer at once, and go on while the hand rests."""

import asyncio
import contextlib
import html
import json
import time

import ipywidgets as widgets
import traitlets

from lbcore.explore.panel import Panel

PATIENCE = 0.1  # seconds for the first answer,
ROUNDS, LIMIT = 250, 1.0  # which counts so many rounds, even if that takes longer, but no longer than this
SLICE = 0.15  # seconds of a refinement in one go; two cores share eight replications: a new move waits a quarter of it
REDRAW = 0.7  # seconds between two drawings of it


class Ticks(widgets.Box):
    """A box to tick for each name; `value` is the tuple of those ticked, in the order of the boxes."""

    value = traitlets.Tuple()

    def __init__(self, names, ticked, description):
        self._boxes = {name: widgets.Checkbox(description=name, indent=False) for name in names}
        for box in self._boxes.values():
            box.layout.width = "92px"
            box.observe(self._ticked, "value")
        label = widgets.Label(description, layout={"width": "130px", "justify_content": "flex-end"})
        label.layout.flex = "0 0 auto"
        boxes = widgets.Box([*self._boxes.values()], layout={"flex_flow": "row wrap"})
        super().__init__([label, boxes])
        self.observe(self._told, "value")
        self.value = tuple(ticked)

    @traitlets.validate("value")
    def _known(self, proposal):
        for name in proposal["value"]:
            if name not in self._boxes:
                raise ValueError(
                    f"{name!r} is not among the boxes: {', '.join(self._boxes)}; name all when making the panel"
                )
        return tuple(name for name in self._boxes if name in proposal["value"])

    def _ticked(self, _):
        self.value = tuple(name for name, box in self._boxes.items() if box.value)

    def _told(self, change):
        for name, box in self._boxes.items():
            box.unobserve(self._ticked, "value")
            box.value = name in change.new
            box.observe(self._ticked, "value")


class LivePanel(Panel):
    """A panel over a simulation: a first answer at once, then refined until its end, or Stop, or the next move.

    A subclass has `start(**settings)`, which gives a `Running` and how many rounds the first answer has;
    `arrays(running)`; `code(**settings)`, the lines that give the same numbers; and what every panel has but
    `compute`, which is here: the refined answer, of which no number depends on the clock.
    """

    def __init__(self, figure, controls, alt):
        self.state = widgets.HTML(layout={"margin": "0 12px"})
        self.progress = widgets.FloatProgress(max=1.0, layout={"width": "140px"})
        self.results = widgets.HTML()
        self._copy = widgets.HTML()
        self._stop = widgets.Button(
            description="Stop", icon="stop", tooltip="Keep what is shown; refine no further"
        )
        self._stop.layout.width = "90px"
        self._stop.on_click(lambda _: self.stop())
        self.running, self._task = None, None
        super().__init__(figure, controls, alt)
        self.buttons.children = [*self.buttons.children, self._copy, self._stop, self.progress, self.state]
        self.children = [*self.children, self.results]

    def compute(self, **settings):
        """The refined answer to some settings, without drawing it."""
        running, _ = self.start(**settings)
        running.run()
        return self.arrays(running)

    def refresh(self):
        """Answer at once, from few rounds; then refine, where there is an event loop to do so."""
        self._drop()
        if self.running is not None:
            self.running.abandon()
            self.running = None
        self._tell("computing…", 0.0)
        with self._told():
            running, first = self.start(**self.settings())
            least = min(first, running.warmup + ROUNDS)
            running.run(PATIENCE, least=least, most=first, limit=LIMIT)
            self.running = running
            with contextlib.suppress(RuntimeError):  # without an event loop only settle() goes on
                self._task = asyncio.get_running_loop().create_task(self._refine(running))
            self._show_so_far("refining" if self._task else "first answer")

    def settle(self):
        """Wait for the refined answer, and show it."""
        self._drop()
        if self.running is not None:
            with self._told():
                self.running.run()
                self._show_so_far("refined")

    def stop(self):
        """Refine no further; what is shown stays."""
        self._drop()
        if self.running is not None:
            with self._told():
                self._show_so_far("stopped")

    async def _refine(self, running):
        size, shown = 16, time.perf_counter()
        with self._told():
            while not running.done:
                began = time.perf_counter()
                slices = [asyncio.wrap_future(task) for task in running.start(size)]
                await asyncio.wait(slices)  # unlike gather, it leaves them be when it is cancelled
                for done in slices:
                    done.exception()  # wait() raises it; asked here, so that asyncio does not complain too
                running.wait()
                size = max(1, int(size * SLICE / (time.perf_counter() - began)))
                if time.perf_counter() - shown > REDRAW:
                    self._show_so_far("refining")
                    shown = time.perf_counter()
            self._task = None
            self._show_so_far("refined")

    def _drop(self):
        task, self._task = self._task, None
        if task is not None:
            task.cancel()

    @contextlib.contextmanager
    def _told(self):
        """Whatever goes wrong, in a policy that someone wrote too, is told in the panel."""
        try:
            yield
        except Exception as error:
            self.running, self._task = None, None
            self._stop.disabled = True
            self._tell("", 0.0)
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            self._say(f"{kind}{error}. The figure shows the last answer before.", wrong=True)

    def _show_so_far(self, word):
        now, end = self.running.now, self.running.workload.rounds
        self._stop.disabled = self._task is None
        self._show(self.arrays(self.running))
        self._tell(f"{'refined' if now == end else word}: {now:,} of {end:,} rounds", now / end)
        code = html.escape(json.dumps(self.code(**self.settings())))
        self._copy.value = (
            f'<button class="jupyter-button" style="width:120px" title="The lines that give these very numbers" '
            f"data-code='{code}' onclick=\"const lines = JSON.parse(this.dataset.code); if (navigator.clipboard) "
            "{ navigator.clipboard.writeText(lines); this.textContent = 'Copied' } "
            "else window.prompt('Copy these lines', lines)\">Copy as code</button>"
        )

    def _tell(self, text, share):
        self.state.value = f'<span class="lb-state" role="status">{html.escape(text)}</span>'
        self.progress.value = share
