"""How the house is built: floors, lazy names, one list of dependencies, kernels that notice edits."""

import ast
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import lbcore as lb

ROOT = Path(__file__).parent.parent
FLOORS = [  # from the ground up; a module imports only from floors below its own
    "compiled",
    "checks",
    "waterfill",
    "assignment",
    "cluster",
    "coordination",
    "homogeneous",
    "derivation",
    "workload",
    "draws",
    "queues",
    "policies",
    "messages",
    "rounds",
    "tasks",
    "information",
    "intervals",
    "results",
    "comparisons",
    "simulation",
    "simulator",
    "running",
    "summary",
    "limited",
    "herding",
    "guessing",
    "theory",
    "stability",
    "judge",
    "figures",
    "charts",
    "message_charts",
    "areas",
    "stability_charts",
    "animation",
    "timing",
    "explore",
    "publication",
    "notebook",
]
SOURCES = sorted((ROOT / "lbcore").rglob("*.py"))


def floor(path):
    parts = path.relative_to(ROOT / "lbcore").with_suffix("").parts
    return parts[0]


def run(code, **env):
    """Run Python code in a process of its own; its standard output."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | env,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def imported(node):
    """Full names that a node of a syntax tree imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [f"{node.module}.{alias.name}" for alias in node.names] if isinstance(node, ast.ImportFrom) else []


@pytest.mark.parametrize("path", SOURCES, ids=[str(p.relative_to(ROOT)) for p in SOURCES])
def test_imports_run_only_downwards(path):
    if floor(path) == "__init__":
        return
    own = FLOORS.index(floor(path))
    for node in ast.walk(ast.parse(path.read_text())):
        for name in imported(node):
            if name.startswith("lbcore."):
                below = name.split(".")[1]
                assert FLOORS.index(below) <= own, f"{floor(path)} -> {below} points upwards"
                assert below != floor(path) or below in ("explore", "policies"), (
                    f"{floor(path)} imports itself"
                )


def test_no_file_is_too_long_to_read_in_one_go():
    assert max((path.read_text().count("\n"), str(path)) for path in SOURCES)[0] <= 300


def test_twins_import_nothing_of_the_library():
    for twin in ("naive.py", "twin.py", "knowing.py"):
        source = (ROOT / "tests" / twin).read_text()
        names = [name for node in ast.walk(ast.parse(source)) for name in imported(node)]
        assert names or twin == "knowing.py"  # which needs nothing at all
        assert not [name for name in names if name.split(".")[0] not in sys.stdlib_module_names]


def test_import_is_light():
    heavy = ("cvxpy", "plotly", "numba", "ipywidgets", "pandas", "numpy")
    code = f"import sys, lbcore; print([m for m in {heavy!r} if m in sys.modules])"
    assert run(code).strip() == "[]"
    code = "import sys, lbcore as lb; lb.ideal_workload([1], [1], 1); print('plotly' in sys.modules)"
    assert run(code).strip() == "False"


def test_public_names_are_all_there():
    for name in lb.__all__:
        assert getattr(lb, name) is not None and name in dir(lb)
    with pytest.raises(AttributeError, match=r"has no name 'ideal_wrkload'; it has: .*ideal_workload"):
        _ = lb.ideal_wrkload


def test_public_functions_are_documented():
    for name in set(lb.__all__) - {"warm"}:
        thing = getattr(lb, name)
        assert thing.__doc__, name
        if inspect.isfunction(thing) and inspect.signature(thing).parameters and name != "show":
            assert "Parameters" in thing.__doc__, name


def dependencies():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_conda_and_pip_install_the_same():
    listed = re.findall(r"^  - ([\w-]+[<>=.,\d]*)$", (ROOT / "environment.yml").read_text(), re.M)
    conda = [name for name in listed if re.match(r"[\w-]+", name)[0] not in ("python", "pip", "conda-forge")]
    assert sorted(conda) == sorted(dependencies()["dependencies"])
    assert "python=3.11" in listed and "    - -e ." in (ROOT / "environment.yml").read_text().splitlines()


