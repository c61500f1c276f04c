"""The mutations of the simulator, and the control of all: as test_mutations.py, for another worker."""

import pytest
from test_mutations import MUTATIONS, SIMULATION, check, copy_with, run


@pytest.mark.parametrize("mutation", SIMULATION, ids=str)
def test_a_wrong_edit_is_noticed(mutation, tmp_path):
    check(mutation, tmp_path)


def test_without_an_edit_nothing_fails(tmp_path):
    """The control: what the mutations break passes in the copy, plain Python included."""
    copy_with(tmp_path, None)
    asked = {mutation.only for mutation in MUTATIONS for name in mutation.tests if name != "architecture"}
    everything = {name for m in MUTATIONS for name in m.tests if not m.only and name != "architecture"}
    in_part = {name for mutation in MUTATIONS for name in mutation.tests} - everything - {"architecture"}
    code, told = run(tmp_path, sorted(everything), ("00", "01", "02", "03"))  # 04 times a million servers
    assert code == 0, told
    code, told = run(
        tmp_path, sorted(in_part), (), f"and ({' or '.join(f'({only})' for only in asked if only)})"
    )
    assert code == 0, told
