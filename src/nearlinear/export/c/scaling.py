"""Where the scaler goes: into linear tables, into the middle of the anchors, or before the model.

A model sees rows (x − shift) × factor. Moving either into tables gives another model of the same
kind that sees other rows.
"""

from dataclasses import dataclass, replace

import numpy as np

from ...kinds import kind_of
from ...runtime.preparation import Preparation
from .kernels import GAUSSIAN, flatten
from .predictors.linear import SPARSE_GATES

# Folding is exact but for rounding: with larger shifts float32 would lose more than four bits.
_LARGEST_SHIFT = 16.0


@dataclass(frozen=True)
class Scaling:
    """Rows are (x − shift) × factor; None where nothing is to be done.

    ``before`` is a preparation that comes first, if it does more than to shift and to scale.
    """

    shift: np.ndarray | None
    factor: np.ndarray | None
    before: Preparation | None = None

    def __call__(self, X):
        X = X if self.before is None else self.before(X)
        X = X if self.shift is None else X - self.shift.astype(X.dtype)
        return X if self.factor is None else X * self.factor.astype(X.dtype)

    def then_minus(self, center):
        """The same, less ``center`` afterwards."""
        center = center if self.factor is None else center / self.factor
        return replace(self, shift=center if self.shift is None else self.shift + center)

    @property
    def is_none(self):
        return self.shift is None and self.factor is None


def scaling_of(preparation):
    """What is done to rows before the model."""
    if preparation is None:
        return Scaling(None, None)
    if not preparation.only_scales:
        return Scaling(None, None, preparation)
    scale = preparation.scale
    return Scaling(preparation.shift, None if scale is None else 1.0 / scale)


def absorbed(predictor, scaling, is_int8):
    """A model and scaling equal to those given, with less left to do to rows."""
    center = _center(predictor, scaling, is_int8)
    if center is not None:
        return _MOVED[kind_of(predictor)](predictor, center), scaling.then_minus(center)
    # eight bits need rows of like columns: there the scaler stays in front
    if scaling.is_none or is_int8:
        return predictor, scaling
    shift = 0.0 if scaling.shift is None else scaling.shift
    factor = 1.0 if scaling.factor is None else scaling.factor
    if np.abs(shift * factor).max() > _LARGEST_SHIFT:
        return predictor, scaling
    n_columns = len(scaling.shift if scaling.factor is None else scaling.factor)
    shift, factor = np.broadcast_to(shift, n_columns), np.broadcast_to(factor, n_columns)
    folded = _folded(predictor, shift, factor)
    if folded is None:
        return predictor, scaling
    return folded, replace(scaling, shift=None, factor=None)


# --- centering --------------------------------------------------------------------------------


def _center(predictor, scaling, is_int8):
    """What to subtract from rows so that tables hold small numbers, or None."""
    kind = kind_of(predictor)
    if kind == "LocallyLinear" and kind_of(predictor.gate) in SPARSE_GATES:
        anchors = predictor.gate.anchors
        center = anchors.mean(axis=0)
        # one subtraction more costs nothing where rows are scaled anyway
        is_near = np.abs(center).max() <= np.sqrt(np.mean((anchors - center) ** 2))
        return None if is_near and scaling.is_none and not is_int8 else center
    if is_int8 and kind == "ConformalLinear":
        return predictor.anchors.mean(axis=0)
    if is_int8 and kind == "GaussianCells":
        return predictor.cells.centers.mean(axis=0)
    if is_int8 and kind == "KernelExpansion" and _is_gaussian(predictor):
        return predictor.support.mean(axis=0) if len(predictor.support) else None
    return None


def _is_gaussian(expansion):
    every = tuple(range(expansion.support.shape[1]))
    groups = [group for kernel in expansion.kernels for group in flatten(kernel, every)]
    return all(term.degree == GAUSSIAN for group in groups for term in group.terms)


def _moved_local(predictor, center):
    gate = replace(predictor.gate, anchors=predictor.gate.anchors - center)
    biases = predictor.biases
    if predictor.weights.shape[1]:
        biases = biases + np.einsum("mdo,d->mo", predictor.weights, center)
    return replace(predictor, gate=gate, biases=biases)


