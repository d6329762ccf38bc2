"""For every kind of model a function of one row: a compiled pass, and the tables it takes.

A batch predictor sets up blocks, which takes longer than one row does.
"""

from math import isfinite, log

import numpy as np

from ..kinds import kind_of, known
from ..runtime.outcome import FLOOR
from . import passes as row_passes
from .forests import forest_pass
from .outcome import CALIBRATIONS, member_probabilities


class Scratch:
    """Work arrays of one thread, by name."""

    def __init__(self):
        self._arrays = {}

    def get(self, name, shape, dtype):
        array = self._arrays.get(name)
        if array is None:
            array = self._arrays[name] = np.empty(shape, dtype=dtype)
        return array

    def part(self, number):
        """Memory of a part, apart from that of others."""
        found = self._arrays.get(number)
        if found is None:
            found = self._arrays[number] = Scratch()
        return found


def pass_for(predictor, n_features):
    """A function (row, scratch) → scores in the scratch's memory; None if one is not finite."""
    kind = kind_of(predictor)
    make = None if kind is None else known("row", kind)
    found = None if make is None else make(predictor, n_features)
    return _by_block(predictor, n_features) if found is None else found


def _by_block(predictor, n_features):
    """Machines that keep support rows: their blocks are quick for one row, too."""

    is_number = _not_infinite if getattr(predictor, "takes_missing", False) else np.isfinite

    def score(x, scratch):
        if len(x) != n_features or not is_number(x).all():
            return None
        scores = predictor(x[None])[0]
        return scores if np.isfinite(scores).all() else None

    return score


def _not_infinite(x):
    return ~np.isinf(x)


def _locally_linear(predictor, n_features):
    """None where the gate has no compiled pass."""
    kind = kind_of(predictor.gate)
    if kind in _CODES and predictor.intercept is None:
        return _anchors(predictor)
    is_rounded = kind == "Rounded" and kind_of(predictor.gate.gate) == "Softmax"
    return _gated_linear(predictor) if is_rounded and predictor.n_outputs == 1 else None


def _anchors(predictor):
    gate, dtype = predictor.gate, predictor.weights.dtype
    geometry = gate.geometry
    places = (
        np.ascontiguousarray(geometry.directions, dtype=dtype),
        geometry.offsets.astype(dtype),
        np.ascontiguousarray(geometry.mean, dtype=dtype),
        np.ascontiguousarray(gate.anchors, dtype=dtype),
    )
    # outputs before features, so that every product runs along memory
    weights = np.ascontiguousarray(predictor.weights.transpose(0, 2, 1))
    biases = np.ascontiguousarray(predictor.biases)
    code, number = _CODES[kind_of(gate)]
    code, number = code.dispatcher(), dtype.type(number(gate))
    k, n_outputs = gate.n_neighbors, biases.shape[1]

    def score(x, scratch):
        near = scratch.get("near", k, np.int64)
        halves = scratch.get("halves", k, dtype)
        scores = scratch.get("scores", n_outputs, dtype)
        known = code(x, places, number, near, halves, weights, biases, scores)
        return scores if known else None

    return score


def _floor(gate):
    eps = np.finfo(gate.anchors.dtype).eps
    return eps * max(1.0, float(np.abs(gate.geometry.offsets).max()))


_CODES = {
    "SoftAssignment": (row_passes.soft_row, lambda gate: gate.sharpness),
    "InverseDistance": (row_passes.inverse_row, _floor),
    "ReconstructionCodes": (row_passes.rebuilt_row, lambda gate: gate.ridge),
}


def _tree(predictor, n_features):
    n_outputs, dtype = predictor.n_outputs, predictor.dtype
    if predictor.node_gate.name == "indicator":
        tables = (predictor.splits, predictor.weights, predictor.intercept)
        run = row_passes.leaf_row.dispatcher()
    else:
        sigma = dtype.type(getattr(predictor.node_gate, "sigma", 1.0))
        tables = (predictor.splits, predictor.directions, predictor.weights, predictor.intercept)
        tables = (*tables, sigma, predictor.node_gate.name == "compositional")
        run = row_passes.path_row.dispatcher()

    def score(x, scratch):
        scores = scratch.get("scores", n_outputs, dtype)
        return scores if run(x, *tables, scores) else None

    return score


