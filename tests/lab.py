"""A real JupyterLab in a real Chromium, for the browser tests and for whoever wants to look."""

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parent.parent
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def chromium():
    """Path of the system's Chromium, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return os.environ.get("BROWSER_PATH") or next(filter(None, map(shutil.which, names)), None)


@contextlib.contextmanager
def jupyterlab(folder):
    """Serve `folder` (a copy of notebooks/ and figures/) on 127.0.0.1; gives a function name -> address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--ServerApp.port={port}"]
    command += ["--ServerApp.ip=127.0.0.1", f"--IdentityProvider.token={token}", "--allow-root"]
    command += ["--LabApp.expose_app_in_browser=True", f"--ServerApp.root_dir={folder}"]
    # settings of its own, so that no test depends on (or changes) those of the person at this machine
    env = os.environ | {
        "JUPYTER_CONFIG_DIR": f"{folder}/.config",
        "JUPYTERLAB_SETTINGS_DIR": f"{folder}/.settings",
    }
    env |= {"JUPYTERLAB_WORKSPACES_DIR": f"{folder}/.workspaces", "PYTHONPATH": str(ROOT)}
    settings = Path(folder) / ".settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)  # cells out of sight stay on the page, so that they can be looked at
    (settings / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    with open(f"{folder}/lab.log", "w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=env)
    try:
        for _ in range(240):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api?token={token}", timeout=5)
                break
            time.sleep(0.25)
        yield lambda name: f"http://127.0.0.1:{port}/lab/tree/{name}?reset&token={token}"
    finally:
        server.terminate()
        server.wait(timeout=30)


def copy_suite(folder):
    """A folder of its own for a browser session, so that the committed notebooks stay as they are."""
    for part in ("notebooks", "figures"):
        shutil.copytree(ROOT / part, Path(folder) / part, dirs_exist_ok=True)
    return folder


def open_notebook(page, address):
    """Open a notebook; wait until its cells are on the page and its kernel is ready (a run before asks which)."""
    page.goto(address)
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    page.wait_for_function(
        "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.connectionStatus === 'connected'",
        timeout=60_000,
    )


def run_all(page):
    """Run ▸ Run All Cells, and wait until the last cell has run."""
    page.evaluate(
        """() => {
            window.allRan = false;
            window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => { window.allRan = true; });
        }"""
    )
    page.wait_for_function("window.allRan", timeout=120_000)


def restart_and_run_all(page):
    """Kernel ▸ Restart Kernel and Run All Cells, and its question answered; wait until the last cell has run."""
    page.evaluate(
        """() => {
            window.allRan = false;
            window.jupyterapp.commands.execute('notebook:restart-run-all').then(() => { window.allRan = true; });
        }"""
    )
    page.locator(".jp-Dialog button.jp-mod-accept").click()
    page.wait_for_function("window.allRan", timeout=180_000)


def set_theme(page, name):
    """JupyterLab's own theme: 'JupyterLab Light' or 'JupyterLab Dark'."""
    page.evaluate(
        f"() => window.jupyterapp.commands.execute('apputils:change-theme', {{theme: {json.dumps(name)}}})"
    )
    page.wait_for_selector(f"body[data-jp-theme-name='{name}']", state="attached")
    page.wait_for_timeout(1500)


def bars(page, trace=1):
    """Heights of a trace of the first live figure, as the browser holds them."""
    return page.evaluate(f"() => Array.from(document.querySelector('.js-plotly-plot').data[{trace}].y)")
