"""Small model files made by hand, one for every kind, and edits of them with right checksums.

``MODELS`` names them; each is a function of a ``Draft`` that returns its predictor's description.
"""

import copy
from functools import partial
from itertools import product

import numpy as np

from nearlinear.runtime.container import to_bytes

N_FEATURES = 3

# A method whose fits have such predictors.
METHODS = {
    "LocallyLinear": "LLSVMClassifier",
    "TreePath": "LDKLClassifier",
    "TreeLeaves": "LDKLClassifier",
    "LinkedTree": "LDKLClassifier",
    "Forest": "LocalForestClassifier",
    "Exponential": "LocalForestRegressor",
    "Averaged": "LDKLClassifier",
    "Hinges": "NearLinearClassifier",
    "ConformalLinear": "MLLKMClassifier",
    "GaussianCells": "DCPredClassifier",
    "KernelExpansion": "UniformMKLClassifier",
    "GatedExpansion": "LMKLClassifier",
    "Mapped": "LDKLClassifier",
    "Stacked": "LMKLClassifier",
}


def part(kind, **fields):
    return {"$": "object", "kind": kind, "fields": fields}


def items(*values):
    return {"$": "tuple", "items": list(values)}


def table(**values):
    return {"$": "dict", "items": [[key, value] for key, value in values.items()]}


class Draft:
    """The arrays of a file in the making."""

    def __init__(self, dtype=np.float64):
        self.arrays, self.dtype = [], dtype
        self.rng = np.random.default_rng(5)

    def array(self, values):
        self.arrays.append(np.asarray(values))
        return {"$": "array", "number": len(self.arrays) - 1}

    def floats(self, *shape, low=-1.0):
        return self.array(self.rng.uniform(low, 1.0, shape).astype(self.dtype))


def make(name, dtype=np.float64):
    """Header and arrays of the model of that name."""
    draft = Draft(dtype)
    predictor = MODELS[name](draft)
    n_outputs = _count_outputs(predictor, draft.arrays)
    classes = {"$": "strings", "items": ["no", "yes", "so"][: max(2, n_outputs)]}
    classes = None if predictor["kind"] == "Exponential" else classes  # its scores are values
    method = METHODS[predictor["kind"]]
    header = {
        "method": method,
        # rows come as they are: there is no encoder in the file
        "parameters": table(encoder=None) if method.startswith("NearLinear") else table(),
        "predictor": predictor,
        "classes": classes,
        "n_features": N_FEATURES,
        "n_gating_features": 0,
        "feature_names": None,
        "preparation": None,
        "attributes": table(),
        "record": {},
    }
    return header, draft.arrays


def edited(header, arrays, edit):
    """Copies on which ``edit(header, arrays)`` has worked."""
    header, arrays = copy.deepcopy(header), [array.copy() for array in arrays]
    edit(header, arrays)
    return header, arrays


def file_of(name, edit=None):
    """The bytes of a model file; checksums are those of the edited content."""
    header, arrays = make(name)
    return to_bytes(*(edited(header, arrays, edit) if edit else (header, arrays)))


def at(description, *path):
    """What stands at a path of field names and positions within a predictor."""
    for step in path:
        if isinstance(step, int):
            description = description["items"][step]
        else:
            description = description["fields"][step]
    return description


def array_at(header, arrays, *path):
    """An array of the predictor, to be written to."""
    return arrays[at(header["predictor"], *path)["number"]]


def put(*path):
    """An edit that sets a field of the predictor: ``put("gate", "sharpness", value)``."""
    *path, last, value = path

    def edit(header, arrays):
        place = at(header["predictor"], *path)
        place["items" if isinstance(last, int) else "fields"][last] = copy.deepcopy(value)

    return edit


def put_array(*path):
    """An edit that gives a field another array, or what a function makes of the one it has."""
    *path, values = path

    def edit(header, arrays):
        new = values
        if callable(values):
            new = values(array_at(header, arrays, *path))
        arrays.append(np.asarray(new))
        put(*path, {"$": "array", "number": len(arrays) - 1})(header, arrays)

    return edit


