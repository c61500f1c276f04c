"""What every committed notebook must be, so that nbval compares something."""

import re
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parent.parent / "notebooks"
PATHS = sorted(FOLDER.glob("*.ipynb"))
NUMBER = re.compile(r"\d+\.\d+|\b\d{2,}\b")


@pytest.fixture(params=PATHS, ids=[p.stem for p in PATHS])
def path(request):
    return request.param


@pytest.fixture
def book(path):
    return nbformat.read(path, as_version=4)


def code(book):
    return [cell for cell in book.cells if cell.cell_type == "code"]


def ignored(cell):
    return "nbval-ignore-output" in cell.metadata.get("tags", [])


def printed(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def test_executed_in_order_without_errors(book):
    assert [cell.execution_count for cell in code(book)] == list(range(1, len(code(book)) + 1))
    for cell in code(book):
        assert all(output.output_type != "error" for output in cell.outputs), cell.source
        assert all(output.get("name") != "stderr" for output in cell.outputs), cell.source
        assert "UsageError" not in printed(cell)


def test_numbers_are_compared(book):
    compared = [cell for cell in code(book) if not ignored(cell)]
    assert len(NUMBER.findall("".join(map(printed, compared)))) >= 3
    assert 5 * sum(map(ignored, code(book))) <= len(code(book))


def test_cells_are_single_steps(book):
    lengths = sorted(len(cell.source.splitlines()) for cell in code(book))
    assert lengths[len(lengths) // 2] <= 4 and lengths[-1] <= 15
    for cell in code(book):
        assert not re.search(r"^\s*(def|class) ", cell.source, re.M), (
            "what another could want belongs in lbcore"
        )


def test_stored_lean(book, path):
    assert "widgets" not in book.metadata
    assert path.stat().st_size <= 500_000
    assert book.metadata.kernelspec.name == "python3"


def test_panels_show_a_picture_before_they_are_run(book):
    for cell in code(book):
        for output in cell.outputs:
            data = output.get("data", {})
            assert "VBox(" not in data.get("text/plain", "")
            assert (
                "application/vnd.plotly.v1+json" not in data or "image/png" in data
            )  # GitHub shows no plotly
            if "application/vnd.jupyter.widget-view+json" in data:
                assert ignored(cell) and "image/png" in data
                assert 'alt="' in data["text/html"] and "Run All Cells to make this live" in data["text/html"]


def test_solutions_are_collapsed_behind_a_blank(book):
    cells = code(book)
    for before, cell in pairwise(cells):
        if "solution" in cell.metadata.get("tags", []):
            assert cell.metadata["jupyter"] == {"source_hidden": True, "outputs_hidden": True}
            assert "answer = None" in before.source and "Still blank" in printed(before)
            assert "✔ Right" in printed(cell) or ("lb.check" not in cell.source and printed(cell))


def test_links_and_pictures_exist(book):
    for cell in book.cells:
        if cell.cell_type == "markdown":
            for target in re.findall(r"\]\(([^)#]+)\)", cell.source):
                assert target.startswith("https://") or (FOLDER / target).exists(), target
            assert all(alt for alt in re.findall(r"!\[(.*?)\]", cell.source))


def test_start_here_maps_every_notebook():
    text = (FOLDER / "00_start_here.ipynb").read_text()
    readme = (FOLDER.parent / "README.md").read_text()
    for path in PATHS[1:]:
        assert f"({path.name})" in text and f"(notebooks/{path.name})" in readme
