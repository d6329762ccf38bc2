"""Scores of checked parts in plain NumPy: the formulas, kind by kind."""

import math

import numpy as np

from .parts import Part

_MOST_ROWS, _MOST_NUMBERS = 1024, 1 << 21  # at once


def score(predictor, X):
    """Scores of dense rows, shape (n_rows, n_outputs)."""
    step = max(1, min(_MOST_ROWS, _MOST_NUMBERS // max(X.shape[1], _numbers(predictor))))
    parts = [
        _PREDICTORS[predictor.kind](predictor, X[start : start + step])
        for start in range(0, len(X), step)
    ]
    return np.concatenate(parts) if parts else _PREDICTORS[predictor.kind](predictor, X)


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
    indices, codes = _CODES[part.gate.kind](part.gate, X)
    width = part.weights.shape[1]
    scores = np.zeros((len(X), part.biases.shape[1]), dtype=part.biases.dtype)
    for place in range(indices.shape[1]):
        anchor = indices[:, place]
        local = np.einsum("id,idc->ic", X[:, :width], part.weights[anchor]) + part.biases[anchor]
        scores += codes[:, place, None] * local
    return scores


def _nearest(gate, X):
    """Numbers of the nearest anchors and their squared distances, nearest first."""
    squares = _squared_distances(X, gate.anchors, getattr(gate, "metric", None))
    order = np.argsort(squares, axis=1, kind="stable")[:, : gate.n_neighbors]
    return order, np.take_along_axis(squares, order, axis=1)


def _squared_distances(X, anchors, metric=None):
    center = anchors.mean(axis=0) if len(anchors) else 0.0
    X, anchors = X - center, anchors - center
    if metric is not None:
        X, anchors = X * np.sqrt(metric), anchors * np.sqrt(metric)
    squares = (X**2).sum(axis=1)[:, None] - 2.0 * (X @ anchors.T) + (anchors**2).sum(axis=1)
    return np.maximum(squares, 0.0)


def _soft_assignment(gate, X):
    order, squares = _nearest(gate, X)
    values = np.exp(-gate.sharpness * (squares - squares[:, :1]))
    return order, values / values.sum(axis=1, keepdims=True)


def _inverse_distance(gate, X):
    order, squares = _nearest(gate, X)
    mean = gate.anchors.mean(axis=0)
    away = gate.anchors - mean
    offsets = 0.5 * (away**2).sum(axis=1) + away @ mean
    floor = np.finfo(X.dtype).eps * max(1.0, float(np.abs(offsets).max()))
    values = 1.0 / np.sqrt(np.maximum(squares, floor))
    return order, values / values.sum(axis=1, keepdims=True)


def _reconstruction(gate, X):
    order, _ = _nearest(gate, X)
    away = gate.anchors[order].astype(np.float64) - X[:, None]
    gram = away @ away.transpose(0, 2, 1)
    trace = np.trace(gram, axis1=1, axis2=2)
    ridge = np.maximum(gate.ridge * trace, np.finfo(np.float64).tiny * 1e10)
    gram += ridge[:, None, None] * np.eye(gate.n_neighbors)
    values = np.linalg.solve(gram, np.ones((len(X), gate.n_neighbors, 1)))[:, :, 0]
    return order, values / values.sum(axis=1, keepdims=True)


_CODES = {
    "SoftAssignment": _soft_assignment,
    "InverseDistance": _inverse_distance,
    "ReconstructionCodes": _reconstruction,
}

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


# --- kernels ------------------------------------------------------------------------------------


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


def _kernel(part, X, Z):
    kind = part.kind
    if kind == "Linear":
        return X @ Z.T
    if kind == "Polynomial":
        return (part.gamma * (X @ Z.T) + part.coef0) ** int(part.degree)
    if kind == "Gaussian":
        return np.exp(-part.gamma * _squared_distances(X, Z))
    if kind == "OnColumns":
        columns = list(part.columns)
        return _kernel(part.kernel, X[:, columns], Z[:, columns])
    if kind == "Scaled":
        return part.factor * _kernel(part.kernel, X, Z)
    if kind == "UnitDiagonal":
        roots = [_inverse_root(_diagonal(part.kernel, rows)) for rows in (X, Z)]
        return roots[0][:, None] * _kernel(part.kernel, X, Z) * roots[1]
    if kind == "WeightedSum":
        pairs = zip(part.kernels, part.weights)
        return sum(weight * _kernel(kernel, X, Z) for kernel, weight in pairs)
    d = part.n_features  # a pairwise sum
    left, right = X[:, d:], Z[:, d:]
    total = sum(
        left[:, m, None] * _kernel(kernel, X[:, :d], Z[:, :d]) * right[:, m]
        for m, kernel in enumerate(part.kernels)
    )
    return total / (left @ right.T)


def _diagonal(part, X):
    kind = part.kind
    if kind == "Linear":
        return (X**2).sum(axis=1)
    if kind == "Polynomial":
        return (part.gamma * (X**2).sum(axis=1) + part.coef0) ** int(part.degree)
    if kind == "Gaussian":
        return np.ones(len(X))
    if kind == "OnColumns":
        return _diagonal(part.kernel, X[:, list(part.columns)])
    if kind == "Scaled":
        return part.factor * _diagonal(part.kernel, X)
    if kind == "UnitDiagonal":
        return (_diagonal(part.kernel, X) > 0).astype(X.dtype)
    if kind == "WeightedSum":
        return sum(w * _diagonal(kernel, X) for kernel, w in zip(part.kernels, part.weights))
    d = part.n_features
    gates = X[:, d:] ** 2
    own = np.array([_diagonal(kernel, X[:, :d]) for kernel in part.kernels]).T
    return (gates * own).sum(axis=1) / gates.sum(axis=1)


def _inverse_root(diagonal):
    positive = diagonal > 0
    return np.where(positive, 1.0 / np.sqrt(np.where(positive, diagonal, 1.0)), 0.0)


def _expansion(part, X):
    scores = np.tile(part.biases, (len(X), 1))
    for some, support in _dense(part.support):
        for kernel, coefficients in zip(part.kernels, part.coefficients):
            scores = scores + _kernel(kernel, X, support) @ coefficients[some]
    return scores


def _components(part, X):
    scores = np.tile(part.biases, (len(X), 1))
    owners = np.array(part.owners)
    for some, support in _dense(part.support):
        for m, kernel in enumerate(part.kernels):
            mine = np.flatnonzero(owners == m)
            scores[:, mine] += _kernel(kernel, X, support) @ part.coefficients[mine, some].T
    return scores


# --- gates of components ------------------------------------------------------------------------


def _gate(part, X):
    return _GATES[part.kind](part, X)


def _softmax(scores):
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


def _linear_scores(part, X):
    return X @ part.directions.T + part.offsets


def _gaussian_gate(part, X):
    narrow = np.exp(-2.0 * np.clip(part.log_widths, -20.0, 20.0)) / part.scale
    return _softmax(-_squared_distances(X, part.centers) * narrow)


def _rounded(part, X):
    values = _gate(part.gate, X)
    values = np.where(values < part.margin, 0.0, values)
    return np.where(values > 1.0 - part.margin, 1.0, values)


def _unit_length(part, X):
    values = _gate(part.gate, X)
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def _top_and_bottom(scores, count):
    order = np.argsort(scores, axis=1, kind="stable")
    values = np.zeros(scores.shape)
    for chosen in (order[:, :count], order[:, scores.shape[1] - count :]):
        marks = np.zeros(scores.shape)
        np.put_along_axis(marks, chosen, 0.5, axis=1)
        values += marks
    return values


_SCORERS = {"KernelExpansion": _expansion, "ComponentScores": _components}
_GATES = {
    "Softmax": lambda part, X: _softmax(_linear_scores(part, X)),
    "Sigmoid": lambda part, X: 0.5 + 0.5 * np.tanh(0.5 * _linear_scores(part, X)),
    "GaussianGate": _gaussian_gate,
    "Viewing": lambda part, X: _gate(part.gate, X[:, list(part.view.columns)]),
    "Rounded": _rounded,
    "SoftmaxOf": lambda part, X: _softmax(
        part.sharpness * _SCORERS[part.scores.kind](part.scores, X)
    ),
    "Clipped": lambda part, X: np.clip(
        _SCORERS[part.scores.kind](part.scores, X), part.floor, 1.0
    ),
    "UnitLength": _unit_length,
    "Repeated": lambda part, X: np.repeat(_gate(part.gate, X), part.count, axis=1),
}  # fmt: skip


def _gated_expansion(part, X):
    blend = _gate(part.gate, X) * _SCORERS[part.components.kind](part.components, X)
    return blend.sum(axis=1, keepdims=True) + part.bias


def _gated_vote(part, X):
    votes = np.tanh(_SCORERS[part.components.kind](part.components, X))
    return (_gate(part.gate, X) * votes).sum(axis=1, keepdims=True)


def _selected(part, X):
    scores = _SCORERS[part.components.kind](part.components, X)
    chosen = _top_and_bottom(scores, part.n_selected)
    return (chosen * scores).sum(axis=1, keepdims=True) + part.bias


def _gated_rows(part, X):
    return _expansion(part.expansion, np.hstack([X, _gate(part.gate, X).astype(X.dtype)]))


def _gated_linear(part, X):
    local = X @ part.weights + part.biases
    return (_gate(part.gate, X) * local).sum(axis=1, keepdims=True) + part.bias


def _stacked(part, X):
    return np.hstack([_PREDICTORS[output.kind](output, X) for output in part.outputs])


_PREDICTORS = {
    "LocallyLinear": _locally_linear,
    "TreePath": _tree_path,
    "TreeForest": _forest,
    "ConformalLinear": _conformal,
    "KernelExpansion": _expansion,
    "GatedExpansion": _gated_expansion,
    "GatedVote": _gated_vote,
    "SelectedSum": _selected,
    "ExpansionOfGatedRows": _gated_rows,
    "GatedLinear": _gated_linear,
    "Stacked": _stacked,
}
