"""Runs pytest many times, each in a fork of one process that has the large libraries in: for the mutations.

Reads a line of JSON a run (folder, arguments, environment), writes a line of JSON (exit code, what was printed).
"""

import json
import os
import signal
import sys
import tempfile

import cvxpy
import hypothesis
import ipywidgets
import nbformat
import numba
import pandas
import plotly.graph_objects
import pytest
import scipy.stats

LOADED = (cvxpy, hypothesis, ipywidgets, nbformat, numba, pandas, plotly, scipy.stats)


def play(folder, arguments, environment, output):
    """In the fork: never returns."""
    signal.alarm(600)
    for target in (1, 2):
        os.dup2(output, target)
    os.chdir(folder)
    os.environ.update(environment)
    sys.path.insert(0, folder)
    os._exit(pytest.main(arguments))


def main():
    for line in sys.stdin:
        with tempfile.TemporaryFile() as output:
            child = os.fork()
            if child == 0:
                play(*json.loads(line), output.fileno())
            _, status = os.waitpid(child, 0)
            output.seek(0)
            told = output.read().decode(errors="replace")
        print(json.dumps([os.waitstatus_to_exitcode(status), told[-3000:]]), flush=True)


if __name__ == "__main__":
    main()
