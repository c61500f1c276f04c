"""A comparison under way: taken forward slice by slice, with its results so far at any time."""

import math
import os
import time
from concurrent.futures import ThreadPoolExecutor, wait
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

    Parameters and errors are those of `compare`; `workload.rounds` is where it ends. A trace is for `compare`.
    """

    def __init__(
        self, workload, policies, replications=1, warmup=0, information=COMPLETE, splittable=True, tasks=False
    ):
        self.workload, self.warmup = workload, warmup
        self._conditions = warmup, information, splittable, tasks
        self.policies = checked(workload, policies, replications, *self._conditions)
        if workload.is_trace:
            raise ValueError(f"workload = {workload!r}: a trace has its length; give it to compare")
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
        wait(self._tasks)  # all of it: nobody may read counts that still move
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.result()

    def abandon(self):
        """Make way: what has not begun of what was started never will. No results can be had afterwards."""
        for task in self._tasks:
            task.cancel()

    def run(self, seconds=math.inf, least=0, most=math.inf, limit=math.inf):
        """Go on for about `seconds`, at most to the round `most` or the end.

        Till the round `least` it goes on longer, but no longer than about `limit` seconds, once a round counts.
        """
        end, size, began = min(most, self.workload.rounds), 16, time.perf_counter()
        while self.now < end:
            lap = time.perf_counter()
            self.start(min(size, end - self.now))
            self.wait()
            spent = time.perf_counter() - began
            pace = (time.perf_counter() - lap) / size
            if spent + 8 * pace > seconds and self.now >= least:
                break
            if spent > limit and self.now > self.warmup:
                break
            wanted = max(8, least - self.now, (seconds - spent) / pace)
            size = int(min(end, max(1, min(wanted, (limit - spent) / pace))))

    def results(self):
        """The results so far, a `Comparison`; its workload is as long as what was done."""
        so_far = replace(self.workload, rounds=self.now)
        counts = [one.counts() for one in self._replications]
        return collected(so_far, self.policies, counts, *self._conditions[:3])