def _linked_tree(predictor, n_features):
    n_outputs, dtype, gate = predictor.n_outputs, predictor.dtype, predictor.node_gate
    sigma = dtype.type(getattr(gate, "sigma", 1.0))
    tables = (predictor.children, predictor.splits, predictor.directions, predictor.weights)
    tables += (predictor.intercept, sigma, gate.name == "compositional", predictor.ends_alone)
    run = row_passes.linked_row.dispatcher()

    def score(x, scratch):
        scores = scratch.get("scores", n_outputs, dtype)
        return scores if run(x, *tables, scores) else None

    return score


def _mapped(predictor, n_features):
    kind, seen_by = kind_of(predictor.map), predictor.map
    if kind == "Affine":
        tables, width, see = (seen_by.matrix,), len(seen_by.matrix), row_passes.project
    elif kind == "Quadratic":
        scale = predictor.dtype.type(seen_by.scale)
        tables, width, see = (
            (seen_by.center, scale),
            seen_by.n_components,
            row_passes.raise_to_pairs,
        )
    else:
        return None
    inner, dtype = pass_for(predictor.predictor, width), predictor.dtype

    def score(x, scratch):
        seen = scratch.get("seen", width, dtype)
        return inner(seen, scratch) if see(x, *tables, seen) else None

    return score


def _additive(predictor, n_features):
    n_outputs, dtype = predictor.n_outputs, predictor.dtype
    bent = predictor.bent_columns
    # row after row in memory: NumPy would join columns
    weights = np.ascontiguousarray(np.column_stack([predictor.weights.T, predictor.intercept]))
    tables = (weights, bent)
    tables = (*tables, np.append(predictor.firsts[bent], len(predictor.knots)))
    tables = (*tables, predictor.knots, predictor.values)
    run = row_passes.additive_row.dispatcher()

    def score(x, scratch):
        scores = scratch.get("scores", n_outputs, dtype)
        return scores if run(x, *tables, scores) else None

    return score


def _hinges(predictor, n_features):
    n_outputs, dtype = predictor.n_outputs, predictor.dtype
    layers = list(zip(predictor.weights, predictor.biases, strict=True))
    widths = np.array([n_features, *(len(biases) for _, biases in layers)])
    numbers = [np.column_stack([biases, weights.T]).ravel() for weights, biases in layers]
    tables, room = (widths, np.concatenate(numbers)), (2, int(widths.max()))
    run = row_passes.hinge_row.dispatcher()

    def score(x, scratch):
        layers = scratch.get("layers", room, dtype)
        scores = scratch.get("scores", n_outputs, dtype)
        return scores if run(x, *tables, layers, scores) else None

    return score


def _averaged(predictor, n_features):
    if predictor.calibrations:
        return _averaged_probabilities(predictor, n_features)
    parts = _members(predictor, n_features)
    total_weight, n_outputs = predictor.dtype.type(sum(predictor.weights)), predictor.n_outputs
    weights = [predictor.dtype.type(weight) for weight in predictor.weights]

    def score(x, scratch):
        total = scratch.get("total", n_outputs, predictor.dtype)
        total[:] = 0.0
        for number, (part, dtype) in enumerate(parts):
            found = part(_as_type(x, dtype), scratch.part(number))
            if found is None:
                return None
            total += weights[number] * found
        total /= total_weight
        return total

    return score


def _averaged_probabilities(predictor, n_features):
    parts, n_outputs, dtype = _members(predictor, n_features), predictor.n_outputs, predictor.dtype
    told = list(zip(parts, predictor.calibrations, predictor.shares, strict=True))

    def score(x, scratch):
        mean = [0.0] * max(2, n_outputs)
        for number, ((part, own), calibration, share) in enumerate(told):
            found = part(_as_type(x, own), scratch.part(number))
            if found is None:
                return None
            chances = member_probabilities(calibration, found.tolist())
            mean = [total + share * p for total, p in zip(mean, chances, strict=True)]
        logs = [log(max(p, FLOOR)) for p in mean]
        scores = scratch.get("mean", n_outputs, dtype)
        scores[:] = logs if n_outputs > 1 else logs[1] - logs[0]
        return scores

    return score