def nodes_of_nothing(header, arrays):
    """An edit that gives a tree 2³⁴ nodes, in no bytes at all."""
    put_array("weights", np.zeros((1 << 34, 0, N_FEATURES + 1)))(header, arrays)
    put_array("intercept", np.zeros(0))(header, arrays)


def put_top(key, value):
    """An edit of one of the header's own keys."""

    def edit(header, arrays):
        header[key] = copy.deepcopy(value)

    return edit


def _count_outputs(predictor, arrays):
    fields, kind = predictor["fields"], predictor["kind"]
    if kind == "Stacked":
        return len(fields["outputs"]["items"])
    if kind == "Averaged":
        return _count_outputs(fields["members"]["items"][0], arrays)
    if kind in ("Mapped", "Exponential"):
        return _count_outputs(fields["predictor"], arrays)
    if kind == "Hinges":
        return len(arrays[fields["biases"]["items"][-1]["number"]])
    outputs = {"LocallyLinear": "biases", "TreePath": "intercept", "TreeLeaves": "intercept"}
    outputs |= dict.fromkeys(("LinkedTree", "Forest", "Additive"), "intercept")
    outputs |= dict.fromkeys(("ConformalLinear", "GaussianCells", "KernelExpansion"), "biases")
    return arrays[fields[outputs[kind]]["number"]].shape[-1] if kind in outputs else 1


# --- local models, trees, conformal kernels -----------------------------------------------------


def _locally_linear(draft, gate="SoftAssignment", width=N_FEATURES, n_outputs=1, metric=None):
    fields = {"anchors": draft.floats(5, N_FEATURES), "n_neighbors": 3}
    if gate == "SoftAssignment":
        weigh = metric and draft.array(np.array(metric, dtype=draft.dtype))
        fields |= {"sharpness": 1.5, "metric": weigh}
    elif gate == "ReconstructionCodes":
        fields |= {"ridge": 1e-2}
    weights, biases = draft.floats(5, width, n_outputs), draft.floats(5, n_outputs)
    return part(
        "LocallyLinear", gate=part(gate, **fields), weights=weights, biases=biases, intercept=None
    )


def _tree(draft, node_gate="TanhNode", depth=2, n_outputs=1, n_components=None):
    projection = n_components and draft.floats(n_components, N_FEATURES + 1)
    width = (n_components or N_FEATURES) + 1
    n_inner, n_nodes = 2**depth - 1, 2 ** (depth + 1) - 1
    made = part(
        "TreePath",
        splits=draft.floats(n_nodes if node_gate == "CompositionalNode" else n_inner, width),
        slopes=draft.floats(n_nodes if node_gate == "TanhNode" else 0, width),
        weights=draft.floats(n_nodes, n_outputs, width),
        intercept=draft.floats(n_outputs),
        node_gate=part(node_gate, **({"sigma": 1.25} if node_gate == "TanhNode" else {})),
    )
    if projection is None:
        return made
    return part("Mapped", map=part("Affine", matrix=projection), predictor=made)


def _leaves(draft, depth=2, n_outputs=1):
    return part(
        "TreeLeaves",
        splits=draft.floats(2**depth - 1, N_FEATURES + 1),
        weights=draft.floats(2**depth, n_outputs, N_FEATURES + 1),
        intercept=draft.floats(n_outputs),
    )


def _linked(draft, node_gate="TanhNode", n_outputs=1, hidden=0, width=N_FEATURES):
    """Node 1 goes on to one side only; splits do not see the first ``hidden`` columns."""
    n_nodes, n_inner, seen = 5, 3, width + 1 - hidden
    fields = {"TanhNode": {"sigma": 1.25}}
    return part(
        "LinkedTree",
        children=draft.array(np.array([[1, 2], [3, -1], [-1, 4]], dtype=np.int32)),
        splits=draft.floats(n_nodes if node_gate == "CompositionalNode" else n_inner, seen),
        slopes=draft.floats(n_nodes if node_gate in fields else 0, seen),
        weights=draft.floats(n_nodes, n_outputs, width + 1),
        intercept=draft.floats(n_outputs),
        node_gate=part(node_gate, **fields.get(node_gate, {})),
    )


