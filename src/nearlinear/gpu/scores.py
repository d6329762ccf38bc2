"""Scores of predictors for rows that are tensors, on the tensors' device, in float32.

Rows that float32 would round, those in float64 above all, are measured from the mean anchor, or a
point among them, before they are cast, and offsets and biases from there, so that what is large far
from the origin cancels in double precision.
"""

from typing import NamedTuple

import numpy as np
import torch

from ..gates.learned import Columns, GaussianGate, Rounded, Sigmoid, Softmax, Viewing
from ..predictors.locally_linear import LocallyLinear
from ..solvers.solution import LocalModels
from ..solvers.trees.model import RowScaling
from .anchors.forms import can_compile
from .anchors.step import Layout, nearest
from .device import full_precision, on
from .feed import is_kept
from .machine.scores import expansion, is_known_expansion

_BLOCK_BYTES = 1 << 30  # of what a block of rows is turned into
_SOME = 256  # rows that tell where all are
_MAX_LOG_WIDTH = 20.0  # a component of e±20 units is as good as none, or as wide as all rows


def scores_of(predictor, X):
    """Scores (n_rows, n_outputs) as a tensor on the device of ``X``; of what ``is_known``."""
    if X.ndim != 2 or X.shape[1] != predictor.n_features:
        raise ValueError(
            f"X has the shape {tuple(X.shape)}, but the model has {predictor.n_features} features."
        )
    with on(X.device), full_precision():
        score, n_wide = _maker(predictor)(predictor, X)
        width = X.shape[1] if is_kept(X) else 3 * X.shape[1]  # differences are in float64
        block = max(256, _BLOCK_BYTES // (4 * (n_wide + width)))
        out = torch.empty(len(X), predictor.n_outputs, device=X.device)
        for start in range(0, len(X), block):
            out[start : start + block] = score(X[start : start + block])
    return out


def _on(device, array):
    """A copy: arrays of a file may not be written to, of which torch would warn."""
    return torch.tensor(np.asarray(array), device=device, dtype=torch.float32)


def _near(X, middle):
    """Rows in float32, measured from ``middle`` unless it is None."""
    if middle is None:
        return X.float()
    return (X.double() - torch.as_tensor(middle, device=X.device)).float()


def _middle_of(X):
    """A point among rows that float32 would round; None of others, which are as they are.

    Trees do not tell where their rows were. Medians, since a single row may be far from all.
    """
    if is_kept(X) or not len(X):
        return None
    some = X[:: -(-len(X) // _SOME)].double().sort(0).values
    return some[len(some) // 2].cpu().numpy()


def _from(middle, directions):
    """Linear functions of [x, 1] as functions of [x − middle, 1]."""
    return directions if middle is None else RowScaling(middle, 1.0).scaled(directions)


def _locally_linear(predictor, X):
    """By the models of near anchors alone where Triton is there, else by all of them."""
    middle = None
    if not is_kept(X):
        middle = predictor.gate.geometry.mean.astype(np.float64)
        predictor = _about(predictor, middle)
    n_anchors, width, n_outputs = predictor.weights.shape
    k = min(predictor.gate.n_neighbors, n_anchors)
    if can_compile(X.device) and width == X.shape[1]:
        from .anchors import triton_groups

        if triton_groups.fits(n_anchors, n_outputs, k):
            return _by_groups(predictor, X, k, middle)
    return _by_all_models(predictor, X, k, middle)


def _about(predictor, middle):
    """Anchors and local models of rows less ``middle``."""
    gate, local = predictor.gate, (predictor.weights, predictor.biases)
    models = LocalModels(gate.anchors, gate.sharpness, *local, gate.metric).moved(-middle)
    near = models.gate(gate.n_neighbors)
    return LocallyLinear(near, models.weights, models.biases, predictor.intercept)


def _by_groups(predictor, X, k, middle):
    from .anchors import triton_groups

    geometry, device = predictor.gate.geometry, X.device
    n_outputs = predictor.n_outputs
    is_bytes = X.dtype == torch.uint8
    intercept = 0.0 if predictor.intercept is None else predictor.intercept
    groups = triton_groups.groups_of(
        _on(device, geometry.directions), _on(device, geometry.offsets),
        _on(device, predictor.weights), _on(device, predictor.biases),
        _on(device, intercept).expand(n_outputs).contiguous(), predictor.gate.sharpness, k, X.dtype,
    )  # fmt: skip

    def score(X):
        rows = X if is_bytes else _near(X, middle)
        return triton_groups.scores(rows.contiguous(), groups)

    return score, k * (groups.models.shape[2] + 8)


def _by_all_models(predictor, X, k, middle):
    """Distances and the answers of all local models in one product, as in training."""
    gate, geometry, device = predictor.gate, predictor.gate.geometry, X.device
    n_anchors, width, n_outputs = predictor.weights.shape
    layout = Layout(predictor.n_features, n_anchors, n_outputs, width)
    values = torch.zeros(predictor.n_features, layout.n_columns, device=device)
    values[:, :n_anchors] = _on(device, geometry.directions).T
    models = _on(device, predictor.weights).permute(1, 2, 0).flatten(1)
    values[:width, layout.first : layout.first + layout.n_models] = models
    offsets, biases = _on(device, geometry.offsets), _on(device, predictor.biases)
    extra = 0.0 if predictor.intercept is None else _on(device, predictor.intercept)
    known = layout, biases.T.contiguous(), offsets, float(gate.sharpness)

    def score(X):
        return _combined(_near(X, middle) @ values, *known, k) + extra

    return score, layout.n_columns


def _combined(product, layout, biases, offsets, sharpness, k):
    half = offsets - product[:, : layout.n_anchors]
    is_near = nearest(half, k)
    half = torch.where(is_near, half, torch.inf)
    codes = torch.exp(-2.0 * sharpness * (half - half.amin(1, keepdim=True)))
    codes = codes / codes.sum(1, keepdim=True)
    local = product[:, layout.first : layout.first + layout.n_models]
    local = local.view(-1, layout.n_outputs, layout.n_anchors)
    return torch.einsum("im,icm->ic", codes, local) + codes @ biases.T


def _tree_path(tree, X):
    return _trees((tree,), (1.0,), X)


def _averaged(predictor, X):
    return _trees(predictor.members, predictor.weights, X)


def _trees(members, shares, X):
    """All nodes of all trees in one product; the path is what is left of it."""
    from .trees.adam import layout_of, matrix_of
    from .trees.step import hard_scores

    device, middle = X.device, _middle_of(X)
    models = [
        _Directions(*(_from(middle, part) for part in (one.splits, one.slopes, one.weights)),
                    one.node_gate)
        for one in members
    ]  # fmt: skip
    layout = layout_of(models)
    values = matrix_of(layout, models, device)
    shares = _on(device, shares)
    shares = shares / shares.sum()
    intercepts = _on(device, np.stack([one.intercept for one in members]))

    def score(X):
        Z = torch.nn.functional.pad(_near(X, middle), (0, 1), value=1.0)
        return torch.einsum("t,itc->ic", shares, hard_scores(layout, values, Z) + intercepts)

    return score, 4 * layout.n_columns


class _Directions(NamedTuple):
    """What a layout reads of a tree."""

    splits: object
    slopes: object
    weights: object
    node_gate: object
    projection: object = None

    @property
    def depth(self):
        return int(len(self.weights) + 1).bit_length() - 2


def _unrounded(gate):
    """A gate, and within how much of 0 and 1 its values are rounded."""
    return (gate.gate, gate.margin) if isinstance(gate, Rounded) else (gate, 0.0)


def _gate_and_columns(gate, n_features):
    """The gate behind its view, None if there are no scores of it here; the columns that it reads.

    Columns are None where a function makes them, or one of them is named twice.
    """
    columns = tuple(range(n_features))
    if isinstance(gate, Viewing):
        columns = gate.view.columns if isinstance(gate.view, Columns) else ()
        gate = gate.gate
    is_known = type(gate) in (Softmax, Sigmoid, GaussianGate)
    are_plain = 0 < len(columns) == len(set(columns))
    return gate if is_known else None, columns if are_plain else None


def _gates(gate, n_models, n_features, device):
    """A function of rows: the values of a learned gate."""
    gate, margin = _unrounded(gate)
    gate, columns = _gate_and_columns(gate, n_features)
    columns, is_gaussian = list(columns), isinstance(gate, GaussianGate)
    seen = gate.parameters[:-n_models].reshape(n_models, -1)
    middle = seen.mean(axis=0)  # distances of rows far from the origin keep their digits
    directions = _on(device, seen - middle if is_gaussian else seen).T
    ends = _on(device, gate.parameters[-n_models:])

    def values(X):
        if is_gaussian:
            rows = (X[:, columns] - torch.as_tensor(middle, device=device)).float()
            norms = rows.square().sum(1)[:, None] + directions.square().sum(0)
            squares = (norms - 2.0 * (rows @ directions)).clamp_min(0.0)
            log_widths = ends.clamp(-_MAX_LOG_WIDTH, _MAX_LOG_WIDTH)
            scores = -torch.exp(-2.0 * log_widths) / gate.scale * squares
        else:
            scores = X[:, columns].float() @ directions + ends
        is_sigmoid = isinstance(gate, Sigmoid)
        gates = torch.sigmoid(scores) if is_sigmoid else torch.softmax(scores, -1)
        return torch.where(gates < margin, 0.0, torch.where(gates > 1.0 - margin, 1.0, gates))

    return values


def _gated(predictor, X):
    """Linear models and a learned gate."""
    n_models = len(predictor.weights)
    gates = _gates(predictor.gate, n_models, predictor.n_features, X.device)
    models, biases = _on(X.device, predictor.weights[:, :, 0]).T, _on(X.device, predictor.biases)
    intercept = float(predictor.intercept[0])

    def score(X):
        local = X.float() @ models + biases[:, 0]
        return (gates(X) * local).sum(1, keepdim=True) + intercept

    return score, 8 * n_models


def _gated_expansion(predictor, X):
    """Kernel machines and a learned gate."""
    n_models = predictor.components.n_outputs
    gates = _gates(predictor.gate, n_models, predictor.n_features, X.device)
    components, n_wide = expansion(predictor.components, X)

    def score(X):
        answers = components(X)
        answers = torch.tanh(answers) if predictor.activation == "tanh" else answers
        return (gates(X) * answers).sum(1, keepdim=True) + float(predictor.bias)

    return score, n_wide


def _stacked(predictor, X):
    """One after the other: they share no columns."""
    makers = [_maker(one)(one, X) for one in predictor.outputs]

    def score(X):
        return torch.cat([one(X) for one, _ in makers], 1)

    return score, max(n_wide for _, n_wide in makers)


_MAKERS = {
    "SoftAssignment": _locally_linear, "Rounded": _gated, "Stacked": _stacked,
    "TreePath": _tree_path, "Averaged": _averaged, "KernelExpansion": expansion,
    "GatedExpansion": _gated_expansion,
}  # fmt: skip


def _maker(predictor):
    """By the kind of the predictor, or of its gate."""
    kind = type(predictor).__name__
    return _MAKERS.get(type(predictor.gate).__name__ if kind == "LocallyLinear" else kind)


def is_known(predictor):
    """Whether tensors have scores of a predictor here; others are scored as arrays."""
    kind = type(predictor).__name__
    if kind == "Stacked":
        return all(map(is_known, predictor.outputs))
    if kind == "Averaged":
        parts = {(type(one).__name__, is_known(one)) for one in predictor.members}
        return not predictor.calibrations and parts == {("TreePath", True)}
    if kind == "TreePath":
        return predictor.node_gate.name == "tanh"
    if kind == "KernelExpansion":
        return is_known_expansion(predictor)
    if kind == "GatedExpansion":
        return _is_known_gate(predictor.gate) and is_known_expansion(predictor.components)
    maker = _maker(predictor)
    return maker is _locally_linear or (maker is _gated and _is_known_gate(predictor.gate))


def tells_odd_rows(predictor):
    """Whether scores of rows that are not finite are not finite."""
    if type(predictor).__name__ == "Stacked":
        return all(map(tells_odd_rows, predictor.outputs))
    return _maker(predictor) not in (expansion, _gated_expansion)


def _is_known_gate(gate):
    return None not in _gate_and_columns(_unrounded(gate)[0], 1)
