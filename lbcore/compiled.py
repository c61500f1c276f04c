"""Kernels: plain Python loops that numba compiles once and keeps.

numba's own cache looks at a kernel's file alone: after an edit in another file that the kernel calls, it
would go on with the old code. So the compiled kernels are kept in a folder named after a digest of every file
that holds a kernel, and of those that such a file imports from: any edit there compiles all of them anew.
"""

import hashlib
import os
import re
import shutil
import sys
from pathlib import Path

import numba

_ROOM = Path(__file__).parent


def fingerprint():
    """Digest of every source file that a kernel may use something of, and of numba's version."""
    sources = {path: path.read_bytes() for path in _ROOM.rglob("*.py")}
    held = {path for path, source in sources.items() if b"@kernel" in source}
    lent = {
        _ROOM / f"{name.decode().replace('.', '/')}.py"
        for p in held
        for name in re.findall(rb"from lbcore\.([\w.]+) import", sources[p])
    }
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(held | lent & set(sources)):
        digest.update(path.relative_to(_ROOM).as_posix().encode() + b"\0" + sources[path] + b"\0")
    return digest.hexdigest()[:16]


def _make_store():
    """Folder for the compiled kernels: beside the sources, else in the user's cache; None if neither."""
    chosen = numba.config.CACHE_DIR
    homes = [Path(chosen)] if chosen else [_ROOM / "__pycache__", Path.home() / ".cache" / "lbcore"]
    for home in homes:
        store = home / f"kernels-{fingerprint()}"
        try:
            store.mkdir(parents=True, exist_ok=True)
            older = sorted(home.glob("kernels-*"), key=os.path.getmtime)[:-3]
            for folder in older:  # of earlier edits; a process still using one just compiles again
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
        if os.access(store, os.W_OK):
            return store
    return None


_STORE = None if numba.config.DISABLE_JIT else _make_store()


def kernel(signature):
    """Decorator: compile a function when its module is imported, or load it compiled.

    No fast-math, so a seed gives the same bits everywhere a kernel runs; a division by 0 gives inf or nan
    as in NumPy. With NUMBA_DISABLE_JIT=1 the function stays plain Python.

    Parameters
    ----------
    signature : str
        Types in numba's notation, such as `lbcore.policies.DECIDE_ONE`.
    """

    def compile_or_load(function):
        if numba.config.DISABLE_JIT:
            return function
        kept = _STORE is not None and Path(function.__code__.co_filename).exists()  # not so what is typed in
        options = {"error_model": "numpy", "cache": kept, "nogil": True}
        stem = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}-*.nbi"
        if not kept or not any(_STORE.rglob(stem)):
            told = "once, and kept" if kept else "not kept"
            print(
                f"\rlbcore: compiling ({told}): {function.__name__:<24}", end="", file=sys.stderr, flush=True
            )
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(_STORE or "")
        try:
            return numba.njit(signature, **options)(function)
        finally:
            numba.config.CACHE_DIR = before

    return compile_or_load
