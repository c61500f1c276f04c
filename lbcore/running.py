"""A comparison under way: taken forward slice by slice, with its results so far at any time."""

import math
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

from lbcore.information import COMPLETE
from lbcore.simulator import Replication, checked, collected


@cache
def _pool():
    """The threads that all comparisons under way share: kernels run side by side, one a core."""
    return ThreadPoolExecutor(os.cpu_count() or 1, "lbcore")


class Running:
    """Replications of a comparison, side by side.

    After any number of rounds its results are, to the last bit, those of `compare` for as many rounds.

    Parameters and errors are those of `compare`; `workload.rounds` is where it ends.
    """

    def __init__(
        self, workload, policies, replications=1, warmup=0, information=COMPLETE, splittable=True, tasks=False
    ):
        self.workload, self.warmup = workload, warmup
        self._conditions = warmup, information, splittable, tasks
        self.policies = checked(workload, policies, replications, *self._conditions)
        self._replications = [
            Replication(workload, self.policies, r, *self._conditions) for r in range(replications)
        ]
        self._tasks, self._size = [], 0

    @property
    def now(self):
        """Rounds that every replication has done, the warm-up's too."""
        self.wait()
        return self._replications[0].source.now

    @property
    def done(self):
        """Whether the workload is at its end."""
        return self.now == self.workload.rounds

    def start(self, rounds):
        """Begin with the next rounds in other threads; returns their futures, for who would rather not wait."""
        self.wait()
        self._tasks = [_pool().submit(one.advance, rounds) for one in self._replications]
        return self._tasks

    def wait(self):
        """Wait for what was started; raises what went wrong in it."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.result()

    def run(self, seconds=math.inf, least=0, most=math.inf):
        """Go on for about `seconds`, till at least the round `least`, at most the round `most` or the end."""
        end, size, over = min(most, self.workload.rounds), 32, time.perf_counter() + seconds
        while self.now < end:
            began = time.perf_counter()
            self.start(min(size, end - self.now))
            self.wait()
            left = over - time.perf_counter()
            pace = (time.perf_counter() - began) / size
            if left < 16 * pace and self.now >= least:
                break
            size = int(min(end, max(16, least - self.now, left / pace)))

    def results(self):
        """The results so far, a `Comparison`; its workload is as long as what was done."""
        so_far = replace(self.workload, rounds=self.now)
        counts = [one.counts() for one in self._replications]
        return collected(so_far, self.policies, counts, *self._conditions[:3])
