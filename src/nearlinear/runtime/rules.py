"""What a model may be made of.

What comes out of a file may be anything: kinds, field names, types, shapes and indices are held
against the rules below before a single row is scored, here or by compiled code that trusts them.

All numbers are finite, and floats are single or double. No part makes a row wider than the model
takes it, but for a gate's values, of which each has its own number in the file.
"""

import numpy as np

from ..kinds import family_of
from .fields import WHOLE, checked, count, floats, number, one_type, require
from .forests.rules import FOREST, forest
from .gate_rules import GATES, SPARSE_GATES
from .hinges import HINGES, check_hinges
from .kernel_rules import KERNELS, check_kernels
from .outcome_rules import OUTCOMES
from .parts import Part
from .sums import ADDITIVE, AVERAGED, check_additive, check_averaged
from .tree_rules import TREES, check_node_gate, linked_tree

_LARGEST_DEPTH = 30
_OUTPUTS = ("LocallyLinear", "GatedExpansion", "Mapped")  # what may stand side by side
PROFILES = ("exponential", "gaussian", "linear", "square")


def check_predictor(part, n_features):
    """Hold a predictor against the rules; returns its number of outputs."""
    n_outputs = checked(part, "predictor", n_features)
    require(n_outputs >= 1, part.kind, "it has no outputs")
    return n_outputs


def _locally_linear(part, n_features):
    is_sparse = family_of(getattr(part.gate, "kind", None)) == "sparse gate"
    n_models = checked(part.gate, "sparse gate" if is_sparse else "gate", n_features)
    _, width, n_outputs = floats(part.weights, n_models, None, None, name="weights")
    good = width == n_features or (width == 0 and is_sparse)
    require(good, "LocallyLinear", "its models are of other rows")
    floats(part.biases, n_models, n_outputs, name="biases")
    if part.intercept is not None:
        floats(part.intercept, n_outputs, name="intercept")
    own = (getattr(part.gate, name, None) for name in ("anchors", "metric") if is_sparse)
    one_type(part.weights, part.biases, *own, name="LocallyLinear")
    return n_outputs


def _tree_path(part, n_features):
    kind = check_node_gate(part.node_gate, "TreePath", ("TanhNode", "CompositionalNode"))
    n_nodes, n_outputs, _ = floats(part.weights, None, None, n_features + 1, name="weights")
    depth = (n_nodes + 1).bit_length() - 2
    complete = n_nodes >= 1 and n_nodes == 2 ** (depth + 1) - 1
    require(complete and depth <= _LARGEST_DEPTH, "TreePath", "it is not complete")
    for name, wanted in (
        ("splits", n_nodes if kind == "CompositionalNode" else 2**depth - 1),
        ("slopes", n_nodes if kind == "TanhNode" else 0),
    ):
        n_found, _ = floats(getattr(part, name), None, n_features + 1, name=name)
        require(n_found == wanted, "TreePath", f"{name} are missing, or too many")
    floats(part.intercept, n_outputs, name="intercept")
    slopes = part.slopes if kind == "TanhNode" else None
    one_type(part.splits, slopes, part.weights, part.intercept, name="TreePath")
    return n_outputs


def _tree_leaves(part, n_features):
    n_leaves, n_outputs, _ = floats(part.weights, None, None, n_features + 1, name="weights")
    depth = n_leaves.bit_length() - 1
    complete = n_leaves >= 1 and n_leaves == 2**depth and depth <= _LARGEST_DEPTH
    require(complete, "TreeLeaves", "it is not complete")
    n_splits, _ = floats(part.splits, None, n_features + 1, name="splits")
    require(n_splits == n_leaves - 1, "TreeLeaves", "splits are missing, or too many")
    floats(part.intercept, n_outputs, name="intercept")
    one_type(part.splits, part.weights, part.intercept, name="TreeLeaves")
    return n_outputs


