"""Tasks on the cluster: pure functions, sums in a fixed order.

No task leaves anything behind but its result, and every one can be run again. What a task needs of
the client travels as the result of a task of its own, which the scheduler can make anew: scattered
data would be gone with the workers that hold it.
"""

from contextlib import contextmanager
from itertools import count
from uuid import uuid4

from .._config import allowed_memory, config_context, get_config
from .._warn import warn_user
from .required import dask

_FAN_IN = 8  # results that one task adds up
_PATIENCE = 120.0  # seconds until a cluster has its first worker
_DEATHS = 100  # workers that may die with one task before Dask gives it up


class Tasks:
    """Runs functions on a cluster, and tells the names of tasks of one fit from those of others."""

    def __init__(self, client):
        self._client, self._fit, self._numbers = client, uuid4().hex[:12], count()

    def submit(self, function, *arguments):
        """A future of ``function(*arguments)``, in which futures stand for their results.

        The worker runs it under the smaller of its own memory limit and that of the caller.
        """
        name = function.__name__.strip("_")
        key = f"nearlinear-{name}-{self._fit}-{next(self._numbers)}"
        limit = get_config()["max_memory"]
        return self._client.submit(_run_limited, limit, function, *arguments, key=key)

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


def require_workers(client):
    """Wait a while for a first worker: without one, the results of tasks never come.

    Tasks are there already, for which a cluster that adapts may have to start one.
    """
    if client.nthreads():
        return
    warn_user(f"The Dask cluster has no workers: this fit waits {_PATIENCE:g} seconds for one.")
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError as error:
        raise TimeoutError(
            f"The Dask cluster still has no workers after {_PATIENCE:g} seconds: start some, by "
            "cluster.scale(2) for instance, or by the command dask worker."
        ) from error


@contextmanager
def forgiving(client):
    """While a fit runs, no task is given up because a few workers have died with it.

    Dask takes a task for the cause after three deaths. Ours are functions of a partition and of
    parameters, and workers that are taken away one after another are no fault of theirs.
    """
    before = client.run_on_scheduler(_allow, _DEATHS)
    try:
        yield
    finally:
        client.run_on_scheduler(_allow, before)


def _allow(deaths, dask_scheduler):
    before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, deaths
    return before


def as_is(value):
    return value


def _run_limited(limit, function, *arguments):
    if limit is None:
        return function(*arguments)
    with config_context(max_memory=min(limit, allowed_memory())):
        return function(*arguments)
