"""Learning conformal kernels from a stream: rows taken in, stored, and solved for at its end."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._compile import one_blas_thread
from ..._interrupt import uninterrupted
from ...solvers.conformal.stream import ConformalStream
from .rows import TrainingRows, canonical_order, content_ids
from .whole_fit import keeping, whole_fit

_OF_A_SOLUTION = ("objective_", "duality_gap_", "n_iter_", "n_priced_")


class ConformalStreaming:
    """``finish``, and what ``partial_fit`` needs of a task.

    A task adds ``_targets(y)``, one column per output for labels or values as they are stored.
    """

    @whole_fit
    def finish(self):
        """Solve for the stored rows as ``fit`` would; to be called when a stream has ended.

        Returns
        -------
        self
        """
        check_is_fitted(self, "predictor_")
        stream = self._stream
        order, numbers = canonical_order(stream.X, stream.y)
        rows = self._training_rows(
            stream.X[order].astype(self._score_dtype), stream.y[order], stream.weight[order],
            len(np.unique(numbers)),
        )  # fmt: skip
        with one_blas_thread():
            found = self._solve(rows)
        back = np.argsort(order)
        with uninterrupted():
            stream.restart(
                found.scales, [problem.take(back) for problem in found.problems],
                found.dual_coef[back], found.solutions,
            )  # fmt: skip
        self.n_support_ = int(found.is_support.sum())
        return self

    def _training_rows(self, X, y, weight, n_distinct):
        return TrainingRows(X, y, self._targets(y), weight, n_distinct)

    def _open_stream(self, found):
        """A stream that goes on from a solution.

        Its support rows are all that it needs; on a budget it needs a sample of all rows.
        """
        rows, stream = found.rows, self._empty_stream(found.scales, len(found.problems))
        if self.max_support is None:
            kept, ids = np.flatnonzero(found.is_support), None
        else:
            kept = np.arange(len(rows.X))
            ids = content_ids(rows.X, self._stored_targets(rows), stream.sample.salt)
        stream.resume(
            rows.X[kept].astype(np.float64), self._stored_targets(rows)[kept], rows.weight[kept],
            [problem.take(kept) for problem in found.problems], found.dual_coef[kept],
            found.solutions, ids,
        )  # fmt: skip
        self._stream = stream
        self.n_support_ = int(found.is_support.sum())

    def _empty_stream(self, scales, n_outputs):
        return ConformalStream(
            scales, self._steps(), n_outputs, self.n_features_in_, self.max_support,
            self.max_kernels, self._stream_rng(),
        )  # fmt: skip

    def _take_in(self, X, y, weight, sample_ids):
        """Rows of a stream, checked, with labels or values as they are stored."""
        positive = weight > 0
        ids = _checked_ids(sample_ids, len(y))
        X, y, weight = X[positive], y[positive], weight[positive]
        rows = self._training_rows(X, y, weight, len(y))
        self._check_memory(rows)
        is_first = not hasattr(self, "predictor_")
        dtype = X.dtype if is_first else self._score_dtype
        if is_first:
            if len(y) == 0:
                raise ValueError("The first rows of a stream must have positive weight.")
            self._units = self._units_of(rows)
            scales = self._scales(X.astype(np.float64), weight)
            self._stream = self._empty_stream(scales, rows.targets.shape[1])
        stream = self._stream
        adds = ids is None and stream.sample is not None
        if adds:  # equal rows are one row: a sample has no room for copies
            ids = content_ids(X, y, stream.sample.salt)
        elif ids is not None:
            ids = ids[positive]
        with one_blas_thread(), keeping(self, "what was learned from the rows so far is"):
            stream.process(X.astype(np.float64), y, weight, self._problems(rows), ids, adds)
        self._keep(
            [machine.local_kernels() for machine in stream.machines],
            [machine.weights for machine in stream.machines], dtype,
        )  # fmt: skip
        self.n_support_ = int(np.any(stream.dual_coef != 0.0, axis=1).sum())
        for name in _OF_A_SOLUTION:  # a stream has no certificate before it is finished
            self.__dict__.pop(name, None)
        return self


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