def _mapped(part, n_features):
    width = checked(part.map, "map", n_features)
    only = ("KernelExpansion",) if part.map.kind == "WithGates" else TREES
    n_outputs = checked(part.predictor, "predictor", width, only=only)
    if part.map.kind == "WithGates":
        # these have one kernel for each gate
        kinds = {kernel.kind for kernel in part.predictor.kernels}
        require(kinds == {"PairwiseNormalizedSum"}, "Mapped", "its kernels do not read gates")
    elif part.map.kind == "Affine":
        one_type(part.map.matrix, part.predictor.weights, name="Mapped")
    else:
        one_type(part.map.center, part.predictor.weights, name="Mapped")
    return n_outputs


def _affine(part, n_features):
    return floats(part.matrix, None, n_features + 1, name="matrix")[0]


def _quadratic(part, n_features):
    floats(part.center, n_features, name="center")
    number(part.scale, "scale", 1e-300)
    return n_features * (n_features + 3) // 2


def _with_gates(part, n_features):
    count(part.n_features, "n_features", 1, n_features)
    return n_features + checked(part.gate, "gate", n_features)


def _exponential(part, n_features):
    return checked(part.predictor, "predictor", n_features, only=("Forest",))


def _conformal(part, n_features):
    n_kernels, _ = floats(part.anchors, None, n_features, name="anchors")
    floats(part.gammas, n_kernels, name="gammas")
    require(np.all(part.gammas >= 0.0), "ConformalLinear", "its gammas are negative")
    n_terms, _ = floats(part.weights, None, n_features, name="weights")
    (n_outputs,) = floats(part.biases, None, name="biases")
    require(part.profile in PROFILES, "ConformalLinear", "its profile is unknown")
    require(type(part.per_feature) is bool, "ConformalLinear", "per_feature is no boolean")
    for name, most in (("kernels", n_kernels), ("outputs", n_outputs)):
        index = getattr(part, name)
        good = isinstance(index, np.ndarray) and index.dtype in WHOLE
        good = good and index.shape == (n_terms,) and np.all((index >= 0) & (index < most))
        require(good, "ConformalLinear", f"{name} point nowhere")
    require(
        np.all(part.kernels[1:] >= part.kernels[:-1]), "ConformalLinear", "kernels are out of order"
    )
    return n_outputs


def _gaussian_cells(part, n_features):
    n_cells = _cells(part.cells, n_features)
    number(part.gamma, "gamma", 1e-300)
    n_landmarks, _ = floats(part.landmarks, None, n_features, name="landmarks")
    _ends(part.starts, n_cells, n_landmarks, "landmarks")
    _, n_outputs = floats(part.biases, n_cells, None, name="biases")
    floats(part.slopes, n_landmarks, n_outputs, n_features, name="slopes")
    floats(part.offsets, n_landmarks, n_outputs, name="offsets")
    arrays = (part.landmarks, part.slopes, part.offsets, part.biases)
    one_type(*arrays, part.cells.centers, part.cells.groups, name="GaussianCells")
    return n_outputs


def _cells(part, n_features):
    good = getattr(part, "kind", None) == "Cells"
    good = good and set(vars(part)) == {"kind", "centers", "groups", "firsts"}
    require(good, "GaussianCells", "its cells are odd")
    n_cells, _ = floats(part.centers, None, n_features, name="centers")
    require(n_cells >= 1, "GaussianCells", "it has no cells")
    if part.groups is None:
        require(part.firsts is None, "GaussianCells", "its groups are missing")
        return n_cells
    n_groups, _ = floats(part.groups, None, n_features, name="groups")
    _ends(part.firsts, n_groups, n_cells, "cells")
    require(np.all(part.firsts[1:] > part.firsts[:-1]), "GaussianCells", "a group has no cells")
    return n_cells


