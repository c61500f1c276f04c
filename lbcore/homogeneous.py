"""Equal servers: the TWF paper's own formula for the probabilities, to set beside water-filling."""

import numpy as np

from lbcore.waterfill import ideal_workload


def closed_form(queues, arrivals):
    """TWF's probabilities by the paper's formula: (level - queue - 1 / |S|) / (arrivals - 1) on S, else 0.

    S are the servers whose queues are below the water level. Right for whole arrivals of at least 2 and jobs sent one
    by one; `twf_probabilities` serves every case.

    Parameters
    ----------
    queues : array_like, shape (..., n)
        Whole numbers.
    arrivals : array_like, shape (...,)
        All jobs of the round, whole, at least 2.

    Returns
    -------
    array, shape (..., n)
    """
    q, a = np.asarray(queues, float), np.asarray(arrivals, float)[..., None]
    level = np.asarray(ideal_workload(queues, np.ones(q.shape[-1]), arrivals))[..., None]
    wet = q < level
    counted = 1 / wet.sum(axis=-1, keepdims=True)
    return np.where(wet, (level - q - counted) / (a - 1), 0.0)


def mean_batch(batches):
    """Size of the batch in which a random job finds itself: the sum of squares over the sum.

    Parameters
    ----------
    batches : array_like, shape (m,)
        Jobs at each dispatcher, not all 0.

    Returns
    -------
    float
    """
    own = np.asarray(batches, float)
    return float((own**2).sum() / own.sum())
