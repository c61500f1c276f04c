"""The door: turn what a caller gave into arrays that kernels read, and word what is wrong with it."""

import math
import reprlib

import numpy as np

# What a kernel's validating pass may find. A fault is code + 8 * (row * servers + server); 0 is none.
QUEUE, RATE, NO_RATE, ARRIVALS, BATCH = 1, 2, 3, 4, 5
LARGEST_QUEUE = 2.0**53  # beyond it doubles no longer hold every whole number
SMALLEST_RATE, LARGEST_RATE = 1e-100, 1e100  # beyond them heights and volumes overflow

RULES = {
    QUEUE: ("queues", "every queue must be a whole number of jobs from 0 to 2**53"),
    RATE: ("rates", "every rate must be finite and at least 0 (0 = out of service; else 1e-100 to 1e100)"),
    NO_RATE: ("rates", "at least one rate must be above 0 (0 = out of service)"),
    ARRIVALS: ("arrivals", "the arrivals of a round must be finite, at least 0 and at most 2**53 jobs"),
    BATCH: ("batch", "the mean batch must be finite and at least 0 (1 = jobs are split; 0 = as water)"),
}


def as_floats(name, value):
    """`value` as a float64 array; a ValueError that names it if it is not made of real numbers."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        return value
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "iufO" or (array.dtype == object and None in array.ravel().tolist()):
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{name} = {reprlib.repr(value)}: must be real numbers in rows of equal length"
        ) from None


def lay_out(queues, rates, **volumes):
    """Broadcast to what the kernels take.

    Parameters
    ----------
    queues, rates : array_like, shape (..., n)
    volumes : array_like, shape (...,)
        Named numbers a state, such as arrivals.

    Returns
    -------
    arrays : list of float64 arrays
        Queues and rates of shape (k, n), each volume of shape (k,); k is 1 where one row serves all.
    shape : tuple
        The broadcast shape of the states, without the servers.
    """
    given = {"queues": as_floats("queues", queues), "rates": as_floats("rates", rates)}
    for (name, array), typed in zip(given.items(), (queues, rates), strict=True):
        if array.ndim == 0 or array.shape[-1] == 0:
            raise ValueError(
                f"{name} = {reprlib.repr(typed)}: must hold one number for each server, and at least one server"
            )
    servers = given["queues"].shape[-1]
    if given["rates"].shape[-1] != servers:
        raise ValueError(
            f"queues are {servers} long, rates {given['rates'].shape[-1]}: both need one number for each server"
        )
    leading = {name: array.shape[:-1] for name, array in given.items()}
    for name, value in volumes.items():
        given[name] = as_floats(name, value)
        leading[name] = given[name].shape
    shape = _common_shape(leading, given) if any(leading.values()) else ()
    return [_rows(given[name], leading[name], shape) for name in given], shape


def _common_shape(leading, given):
    try:
        return np.broadcast_shapes(*leading.values())
    except ValueError:
        told = ", ".join(f"{name} {given[name].shape}" for name in given)
        raise ValueError(
            f"shapes do not fit together: {told}; all axes but the servers' must be equal or 1"
        ) from None


def _rows(array, leading, shape):
    own = array.shape[len(leading) :]  # (n,) or ()
    rows = math.prod(leading)
    if rows != 1 and leading != shape:
        array, rows = np.broadcast_to(array, shape + own), math.prod(shape)
    if not (array.flags.c_contiguous and array.flags.writeable):  # kernels take no read-only arrays
        array = array.copy()
    return array.reshape((rows, *own))


def raise_fault(fault, shape, servers, **given):
    """Word the fault that a kernel found; `given` are the arguments as the caller typed them."""
    code, place = fault % 8, fault // 8
    name, rule = RULES[code]
    array = np.asarray(given[name], dtype=float)
    at = np.unravel_index(place // servers, shape) if shape else ()
    if code in (QUEUE, RATE):
        at = (*at, place % servers)
    if code == NO_RATE:
        raise ValueError(f"{name} = {reprlib.repr(array.tolist())}: {rule}")
    at = at[len(at) - array.ndim :]
    at = tuple(0 if size == 1 else int(i) for i, size in zip(at, array.shape, strict=True))
    index = f"[{', '.join(map(str, at))}]" if at else ""
    raise ValueError(f"{name}{index} = {brief(array[at])}: {rule}")


def brief(number):
    """A float as a person would type it: every digit that matters, no needless .0."""
    return repr(float(number)).removesuffix(".0")
