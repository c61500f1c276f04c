"""The helpers that notebooks use: sources and exercises."""

import numpy as np
import pytest

import lbcore as lb


def test_show_gives_the_source_highlighted():
    code = lb.show(lb.ideal_workload)
    assert code.data.startswith("def ideal_workload(queues") and "highlight" in code._repr_html_()
    assert lb.show(lb.waterfill.water_level).data.startswith("@kernel")
    with pytest.raises(ValueError, match="function = <built-in function len>: must be a function or class"):
        lb.show(len)


@pytest.mark.parametrize(
    "answer, told",
    [
        (None, "Still blank"),
        (..., "Still blank"),
        (2.0, "✔ Right."),
        (2.0001, "✔ Right."),
        (2.1, "✘ Not yet. Think of water."),
        ("two", "✘ 'two' is not a number"),
        ([2, 2], "✘ The answer should have shape (), yours has (2,). Think of water."),
        (np.nan, "✘ Not yet."),
    ],
)
def test_check_tells_right_from_wrong(answer, told, capsys):
    lb.check(answer, lambda: 2.0, hint="Think of water.")
    assert capsys.readouterr().out.startswith(told)


def test_the_truth_is_not_computed_for_a_blank():
    lb.check(None, lambda: 1 / 0)
