"""What a gate sees of a row: all of it, some columns, a function of it, or a second matrix."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, hstack, issparse
from sklearn.utils import check_array, check_consistent_length

from ...gates.learned import GATES, Columns, Viewing
from ...kernels.family import parse_kernels
from ...kernels.standard import OnColumns

_GATE_METHODS = ("start", "with_parameters", "gradient")


@dataclass(frozen=True)
class _Beside:
    """Rows and what the gate shall see of them, on their way to the checks."""

    X: object
    gating: object

    @property
    def shape(self):
        return self.X.shape


@dataclass(frozen=True)
class Checked:
    """Rows that have passed the checks."""

    rows: object


class GatingRows:
    """Mix-in of estimators that learn a gate: ``gate``, ``gating_features``, ``gating=``.

    A second matrix is joined to the rows as further columns, which kernels do not see.
    """

    def fit(self, X, y, sample_weight=None, gating=None):
        """Learn from rows and their labels or values.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows, best standardized.
        y : array of shape (n_samples,)
            Labels of any type, or values.
        sample_weight : array of shape (n_samples,) or None
            Weight k equals k copies.
        gating : array or CSR matrix of shape (n_samples, any) or None
            What the gate sees of the rows in place of ``X``; then to be given to ``predict``, too.

        Returns
        -------
        self
        """
        if gating is not None and self.gating_features is not None:
            raise ValueError(
                f"{type(self).__name__} got both gating_features and a matrix gating=; give one."
            )
        return super().fit(_Beside(X, gating), y, sample_weight)

    def predict(self, X, gating=None):
        """Labels, or values; ``gating`` as in ``fit``."""
        return super().predict(Checked(self._seen_rows(X, gating)))

    def explain(self, X, gating=None, *, n_support=5, preparation=None):
        """Take the scores of rows apart: components with their gates, and linear models if any.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows, as for ``predict``.
        gating : array or CSR matrix of shape (n_samples, any) or None
            As in ``fit``.
        n_support : int, default=5
            Support rows of a kernel machine that are named for each row and output.
        preparation : transformer, Pipeline of transformers or None
            What comes before the model, fitted; ``X`` are then rows before it.

        Returns
        -------
        Explanation
        """
        from ...explain.explain import explain
        from .explained import rows_to_explain, told

        rows = self._seen_rows(rows_to_explain(self, X, preparation), gating)
        found = explain(self.predictor_, rows, n_support, self.n_jobs)
        return told(self, found.on_first_features(self.n_features_in_), preparation)

    def _seen_rows(self, X, gating):
        rows = super()._check_rows(X)
        wanted = self.n_gating_features_
        if (gating is None) != (wanted == 0):
            has, gets = ("a", "no") if gating is None else ("no", "a")
            raise ValueError(
                f"{type(self).__name__} was fitted with {has} second matrix and is given {gets} "
                "gating= to predict from."
            )
        return rows if gating is None else self._joined(rows, gating, wanted)

    def _check_rows(self, X):
        return X.rows if isinstance(X, Checked) else self._seen_rows(X, None)

    def _check_training_rows(self, X, y, reset, **y_checks):
        rows, y = super()._check_training_rows(X.X, y, reset, **y_checks)
        self.n_gating_features_ = 0
        if X.gating is not None:
            joined = self._joined(rows, X.gating, None)
            self.n_gating_features_ = joined.shape[1] - rows.shape[1]
            rows = joined
        return rows, y

    def _joined(self, rows, gating, wanted):
        gating = check_array(
            gating, accept_sparse="csr", dtype=rows.dtype, input_name="gating", estimator=self
        )
        check_consistent_length(rows, gating)
        if wanted is not None and gating.shape[1] != wanted:
            raise ValueError(
                f"gating has {gating.shape[1]} features, but {type(self).__name__} was fitted with "
                f"{wanted}."
            )
        if issparse(rows):
            return hstack([rows, csr_matrix(gating)], format="csr")
        return np.hstack([rows, gating.toarray() if issparse(gating) else gating])

    def _listed_kernels(self, X):
        listed = super()._listed_kernels(X)
        if self.n_gating_features_ == 0:
            return listed
        listed = parse_kernels(self.kernels, self.n_features_in_)
        return [OnColumns(kernel, range(self.n_features_in_)) for kernel in listed]

    def _started_gate(self, X):
        """The gate that the user names or gives, seeing what it shall see."""
        gate = self.gate
        if isinstance(gate, str):
            if gate not in GATES:
                known = ", ".join(repr(name) for name in GATES)
                raise ValueError(f"There is no gate named {gate!r}; there are {known}.")
            gate = GATES[gate]
        missing = [name for name in _GATE_METHODS if not hasattr(gate, name)]
        if missing or not callable(gate) or isinstance(gate, type):
            raise ValueError(
                f"gate={gate!r} is no gate: give a name or an object with "
                f"{', '.join(missing) or '__call__'}."
            )
        seen, d = self.gating_features, self.n_features_in_
        if self.n_gating_features_:
            return Viewing(gate, Columns(tuple(range(d, d + self.n_gating_features_))))
        if seen is None:
            return gate
        if callable(seen):
            returned = seen(X)
            shape = returned.shape if hasattr(returned, "shape") else np.shape(returned)
            if len(shape) != 2 or shape[0] != X.shape[0] or shape[1] == 0:
                raise ValueError(
                    f"gating_features must return one row of numbers for every row; for "
                    f"{X.shape[0]} rows it returned an array of shape {shape}."
                )
            return Viewing(gate, seen)
        return Viewing(gate, Columns(self._checked_columns(seen)))

    def _checked_columns(self, columns):
        found = np.asarray(columns)
        d = self.n_features_in_
        if found.ndim != 1 or len(found) == 0:
            raise ValueError(
                f"gating_features={columns!r} must be a list of columns or a function."
            )
        if found.dtype.kind in "UO" and hasattr(self, "feature_names_in_"):
            place = {name: k for k, name in enumerate(self.feature_names_in_)}
            unknown = [name for name in found if name not in place]
            if unknown:
                raise ValueError(
                    f"gating_features names {str(unknown[0])!r}, which X does not have."
                )
            return tuple(place[name] for name in found)
        if found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= d:
            raise ValueError(
                f"gating_features={columns!r} must hold numbers of columns from 0 to {d - 1}."
            )
        return tuple(found.tolist())