def _members(predictor, n_features):
    return [(pass_for(member, n_features), member.dtype) for member in predictor.members]


def _exponential(predictor, n_features):
    inner = pass_for(predictor.predictor, n_features)

    def score(x, scratch):
        scores = inner(x, scratch)
        if scores is None:
            return None
        np.exp(scores, out=scores)
        return scores if all(map(isfinite, scores.tolist())) else None

    return score


def _conformal(predictor, n_features):
    dtype = predictor.weights.dtype
    tables = (
        np.ascontiguousarray(predictor.anchors, dtype=dtype),
        predictor.gammas.astype(dtype),
        np.ascontiguousarray(predictor.weights),
        np.searchsorted(predictor.kernels, np.arange(len(predictor.anchors) + 1)),
        predictor.outputs.astype(np.intp),
        predictor.biases.astype(dtype),
    )
    of_root = predictor.profile in ("exponential", "linear")
    is_bounded = predictor.profile in ("linear", "square")
    run = row_passes.feature_row if predictor.per_feature else row_passes.conformal_row
    run = run.dispatcher()

    def score(x, scratch):
        scores = scratch.get("scores", len(predictor.biases), dtype)
        return scores if run(x, *tables, of_root, is_bounded, scores) else None

    return score


def _cells(predictor, n_features):
    dtype, cells = predictor.dtype, predictor.cells
    groups, firsts = cells.groups, cells.firsts
    if groups is None:
        groups, firsts = cells.centers[:1], np.array([0, len(cells)])
    tables = (cells.centers, groups, firsts, dtype.type(predictor.gamma), predictor.landmarks)
    tables = (*tables, predictor.starts, predictor.slopes, predictor.offsets, predictor.biases)
    run = row_passes.cell_row.dispatcher()

    def score(x, scratch):
        scores = scratch.get("scores", predictor.n_outputs, dtype)
        return scores if run(x, *tables, scores) else None

    return score


def _gated_linear(predictor):
    dtype = predictor.dtype
    softmax, margin = predictor.gate.gate, dtype.type(predictor.gate.margin)
    tables = (
        np.ascontiguousarray(softmax.directions, dtype=dtype),
        softmax.offsets.astype(dtype),
        np.ascontiguousarray(predictor.weights[:, :, 0]),
        np.ascontiguousarray(predictor.biases[:, 0]),
        dtype.type(0.0 if predictor.intercept is None else predictor.intercept[0]),
    )
    run = row_passes.gated_row.dispatcher()

    def score(x, scratch):
        gates = scratch.get("gates", len(tables[1]), dtype)
        scores = scratch.get("scores", 1, dtype)
        return scores if run(x, *tables, margin, gates, scores) else None

    return score


def _stacked(predictor, n_features):
    outputs = [pass_for(output, n_features) for output in predictor.outputs]

    def score(x, scratch):
        scores = scratch.get("stack", len(outputs), predictor.dtype)
        for number, output in enumerate(outputs):
            found = output(x, scratch.part(number))
            if found is None:
                return None
            scores[number] = found[0]
        return scores

    return score


def _as_type(x, dtype):
    return x if x.dtype == dtype else x.astype(dtype)


RULES = {
    "LocallyLinear": _locally_linear,
    "TreePath": _tree,
    "TreeLeaves": _tree,
    "LinkedTree": _linked_tree,
    "Forest": forest_pass,
    "ConformalLinear": _conformal,
    "GaussianCells": _cells,
    "Mapped": _mapped,
    "Additive": _additive,
    "Averaged": _averaged,
    "Hinges": _hinges,
    "Stacked": _stacked,
    "Exponential": _exponential,
    **CALIBRATIONS,
}
