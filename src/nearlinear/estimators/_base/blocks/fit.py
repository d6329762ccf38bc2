"""``fit`` of methods that learn from arrays and from rows in blocks alike."""

from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from ...._compile import one_blas_thread
from ...._hints import FilePath, Rows, Targets
from ...._sklearn import fit_context
from ....streams.blocks import is_source
from ....streams.checkpoint import Checkpoint
from ..input import fit_rows
from .survey import surveyed
from .training import Keeper

M = TypeVar("M")


def fit(
    self: M,
    X: Rows,
    y: Targets | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    checkpoint: FilePath | None = None,
    every: float = 60.0,
) -> M:
    """Learn from rows and their labels or values, in arrays or in blocks.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features), or source of blocks
        Rows, best standardized. A source is what ``nearlinear.streams`` makes of files, or anything
        that yields the same blocks (X, y) or (X, y, weight) whenever it is iterated.
    y : array of shape (n_samples,) or None, default=None
        Labels of any type for a classifier, values for a regressor. None with a source, which has
        them.
    sample_weight : array of shape (n_samples,) or None, default=None
        Weight k equals k copies. None with a source.
    checkpoint : path or None, default=None
        With a source: a file that holds how far the fit has come. A fit that was killed goes on
        from it, and ends at the bits of one that was not. The file stays.
    every : float, default=60.0
        Seconds between two writes of the checkpoint. 0 writes it after every block.

    Returns
    -------
    self
    """
    if y is None and is_source(X):
        if sample_weight is not None:
            raise ValueError("Weights of rows in blocks come with them, as (X, y, weight).")
        return _fit_blocks(self, X, checkpoint, every)
    if checkpoint is not None:
        raise ValueError("checkpoint is for rows in blocks: see nearlinear.streams.")
    return self._fit(X, y, sample_weight)


@fit_context(prefer_skip_nested_validation=True)
def _fit_blocks(model, source, checkpoint, every):
    return fit_surveyed(model, lambda seed: surveyed(model, source, seed), checkpoint, every)


def fit_surveyed(model, survey, checkpoint=None, every=60.0):
    """Fit to the rows that ``survey(seed)`` gives, a ``BlockRows`` or what does the same."""
    if checkpoint is not None:
        checkpoint = Checkpoint(checkpoint, every)
    seed = None if checkpoint is None else checkpoint.seed
    if seed is None:
        seed = int(check_random_state(model.random_state).randint(np.iinfo(np.int32).max))
    rows = survey(seed)
    if rows.is_whole:
        # a block or so: as if it had come in arrays
        n_rows, found = rows.n_rows, rows.in_order()
        names = rows.names
        rows = fit_rows(model, *found)
        with one_blas_thread():
            learned = model._learn(rows)
        return model._settle(learned, n_rows, {**rows.attributes, **names})
    keeper = Keeper.of(model, rows, checkpoint)
    with one_blas_thread():
        learned = model._learn_blocks(rows, keeper)
    return model._settle(learned, rows.n_rows, rows.attributes)
