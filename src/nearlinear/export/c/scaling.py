"""Where the scaler goes: into linear tables, into the middle of the anchors, or before the model.

A model sees rows (x − shift) × factor. Moving either into tables gives another model of the same
kind that sees other rows.
"""

from dataclasses import dataclass, replace

import numpy as np

from ...gates.learned import Columns, Rounded, Sigmoid, Softmax, Viewing
from ...gates.scores import Repeated, UnitLength
from ...predictors.conformal_linear import ConformalLinear
from ...predictors.gated import GatedLinear, Stacked
from ...predictors.kernel_expansion import KernelExpansion
from ...predictors.locally_linear import LocallyLinear
from ...predictors.tree_forest import TreeForest
from ...predictors.tree_path import TreePath
from ...runtime.preparation import Preparation
from .kernels import GAUSSIAN, flatten

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
        return _moved(predictor, center), scaling.then_minus(center)
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


# --- centering ---------------------------------------------------------------------------------


def _center(predictor, scaling, is_int8):
    """What to subtract from rows so that tables hold small numbers, or None."""
    if isinstance(predictor, LocallyLinear):
        anchors = predictor.gate.anchors
        center = anchors.mean(axis=0)
        # one subtraction more costs nothing where rows are scaled anyway
        is_near = np.abs(center).max() <= np.sqrt(np.mean((anchors - center) ** 2))
        return None if is_near and scaling.is_none and not is_int8 else center
    if is_int8 and isinstance(predictor, ConformalLinear):
        return predictor.anchors.mean(axis=0)
    if is_int8 and isinstance(predictor, KernelExpansion) and _is_gaussian(predictor):
        return predictor.support.mean(axis=0) if len(predictor.support) else None
    return None


def _is_gaussian(expansion):
    every = tuple(range(expansion.support.shape[1]))
    groups = [group for kernel in expansion.kernels for group in flatten(kernel, every)]
    return all(term.degree == GAUSSIAN for group in groups for term in group.terms)


def _moved(predictor, center):
    """The model that sees rows less ``center``."""
    if isinstance(predictor, KernelExpansion):
        return replace(predictor, support=predictor.support - center)
    if isinstance(predictor, ConformalLinear):
        return replace(predictor, anchors=predictor.anchors - center)
    gate = replace(predictor.gate, anchors=predictor.gate.anchors - center)
    biases = predictor.biases
    if predictor.weights.shape[1]:
        biases = biases + np.einsum("mdo,d->mo", predictor.weights, center)
    return replace(predictor, gate=gate, biases=biases)


# --- folding ----------------------------------------------------------------------------------


def _folded(part, shift, factor):
    """The part that sees rows before the scaler; None where it is not linear in them."""
    if isinstance(part, TreeForest | Stacked):
        name = "trees" if isinstance(part, TreeForest) else "outputs"
        found = tuple(_folded(inner, shift, factor) for inner in getattr(part, name))
        return None if any(inner is None for inner in found) else replace(part, **{name: found})
    if isinstance(part, TreePath):
        names = ("splits", "slopes", "weights") if part.projection is None else ("projection",)
        rows = {name: getattr(part, name) for name in names}
        return replace(part, **{name: _affine(rows[name], shift, factor) for name in names})
    if isinstance(part, Softmax | Sigmoid):
        directions = part.directions * factor
        return replace(part, directions=directions, offsets=part.offsets - directions @ shift)
    if isinstance(part, Viewing) and isinstance(part.view, Columns):
        seen = list(part.view.columns)
        gate = _folded(part.gate, shift[seen], factor[seen])
        return None if gate is None else replace(part, gate=gate)
    if isinstance(part, Rounded | UnitLength | Repeated | GatedLinear):
        gate = _folded(part.gate, shift, factor)
        if gate is None or not isinstance(part, GatedLinear):
            return None if gate is None else replace(part, gate=gate)
        weights = part.weights * factor[:, None]
        return replace(part, gate=gate, weights=weights, biases=part.biases - shift @ weights)
    return None


def _affine(rows, shift, factor):
    """Rows whose last number belongs to a constant feature."""
    scaled = rows[..., :-1] * factor
    return np.concatenate([scaled, rows[..., -1:] - (scaled @ shift)[..., None]], axis=-1)
