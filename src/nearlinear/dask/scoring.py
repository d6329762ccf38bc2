"""Answers of a fitted model over Dask collections, a partition at a time."""

import numpy as np

from .partitions import is_collection, partitions_of
from .required import dask
from .tasks import Tasks


def answers(model, method, X):
    """``model.method(X)``; lazy and in the partitions of X where X is a Dask collection."""
    if not is_collection(X):
        return getattr(model, method)(X)
    like = _like(model, method)
    width = like.shape[1:]
    # one key for the model, however many partitions there are
    told = {"model": dask.delayed(model, pure=True), "method": method, "width": width}
    if hasattr(X, "map_partitions"):
        meta = _frame_of(like, X._meta.index[:0])
        return X.map_partitions(_frame_answers, dtype=like.dtype, meta=meta, **told)
    chunks = (X.chunks[0], *((size,) for size in width))
    drop, meta = ([] if width else [1]), np.empty((0,) * like.ndim, dtype=like.dtype)
    return X.map_blocks(
        _answers, dtype=like.dtype, drop_axis=drop, chunks=chunks, meta=meta, like=like, **told
    )


def mean_score(client, model, X, y, sample_weight=None):
    """Accuracy, or the share of the variance that is explained (R²), from sums of partitions."""
    tasks = Tasks(client)
    held, parts = tasks.held(model), partitions_of(client, X, y, sample_weight)
    found = tasks.total(_added, [tasks.submit(_sums, held, part) for part in parts])
    if found is None:
        raise ValueError("X has no rows.")
    weight, right, _, spread = found
    return right / weight if hasattr(model, "classes_") else 1.0 - right / spread


def _like(model, method):
    """No answers, of the right type and shape."""
    row = np.zeros((1, model.n_features_in_))
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        from pandas import DataFrame

        row = DataFrame(row, columns=names)
    return getattr(model, method)(row)[:0]


def _answers(X, model, method, width, like):
    return getattr(model, method)(X) if X.shape[0] else like


def _frame_answers(X, model, method, width, dtype):
    found = getattr(model, method)(X) if len(X) else np.empty((0, *width), dtype=dtype)
    return _frame_of(found, X.index)


def _frame_of(found, index):
    from pandas import DataFrame, Series

    return (Series if found.ndim == 1 else DataFrame)(found, index=index)


def _sums(model, block):
    """(weight, what is right or squared errors, mean of y, spread of y) of a partition."""
    if not block.X.shape[0]:
        return None
    weight = np.ones(len(block.y)) if block.weight is None else np.asarray(block.weight, float)
    total, said = weight.sum(), model.predict(block.X)
    if hasattr(model, "classes_"):
        return total, float(weight @ (said == block.y)), 0.0, 0.0
    y = np.asarray(block.y, dtype=np.float64)
    mean = np.average(y, weights=weight)
    return total, float(weight @ (y - said) ** 2), mean, float(weight @ (y - mean) ** 2)


def _added(found):
    found = [one for one in found if one is not None and one[0] > 0]
    if not found:
        return None
    weights, rights, means, spreads = map(np.array, zip(*found, strict=True))
    total = weights.sum()
    mean = weights @ means / total
    return total, rights.sum(), mean, spreads.sum() + weights @ (means - mean) ** 2
