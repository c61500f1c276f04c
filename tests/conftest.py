"""What the tests share."""

import json
import os
from fractions import Fraction
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

HERE = Path(__file__).parent
os.environ.setdefault(
    "TQDM_DISABLE", "1"
)  # progress bars depend on the clock; kernels of notebooks inherit it

hypothesis.settings.register_profile("full", deadline=None, max_examples=200)  # a first call compiles
quick = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
hypothesis.settings.register_profile(
    "mutation", deadline=None, max_examples=60, phases=quick, derandomize=True
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "full"))


def golden(name):
    """Cases of a reference file, with exact numbers as Fractions."""
    cases = json.loads((HERE / "reference" / f"{name}.json").read_text())
    for case in cases:
        case["ideal_workload"] = Fraction(case["ideal_workload"])
        case["arrivals"] = float(Fraction(str(case["arrivals"])))
        if case["probabilities"]:
            case["probabilities"] = [Fraction(p) for p in case["probabilities"]]
    return cases


RATE = st.one_of(st.just(0.0), st.floats(1e-6, 1e6), st.sampled_from([0.1, 0.3, 1.0, 2.0, 5.0]))
QUEUE = st.one_of(st.integers(0, 5), st.integers(0, 1000), st.integers(0, 2**40))
SERVERS = st.integers(1, 9)
VOLUME = st.one_of(st.just(0.0), st.integers(0, 1000).map(float), st.floats(1e-3, 1e6))


@st.composite
def states(draw, servers=SERVERS, rate=RATE, queue=QUEUE, volume=VOLUME):
    """(queues, rates, arrivals) over the ranges promised: zeros, ties, long queues, one server."""
    n = draw(servers)
    rates = draw(st.lists(rate, min_size=n, max_size=n).filter(any))
    return draw(st.lists(queue, min_size=n, max_size=n)), rates, draw(volume)


@st.composite
def balanced_states(draw):
    """Long queues, nearly balanced, and little to pour: where plain doubles lose their digits."""
    rates = draw(st.lists(st.floats(0.5, 10), min_size=2, max_size=9))
    level = draw(st.integers(10**3, 10**11))
    queues = [max(0, int(mu * level) + draw(st.integers(-3, 3))) for mu in rates]
    return queues, rates, draw(st.integers(1, 50).map(float))


def pytest_collection_modifyitems(items):
    """Browser tests skip with a message where there is no browser, except where that would hide something."""
    import lab

    if lab.chromium() or os.environ.get("BROWSER_TESTS") == "required":
        return
    for item in items:
        if "browser" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="no Chromium found: install it, or set BROWSER_PATH"))
