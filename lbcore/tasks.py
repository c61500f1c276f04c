"""Response times of tasks: a dispatcher's jobs of one round are a task, done when the last of them is.

A server's line is first come first served, and of one round in the order of dispatchers, another one first each
round. Where a job stands in its line, counted from the run's start, and how many the server has done by each round's
end tell when it is done; a task has a part at each server that it was sent to.
"""

import numpy as np

from lbcore.compiled import kernel


@kernel("int64(int64[:, ::1], int64, int64)")
def first_to_reach(done, s, place):
    """The first row in which server s has done `place` jobs; the number of rows if none."""
    low, high = 0, done.shape[0]
    while low < high:
        middle = (low + high) // 2
        if done[middle, s] >= place:
            high = middle
        else:
            low = middle + 1
    return low


@kernel(
    "Tuple((int64[:, ::1], int64[:, ::1]))(int64[:, :, ::1], int64, int64[:, ::1], int64[:, ::1], int64[::1])"
)
def enter(each, first, tasks, parts, line):
    """The tasks and parts so far and those of the next rounds; `line` is how many jobs each server has been sent."""
    count, rows, dispatchers = 0, each.shape[0], each.shape[1]
    for cell in each.flat:
        count += cell > 0
    all_tasks = np.zeros((len(tasks) + rows * dispatchers, 3), dtype=np.int64)
    all_parts = np.empty((len(parts) + count, 3), dtype=np.int64)
    all_tasks[: len(tasks)], all_parts[: len(parts)] = tasks, parts
    task, part = len(tasks), len(parts)
    for row in range(rows):
        for k in range(dispatchers):
            d = (first + row + k) % dispatchers
            for s in range(line.size):
                if each[row, d, s] > 0:
                    line[s] += each[row, d, s]
                    all_parts[part] = (task, s, line[s])
                    all_tasks[task, 1] += 1
                    part += 1
            all_tasks[task, 0] = first + row
            task += all_tasks[task, 1] > 0
    return all_tasks[:task], all_parts


@kernel("UniTuple(int64[:, ::1], 3)(int64[:, ::1], int64, int64[:, ::1], int64[:, ::1])")
def settle(done, first, tasks, parts):
    """What is still open of tasks (round of arrival, parts open, last round) and parts (task, server, place in line).

    `done` is how many jobs each server has done by the end of each row. Third: the tasks that are done now.
    """
    kept = 0
    for part in range(len(parts)):
        task, s = parts[part, 0], parts[part, 1]
        row = first_to_reach(done, s, parts[part, 2])
        if row < len(done):
            tasks[task, 1] -= 1
            tasks[task, 2] = max(tasks[task, 2], first + row)
        else:
            parts[kept] = parts[part]
            kept += 1
    number, left, over = np.empty(len(tasks), dtype=np.int64), 0, 0
    finished = np.empty(tasks.shape, dtype=np.int64)
    for task in range(len(tasks)):
        if tasks[task, 1] > 0:
            number[task] = left
            tasks[left] = tasks[task]
            left += 1
        else:
            finished[over] = tasks[task]
            over += 1
    for part in range(kept):
        parts[part, 0] = number[parts[part, 0]]
    return tasks[:left].copy(), parts[:kept].copy(), finished[:over].copy()


class Tasks:
    """The tasks of a run: those that are open, and a tally of those that are done.

    Attributes
    ----------
    histogram : int64 array
        Tasks that are done by response time in rounds.
    arrived : int
        Tasks that came after the warm-up.
    """

    def __init__(self, servers, warmup):
        self.histogram, self.arrived, self.warmup = np.zeros(1, dtype=np.int64), 0, warmup
        self._tasks, self._parts = np.empty((0, 3), dtype=np.int64), np.empty((0, 3), dtype=np.int64)
        self._line = np.zeros(servers, dtype=np.int64)

    def advance(self, each, left, first):
        """The next rounds, from round `first`.

        Parameters
        ----------
        each : int64 array, shape (rounds, m, n)
            Jobs that each dispatcher sent to each server.
        left : float64 array, shape (rounds, n)
            Jobs at each server at each round's end.
        """
        came = np.count_nonzero(each.any(axis=2), axis=1)
        self.arrived += int(came[max(0, self.warmup - first) :].sum())
        done = self._line + np.cumsum(each.sum(axis=1), axis=0) - left.astype(np.int64)
        self._tasks, self._parts = enter(each, first, self._tasks, self._parts, self._line)
        self._tasks, self._parts, over = settle(done, first, self._tasks, self._parts)
        over = over[over[:, 0] >= self.warmup]
        times = np.bincount(over[:, 2] - over[:, 0] + 1, minlength=self.histogram.size)
        times[: self.histogram.size] += self.histogram
        self.histogram = times
