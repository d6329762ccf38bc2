"""What a model may be made of.

What comes out of a file may be anything: kinds, field names, types, shapes and indices are held
against the rules below before a single row is scored, here or by compiled code that trusts them.

All numbers are finite, and floats are single or double. No part makes a row wider than the model
takes it, but for a gate's values, of which each has its own number in the file.
"""

import numpy as np

from .container import ModelFileError
from .parts import Part

_LARGEST_DEPTH = 30
_FLOATS, _WHOLE = (np.float32, np.float64), (np.int32, np.int64)


def check_predictor(part, n_features):
    """Hold a predictor against the rules; returns its number of outputs."""
    n_outputs = _check(part, _PREDICTORS, "predictor", n_features)
    _require(n_outputs >= 1, part.kind, "it has no outputs")
    return n_outputs


def _check(part, rules, what, *context):
    kind = getattr(part, "kind", None)
    if not isinstance(part, Part) or not isinstance(kind, str) or kind not in rules:
        raise ModelFileError(f"The model has a {what} of the unknown kind {repr(kind)[:40]}.")
    names, rule = rules[kind]
    if set(vars(part)) != {"kind", *names}:
        raise ModelFileError(f"The model's {kind} does not have the fields of one.")
    try:
        return rule(part, *context)
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"The model's {kind} has fields of the wrong type.") from error


def _require(condition, kind, what):
    if not condition:
        raise ModelFileError(f"The model's {kind} is inconsistent: {what}.")


def _floats(array, *shape, name):
    """A finite array of floats; None in ``shape`` leaves an extent open."""
    good = isinstance(array, np.ndarray) and array.dtype in _FLOATS and array.ndim == len(shape)
    good = good and all(want in (None, have) for want, have in zip(shape, array.shape))
    if not good or not np.all(np.isfinite(array)):
        raise ModelFileError(f"The model's {name} has the wrong shape, type or values.")
    return array.shape