def _lifted(draft):
    """Products of features in pairs stand before the features, which the splits see."""
    n_pairs = N_FEATURES * (N_FEATURES + 1) // 2
    seen = part("Quadratic", center=draft.floats(N_FEATURES), scale=1.5)
    tree = _linked(draft, hidden=n_pairs, width=n_pairs + N_FEATURES)
    return part("Mapped", map=seen, predictor=tree)


def _forest(draft):
    trees = items(_tree(draft), _tree(draft, depth=1))
    return part("Averaged", members=trees, weights=items(1.0, 1.0), calibrations=items())


def _additive(draft, n_outputs=1):
    """The second column has no knots."""
    return part(
        "Additive",
        weights=draft.floats(N_FEATURES, n_outputs),
        intercept=draft.floats(n_outputs),
        firsts=draft.array(np.array([0, 3, 3, 5])),
        knots=draft.array(np.array([-0.5, 0.1, 0.4, -0.2, 0.7], dtype=draft.dtype)),
        values=draft.floats(5, n_outputs),
    )


def _averaged(draft, n_outputs=1):
    """Members of two kinds, one for each way to calibrate."""
    members = [_additive(draft, n_outputs) for _ in CALIBRATIONS]
    members[0] = _tree(draft, n_outputs=n_outputs)
    told = items(*(calibrate(draft, n_outputs) for calibrate in CALIBRATIONS.values()))
    weights = items(1.0, 0.5, 2.0, 3.0, 0.25)
    return part("Averaged", members=items(*members), weights=weights, calibrations=told)


def _hinges(draft, n_outputs=1, units=(4, 5)):
    shapes = list(zip((N_FEATURES, *units), (*units, n_outputs)))
    weights = items(*(draft.floats(*shape) for shape in shapes))
    return part("Hinges", weights=weights, biases=items(*(draft.floats(n) for _, n in shapes)))


def _splits(draft, n_outputs=1, n_told=1, n_slopes=0, has_root=False):
    """Two trees, the first of them with a pair column, a set of categories and missing values."""
    whole = partial(np.array, dtype=np.int32)
    columns = whole([1, 3, -1, 2, -1, -1, -1, 0, -1, -1])
    missing_left = np.array([1, 0, 0, 1, 0, 0, 0, 1, 0, 0], dtype=np.uint8)
    gate = part(
        "ForestGate",
        n_features=N_FEATURES,
        pairs=draft.array(whole([[2, 0]])),
        factors=draft.floats(1, 2),
        starts=draft.array(whole([0, 7, 10])),
        columns=draft.array(columns),
        thresholds=draft.floats(len(columns)),
        children=draft.array(whole([1, 3, 0, 5, 1, 2, 3, 8, 4, 5])),
        missing_left=draft.array(missing_left),
        sets=draft.array(whole([-1, -1, -1, 0, -1, -1, -1, -1, -1, -1])),
        categories={**draft.array(np.array([[0b101]])), "as": "<u4"},
    )
    return part(
        "Forest",
        gate=gate,
        values=draft.floats(6, n_told),
        outputs=draft.array(whole([0, n_outputs - 1])),
        slopes=draft.floats(6, n_told, n_slopes),
        slope_columns=draft.array(whole(range(n_slopes))),
        root=draft.floats(n_outputs, N_FEATURES if has_root else 0),
        fill=draft.floats(N_FEATURES if n_slopes or has_root else 0),
        intercept=draft.floats(n_outputs),
        covers=draft.array(np.array([3.0, 1.0, 0.0, 2.0, 5.0, 1.0], dtype=np.float32)),
    )


