"""What a gate sees of a row: all of it, some columns, a function of it, or a second matrix.

A second matrix is joined to the rows as further columns, which kernels do not see. Below are the
methods of estimators that take one.
"""

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..._hints import Rows, Targets
from ...gates.learned import GATES, Columns, Viewing
from .input import scored_rows
from .localized import gates_at

if TYPE_CHECKING:
    from ...explain.record import Explanation

M = TypeVar("M")

_GATE_METHODS = ("start", "with_parameters", "gradient")


def gate_for(model, rows):
    """The gate that the user names or gives, seeing what it shall see."""
    gate, seen = _gate(model.gate), model.gating_features
    if rows.n_gating:
        return Viewing(gate, Columns(tuple(range(rows.n_features, rows.X.shape[1]))))
    if seen is None:
        return gate
    if not callable(seen):
        return Viewing(gate, Columns(_columns(seen, rows)))
    returned = seen(rows.X)
    shape = returned.shape if hasattr(returned, "shape") else np.shape(returned)
    if len(shape) != 2 or shape[0] != rows.X.shape[0] or shape[1] == 0:
        raise ValueError(
            f"gating_features must return one row of numbers for every row; for "
            f"{rows.X.shape[0]} rows it returned an array of shape {shape}."
        )
    return Viewing(gate, seen)


def _gate(gate):
    if isinstance(gate, str):
        if gate not in GATES:
            known = ", ".join(repr(name) for name in GATES)
            raise ValueError(f"There is no gate named {gate!r}; there are {known}.")
        return GATES[gate]
    missing = [name for name in _GATE_METHODS if not hasattr(gate, name)]
    if missing or not callable(gate) or isinstance(gate, type):
        raise ValueError(
            f"gate={gate!r} is no gate: give a name or an object with "
            f"{', '.join(missing) or '__call__'}."
        )
    return gate


def _columns(columns, rows):
    found, names = np.asarray(columns), rows.names.get("feature_names_in_")
    if found.ndim != 1 or len(found) == 0:
        raise ValueError(f"gating_features={columns!r} must be a list of columns or a function.")
    if found.dtype.kind in "UO" and names is not None:
        numbers = {name: k for k, name in enumerate(names)}
        unknown = [name for name in found if name not in numbers]
        if unknown:
            raise ValueError(f"gating_features names {str(unknown[0])!r}, which X does not have.")
        return tuple(numbers[name] for name in found)
    if found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= rows.n_features:
        raise ValueError(
            f"gating_features={columns!r} must hold numbers of columns from 0 to "
            f"{rows.n_features - 1}."
        )
    return tuple(found.tolist())


def fit(
    self: M,
    X: Rows,
    y: Targets | None = None,
    sample_weight: ArrayLike | None = None,
    gating: Rows | None = None,
) -> M:
    """Learn from rows and their labels or values.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Rows, best standardized.
    y : array of shape (n_samples,) or None, default=None
        Labels of any type for a classifier, values for a regressor. None is refused.
    sample_weight : array of shape (n_samples,) or None, default=None
        Weight k equals k copies.
    gating : array or CSR matrix of shape (n_samples, any) or None, default=None
        What the gate sees of the rows in place of ``X``. ``predict`` then needs such a matrix, too.

    Returns
    -------
    self
    """
    return self._fit(X, y, sample_weight, gating)


def predict(self: Any, X: Rows, gating: Rows | None = None) -> np.ndarray:
    """Labels with the highest score, or values; ``gating`` as in ``fit``."""
    return self._answers(self._scores(X, gating))


def decision_function(self: Any, X: Rows, gating: Rows | None = None) -> np.ndarray:
    """Scores: positive for ``classes_[1]`` if there are two classes, else one per class."""
    return self._margins(self._scores(X, gating))


def explain(
    self: Any, X: Rows, gating: Rows | None = None, *, n_support: int = 5, preparation: Any = None
) -> "Explanation":
    """Take the scores of rows apart: components with their gates, and linear models if any.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Rows, as for ``predict``; with a preparation, rows before it.
    gating : array or CSR matrix of shape (n_samples, any) or None, default=None
        As in ``fit``.
    n_support : int, default=5
        Support rows of a kernel machine that are named for each row and output.
    preparation : transformer, Pipeline of transformers or None, default=None
        What comes before the model, fitted; ``X`` are then rows before it.

    Returns
    -------
    Explanation
    """
    return self._explain(X, n_support, preparation, gating)


def gate_values(self: Any, X: Rows, gating: Rows | None = None) -> np.ndarray:
    """How much each component answers for each row, shape (n_rows, n_components).

    One such array for each class if there are more than two. ``gating`` as in ``fit``.
    """
    return gates_at(self, scored_rows(self, X, gating))