def _ends(ends, n_parts, n_items, name):
    """Where the items of each part begin, and the end of the last."""
    good = isinstance(ends, np.ndarray) and ends.dtype in WHOLE and ends.shape == (n_parts + 1,)
    good = good and ends[0] == 0 and ends[-1] == n_items and np.all(ends[1:] >= ends[:-1])
    require(good, "GaussianCells", f"its {name} are out of order")


def _support(support, n_features, name):
    if isinstance(support, Part) and support.kind == "csr":
        n_rows, width = support.shape
        require(width == n_features, name, "support rows have another length")
        floats(support.data, None, name="support")
        return n_rows
    return floats(support, None, n_features, name="support")[0]


def _expansion(part, n_features):
    # rows that carry their gates' values are wider than those that the model takes
    count(part.n_features, "n_features", 1, n_features)
    check_kernels(part.kernels, n_features)
    n_support = _support(part.support, n_features, "KernelExpansion")
    (n_outputs,) = floats(part.biases, None, name="biases")
    require(n_outputs >= 1, "KernelExpansion", "it has no outputs")
    if part.owners is None:
        shape = (len(part.kernels), n_support, n_outputs)
    else:
        good = isinstance(part.owners, tuple) and len(part.owners) == n_outputs
        require(good, "KernelExpansion", "some outputs have no kernel")
        for owner in part.owners:
            count(owner, "owner", 0, len(part.kernels) - 1)
        shape = (n_outputs, n_support)
    floats(part.coefficients, *shape, name="coefficients")
    return n_outputs


def _gated_expansion(part, n_features):
    number(part.bias, "bias")
    known = part.activation in ("identity", "tanh")
    require(known, "GatedExpansion", "its activation is unknown")
    n_components = checked(
        part.components, "predictor", n_features, only=("KernelExpansion",)
    )  # fmt: skip
    reads_scores = family_of(getattr(part.gate, "kind", None)) == "score gate"
    family, width = ("score gate", n_components) if reads_scores else ("gate", n_features)
    n_gates = checked(part.gate, family, width)
    require(n_gates == n_components, "GatedExpansion", "gate and components differ in number")
    return 1


def _stacked(part, n_features):
    require(isinstance(part.outputs, tuple) and part.outputs, "Stacked", "it has no outputs")
    found = [checked(output, "predictor", n_features, only=_OUTPUTS) for output in part.outputs]
    require(set(found) == {1}, "Stacked", "its parts have several outputs")
    return len(found)


# Fields and rule of every kind.
RULES = {
    "LocallyLinear": (("gate", "weights", "biases", "intercept"), _locally_linear),
    "TreePath": (("splits", "slopes", "weights", "intercept", "node_gate"), _tree_path),
    "TreeLeaves": (("splits", "weights", "intercept"), _tree_leaves),
    "LinkedTree": (
        ("children", "splits", "slopes", "weights", "intercept", "node_gate"), linked_tree
    ),
    "Forest": (FOREST, forest),
    "ConformalLinear": (
        ("anchors", "gammas", "weights", "kernels", "outputs", "biases", "profile", "per_feature"),
        _conformal,
    ),
    "GaussianCells": (
        ("cells", "gamma", "landmarks", "starts", "slopes", "offsets", "biases"), _gaussian_cells
    ),
    "KernelExpansion": (
        ("kernels", "support", "coefficients", "biases", "n_features", "owners"), _expansion
    ),
    "GatedExpansion": (("gate", "components", "bias", "activation"), _gated_expansion),
    "Mapped": (("map", "predictor"), _mapped),
    "Additive": (ADDITIVE, check_additive),
    "Averaged": (AVERAGED, check_averaged),
    "Hinges": (HINGES, check_hinges),
    "Exponential": (("predictor",), _exponential),
    "Stacked": (("outputs",), _stacked),
    "Affine": (("matrix",), _affine),
    "WithGates": (("gate", "n_features"), _with_gates),
    "Quadratic": (("center", "scale"), _quadratic),
    **SPARSE_GATES,
    **GATES,
    **KERNELS,
    **OUTCOMES,
}  # fmt: skip