def _conformal(draft, profile="gaussian", per_feature=False):
    return part(
        "ConformalLinear",
        anchors=draft.floats(4, N_FEATURES),
        gammas=draft.floats(4, low=0.2),
        weights=draft.floats(6, N_FEATURES),
        kernels=draft.array(np.array([0, 0, 1, 2, 3, 3])),
        outputs=draft.array(np.array([0, 2, 1, 1, 0, 2])),
        biases=draft.floats(3),
        profile=profile,
        per_feature=per_feature,
    )


def _cells(draft, n_groups=None, n_outputs=1):
    cells = part(
        "Cells",
        centers=draft.floats(4, N_FEATURES),
        groups=n_groups and draft.floats(n_groups, N_FEATURES),
        firsts=n_groups and draft.array(np.array([0, 1, 4])),
    )
    return part(
        "GaussianCells",
        cells=cells,
        gamma=0.7,
        landmarks=draft.floats(5, N_FEATURES),
        starts=draft.array(np.array([0, 2, 2, 3, 5])),  # one cell is a constant
        slopes=draft.floats(5, n_outputs, N_FEATURES),
        offsets=draft.floats(5, n_outputs),
        biases=draft.floats(4, n_outputs),
    )


# --- kernels ------------------------------------------------------------------------------------

GAUSSIAN = part("Gaussian", gamma=0.7, width=1.0)
LINEAR = part("Linear")
POLYNOMIAL = part("Polynomial", degree=3, gamma=0.5, coef0=1.0)
KERNELS = {
    "Linear": LINEAR,
    "Polynomial": POLYNOMIAL,
    "Gaussian": GAUSSIAN,
    "OnColumns": part("OnColumns", kernel=GAUSSIAN, columns=items(2, 0)),
    "Scaled": part("Scaled", kernel=POLYNOMIAL, factor=0.25),
    "UnitDiagonal": part("UnitDiagonal", kernel=POLYNOMIAL),
    "WeightedSum": part(
        "WeightedSum", kernels=items(LINEAR, GAUSSIAN), weights=items(0.25, 0.75)
    ),
    "Product": part("Product", kernels=items(LINEAR, GAUSSIAN)),
    "nested": part(
        "Scaled",
        kernel=part(
            "UnitDiagonal",
            kernel=part(
                "WeightedSum",
                kernels=items(part("OnColumns", kernel=LINEAR, columns=items(1)), GAUSSIAN),
                weights=items(1.0, 0.5),
            ),
        ),
        factor=2.0,
    ),
}  # fmt: skip


def _expansion(draft, *kernels, n_outputs=3, n_support=4, width=N_FEATURES, n_features=N_FEATURES):
    return part(
        "KernelExpansion",
        kernels=items(*kernels),
        support=draft.floats(n_support, width),
        coefficients=draft.floats(len(kernels), n_support, n_outputs),
        biases=draft.floats(n_outputs),
        n_features=n_features,
        owners=None,
    )


def _sparse_expansion(draft):
    made = _expansion(draft, GAUSSIAN, LINEAR)
    made["fields"]["support"] = {
        "$": "csr",
        "shape": [4, N_FEATURES],
        "data": draft.floats(5),
        "indices": draft.array(np.array([0, 2, 1, 0, 1], dtype=np.int32)),
        "indptr": draft.array(np.array([0, 2, 2, 3, 5], dtype=np.int32)),
    }
    return made


# --- components and their gates -----------------------------------------------------------------


def _components(draft, n_components=4):
    return part(
        "KernelExpansion",
        kernels=items(GAUSSIAN, LINEAR),
        owners=items(*(q % 2 for q in range(n_components))),
        support=draft.floats(5, N_FEATURES),
        coefficients=draft.floats(n_components, 5),
        biases=draft.floats(n_components),
        n_features=N_FEATURES,
    )


def _linear_gate(draft, kind="Softmax", width=N_FEATURES, n_components=4):
    directions, offsets = draft.floats(n_components, width), draft.floats(n_components)
    return part(kind, directions=directions, offsets=offsets)


