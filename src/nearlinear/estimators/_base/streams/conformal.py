"""Conformal kernels from a stream: rows taken in, stored, and solved for at its end."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ...._compile import one_blas_thread
from ...._hints import Rows, Targets
from ...._interrupt import uninterrupted
from ...._sklearn import fit_context
from ....solvers.conformal.stream import ConformalStream
from ..conformal import checked_anchors, dual_coef_of, predictor_of, require_room, scales_of
from ..input import fit_rows
from ..kernels import bias_named
from ..model import Learned, stream_rng
from ..outputs import keeping
from ..rows import TrainingRows, canonical_order, content_ids
from ..task import Classification, Regression
from ..values.loss_weight import weight_before
from ..values.units import TargetUnits
from .anchors import learn_candidates, seen_anchors

M = TypeVar("M")


@dataclass(frozen=True)
class StreamState:
    """A stream, and the task of its rows: later values have the unit of the first ones.

    ``anchors`` are the candidates of a stream of kernels; both streams may be None.
    """

    stream: ConformalStream | None
    task: object
    anchors: np.ndarray | None = None


def learn(model, rows, added=None):
    """What ``fit`` learns; on a budget it goes on as a stream, from a sample of all rows.

    ``added`` are anchors of further candidates.
    """
    scales, problems, learned, found, anchors = _solve(model, rows, added)
    if model.max_support is None:
        return (
            learned if anchors is None else replace(learned, state=StreamState(None, None, anchors))
        )
    stream, y = _empty_stream(model, rows, scales), _stored(rows)
    stream.resume(
        rows.X.astype(np.float64), y, rows.weight, problems, dual_coef_of(found),
        _solutions(found), content_ids(rows.X, y, stream.sample.salt),
    )  # fmt: skip
    return replace(learned, state=StreamState(stream, rows.task, anchors))


@fit_context(prefer_skip_nested_validation=True)
def add_kernels(
    self: M, anchors: ArrayLike, X: Rows, y: Targets, sample_weight: ArrayLike | None = None
) -> M:
    """Learn on with further candidates, from the weights that the kernels have now.

    The certificate is over all candidates: those that the model has seen, which are placed anew
    on these rows if they are not stored, and the new ones.

    Parameters
    ----------
    anchors : array of shape (n_anchors, n_features) or iterator of rows
        Where further kernels may stand, each with every bandwidth. An iterator is read chunk by
        chunk.
    X : array of shape (n_samples, n_features)
        The rows of ``fit``, which the model does not store.
    y : array of shape (n_samples,)
        Their labels or values.
    sample_weight : array of shape (n_samples,) or None, default=None
        Weight k equals k copies.

    Returns
    -------
    self
    """
    check_is_fitted(self, "predictor_")
    rows = fit_rows(self, X, y, sample_weight)
    with one_blas_thread():
        learned = _with_weight_before(self, learn(self, rows, anchors))
    return self._settle(learned, rows.X.shape[0], rows.attributes)


def learn_more(model, rows, sample_ids):
    """What a stream has learned when these rows have come, too."""
    ids, positive = _checked_ids(sample_ids, len(rows.weight)), np.flatnonzero(rows.weight > 0)
    rows = rows.take(positive)
    require_room(model, rows)
    state = _state(model) if hasattr(model, "predictor_") else _begin(model, rows)
    stream, rows = state.stream, replace(rows, task=state.task)
    y, adds = _stored(rows), ids is None and stream.sample is not None
    if adds:  # equal rows are one row: a sample has no room for copies
        ids = content_ids(rows.X, y, stream.sample.salt)
    elif ids is not None:
        ids = ids[positive]
    problems = _problems(model, rows)
    with keeping("what was learned from the rows so far is") as interruption:
        stream.process(rows.X.astype(np.float64), y, rows.weight, problems, ids, adds)
    predictor, attributes = predictor_of(
        model, rows, [machine.local_kernels() for machine in stream.machines],
        [machine.weights for machine in stream.machines], stream.dual_coef,
    )  # fmt: skip
    return _with_weight_before(model, Learned(predictor, attributes, state, interruption.kept))


@fit_context(prefer_skip_nested_validation=True)
def finish(self: M) -> M:
    """Solve for the stored rows as ``fit`` would. Call it when a stream has ended.

    Returns
    -------
    self
    """
    check_is_fitted(self, "predictor_")
    state = _state(self)
    rows, order = _stored_rows(state, self.predictor_.dtype)
    with one_blas_thread():
        scales, problems, learned, found, anchors = _solve(self, rows)
    back = np.argsort(order)
    problems = [problem.take(back) for problem in problems]
    with uninterrupted():
        state.stream.restart(scales, problems, dual_coef_of(found)[back], _solutions(found))
        state = StreamState(state.stream, rows.task, anchors)
        return self._settle(replace(_with_weight_before(self, learned), state=state))


def _solve(model, rows, added=None):
    require_room(model, rows)
    scales, problems = scales_of(model, rows.X, rows.weight), _problems(model, rows)
    seen = None
    if added is not None:
        added = added if isinstance(added, Iterator) else checked_anchors(added, rows)
        seen = seen_anchors(model, rows)
    return scales, problems, *learn_candidates(model, rows, scales, problems, seen, added)


def _problems(model, rows):
    C, _ = weight_before(model)
    return rows.task.problems(rows, C, getattr(model, "epsilon", None))


def _with_weight_before(model, learned):
    return replace(learned, attributes=learned.attributes | weight_before(model)[1])


def _solutions(found):
    return [(one.bank, one.evaluation) for one in found]


def _state(model):
    if getattr(model._state, "stream", None) is None:
        raise ValueError(
            f"This {type(model).__name__} has no rows of a stream to go on from, since fit stores "
            "none without max_support and a file has none: give max_support= before fit, or begin "
            "with partial_fit."
        )
    return model._state


def _begin(model, rows):
    """A stream without rows; these are its first."""
    if len(rows.weight) == 0:
        raise ValueError("The first rows of a stream must have positive weight.")
    task = _measured(rows.task, rows.targets[:, 0], rows.weight)
    scales = scales_of(model, rows.X.astype(np.float64), rows.weight)
    return StreamState(_empty_stream(model, rows, scales), task)


def _empty_stream(model, rows, scales):
    rng, _ = stream_rng(model, None)
    return ConformalStream(
        scales, bias_named(model.bias), rows.task.n_outputs, rows.X.shape[1], model.max_support,
        model.max_kernels, rng,
    )  # fmt: skip


def _measured(task, values, weight):
    """The same task; a regression has the unit of these values."""
    if isinstance(task, Classification):
        return task
    return Regression(TargetUnits.of_values(values, weight))


def _stored(rows):
    """Labels or values, as a stream stores them."""
    if isinstance(rows.task, Classification):
        return rows.labels
    return rows.targets[:, 0].astype(np.float64)


def _stored_rows(state, dtype):
    """The rows that a stream has stored, in canonical order, and this order."""
    stream, task = state.stream, state.task
    order, numbers = canonical_order(stream.X, stream.y)
    X, y, weight = stream.X[order].astype(dtype), stream.y[order], stream.weight[order]
    labels, targets = np.zeros(len(y), dtype=np.intp), y[:, None]
    if isinstance(task, Classification):
        labels = y.astype(np.intp)
        targets = task.targets(labels, np.float64)
    task, n_distinct = _measured(task, y, weight), len(np.unique(numbers))
    return TrainingRows(X, labels, targets, weight, n_distinct, task), order


def _checked_ids(sample_ids, n_rows):
    if sample_ids is None:
        return None
    ids = np.asarray(sample_ids)
    if ids.dtype.kind not in "iu" or ids.shape != (n_rows,):
        raise ValueError(
            f"sample_ids must be {n_rows} whole numbers, one for each row, not an array of shape "
            f"{ids.shape} and type {ids.dtype}."
        )
    return ids.astype(np.int64)
