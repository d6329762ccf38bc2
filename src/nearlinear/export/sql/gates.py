"""Gates in SQL: of all components, or of the nearest anchors."""

import numpy as np

from ...kinds import kind_of
from .builder import values_of
from .literals import SqlExportError, number, number_list


def _linear_scores(query, gate, X):
    return query.products(X, gate.directions, gate.offsets)


def _sigmoid(query, gate, X):
    return [f"(0.5e0 + 0.5e0 * tanh(0.5e0 * {one}))" for one in _linear_scores(query, gate, X)]


def _squares(query, X, points):
    """Squared distances from points."""
    row = query.row(X)
    return [f"pow(list_distance({row}, {number_list(point)}), 2)" for point in points]


def _gaussian(query, gate, X):
    narrow = np.exp(-2.0 * np.clip(gate.log_widths, -20.0, 20.0)) / gate.scale
    squares = _squares(query, X, gate.centers)
    return query.softmax([f"{one} * {number(-w)}" for one, w in zip(squares, narrow)])


def _viewing(query, gate, X):
    if kind_of(gate.view) != "Columns":
        raise SqlExportError(
            "The gate sees rows through a function of yours, which SQL has not: fit with "
            "gating_features as a list of columns, or compute them before."
        )
    return values_of(query, gate.gate, tuple(X[d] for d in gate.view.columns))


def _rounded(query, gate, X):
    values = [query.let(one) for one in values_of(query, gate.gate, X)]
    low, high = number(gate.margin), number(1.0 - gate.margin)
    return [
        f"CASE WHEN {one} < {low} THEN 0e0 WHEN {one} > {high} THEN 1e0 ELSE {one} END"
        for one in values
    ]


def _softmax_of(query, gate, X):
    sharpness = number(gate.sharpness)
    return query.softmax([f"{sharpness} * {one}" for one in values_of(query, gate.scores, X)])


def _clipped(query, gate, X):
    floor = number(gate.floor)
    return [f"least(greatest({one}, {floor}), 1e0)" for one in values_of(query, gate.scores, X)]


def _unit_length(query, gate, X):
    values = [query.let(one) for one in values_of(query, gate.gate, X)]
    length = query.let(f"sqrt({query.total([f'{one} * {one}' for one in values])})")
    return [f"({one} / {length})" for one in values]


def _repeated(query, gate, X):
    return [one for one in values_of(query, gate.gate, X) for _ in range(gate.count)]


GATES = {
    "Softmax": lambda query, gate, X: query.softmax(_linear_scores(query, gate, X)),
    "Sigmoid": _sigmoid,
    "GaussianGate": _gaussian,
    "Viewing": _viewing,
    "Rounded": _rounded,
    "SoftmaxOf": _softmax_of,
    "Clipped": _clipped,
    "UnitLength": _unit_length,
    "Repeated": _repeated,
}

# --- the nearest anchors: their numbers from 1 on, and their codes ------------------------------


def _nearest(query, gate, X):
    """Numbers and squared distances, nearest first."""
    metric = getattr(gate, "metric", None)
    anchors = gate.anchors
    if metric is not None:
        root = np.sqrt(metric.astype(np.float64))
        X = [query.let(f"{x} * {number(r)}") for x, r in zip(X, root)]
        anchors = anchors * root
    squares = query.let(f"[{', '.join(_squares(query, X[: anchors.shape[1]], anchors))}]")
    order = query.let(f"list_grade_up({squares})")
    indices = [query.let(f"{order}[{k + 1}]") for k in range(gate.n_neighbors)]
    return indices, [query.let(f"{squares}[{index}]") for index in indices]


def _soft_assignment(query, gate, X):
    indices, squares = _nearest(query, gate, X)
    sharpness = number(-gate.sharpness)
    codes = query.shares([f"exp({sharpness} * ({one} - {squares[0]}))" for one in squares])
    return indices, codes


def _inverse_distance(query, gate, X):
    indices, squares = _nearest(query, gate, X)
    offsets = gate.geometry.offsets
    # a row that is an anchor gets the code 1, and no division by zero
    floor = number(np.finfo(gate.anchors.dtype).eps * max(1.0, float(np.abs(offsets).max())))
    return indices, query.shares([f"1e0 / sqrt(greatest({one}, {floor}))" for one in squares])


SPARSE_GATES = {"SoftAssignment": _soft_assignment, "InverseDistance": _inverse_distance}