def _gaussian_gate(draft, n_components=4):
    centers, log_widths = draft.floats(n_components, N_FEATURES), draft.floats(n_components)
    return part("GaussianGate", centers=centers, log_widths=log_widths, scale=1.5)


GATES = {
    "Softmax": _linear_gate,
    "Sigmoid": partial(_linear_gate, kind="Sigmoid"),
    "GaussianGate": _gaussian_gate,
    "Viewing": lambda draft: part(
        "Viewing",
        gate=_linear_gate(draft, width=2),
        view=part("Columns", columns=items(2, 1)),
    ),
    "Rounded": lambda draft: part("Rounded", gate=_linear_gate(draft, "Sigmoid"), margin=0.45),
    "SoftmaxOf": lambda draft: part("SoftmaxOf", scores=_components(draft), sharpness=2.0),
    "Clipped": lambda draft: part("Clipped", scores=_components(draft), floor=0.05),
    "UnitLength": lambda draft: part("UnitLength", gate=_linear_gate(draft)),
    "Repeated": lambda draft: part("Repeated", gate=_linear_gate(draft, n_components=2), count=2),
}


def _gated_expansion(draft, gate="Softmax"):
    return _blend(draft, GATES[gate](draft))


def _blend(draft, gate, bias=0.3, activation="identity"):
    components = _components(draft)
    fields = {"components": components, "bias": bias, "activation": activation}
    return part("GatedExpansion", gate=gate, **fields)


def _gated_vote(draft):
    return _blend(draft, GATES["SoftmaxOf"](draft), 0.0, "tanh")


def _selected(draft):
    return _blend(draft, part("TopAndBottom", count=2), -0.1)


def _gated_rows(draft):
    kernels = items(GAUSSIAN, LINEAR, POLYNOMIAL, GAUSSIAN)
    kernel = part("PairwiseNormalizedSum", kernels=kernels, n_features=N_FEATURES)
    made = _expansion(draft, kernel, n_outputs=1, width=N_FEATURES + 4)
    draft.arrays[made["fields"]["support"]["number"]][:, N_FEATURES:] = 0.5  # gates are positive
    seen = part("WithGates", gate=GATES["Softmax"](draft), n_features=N_FEATURES)
    return part("Mapped", map=seen, predictor=made)


def _gated_linear(draft):
    weights, biases = draft.floats(4, N_FEATURES, 1), draft.floats(4, 1)
    gate, intercept = GATES["Rounded"](draft), draft.floats(1)
    return part("LocallyLinear", gate=gate, weights=weights, biases=biases, intercept=intercept)


def _stacked(draft):
    return part(
        "Stacked", outputs=items(_gated_linear(draft), _gated_expansion(draft), _selected(draft))
    )