def test_lock_has_every_dependency_and_no_address():
    lock = (ROOT / "requirements.lock").read_text()
    extras = dependencies()["optional-dependencies"].values()
    for wanted in [*dependencies()["dependencies"], *(name for extra in extras for name in extra)]:
        name = re.match(r"[\w-]+", wanted)[0].lower().replace("_", "-")
        assert re.search(rf"^{name}==", lock, re.M), f"{name} is not locked: run 'make lock'"
    assert "://" not in lock and "--hash=sha256:" in lock


def test_version_is_the_same_everywhere():
    version = dependencies()["version"]
    assert lb.__version__ == version
    assert f"version: {version}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()


def test_an_edited_callee_is_noticed(tmp_path):
    """numba's own cache would go on with the old code: the caller's file has not changed."""
    room = tmp_path / "lbcore"
    room.mkdir()
    for name in ("__init__.py", "compiled.py"):
        shutil.copy(ROOT / "lbcore" / name, room)
    (room / "constants.py").write_text("SCALE = 1\n")
    (room / "callee.py").write_text(
        "from lbcore.compiled import kernel\nfrom lbcore.constants import SCALE\n\n"
        "@kernel('int64(int64)')\ndef step(x):\n    return SCALE * (x + 1)\n"
    )
    (room / "caller.py").write_text(
        "from lbcore.callee import step\nfrom lbcore.compiled import kernel\n\n"
        "@kernel('int64(int64)')\ndef twice(x):\n    return step(step(x))\n"
    )

    def answer():
        code = (
            f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import lbcore.caller as c; print(c.twice(1))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
        return done.stdout.strip(), done.stderr

    first, second = answer(), answer()
    assert first[0] == second[0] == "3"
    assert "kept): twice" in first[1] and "compiling" not in second[1]  # kept for next time, and said so
    (room / "callee.py").write_text((room / "callee.py").read_text().replace("x + 1", "x + 5"))
    assert answer()[0] == "11"
    (room / "constants.py").write_text("SCALE = 2\n")  # a frozen global of a kernel
    assert answer()[0] == "34"


def test_kernels_give_the_same_bits_without_compiling():
    code = (
        "import numpy as np, lbcore as lb; r = np.random.default_rng(5); q = r.integers(0, 2000, (40, 23));"
        "mu = r.uniform(1, 10, 23); a = r.integers(0, 500, 40); w = lb.ideal_assignment(q, mu, a);"
        "print(w.tobytes().hex(), lb.ideal_workload(q, mu, a).tobytes().hex())"
    )
    assert run(code) == run(code, NUMBA_DISABLE_JIT="1")


def test_figures_stand_beside_their_data_and_provenance():
    for picture in (ROOT / "figures").glob("*.png"):
        assert picture.stem in lb.publication.FIGURES
    for name, make in lb.publication.FIGURES.items():
        _, table, settings = make()
        published = (ROOT / "figures" / f"{name}.csv").read_text()
        assert table.to_csv(index=False) == published, f"figures/{name} is stale: run 'make figures'"
        told = json.loads((ROOT / "figures" / f"{name}.json").read_text())
        assert told["settings"] == json.loads(json.dumps(settings)) and told["packages"] and told["command"]
        assert all((ROOT / "figures" / f"{name}.{kind}").stat().st_size > 1000 for kind in ("png", "svg"))


def test_numbers_in_the_readme_come_from_its_own_code():
    """The example is run line by line; each comment's numbers must be what the line gives."""
    readme = (ROOT / "README.md").read_text()
    names, checked = {}, 0
    for line in re.search(r"```python\n(.*?)```", readme, re.S)[1].splitlines():
        code, _, comment = line.partition("  # ")
        if not comment:
            exec(code, names)
            continue
        told = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", comment)]
        assert told == pytest.approx(np.ravel(eval(code, names)).tolist()), line
        checked += 1
    assert checked >= 2


def test_table_in_the_readme_is_what_its_code_prints(capsys):
    readme = (ROOT / "README.md").read_text()
    code, table = re.search(r"```python\n([^`]*lb\.compare[^`]*)```\n\n```text\n([^`]*)```", readme).groups()
    exec(code, {})
    assert capsys.readouterr().out == table
