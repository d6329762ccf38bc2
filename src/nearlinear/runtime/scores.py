"""Scores of checked parts in plain NumPy: the formulas, kind by kind."""

import math
import sys

import numpy as np

from ..kinds import family_of
from .forests.scores import forest, row_numbers
from .gate_scores import GATES, SPARSE_GATES
from .hinges import hinges
from .kernel_scores import KERNELS, Pairs, squared_distances
from .parts import Part, values_of
from .sums import additive, averaged
from .tree_scores import TREES, quadratic

_MOST_ROWS, _MOST_NUMBERS = 1024, 1 << 21  # at once


def score(predictor, X):
    """Scores of dense rows, shape (n_rows, n_outputs)."""
    step = max(1, min(_MOST_ROWS, _MOST_NUMBERS // max(X.shape[1], _numbers(predictor))))
    parts = [values_of(predictor, X[start : start + step]) for start in range(0, len(X), step)]
    return np.concatenate(parts) if parts else values_of(predictor, X)


def _numbers(value):
    """How many numbers some step makes of one row: those of an array's row, or one for each."""
    if isinstance(value, np.ndarray):
        return max((*value.shape, math.prod(value.shape[1:])), default=1)
    if isinstance(value, tuple):
        return max(map(_numbers, value), default=1)
    if not isinstance(value, Part):
        return 1
    if value.kind == "csr":
        return value.shape[0]
    if value.kind == "Forest":
        return row_numbers(value)
    k = getattr(value, "n_neighbors", 0)
    return max(1, k * k, *map(_numbers, vars(value).values()))


def finite_scores(scores, X, model, predictor):
    """Scores of rows ``X``; ValueError if a score is not finite.

    ``model`` and ``predictor`` are names, for the message.
    """
    is_finite = np.isfinite(scores)
    if is_finite.all():
        return scores
    row = int(np.argmin(is_finite.all(axis=1)))
    values = X[[row]].toarray() if hasattr(X, "toarray") else X[[row]]
    raise overflow_error(f"scores of row {row}", values, scores.dtype, f"{predictor} of {model}")


def overflow_error(scores, values, dtype, predictor):
    """ValueError that names the predictor, its precision, the largest value and the versions."""
    largest = np.abs(values[~np.isnan(values)]).max(initial=0.0)
    versions = ", ".join(
        f"{name} {sys.modules[name].__version__}"
        for name in ("nearlinear", "numpy", "numba")
        if name in sys.modules
    )
    return ValueError(
        f"The {scores} are not finite: {predictor} computes in {dtype}, and values of the row are "
        f"up to {largest:.2g}. If they are too large, scale the features; if not, report this "
        f"message ({versions})."
    )


# --- local models -------------------------------------------------------------------------------


def _locally_linear(part, X):
    gates = values_of(part.gate, X)
    intercept = np.zeros(part.weights.shape[2]) if part.intercept is None else part.intercept
    if isinstance(gates, tuple):
        return _sparse_blend(part, X, *gates) + intercept.astype(part.biases.dtype)
    outputs = zip(part.weights.transpose(2, 1, 0), part.biases.T, intercept.tolist())
    return np.stack(
        [
            (gates * (X @ np.ascontiguousarray(weights) + biases)).sum(axis=1) + b
            for weights, biases, b in outputs
        ],
        axis=1,
    )


def _sparse_blend(part, X, indices, codes):
    width = part.weights.shape[1]
    scores = np.zeros((len(X), part.biases.shape[1]), dtype=part.biases.dtype)
    for place in range(indices.shape[1]):
        model = indices[:, place]
        local = np.einsum("id,idc->ic", X[:, :width], part.weights[model]) + part.biases[model]
        scores += codes[:, place, None] * local
    return scores


# --- conformal kernels --------------------------------------------------------------------------


def _conformal(part, X):
    scores = np.tile(part.biases, (len(X), 1))
    for kernel, output, weights in zip(part.kernels, part.outputs, part.weights):
        away = X - part.anchors[kernel]
        squares = away**2
        if not part.per_feature:
            squares = squares.sum(axis=1, keepdims=True)
        is_root = part.profile in ("exponential", "linear")
        u = (np.sqrt(squares) if is_root else squares) * part.gammas[kernel]
        is_bounded = part.profile in ("linear", "square")
        h = np.maximum(1.0 - u, 0.0) if is_bounded else np.exp(-u)
        scores[:, output] += (h * away) @ weights
    return scores


# --- cells ----------------------------------------------------------------------------------------


def _gaussian_cells(part, X):
    cell = _cells(part.cells, X)
    scores = part.biases[cell]
    for c in np.unique(cell):
        rows, mine = np.flatnonzero(cell == c), slice(part.starts[c], part.starts[c + 1])
        landmarks, slopes = part.landmarks[mine], part.slopes[mine]
        if len(landmarks) == 0:
            continue
        h = np.exp(-part.gamma * squared_distances(X[rows], landmarks))
        # rows less the cell's center: far from the origin products would cancel
        center = part.cells.centers[c]
        constants = part.offsets[mine] - np.einsum("jod,jd->jo", slopes, landmarks - center)
        local = np.einsum("id,jod->ijo", X[rows] - center, slopes) + constants
        scores[rows] += np.einsum("ij,ijo->io", h, local)
    return scores


def _cells(part, X):
    """The number of each row's cell."""
    if part.groups is None:
        return squared_distances(X, part.centers).argmin(axis=1)
    group = squared_distances(X, part.groups).argmin(axis=1)
    cell = np.empty(len(X), dtype=np.intp)
    for g in np.unique(group):
        rows, first, last = np.flatnonzero(group == g), part.firsts[g], part.firsts[g + 1]
        centers = part.centers[first:last]
        cell[rows] = first + squared_distances(X[rows], centers).argmin(axis=1)
    return cell


# --- kernel machines ---------------------------------------------------------------------------


def _dense(support):
    """Slices of support rows and the rows; sparse ones are filled in a few at a time."""
    if not isinstance(support, Part):
        yield slice(None), support
        return
    n_rows, width = support.shape
    step = max(1, _MOST_NUMBERS // width)
    for start in range(0, n_rows, step):
        starts = support.indptr[start : start + step + 1]
        inside = slice(starts[0], starts[-1])
        rows = np.zeros((len(starts) - 1, width), dtype=support.data.dtype)
        owner = np.repeat(np.arange(len(rows)), np.diff(starts))
        np.add.at(rows, (owner, support.indices[inside]), support.data[inside])
        yield slice(start, start + step), rows


def _expansion(part, X):
    scores = np.tile(part.biases, (len(X), 1))
    for some, support in _dense(part.support):
        for m, kernel in enumerate(part.kernels):
            values = values_of(kernel, Pairs(X, support))
            if part.owners is None:
                scores = scores + values @ part.coefficients[m, some]
            else:
                mine = np.flatnonzero(np.array(part.owners) == m)
                scores[:, mine] += values @ part.coefficients[mine, some].T
    return scores


def _gated_expansion(part, X):
    scores = values_of(part.components, X)
    gates = values_of(part.gate, scores if family_of(part.gate.kind) == "score gate" else X)
    values = np.tanh(scores) if part.activation == "tanh" else scores
    return (gates * values).sum(axis=1, keepdims=True) + part.bias


# --- predictors of others -----------------------------------------------------------------------


def _mapped(part, X):
    return values_of(part.predictor, values_of(part.map, X))


def _affine(part, X):
    return X @ part.matrix[:, :-1].T + part.matrix[:, -1]


def _with_gates(part, X):
    return np.hstack([X, values_of(part.gate, X).astype(X.dtype)])


def _stacked(part, X):
    return np.hstack([values_of(output, X) for output in part.outputs])


def _exponential(part, X):
    return np.exp(values_of(part.predictor, X))


RULES = {
    "LocallyLinear": _locally_linear,
    **TREES,
    "Forest": forest,
    "ConformalLinear": _conformal,
    "GaussianCells": _gaussian_cells,
    "KernelExpansion": _expansion,
    "GatedExpansion": _gated_expansion,
    "Mapped": _mapped,
    "Additive": additive,
    "Averaged": averaged,
    "Hinges": hinges,
    "Stacked": _stacked,
    "Exponential": _exponential,
    "Affine": _affine,
    "WithGates": _with_gates,
    "Quadratic": quadratic,
    **SPARSE_GATES,
    **GATES,
    **KERNELS,
}
