"""Results of several policies side by side."""

import html

import numpy as np
import pandas as pd

from lbcore.checks import brief


class Comparison(dict):
    """Results by policy name, shown as a table."""

    def table(self, percents=(99, 99.99), confidence=0.95):
        """The policies with their intervals; "growing" in place of what would flatter an unstable policy.

        Parameters
        ----------
        percents : sequence of float
            Percentiles to show: of each replication, then the mean of these.
        confidence : float

        Returns
        -------
        pandas.DataFrame
            Texts, one row a policy.
        """
        rows = {}
        for name, result in self.items():
            growth = f"growing, +{result.growth.value:.3g} jobs a round"
            rows[name] = {
                "mean response": growth if result.growing else str(result.estimate("mean", confidence))
            }
            for percent in np.ravel(percents).tolist():
                told = "–" if result.growing else str(result.estimate(percent, confidence))
                rows[name][f"p{brief(percent)}"] = told
            rows[name]["unfinished"] = f"{100 * result.unfinished_share:.3g} %"
        return pd.DataFrame.from_dict(rows, orient="index")

    @property
    def tasks(self):
        """The same of tasks; see `Result.tasks`."""
        return Comparison({name: result.tasks for name, result in self.items()})

    def _caption(self):
        result = next(iter(self.values()), None)
        if result is None:
            return "no policies"
        return (
            f"Response times in rounds; {len(result.runs)} x {result.workload.rounds:,} rounds"
            f"{f' ({result.warmup:,} of them warm-up)' if result.warmup else ''} at load {result.workload.load:.4g}, "
            f"{result.completed + result.unfinished:,} {result.unit} a policy"
            + ("; ± 95 % intervals" if len(result.runs) > 1 else "; one replication, so no intervals")
            + result.conditions
        )

    def __str__(self):
        return f"{self.table().to_string()}\n{self._caption()}"

    __repr__ = __str__

    def _repr_html_(self):
        return f"{self.table().to_html()}<p>{html.escape(self._caption())}</p>"
