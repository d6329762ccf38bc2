"""Rows of Dask collections as one block for each partition, held by the cluster."""

import numpy as np
from scipy.sparse import issparse

from ..streams.blocks import Block
from .required import dask, distributed


def client_of(client):
    """The client given, or the one that is connected."""
    if client is not None:
        return client
    try:
        return distributed.default_client()
    except ValueError:
        raise ValueError(
            "There is no Dask client: give client=distributed.Client(...), or connect one first."
        ) from None


def is_collection(thing):
    return dask.is_dask_collection(thing)


def partitions_of(client, X, y, sample_weight=None):
    """Futures of blocks (X, y, weight), one for each partition of X, in order.

    The cluster holds the blocks as long as the futures are there, and makes those anew that it
    loses. Columns of tables keep their names.
    """
    pieces = [_pieces("X", X)]
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if values is None:
            pieces.append([None] * len(pieces[0]))
            continue
        values = _alike(values, X)
        pieces.append(_pieces(name, values))
        if len(pieces[-1]) != len(pieces[0]):
            raise ValueError(
                f"X has {len(pieces[0])} partitions and {name} has {len(pieces[-1])}: "
                "rechunk or repartition them alike."
            )
    join = dask.delayed(joined, pure=False)
    blocks = [join(number, *parts) for number, parts in enumerate(zip(*pieces, strict=True))]
    return client.compute(blocks)


def _pieces(name, values):
    """Delayed partitions of a collection; what has several chunks along its columns is refused."""
    if not is_collection(values):
        raise ValueError(
            f"{name} is a {type(values).__name__} and must be a Dask array or a Dask dataframe: "
            "use dask.array.from_array, or the class without Dask in its name."
        )
    if len(getattr(values, "numblocks", ())) == 2 and values.numblocks[1] != 1:
        raise ValueError(
            f"{name} has {values.numblocks[1]} chunks along its columns and must have one: "
            f"give {name}.rechunk({{1: -1}})."
        )
    return np.ravel(values.to_delayed()).tolist()


def _alike(values, X):
    """Values in the chunks of X where both have chunks of known sizes."""
    chunks = getattr(X, "chunks", None)
    if not hasattr(values, "rechunk") or chunks is None:
        return values
    if len(values.chunks) == 2 and values.shape[1] == 1:
        values = values[:, 0]
    known = not any(np.isnan(one) for c in (chunks[0], values.chunks[0]) for one in c)
    if known and sum(chunks[0]) == sum(values.chunks[0]) and chunks[0] != values.chunks[0]:
        return values.rechunk((chunks[0], *values.chunks[1:]))
    return values


def joined(number, X, y, weight):
    """A block of one partition; ``weight`` may be None."""
    if not (issparse(X) or hasattr(X, "iloc")):
        X = np.ascontiguousarray(X)
    y, weight = (None if one is None else one_column(one) for one in (y, weight))
    for name, values in (("y", y), ("sample_weight", weight)):
        if values is not None and values.shape[0] != X.shape[0]:
            raise ValueError(
                f"Partition {number} of X has {X.shape[0]} rows, that of {name} has "
                f"{values.shape[0]}: rechunk or repartition them alike."
            )
    return Block(X, y, weight)


def one_column(values):
    """Labels, values or weights as an array; a table of one column is one."""
    values = np.asarray(values)
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
