"""What a model may be made of.

What comes out of a file may be anything: kinds, field names, types, shapes and indices are held
against the rules below before a single row is scored, here or by compiled code that trusts them.

All numbers are finite, and floats are single or double. No part makes a row wider than the model
takes it, but for a gate's values, of which each has its own number in the file.
"""

import numpy as np

from .fields import WHOLE, checked, count, floats, number, one_type, require
from .gate_rules import GATES, SPARSE_GATES
from .kernel_rules import KERNELS, check_kernels
from .outcome_rules import OUTCOMES
from .parts import Part

_LARGEST_DEPTH = 30
PROFILES = ("exponential", "gaussian", "linear", "square")


def check_predictor(part, n_features):
    """Hold a predictor against the rules; returns its number of outputs."""
    n_outputs = checked(part, "predictor", n_features, only=_MODELS)
    require(n_outputs >= 1, part.kind, "it has no outputs")
    return n_outputs


def _locally_linear(part, n_features):
    n_anchors = checked(part.gate, "sparse gate", n_features)
    _, width, n_outputs = floats(part.weights, n_anchors, None, None, name="weights")
    require(width in (0, n_features), "LocallyLinear", "its models are of other rows")
    floats(part.biases, n_anchors, n_outputs, name="biases")
    gate = part.gate
    metric = getattr(gate, "metric", None)
    one_type(
        part.weights, part.biases, getattr(gate, "anchors", None), metric, name="LocallyLinear"
    )
    return n_outputs


def _tree_path(part, n_features):
    names = {"TanhNode": ("sigma",), "CompositionalNode": (), "IndicatorNode": ()}
    kind = getattr(part.node_gate, "kind", None)
    require(kind in names, "TreePath", "its node gate is unknown")
    fields = set(vars(part.node_gate))
    require(fields == {"kind", *names[kind]}, "TreePath", "its node gate is odd")
    if kind == "TanhNode":
        number(part.node_gate.sigma, "sigma")
    if part.projection is not None:
        n_components, _ = floats(part.projection, None, n_features + 1, name="projection")
        n_features = n_components
    n_nodes, n_outputs, _ = floats(part.weights, None, None, n_features + 1, name="weights")
    require(n_nodes >= 1, "TreePath", "it has no nodes")
    n_leaves = n_nodes if kind == "IndicatorNode" else (n_nodes + 1) // 2
    depth = n_leaves.bit_length() - 1
    complete = 2**depth if kind == "IndicatorNode" else 2 ** (depth + 1) - 1
    require(n_nodes == complete and depth <= _LARGEST_DEPTH, "TreePath", "it is not complete")
    n_splits, _ = floats(part.splits, None, n_features + 1, name="splits")
    wanted = n_nodes if kind == "CompositionalNode" else 2**depth - 1
    require(n_splits == wanted, "TreePath", "splits are missing, or too many")
    n_slopes, _ = floats(part.slopes, None, n_features + 1, name="slopes")
    wanted = n_nodes if kind == "TanhNode" else 0
    require(n_slopes == wanted, "TreePath", "slopes are missing, or too many")
    floats(part.intercept, n_outputs, name="intercept")
    own = (part.splits, part.weights, part.intercept, part.projection)
    one_type(*own, part.slopes if n_slopes else None, name="TreePath")
    return n_outputs


def _forest(part, n_features):
    require(isinstance(part.trees, tuple) and part.trees, "TreeForest", "it has no trees")
    found = {checked(tree, "predictor", n_features, only=("TreePath",)) for tree in part.trees}
    require(len(found) == 1, "TreeForest", "its trees differ")
    one_type(*(tree.weights for tree in part.trees), name="TreeForest")
    return found.pop()


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
    floats(part.coefficients, len(part.kernels), n_support, n_outputs, name="coefficients")
    return n_outputs


def _component_scores(part, n_features):
    count(part.n_features, "n_features", 1, n_features)
    check_kernels(part.kernels, n_features)
    good = isinstance(part.owners, tuple) and part.owners
    require(good, "ComponentScores", "it has no components")
    for owner in part.owners:
        count(owner, "owner", 0, len(part.kernels) - 1)
    n_support = _support(part.support, n_features, "ComponentScores")
    floats(part.coefficients, len(part.owners), n_support, name="coefficients")
    floats(part.biases, len(part.owners), name="biases")
    return len(part.owners)


def _gated_expansion(part, n_features):
    number(part.bias, "bias")
    return _blend(part, n_features)


def _blend(part, n_features):
    n_components = checked(part.components, "predictor", n_features, only=("ComponentScores",))
    n_gates = checked(part.gate, "gate", n_features)
    require(n_gates == n_components, part.kind, "gate and components differ in number")
    return 1


def _selected(part, n_features):
    n_components = checked(part.components, "predictor", n_features, only=("ComponentScores",))
    count(part.n_selected, "n_selected", 1, n_components)
    number(part.bias, "bias")
    return 1


def _gated_rows(part, n_features):
    n_gates = checked(part.gate, "gate", n_features)
    n_outputs = checked(
        part.expansion, "predictor", n_features + n_gates, only=("KernelExpansion",)
    )
    # these have one kernel for each gate
    kinds = {kernel.kind for kernel in part.expansion.kernels}
    require(kinds == {"PairwiseNormalizedSum"}, part.kind, "its kernels do not read gates")
    return n_outputs


def _gated_linear(part, n_features):
    _, n_components = floats(part.weights, n_features, None, name="weights")
    floats(part.biases, n_components, name="biases")
    number(part.bias, "bias")
    n_gates = checked(part.gate, "gate", n_features)
    require(n_gates == n_components, "GatedLinear", "gate and models differ in number")
    return 1


def _stacked(part, n_features):
    require(isinstance(part.outputs, tuple) and part.outputs, "Stacked", "it has no outputs")
    found = [checked(output, "predictor", n_features, only=_OUTPUTS) for output in part.outputs]
    require(set(found) == {1}, "Stacked", "its parts have several outputs")
    return len(found)


# Fields and rule of every kind.
RULES = {
    "LocallyLinear": (("gate", "weights", "biases"), _locally_linear),
    "TreePath": (
        ("splits", "slopes", "weights", "intercept", "node_gate", "projection"), _tree_path
    ),
    "TreeForest": (("trees",), _forest),
    "ConformalLinear": (
        ("anchors", "gammas", "weights", "kernels", "outputs", "biases", "profile", "per_feature"),
        _conformal,
    ),
    "KernelExpansion": (
        ("kernels", "support", "coefficients", "biases", "n_features"), _expansion
    ),
    "ComponentScores": (
        ("kernels", "owners", "support", "coefficients", "biases", "n_features"), _component_scores
    ),
    "GatedExpansion": (("gate", "components", "bias"), _gated_expansion),
    "GatedVote": (("gate", "components"), _blend),
    "SelectedSum": (("components", "n_selected", "bias"), _selected),
    "ExpansionOfGatedRows": (("gate", "expansion"), _gated_rows),
    "GatedLinear": (("gate", "weights", "biases", "bias"), _gated_linear),
    "Stacked": (("outputs",), _stacked),
    **SPARSE_GATES,
    **GATES,
    **KERNELS,
    **OUTCOMES,
}  # fmt: skip
_OUTPUTS = ("GatedExpansion", "GatedVote", "GatedLinear", "SelectedSum", "ExpansionOfGatedRows")
_MODELS = set(RULES) - {"ComponentScores"}
