"""Scores of checked parts in plain NumPy: the formulas, kind by kind."""

import math

import numpy as np

from .gate_scores import GATES, SPARSE_GATES
from .kernel_scores import KERNELS, Pairs
from .parts import Part, values_of

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
    k = getattr(value, "n_neighbors", 0)
    return max(1, k * k, *map(_numbers, vars(value).values()))


def finite_scores(scores):
    """Scores as they are; an error names the first row that has none."""
    if not np.all(np.isfinite(scores)):
        row = int(np.argmin(np.isfinite(scores).all(axis=1)))
        raise ValueError(
            f"The scores of row {row} are not finite: the model's numbers, or the row's, are too "
            "large."
        )
    return scores


# --- local models around anchors ----------------------------------------------------------------


def _locally_linear(part, X):
    indices, codes = values_of(part.gate, X)
    width = part.weights.shape[1]
    scores = np.zeros((len(X), part.biases.shape[1]), dtype=part.biases.dtype)
    for place in range(indices.shape[1]):
        anchor = indices[:, place]
        local = np.einsum("id,idc->ic", X[:, :width], part.weights[anchor]) + part.biases[anchor]
        scores += codes[:, place, None] * local
    return scores


# --- trees --------------------------------------------------------------------------------------


def _tree_path(part, X):
    if part.projection is not None:
        X = X @ part.projection[:, :-1].T + part.projection[:, -1]
    Z = np.column_stack([X, np.ones(len(X), dtype=X.dtype)])
    kind, n_nodes = part.node_gate.kind, len(part.weights)
    depth = (n_nodes if kind == "IndicatorNode" else n_nodes + 1).bit_length() - 1
    depth -= kind != "IndicatorNode"
    own = part.splits if kind == "CompositionalNode" else part.slopes
    node, above = np.zeros(len(X), dtype=np.intp), np.ones(len(X), dtype=Z.dtype)
    scores = np.tile(part.intercept, (len(X), 1))
    for level in range(depth + 1):
        if kind != "IndicatorNode":
            reached = np.einsum("id,id->i", own[node], Z)
            if kind == "CompositionalNode":
                above = np.tanh(above * reached)
            else:
                above = np.tanh(part.node_gate.sigma * reached)
            scores += above[:, None] * np.einsum("icd,id->ic", part.weights[node], Z)
        if level < depth:
            turn = np.einsum("id,id->i", part.splits[node], Z)
            node = np.where(turn > 0, 2 * node + 1, 2 * node + 2)
    if kind == "IndicatorNode":
        scores += np.einsum("icd,id->ic", part.weights[node - (2**depth - 1)], Z)
    return scores


def _forest(part, X):
    return sum(_tree_path(tree, X) for tree in part.trees) / len(part.trees)


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
        shares = np.maximum(1.0 - u, 0.0) if is_bounded else np.exp(-u)
        scores[:, output] += (shares * away) @ weights
    return scores


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
        for kernel, coefficients in zip(part.kernels, part.coefficients):
            scores = scores + values_of(kernel, Pairs(X, support)) @ coefficients[some]
    return scores


def _components(part, X):
    scores = np.tile(part.biases, (len(X), 1))
    owners = np.array(part.owners)
    for some, support in _dense(part.support):
        for m, kernel in enumerate(part.kernels):
            mine = np.flatnonzero(owners == m)
            scores[:, mine] += (
                values_of(kernel, Pairs(X, support)) @ part.coefficients[mine, some].T
            )
    return scores


# --- blends -------------------------------------------------------------------------------------


def _top_and_bottom(scores, count):
    order = np.argsort(scores, axis=1, kind="stable")
    values = np.zeros(scores.shape)
    for chosen in (order[:, :count], order[:, scores.shape[1] - count :]):
        marks = np.zeros(scores.shape)
        np.put_along_axis(marks, chosen, 0.5, axis=1)
        values += marks
    return values


def _gated_expansion(part, X):
    blend = values_of(part.gate, X) * values_of(part.components, X)
    return blend.sum(axis=1, keepdims=True) + part.bias


def _gated_vote(part, X):
    votes = np.tanh(values_of(part.components, X))
    return (values_of(part.gate, X) * votes).sum(axis=1, keepdims=True)


def _selected(part, X):
    scores = values_of(part.components, X)
    chosen = _top_and_bottom(scores, part.n_selected)
    return (chosen * scores).sum(axis=1, keepdims=True) + part.bias


def _gated_rows(part, X):
    return _expansion(part.expansion, np.hstack([X, values_of(part.gate, X).astype(X.dtype)]))


def _gated_linear(part, X):
    local = X @ part.weights + part.biases
    return (values_of(part.gate, X) * local).sum(axis=1, keepdims=True) + part.bias


def _stacked(part, X):
    return np.hstack([values_of(output, X) for output in part.outputs])


RULES = {
    "LocallyLinear": _locally_linear,
    "TreePath": _tree_path,
    "TreeForest": _forest,
    "ConformalLinear": _conformal,
    "KernelExpansion": _expansion,
    "ComponentScores": _components,
    "GatedExpansion": _gated_expansion,
    "GatedVote": _gated_vote,
    "SelectedSum": _selected,
    "ExpansionOfGatedRows": _gated_rows,
    "GatedLinear": _gated_linear,
    "Stacked": _stacked,
    **SPARSE_GATES,
    **GATES,
    **KERNELS,
}
