"""How sure is a number? Confidence intervals over replications, and percentiles of counts."""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit


class Estimate(NamedTuple):
    """A number and its confidence interval; without at least two samples the interval is (nan, nan)."""

    value: float
    low: float
    high: float

    def __str__(self):
        if math.isnan(self.low):
            return f"{self.value:.4g}"
        half = (self.high - self.low) / 2
        if half == 0:
            return f"{self.value:.4g} ± 0"
        digits = max(0, 1 - math.floor(math.log10(half)))
        return f"{self.value:.{digits}f} ± {half:.{digits}f}"


def estimate(samples, confidence=0.95):
    """Mean of independent samples with Student's t interval; samples that are nan are left out.

    Parameters
    ----------
    samples : array_like, shape (k,)
    confidence : float, between 0 and 1
    """
    if not (isinstance(confidence, float) and 0 < confidence < 1):
        raise ValueError(f"confidence = {confidence!r}: must be a number between 0 and 1 (0.95 = 95 %)")
    samples = np.asarray(samples, dtype=float)
    samples = samples[~np.isnan(samples)]
    k = samples.size
    mean = float(samples.mean()) if k else math.nan
    if k < 2:
        return Estimate(mean, math.nan, math.nan)
    half = float(stdtrit(k - 1, (1 + confidence) / 2) * samples.std(ddof=1) / math.sqrt(k))
    return Estimate(mean, mean - half, mean + half)


def nearest_rank(histogram, percent):
    """Smallest response time that at least `percent` % of the jobs do not exceed; exact, no interpolation."""
    if isinstance(percent, bool) or not isinstance(percent, int | float) or not 0 < percent <= 100:
        raise ValueError(
            f"percent = {percent!r}: must be a number above 0 and at most 100 (99.9 = all but one in 1,000)"
        )
    if not np.any(histogram):
        return math.nan
    upto = np.cumsum(histogram)
    rank = math.ceil(Fraction(str(percent)) / 100 * int(upto[-1]))
    return int(np.searchsorted(upto, rank))
