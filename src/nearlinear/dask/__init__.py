"""Fits over Dask collections: rows that lie in a cluster, models that anybody can take home.

Modules
-------
estimators  Dask classes of the methods that learn from rows in blocks.
partitions  Rows of Dask collections as one block for each partition, held by the cluster.
required    Dask, or one sentence that says what to install.
rounds      Rounds of training: partitions learn from the same parameters, and are averaged.
scoring     Answers of a fitted model over Dask collections, a partition at a time.
survey      A survey of rows in partitions: how many there are, their labels, a sample.
tasks       Tasks on the cluster: pure functions, sums in a fixed order.
"""

from .estimators import (
    DaskLCCSVMClassifier,
    DaskLDKLClassifier,
    DaskLDKLRegressor,
    DaskLLCSAPLClassifier,
    DaskLLSVMClassifier,
    DaskLocalForestClassifier,
    DaskLocalForestRegressor,
)

__all__ = [
    "DaskLCCSVMClassifier",
    "DaskLDKLClassifier",
    "DaskLDKLRegressor",
    "DaskLLCSAPLClassifier",
    "DaskLLSVMClassifier",
    "DaskLocalForestClassifier",
    "DaskLocalForestRegressor",
]