def _moved_cells(predictor, center):
    cells = predictor.cells
    groups = None if cells.groups is None else cells.groups - center
    cells = replace(cells, centers=cells.centers - center, groups=groups)
    return replace(predictor, cells=cells, landmarks=predictor.landmarks - center)


# The model that sees rows less the center.
_MOVED = {
    "LocallyLinear": _moved_local,
    "ConformalLinear": lambda part, center: replace(part, anchors=part.anchors - center),
    "GaussianCells": _moved_cells,
    "KernelExpansion": lambda part, center: replace(part, support=part.support - center),
}

# --- folding ----------------------------------------------------------------------------------


def _folded(part, shift, factor):
    """The part that sees rows before the scaler; None where it is not linear in them."""
    fold = _FOLDED.get(kind_of(part))
    return None if fold is None else fold(part, shift, factor)


def _fold_all(name):
    """Parts of a predictor that see the same rows as it."""

    def fold(part, shift, factor):
        found = tuple(_folded(inner, shift, factor) for inner in getattr(part, name))
        return None if any(inner is None for inner in found) else replace(part, **{name: found})

    return fold


def _fold_affine(*names):
    def fold(part, shift, factor):
        rows = {name: getattr(part, name) for name in names}
        return replace(part, **{name: _affine(rows[name], shift, factor) for name in names})

    return fold


def _fold_mapped(part, shift, factor):
    seen = _folded(part.map, shift, factor)
    return None if seen is None else replace(part, map=seen)


def _fold_inner(part, shift, factor):
    inner = _folded(part.predictor, shift, factor)
    return None if inner is None else replace(part, predictor=inner)


def _fold_directions(part, shift, factor):
    directions = part.directions * factor
    return replace(part, directions=directions, offsets=part.offsets - directions @ shift)


def _fold_view(part, shift, factor):
    if kind_of(part.view) != "Columns":
        return None
    seen = list(part.view.columns)
    return _fold_gate(part, shift[seen], factor[seen])


def _fold_gate(part, shift, factor):
    gate = _folded(part.gate, shift, factor)
    return None if gate is None else replace(part, gate=gate)


def _fold_local(part, shift, factor):
    part = _fold_gate(part, shift, factor)
    if part is None:
        return None
    weights = part.weights * factor[:, None]
    biases = part.biases - np.einsum("d,mdo->mo", shift, weights)
    return replace(part, weights=weights, biases=biases)


def _fold_additive(part, shift, factor):
    if np.any(factor <= 0):
        return None
    weights, counts = part.weights * factor[:, None], np.diff(part.firsts)
    knots = part.knots / np.repeat(factor, counts) + np.repeat(shift, counts)
    return replace(part, weights=weights, intercept=part.intercept - shift @ weights, knots=knots)


def _fold_hinges(part, shift, factor):
    first = part.weights[0] * factor[:, None]
    biases = (part.biases[0] - shift @ first, *part.biases[1:])
    return replace(part, weights=(first, *part.weights[1:]), biases=biases)


def _affine(rows, shift, factor):
    """Rows whose last number belongs to a constant feature."""
    scaled = rows[..., :-1] * factor
    return np.concatenate([scaled, rows[..., -1:] - (scaled @ shift)[..., None]], axis=-1)


_FOLDED = {
    "LocallyLinear": _fold_local,
    "TreePath": _fold_affine("splits", "slopes", "weights"),
    "TreeLeaves": _fold_affine("splits", "weights"),
    "LinkedTree": _fold_affine("splits", "slopes", "weights"),
    "Affine": _fold_affine("matrix"),
    "Mapped": _fold_mapped,
    "Additive": _fold_additive,
    "Averaged": _fold_all("members"),
    "Hinges": _fold_hinges,
    "Exponential": _fold_inner,
    "Stacked": _fold_all("outputs"),
    "Softmax": _fold_directions,
    "Sigmoid": _fold_directions,
    "Viewing": _fold_view,
    "Rounded": _fold_gate,
    "UnitLength": _fold_gate,
    "Repeated": _fold_gate,
}
