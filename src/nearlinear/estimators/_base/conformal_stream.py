"""Conformal kernels from a stream: rows taken in, stored, and solved for at its end."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._compile import one_blas_thread
from ..._interrupt import uninterrupted
from ...solvers.conformal.stream import ConformalStream
from .checks import fit_context
from .conformal import dual_coef_of, learn_kernels, predictor_of, require_room, scales_of
from .kernels import bias_named
from .model import Learned, stream_rng
from .outputs import keeping
from .rows import TrainingRows, canonical_order, content_ids
from .target_units import TargetUnits
from .task import Classification, Regression


@dataclass(frozen=True)
class StreamState:
    """A stream, and the task of its rows: later values have the unit of the first ones."""

    stream: ConformalStream
    task: object


def learn(model, rows):
    """What ``fit`` learns; on a budget it goes on as a stream, from a sample of all rows."""
    scales, problems, learned, found = _solve(model, rows)
    if model.max_support is None:
        return learned
    stream, y = _empty_stream(model, rows, scales), _stored(rows)
    stream.resume(
        rows.X.astype(np.float64), y, rows.weight, problems, dual_coef_of(found),
        _solutions(found), content_ids(rows.X, y, stream.sample.salt),
    )  # fmt: skip
    return replace(learned, state=StreamState(stream, rows.task))


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
    return Learned(predictor, attributes, state, interruption.kept)


@fit_context(prefer_skip_nested_validation=True)
def finish(self):
    """Solve for the stored rows as ``fit`` would. Call it when a stream has ended.

    Returns
    -------
    self
    """
    check_is_fitted(self, "predictor_")
    state = _state(self)
    rows, order = _stored_rows(state, self.predictor_.dtype)
    with one_blas_thread():
        scales, problems, learned, found = _solve(self, rows)
    back = np.argsort(order)
    problems = [problem.take(back) for problem in problems]
    with uninterrupted():
        state.stream.restart(scales, problems, dual_coef_of(found)[back], _solutions(found))
        return self._settle(replace(learned, state=StreamState(state.stream, rows.task)))


def _solve(model, rows):
    require_room(model, rows)
    scales, problems = scales_of(model, rows.X, rows.weight), _problems(model, rows)
    return scales, problems, *learn_kernels(model, rows, scales, problems)


def _problems(model, rows):
    return rows.task.problems(rows, model.C, getattr(model, "epsilon", None))


def _solutions(found):
    return [(one.bank, one.evaluation) for one in found]


def _state(model):
    if model._state is None:
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
