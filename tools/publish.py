"""Make what is published from code: figures/, the executed notebooks, the HTML pages.

Usage: python tools/publish.py figures|notebooks|html [NAME ...]
"""

import json
import os
import platform
import re
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parent.parent
NOTEBOOKS = ROOT / "notebooks"
CHROMIUM = ["chromium", "chromium-browser", "google-chrome", "chrome"]


def main():
    makers = {"figures": publish_figures, "notebooks": publish_notebooks, "html": publish_html}
    if len(sys.argv) < 2 or sys.argv[1] not in makers:
        sys.exit(__doc__)
    what, names = sys.argv[1], sys.argv[2:]
    if what != "html" and not os.environ.get("BROWSER_PATH"):
        found = next(filter(None, map(shutil.which, CHROMIUM)), None)
        if not found:
            sys.exit("Pictures need Chromium: install it, or set BROWSER_PATH to a Chromium or Chrome")
        os.environ["BROWSER_PATH"] = found
    makers[what](names)


def chosen(names):
    """The notebooks whose file name starts with one of `names`; all if none is given."""
    return [p for p in sorted(NOTEBOOKS.glob("*.ipynb")) if not names or p.name.startswith(tuple(names))]


def publish_figures(names):
    """Each picture as PNG and SVG, beside its data as CSV and where it came from as JSON."""
    from lbcore import publication

    for name, make in publication.FIGURES.items():
        if names and name not in names:
            continue
        print(f"figures/{name}", flush=True)
        figure, table, settings = make()
        stem = ROOT / "figures" / name
        figure.update_layout(paper_bgcolor="white", plot_bgcolor="white", font_color="#333333")
        figure.write_image(f"{stem}.png", scale=2)
        svg = figure.to_image("svg").decode()
        Path(f"{stem}.svg").write_text(svg + "\n")
        table.to_csv(f"{stem}.csv", index=False)
        packages = {package: version(package) for package in ("lbcore", "numpy", "plotly", "kaleido")}
        told = {
            "settings": settings,
            "command": f"make figures ({name})",
            "python": platform.python_version(),
        }
        Path(f"{stem}.json").write_text(json.dumps(told | {"packages": packages}, indent=1) + "\n")


def publish_notebooks(names):
    """Re-execute in place; keep a picture of each panel, drop what changes from run to run."""
    import nbformat
    from nbclient import NotebookClient

    os.environ["LBCORE_PICTURES"] = "1"
    os.environ["TQDM_DISABLE"] = "1"  # progress bars depend on the clock
    os.environ["PLOTLY_RENDERER"] = "plotly_mimetype+png"  # GitHub and HTML pages show no plotly output
    for path in chosen(names):
        print(f"notebooks/{path.name}", flush=True)
        book = nbformat.read(path, as_version=4)
        client = NotebookClient(book, timeout=600, kernel_name="python3", record_timing=False)
        client.execute(cwd=str(NOTEBOOKS))
        book.metadata = {
            "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
            "language_info": {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"},
        }
        nbformat.write(book, path)


def publish_html(names):
    """Pages that need no JupyterLab: panels as pictures, links between pages. Formulas need a network (MathJax)."""
    import nbformat
    from nbconvert import HTMLExporter

    from lbcore.explore.panel import INVITATION

    target = ROOT / "html"
    target.mkdir(exist_ok=True)
    shutil.copytree(ROOT / "figures", target / "figures", dirs_exist_ok=True)
    for path in chosen(names):
        book = nbformat.read(path, as_version=4)
        for cell in book.cells:
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                if data.pop("application/vnd.jupyter.widget-view+json", None):
                    data["text/html"] = data["text/html"].replace(
                        INVITATION, "A slider moves this in JupyterLab"
                    )
            if cell.cell_type == "markdown":
                text = cell.source.replace("../figures/", "figures/")
                cell.source = re.sub(r"\]\((\w+)\.ipynb\)", r"](\1.html)", text)
        page, _ = HTMLExporter().from_notebook_node(book, {"metadata": {"name": path.stem}})
        (target / f"{path.stem}.html").write_text(page)
        print(f"html/{path.stem}.html", flush=True)


if __name__ == "__main__":
    main()