_FEATURES = ("TanhNode", "CompositionalNode")
_PROFILES = ("exponential", "gaussian", "linear", "square")
MODELS = {
    "soft anchors": _locally_linear,
    "soft anchors with a metric": partial(_locally_linear, metric=(0.5, 2.0, 0.0), n_outputs=3),
    "inverse distances": partial(_locally_linear, gate="InverseDistance", n_outputs=3),
    "reconstruction codes": partial(_locally_linear, gate="ReconstructionCodes"),
    "constants around anchors": partial(_locally_linear, width=0),
    **{f"tree of {kind}": partial(_tree, node_gate=kind, n_outputs=3) for kind in _FEATURES},
    **{f"tree of one node, {kind}": partial(_tree, node_gate=kind, depth=0) for kind in _FEATURES},
    "tree with leaves": partial(_leaves, n_outputs=3),
    "tree of one leaf": partial(_leaves, depth=0),
    "tree of projected rows": partial(_tree, n_components=2),
    **{
        f"unbalanced tree of {kind}": partial(_linked, node_gate=kind, n_outputs=3)
        for kind in (*_FEATURES, "IndicatorNode")
    },
    "tree of products of features": _lifted,
    "forest of splits": partial(_splits, n_outputs=3),
    "forest with slopes": partial(_splits, n_slopes=2, has_root=True),
    "forest with vector leaves": partial(_splits, n_outputs=3, n_told=3, n_slopes=1),
    "exponential of a forest": lambda draft: part("Exponential", predictor=_splits(draft)),
    "forest": _forest,
    "hinges": partial(_hinges, n_outputs=3),
    "hinges of one layer": partial(_hinges, units=(4,)),
    "average of two classes": _averaged,
    "average of classes": partial(_averaged, n_outputs=3),
    **{
        f"conformal, {profile}{', by feature' * by_feature}": partial(
            _conformal, profile=profile, per_feature=by_feature
        )
        for profile, by_feature in product(_PROFILES, (False, True))
    },
    "kernel of a tree": lambda draft: _expansion(draft, part("LDKLKernel", tree=_tree(draft))),
    "cells": _cells,
    "cells in groups": partial(_cells, n_groups=2, n_outputs=3),
    "two kernels": lambda draft: _expansion(draft, GAUSSIAN, POLYNOMIAL),
    "no support rows": lambda draft: _expansion(draft, GAUSSIAN, n_support=0),
    "sparse support": _sparse_expansion,
    "vote": _gated_vote,
    "selected components": _selected,
    "gated rows": _gated_rows,
    "gated linear": _gated_linear,
    "stacked": _stacked,
    **{
        f"{name} kernel": lambda draft, kernel=kernel: _expansion(draft, kernel)
        for name, kernel in KERNELS.items()
    },
    **{f"{name} gate": partial(_gated_expansion, gate=name) for name in GATES},
}


# --- what scores mean ---------------------------------------------------------------------------

TWO, THREE = "soft anchors", "two kernels"  # models of one output, and of three


def with_outcome(name, calibrate, threshold=None, n_more=0):
    """A crafted model that is calibrated; ``n_more`` further ones are averaged with it."""
    header, arrays = make(name)
    draft = Draft()
    draft.arrays = arrays
    n_outputs = 1 if name == TWO else 3
    parts = [calibrate(draft, n_outputs) for _ in range(1 + n_more)]
    more = [{**header} for _ in range(n_more)]
    header["outcome"] = part("Outcome", calibration=items(*parts), threshold=threshold)
    header["members"] = more
    return header, arrays


CALIBRATIONS = {
    "LogLoss": lambda draft, n: part("LogLoss"),
    "Shares": lambda draft, n: part("Shares"),
    "Sigmoids": lambda draft, n: part(
        "Sigmoids", slopes=draft.floats(n, low=-3.0), offsets=draft.floats(n)
    ),
    "Temperature": lambda draft, n: part("Temperature", factor=draft.floats(1, low=0.1)),
    "Tables": lambda draft, n: part(
        "Tables",
        scores=items(*(draft.array(np.array([-0.5, 0.0, 0.1, 0.7])) for _ in range(n))),
        probabilities=items(*(draft.array(np.array([0.1, 0.2, 0.6, 0.6])) for _ in range(n))),
    ),
}
THRESHOLD = part("Threshold", of="probability", at=0.4, positive=0)


def _wrapper(kind, **parameters):
    return table(kind=kind, parameters=table(**parameters), best_score=0.5)


def wrapped():
    """Header and arrays of calibrated and threshold-tuned models."""
    methods = {"Sigmoids": "sigmoid", "Temperature": "temperature", "Tables": "isotonic"}
    for kind, method in methods.items():
        around = _wrapper("CalibratedClassifierCV", method=method)
        for name, n_more, threshold in ((TWO, 0, THRESHOLD), (TWO, 1, None), (THREE, 1, None)):
            header, arrays = with_outcome(name, CALIBRATIONS[kind], threshold, n_more)
            header["wrapped_in"] = [around]
            for one in (header, *header["members"]):  # in scikit-learn's order
                one["classes"] = {"$": "strings", "items": sorted(one["classes"]["items"])}
            if threshold is not None:
                fixed = _wrapper("FixedThresholdClassifier", threshold=0.4, pos_label="no")
                header["wrapped_in"] = [fixed, around]
            yield header, arrays
