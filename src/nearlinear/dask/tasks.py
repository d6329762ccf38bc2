"""Tasks on the cluster: pure functions, sums in a fixed order.

No task leaves anything behind but its result, and every one can be run again. What a task needs of
the client travels as the result of a task of its own, which the scheduler can make anew: scattered
data would be gone with the workers that hold it.
"""

from itertools import count
from uuid import uuid4

from .required import dask

_FAN_IN = 8  # results that one task adds up


class Tasks:
    """Runs functions on a cluster, and tells the names of tasks of one fit from those of others."""

    def __init__(self, client):
        self._client, self._fit, self._numbers = client, uuid4().hex[:12], count()

    def submit(self, function, *arguments):
        """A future of ``function(*arguments)``, in which futures stand for their results."""
        name = function.__name__.strip("_")
        key = f"nearlinear-{name}-{self._fit}-{next(self._numbers)}"
        return self._client.submit(function, *arguments, key=key)

    def held(self, value):
        """A future of a value of the client's, for all tasks that need it."""
        # it is sent once, however large: what Dask would warn of
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            return self.submit(as_is, value)

    def results(self, futures):
        return self._client.gather(futures)

    def total(self, add, futures, *more):
        """All results, added up by ``add(list, *more)`` in an order that never changes."""
        while True:
            groups = [futures[i : i + _FAN_IN] for i in range(0, len(futures), _FAN_IN)]
            futures = [self.submit(add, group, *more) for group in groups]
            if len(futures) == 1:
                return self.results(futures[0])

    @property
    def n_threads(self):
        return max(1, sum(self._client.nthreads().values()))


def as_is(value):
    return value
