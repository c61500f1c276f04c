"""How live are the sliders? `make bench`: in real JupyterLab in Chromium, from a key press to the figure's data.

100 servers, 10 dispatchers, six policies, the load panel of notebook 07.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import lab  # noqa: E402

PRESSES = 30
# Times in the page's own clock: when the key went down, when "computing" showed, when the title and the data had
# changed, and when the state said "refined".
WATCH = """() => {
    const plot = document.querySelector('.js-plotly-plot'), state = document.querySelector('.lb-state');
    const holder = state.closest('.widget-html-content');
    window.seen = {};
    const note = name => { if (!(name in window.seen)) window.seen[name] = performance.now(); };
    document.addEventListener('keydown', () => { window.seen = {down: performance.now()}; window.was =
        [plot.layout.title.text, String(plot.data[0].y)]; }, true);
    new MutationObserver(() => { if (holder.textContent.startsWith('computing')) note('computing');
        if (holder.textContent.startsWith('refined')) note('refined'); }).observe(holder, {childList: true,
        subtree: true, characterData: true});
    plot.on('plotly_afterplot', () => { if (window.was && plot.layout.title.text !== window.was[0]
        && String(plot.data[0].y) !== window.was[1]) { if (!('figure' in window.seen)) window.rounds =
        plot.layout.title.text; note('figure'); } });
}"""


def line(what, values, promise):
    median, high = np.percentile(values, [50, 95])
    print(f"{what:<52} {median:7.0f} {high:7.0f}   {promise}")


def measure(page):
    """Presses one by one, each left to refine; then a drag through 40 values; then the kernel while it refines."""
    page.evaluate(WATCH)
    handle = page.locator(".widget-slider:has(label:text-is('load')) .noUi-handle").first
    handle.focus()
    times, rounds = [], []
    for k in range(PRESSES):
        page.wait_for_timeout(150)
        page.keyboard.press("ArrowLeft" if k % 2 else "ArrowRight")
        page.wait_for_function("'refined' in window.seen && 'figure' in window.seen", timeout=30_000)
        times.append(page.evaluate("window.seen"))
        rounds.append(page.evaluate("window.rounds"))
    print(f"{'milliseconds from the key press':<52} {'median':>7} {'95 %':>7}   promise")
    for name, promise in (
        ("computing", "100"),
        ("figure", "median 250, 95 % 400"),
        ("refined", "3,000"),
    ):
        line(f"until '{name}'", [t[name] - t["down"] for t in times if name in t], promise)
    counted = [
        int(text.split("<br>")[1].split("× ")[1].split(" rounds")[0].replace(",", "")) for text in rounds
    ]
    print(f"rounds that the first answers count: at least 8 x {min(counted)}   (promise 8 x 250)")
    handle.focus()
    for _ in range(40):
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(25)
    page.evaluate("window.rest = performance.now()")
    load = page.evaluate(
        "() => document.querySelector('.widget-slider:has(.noUi-handle) .widget-readout').textContent"
    )
    page.wait_for_function(
        "load => document.querySelector('.js-plotly-plot').layout.title.text.startsWith(`load ${load},`)",
        arg=load.strip(),
        timeout=30_000,
    )
    rest = page.evaluate("performance.now() - window.rest")
    print(f"drag through 40 values, at rest on {load.strip()}: {rest:.0f} ms   (promise 1,000)")
    page.wait_for_selector(".lb-state:has-text('refining')")
    other = page.evaluate(
        """() => {
            const began = performance.now();
            window.jupyterapp.shell.currentWidget.content.activeCellIndex = 1;
            return window.jupyterapp.commands.execute('notebook:run-cell').then(() => performance.now() - began);
        }"""
    )
    still = page.locator(".lb-state").inner_text().startswith("refining")
    print(f"another cell, run in the middle of it: {other:.0f} ms" + "" if still else " (it was over)")
    print(f"figures on the page: {page.locator('.js-plotly-plot').count()}   (promise 1)")


def main():
    from playwright.sync_api import sync_playwright

    if not lab.chromium():
        sys.exit("The panel's latency needs Chromium: install it, or set BROWSER_PATH")
    import nbformat

    folder = Path(tempfile.mkdtemp())
    book = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(code) for code in ("import lbcore as lb\n\nlb.LoadPanel()", "1 + 1")
        ],
        metadata={"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
    )
    nbformat.write(book, folder / "panel.ipynb")
    with lab.jupyterlab(folder) as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=lab.chromium(), args=lab.CHROMIUM_ARGS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        lab.open_notebook(page, address("panel.ipynb"))
        lab.run_all(page)
        page.wait_for_function(
            "document.querySelector('.lb-state')?.textContent.startsWith('refined')", timeout=60_000
        )
        measure(page)
        browser.close()


if __name__ == "__main__":
    main()
