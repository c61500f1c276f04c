"""What the notebooks need around the library: sources to read and exercises that are checked."""

import inspect

import numpy as np

_GREEN, _AMBER = "✔", "✘"


def show(function):
    """Show the source of a function of the library, highlighted, where it is taught.

    Parameters
    ----------
    function : a function or class of lbcore

    Returns
    -------
    IPython.display.Code
    """
    from IPython.display import Code

    function = getattr(function, "py_func", function)  # a compiled kernel keeps its Python source
    try:
        source = inspect.getsource(function)
    except TypeError:
        raise ValueError(f"function = {function!r}: must be a function or class written in Python") from None
    return Code(source, language="python")


def check(answer, truth, hint="", tolerance=1e-3):
    """Check the answer to an exercise and print what came of it.

    Parameters
    ----------
    answer : number, array_like or None
        What the reader found; None while the blank is still blank.
    truth : callable
        Computes the right answer; called only once there is one to compare with.
    hint : str
        Printed with a wrong answer.
    tolerance : float
        How far off an answer may be, relative to the largest value (at least 0.001): answers are rounded by hand.
    """
    if answer is None or answer is ...:
        print("Still blank: put your answer in place of None and run this cell again.")
        return
    right = np.asarray(truth(), float)
    try:
        given = np.asarray(answer, float)
    except (TypeError, ValueError):
        print(f"{_AMBER} {answer!r} is not a number or a list of numbers.")
        return
    if given.shape != right.shape:
        print(
            f"{_AMBER} The answer should have shape {right.shape}, yours has {given.shape}. {hint}".rstrip()
        )
    elif np.max(np.abs(given - right), initial=0) <= tolerance * max(
        1e-300, np.max(np.abs(right), initial=0)
    ):
        print(f"{_GREEN} Right.")
    else:
        print(f"{_AMBER} Not yet. {hint}".rstrip())
