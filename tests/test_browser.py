"""Real JupyterLab in real Chromium: what a person sees and what the keyboard moves."""

import lab
import numpy as np
import pytest

from lbcore.explore import LoadPanel, herd, water

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def at(tmp_path_factory):
    folder = lab.copy_suite(tmp_path_factory.mktemp("suite"))
    with lab.jupyterlab(folder) as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=lab.chromium(), args=lab.CHROMIUM_ARGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    page = browser.new_page(viewport={"width": 1300, "height": 1600})
    page.set_default_timeout(60_000)
    page.errors = []
    page.on("console", lambda message: message.type == "error" and page.errors.append(message.text))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    yield page
    page.close()


WITH_PANELS = [
    "00_start_here",
    "01_ideal_workload",
    "02_dispatch_probabilities",
    "03_kkt_and_cvxpy",
    "06_homogeneous_and_limited_information",
    "07_load_and_heterogeneity",
    "09_unknown_arrivals",
    "10_stability",
]


@pytest.mark.parametrize("name", WITH_PANELS)
def test_not_yet_run_a_panel_shows_its_picture(page, at, name):
    lab.open_notebook(page, at(f"notebooks/{name}.ipynb"))
    picture = page.wait_for_selector(".jp-OutputArea-output img[alt*=' ']", timeout=30_000)
    assert picture.evaluate("node => node.naturalWidth") > 500
    text = page.inner_text(".jp-Notebook")
    assert "Run ▸ Run All Cells to make this live" in text and "VBox(" not in text
    assert page.errors == []


def press(page, label, key, times):
    """Press a key on the slider with this label."""
    handle = page.locator(f".widget-slider:has(label:text-is('{label}')) .noUi-handle").first
    handle.focus()
    for _ in range(times):
        page.keyboard.press(key)


def wait_for_bars(page, expected):
    page.wait_for_function(
        """expected => {
            const y = Array.from(document.querySelector('.js-plotly-plot').data[1].y);
            return y.length === expected.length && y.every((v, i) => Math.abs(v - expected[i]) < 1e-9);
        }""",
        arg=[float(y) for y in expected],
        timeout=15_000,
    )


def test_the_keyboard_moves_the_herd(page, at):
    lab.open_notebook(page, at("notebooks/00_start_here.ipynb"))
    lab.run_all(page)
    page.wait_for_selector(".js-plotly-plot .bars", timeout=60_000)
    rates, queues = herd.HerdPanel.RATES, herd.HerdPanel.QUEUES
    wait_for_bars(page, herd.compute(queues, rates, 40, 1)["sent"] / np.array(rates))
    press(page, "dispatchers", "ArrowRight", 3)
    arrays = herd.compute(queues, rates, 40, 4)
    wait_for_bars(page, arrays["sent"] / np.array(rates))
    page.wait_for_function("document.querySelector('.lb-words').textContent.startsWith('4 dispatchers send')")
    assert np.allclose(lab.bars(page, 2), arrays["level"])
    assert page.locator(".js-plotly-plot").count() == 1
    page.locator("button.widget-button:has-text('Reset')").click()
    wait_for_bars(page, herd.compute(queues, rates, 40, 1)["sent"] / np.array(rates))
    assert page.errors == []


def test_typing_rates_saving_the_table_and_both_themes(page, at):
    lab.open_notebook(page, at("notebooks/01_ideal_workload.ipynb"))
    lab.run_all(page)
    page.wait_for_selector(".js-plotly-plot .bars", timeout=60_000)
    box = page.locator(".widget-text:has(label:text-is('rates (jobs/round)')) input")
    box.fill("2, 5, 1, 3, 4")
    box.press("Enter")
    arrays = water.compute([2, 14, 1, 9, 6], [2, 5, 1, 3, 4], 12)
    wait_for_bars(page, arrays["assigned"] / arrays["rates"])
    with page.expect_download() as saving:
        page.get_by_role("link", name="Save CSV").click()
    lines = open(saving.value.path()).read().splitlines()
    assert saving.value.suggested_filename == "water.csv"
    assert lines[0] == "server,rates,queues,assigned" and len(lines) == 6
    box.fill("2, 5, minus, 3, 4")
    box.press("Enter")
    page.wait_for_selector(".lb-error:has-text(\"rates[2] = 'minus': must be a number\")")
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lab.set_theme(page, theme)
        text, ground = page.evaluate(
            """() => [getComputedStyle(document.querySelector('.js-plotly-plot .xtitle')).fill,
                      getComputedStyle(document.querySelector('.jp-Notebook')).backgroundColor]"""
        )
        assert contrast(text, ground) >= 4.5, (theme, text, ground)  # WCAG AA
    assert page.errors == []


