"""Fits over Dask collections: rows that lie in a cluster, models that anybody can take home.

Modules
-------
base         What all Dask classes share: parameters of a local class, a fit on a cluster, answers.
estimators   Dask classes of the methods that learn from rows in blocks, and of the front door.
fitting      A fit of a method that streams to rows in partitions.
near_linear  The front door over Dask collections: a search on a sample, its winners on all rows.
partitions   Rows of Dask collections as one block for each partition, held by the cluster.
required     Dask, or one sentence that says what to install.
rounds       Rounds of training: partitions learn from the same parameters, and are averaged.
scoring      Answers of a fitted model over Dask collections, a partition at a time.
survey       A survey of rows in partitions: how many there are, their labels, a sample.
tasks        Tasks on the cluster: pure functions, sums in a fixed order.
"""

from .estimators import (
    DaskLDKLClassifier,
    DaskLDKLRegressor,
    DaskLLCSAPLClassifier,
    DaskLocalForestClassifier,
    DaskLocalForestRegressor,
    DaskNearLinearClassifier,
    DaskNearLinearRegressor,
)

__all__ = [
    "DaskLDKLClassifier",
    "DaskLDKLRegressor",
    "DaskLLCSAPLClassifier",
    "DaskLocalForestClassifier",
    "DaskLocalForestRegressor",
    "DaskNearLinearClassifier",
    "DaskNearLinearRegressor",
]