def _number(value, name, low=-1e300, high=1e300):
    """A finite number that is one in every precision of ours."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ModelFileError(f"The model's {name} is {_short(value)}.")


def _one_type(*arrays, name):
    if len({array.dtype for array in arrays if array is not None}) > 1:
        raise ModelFileError(f"The model's {name} has arrays of several types.")


def _count(value, name, low, high):
    if type(value) is not int or not low <= value <= high:
        raise ModelFileError(
            f"The model's {name} is {_short(value)}, not between {low} and {high}."
        )


def _short(value):
    """A number as it is; of anything else its kind, since that may be long."""
    is_number = isinstance(value, int | float)
    return repr(value)[:40] if is_number else f"of type {type(value).__name__}"


def _columns(columns, n_features, name):
    _require(isinstance(columns, tuple) and len(columns) > 0, name, "it has no columns")
    _require(len(columns) <= n_features, name, "it has more columns than there are features")
    for column in columns:
        _count(column, f"{name} column", 0, n_features - 1)


# --- gates on anchors ---------------------------------------------------------------------------


def _anchors(part, n_features):
    n_anchors, _ = _floats(part.anchors, None, n_features, name="anchors")
    _count(part.n_neighbors, "n_neighbors", 1, n_anchors)
    return n_anchors


def _soft_assignment(part, n_features):
    _number(part.sharpness, "sharpness", 0.0)
    if part.metric is not None:
        _floats(part.metric, n_features, name="metric")
        _require(np.all(part.metric >= 0.0), "SoftAssignment", "its metric is negative")
    return _anchors(part, n_features)


def _reconstruction(part, n_features):
    _number(part.ridge, "ridge", 0.0)
    return _anchors(part, n_features)


_ANCHOR_GATES = {
    "SoftAssignment": (("anchors", "n_neighbors", "sharpness", "metric"), _soft_assignment),
    "InverseDistance": (("anchors", "n_neighbors"), _anchors),
    "ReconstructionCodes": (("anchors", "n_neighbors", "ridge"), _reconstruction),
}

# --- kernels ------------------------------------------------------------------------------------


def _polynomial(part, n_features):
    _count(int(part.degree), "degree", 1, 1000)
    _require(part.degree == int(part.degree), "Polynomial", "its degree is not whole")
    _number(part.degree, "degree")
    _number(part.gamma, "gamma", 1e-300)
    _number(part.coef0, "coef0", 0.0)


def _gaussian(part, n_features):
    _number(part.gamma, "gamma", 1e-300)
    _number(part.width, "width", 1e-300)


def _on_columns(part, n_features):
    _columns(part.columns, n_features, "OnColumns")
    _check(part.kernel, _KERNELS, "kernel", len(part.columns))


def _scaled(part, n_features):
    _number(part.factor, "factor", 0.0)
    _check(part.kernel, _KERNELS, "kernel", n_features)


def _unit_diagonal(part, n_features):
    _check(part.kernel, _KERNELS, "kernel", n_features)


def _weighted_sum(part, n_features):
    _require(len(part.kernels) == len(part.weights), "WeightedSum", "weights are missing")
    for weight in part.weights:
        _number(weight, "weight", 0.0)
    _check_kernels(part.kernels, n_features)


def _pairwise(part, n_features):
    _count(part.n_features, "n_features", 1, n_features)
    _require(
        part.n_features + len(part.kernels) == n_features, "PairwiseNormalizedSum",
        "its rows have another length",
    )  # fmt: skip
    _check_kernels(part.kernels, part.n_features)


def _check_kernels(kernels, n_features):
    _require(isinstance(kernels, tuple) and kernels, "kernel sum", "it has no kernels")
    for kernel in kernels:
        _check(kernel, _KERNELS, "kernel", n_features)


_KERNELS = {
    "Linear": ((), lambda part, n_features: None),
    "Polynomial": (("degree", "gamma", "coef0"), _polynomial),
    "Gaussian": (("gamma", "width"), _gaussian),
    "OnColumns": (("kernel", "columns"), _on_columns),
    "Scaled": (("kernel", "factor"), _scaled),
    "UnitDiagonal": (("kernel",), _unit_diagonal),
    "WeightedSum": (("kernels", "weights"), _weighted_sum),
    "PairwiseNormalizedSum": (("kernels", "n_features"), _pairwise),
}

# --- predictors ---------------------------------------------------------------------------------


def _locally_linear(part, n_features):
    n_anchors = _check(part.gate, _ANCHOR_GATES, "gate", n_features)
    _, width, n_outputs = _floats(part.weights, n_anchors, None, None, name="weights")
    _require(width in (0, n_features), "LocallyLinear", "its models are of other rows")
    _floats(part.biases, n_anchors, n_outputs, name="biases")
    gate = part.gate
    metric = getattr(gate, "metric", None)
    _one_type(part.weights, part.biases, gate.anchors, metric, name="LocallyLinear")
    return n_outputs


def _tree_path(part, n_features):
    names = {"TanhNode": ("sigma",), "CompositionalNode": (), "IndicatorNode": ()}
    kind = getattr(part.node_gate, "kind", None)
    _require(kind in names, "TreePath", "its node gate is unknown")
    _require(
        set(vars(part.node_gate)) == {"kind", *names[kind]}, "TreePath", "its node gate is odd"
    )
    if kind == "TanhNode":
        _number(part.node_gate.sigma, "sigma")
    if part.projection is not None:
        n_components, _ = _floats(part.projection, None, n_features + 1, name="projection")
        n_features = n_components
    n_nodes, n_outputs, _ = _floats(part.weights, None, None, n_features + 1, name="weights")
    _require(n_nodes >= 1, "TreePath", "it has no nodes")
    n_leaves = n_nodes if kind == "IndicatorNode" else (n_nodes + 1) // 2
    depth = n_leaves.bit_length() - 1
    complete = 2**depth if kind == "IndicatorNode" else 2 ** (depth + 1) - 1
    _require(n_nodes == complete and depth <= _LARGEST_DEPTH, "TreePath", "it is not complete")
    n_splits, _ = _floats(part.splits, None, n_features + 1, name="splits")
    wanted = n_nodes if kind == "CompositionalNode" else 2**depth - 1
    _require(n_splits == wanted, "TreePath", "splits are missing, or too many")
    n_slopes, _ = _floats(part.slopes, None, n_features + 1, name="slopes")
    wanted = n_nodes if kind == "TanhNode" else 0
    _require(n_slopes == wanted, "TreePath", "slopes are missing, or too many")
    _floats(part.intercept, n_outputs, name="intercept")
    own = (part.splits, part.weights, part.intercept, part.projection)
    _one_type(*own, part.slopes if n_slopes else None, name="TreePath")
    return n_outputs


def _forest(part, n_features):
    _require(isinstance(part.trees, tuple) and part.trees, "TreeForest", "it has no trees")
    found = {_check(tree, {"TreePath": _TREE_PATH}, "tree", n_features) for tree in part.trees}
    _require(len(found) == 1, "TreeForest", "its trees differ")
    _one_type(*(tree.weights for tree in part.trees), name="TreeForest")
    return found.pop()


def _conformal(part, n_features):
    n_kernels, _ = _floats(part.anchors, None, n_features, name="anchors")
    _floats(part.gammas, n_kernels, name="gammas")
    _require(np.all(part.gammas >= 0.0), "ConformalLinear", "its gammas are negative")
    n_terms, _ = _floats(part.weights, None, n_features, name="weights")
    (n_outputs,) = _floats(part.biases, None, name="biases")
    _require(part.profile in PROFILES, "ConformalLinear", "its profile is unknown")
    _require(type(part.per_feature) is bool, "ConformalLinear", "per_feature is no boolean")
    for name, most in (("kernels", n_kernels), ("outputs", n_outputs)):
        index = getattr(part, name)
        good = isinstance(index, np.ndarray) and index.dtype in _WHOLE
        good = good and index.shape == (n_terms,) and np.all((index >= 0) & (index < most))
        _require(good, "ConformalLinear", f"{name} point nowhere")
    _require(
        np.all(part.kernels[1:] >= part.kernels[:-1]), "ConformalLinear", "kernels are out of order"
    )
    return n_outputs


def _support(support, n_features, name):
    if isinstance(support, Part) and support.kind == "csr":
        n_rows, width = support.shape
        _require(width == n_features, name, "support rows have another length")
        _floats(support.data, None, name="support")
        return n_rows
    return _floats(support, None, n_features, name="support")[0]


def _expansion(part, n_features):
    # rows that carry their gates' values are wider than those that the model takes
    _count(part.n_features, "n_features", 1, n_features)
    _check_kernels(part.kernels, n_features)
    n_support = _support(part.support, n_features, "KernelExpansion")
    (n_outputs,) = _floats(part.biases, None, name="biases")
    _require(n_outputs >= 1, "KernelExpansion", "it has no outputs")
    _floats(part.coefficients, len(part.kernels), n_support, n_outputs, name="coefficients")
    return n_outputs


def _component_scores(part, n_features):
    _count(part.n_features, "n_features", 1, n_features)
    _check_kernels(part.kernels, n_features)
    good = isinstance(part.owners, tuple) and part.owners
    _require(good, "ComponentScores", "it has no components")
    for owner in part.owners:
        _count(owner, "owner", 0, len(part.kernels) - 1)
    n_support = _support(part.support, n_features, "ComponentScores")
    _floats(part.coefficients, len(part.owners), n_support, name="coefficients")
    _floats(part.biases, len(part.owners), name="biases")
    return len(part.owners)


def _gated_expansion(part, n_features):
    _number(part.bias, "bias")
    return _blend(part, n_features)


def _blend(part, n_features):
    n_components = _check(part.components, _COMPONENTS, "component", n_features)
    n_gates = _check(part.gate, _GATES, "gate", n_features)
    _require(n_gates == n_components, part.kind, "gate and components differ in number")
    return 1


def _selected(part, n_features):
    n_components = _check(part.components, _COMPONENTS, "component", n_features)
    _count(part.n_selected, "n_selected", 1, n_components)
    _number(part.bias, "bias")
    return 1


def _gated_rows(part, n_features):
    n_gates = _check(part.gate, _GATES, "gate", n_features)
    n_outputs = _check(part.expansion, _EXPANSIONS, "expansion", n_features + n_gates)
    # these have one kernel for each gate
    kinds = {kernel.kind for kernel in part.expansion.kernels}
    _require(kinds == {"PairwiseNormalizedSum"}, part.kind, "its kernels do not read gates")
    return n_outputs


def _gated_linear(part, n_features):
    _, n_components = _floats(part.weights, n_features, None, name="weights")
    _floats(part.biases, n_components, name="biases")
    _number(part.bias, "bias")
    n_gates = _check(part.gate, _GATES, "gate", n_features)
    _require(n_gates == n_components, "GatedLinear", "gate and models differ in number")
    return 1


def _stacked(part, n_features):
    _require(isinstance(part.outputs, tuple) and part.outputs, "Stacked", "it has no outputs")
    found = [_check(output, _STACKABLE, "stacked output", n_features) for output in part.outputs]
    _require(set(found) == {1}, "Stacked", "its parts have several outputs")
    return len(found)


_SCORERS = {
    "KernelExpansion": (
        ("kernels", "support", "coefficients", "biases", "n_features"), _expansion
    ),
    "ComponentScores": (
        ("kernels", "owners", "support", "coefficients", "biases", "n_features"), _component_scores
    ),
}  # fmt: skip
_COMPONENTS = {"ComponentScores": _SCORERS["ComponentScores"]}
_EXPANSIONS = {"KernelExpansion": _SCORERS["KernelExpansion"]}
_TREE_PATH = (
    ("splits", "slopes", "weights", "intercept", "node_gate", "projection"), _tree_path
)  # fmt: skip
_PREDICTORS = {
    "LocallyLinear": (("gate", "weights", "biases"), _locally_linear),
    "TreePath": _TREE_PATH,
    "TreeForest": (("trees",), _forest),
    "ConformalLinear": (
        ("anchors", "gammas", "weights", "kernels", "outputs", "biases", "profile", "per_feature"),
        _conformal,
    ),
    "KernelExpansion": _SCORERS["KernelExpansion"],
    "GatedExpansion": (("gate", "components", "bias"), _gated_expansion),
    "GatedVote": (("gate", "components"), _blend),
    "SelectedSum": (("components", "n_selected", "bias"), _selected),
    "ExpansionOfGatedRows": (("gate", "expansion"), _gated_rows),
    "GatedLinear": (("gate", "weights", "biases", "bias"), _gated_linear),
    "Stacked": (("outputs",), _stacked),
}
_STACKABLE = {
    kind: rule
    for kind, rule in _PREDICTORS.items()
    if kind.startswith("Gated") or kind in ("SelectedSum", "ExpansionOfGatedRows")
}

# --- gates of components ------------------------------------------------------------------------


def _linear_gate(part, n_features):
    n_components, _ = _floats(part.directions, None, n_features, name="directions")
    _require(n_components >= 1, part.kind, "it has no components")
    _floats(part.offsets, n_components, name="offsets")
    return n_components


def _gaussian_gate(part, n_features):
    n_components, _ = _floats(part.centers, None, n_features, name="centers")
    _require(n_components >= 1, part.kind, "it has no components")
    _floats(part.log_widths, n_components, name="log_widths")
    _number(part.scale, "scale", 1e-300)
    return n_components


def _viewing(part, n_features):
    _require(getattr(part.view, "kind", None) == "Columns", "gate", "its view is unknown")
    _require(set(vars(part.view)) == {"kind", "columns"}, "gate", "its view is odd")
    _columns(part.view.columns, n_features, "view")
    return _check(part.gate, _GATES, "gate", len(part.view.columns))


def _rounded(part, n_features):
    _number(part.margin, "margin", 0.0, 1.0)
    return _check(part.gate, _GATES, "gate", n_features)


def _of_scores(name):
    def rule(part, n_features):
        _number(getattr(part, name), name)
        return _check(part.scores, _SCORERS, "gate", n_features)

    return rule


def _unit_length(part, n_features):
    return _check(part.gate, _GATES, "gate", n_features)


def _repeated(part, n_features):
    _count(part.count, "count", 1, 1 << 40)
    return part.count * _check(part.gate, _GATES, "gate", n_features)


_GATES = {
    "Softmax": (("directions", "offsets"), _linear_gate),
    "Sigmoid": (("directions", "offsets"), _linear_gate),
    "GaussianGate": (("centers", "log_widths", "scale"), _gaussian_gate),
    "Viewing": (("gate", "view"), _viewing),
    "Rounded": (("gate", "margin"), _rounded),
    "SoftmaxOf": (("scores", "sharpness"), _of_scores("sharpness")),
    "Clipped": (("scores", "floor"), _of_scores("floor")),
    "UnitLength": (("gate",), _unit_length),
    "Repeated": (("gate", "count"), _repeated),
}

PROFILES = ("exponential", "gaussian", "linear", "square")