def test_the_animation_plays_and_steps(page, at):
    """As stored, before anything is run: Play goes through all dispatchers, a click on the slider goes to one."""
    lab.open_notebook(page, at("notebooks/05_herding.ipynb"))
    stored = page.locator(".jp-RenderedPlotly").first
    stored.scroll_into_view_if_needed()
    stored.hover()  # a picture until the mouse comes
    page.wait_for_selector(".js-plotly-plot .slider-group", timeout=60_000)
    plot = "document.querySelector('.js-plotly-plot')"
    total = f"Array.from({plot}._fullData[1].y).reduce((a, b) => a + b, 0)"
    everything = page.evaluate(total)
    assert everything > 5
    play = page.locator(".updatemenu-button", has_text="Play").first
    play.scroll_into_view_if_needed()
    play.click()
    page.wait_for_function(f"{total} === 0", timeout=15_000)  # nobody has sent
    page.wait_for_function(f"{total} > 0 && {total} < {everything}", timeout=15_000)
    page.wait_for_function(f"Math.abs({total} - {everything}) < 1e-9", timeout=30_000)  # all have
    label = page.locator(".slider-label:text-is('3')").first.bounding_box()
    page.mouse.click(label["x"] + label["width"] / 2, label["y"] - 12)  # on the rail, over the label
    page.wait_for_function(f"{plot}.layout.sliders[0].active === 3 && {total} < {everything}", timeout=15_000)
    assert page.evaluate(f"Array.from({plot}._fullData[2].y).some(y => y > 0)")  # what the third one sends
    assert page.errors == []


def wait_for_answer(page, panel, **settings):
    """Until the panel shows, refined, what `compute` gives for these settings."""
    arrays = panel.compute(**panel.settings() | settings)
    expected = [
        mean.value for mean, grows in zip(arrays["means"], arrays["growing"], strict=True) if grows is None
    ]
    page.wait_for_function(
        """expected => {
            const y = Array.from(document.querySelector('.js-plotly-plot').data[0].y);
            return document.querySelector('.lb-state').textContent.startsWith('refined')
                && y.length === expected.length && y.every((v, i) => v === expected[i]);
        }""",
        arg=expected,
        timeout=30_000,
    )


def test_load_and_heterogeneity_by_hand(page, at):
    """Keys, a drag, Stop, Copy and Reset; then Restart and Run All, twice."""
    panel = LoadPanel()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lab.open_notebook(page, at("notebooks/07_load_and_heterogeneity.ipynb"))
    lab.run_all(page)
    wait_for_answer(page, panel)
    press(page, "load", "ArrowRight", 3)
    wait_for_answer(page, panel, load=0.93)
    handle = page.locator(".widget-slider:has(label:text-is('heterogeneity H')) .noUi-handle").first
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    for step in range(1, 41):
        page.mouse.move(box["x"] + box["width"] / 2 + 8 * step, box["y"] + box["height"] / 2)
    page.mouse.up()
    wait_for_answer(page, panel, load=0.93, heterogeneity=100.0)
    page.get_by_role("button", name="Copy as code").click()
    page.wait_for_selector("button:has-text('Copied')")
    assert "fastest=100.0" in page.evaluate("navigator.clipboard.readText()")
    press(page, "load", "ArrowLeft", 1)
    page.wait_for_selector(".lb-state:has-text('refining')")
    page.get_by_role("button", name="Stop").click()
    page.wait_for_selector(".lb-state:has-text('stopped')")
    page.locator("button.widget-button:has-text('Reset')").click()
    wait_for_answer(page, panel)
    assert page.locator(".lb-panel .js-plotly-plot").count() == 1
    for _ in range(2):
        lab.restart_and_run_all(page)
        wait_for_answer(page, panel)
        assert page.locator(".lb-panel .js-plotly-plot").count() == 1
        assert page.locator(".jp-OutputArea-output[data-mime-type*='stderr']").count() == 0
    assert page.errors == []


def contrast(one, other):
    """WCAG's contrast ratio of two CSS colours."""

    def luminance(colour):
        parts = [float(x) / 255 for x in colour.split("(")[1].rstrip(")").split(",")[:3]]
        linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)
