"""The one list of kinds: all that a model file may be made of, and who treats it.

A kind is a class of ``FAMILIES``, or one that ``register`` has added. A target is what can be done
with a model: each has a module with a table ``RULES`` that has a function for every kind of the
families it treats, or a reason in ``NOT_IN``. A test holds them together.
"""

from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module

# Names alone: nothing is imported before it is asked for.
FAMILIES = {
    "predictor": {
        "LocallyLinear": "predictors.locally_linear",
        "TreePath": "predictors.tree_path",
        "TreeLeaves": "predictors.tree_leaves",
        "LinkedTree": "predictors.linked_tree",
        "Forest": "predictors.forest",
        "ConformalLinear": "predictors.conformal_linear",
        "GaussianCells": "predictors.gaussian_cells",
        "KernelExpansion": "predictors.kernel_expansion",
        "GatedExpansion": "predictors.gated_expansion",
        "Additive": "predictors.additive",
        "Averaged": "predictors.averaged",
        "Hinges": "predictors.hinges",
        "Mapped": "predictors.combined",
        "Stacked": "predictors.combined",
        "Exponential": "predictors.combined",
        "NeighborhoodSVM": "predictors.neighborhood_svm",
    },
    "sparse gate": {
        "SoftAssignment": "gates.anchors",
        "InverseDistance": "gates.anchors",
        "ReconstructionCodes": "gates.anchors",
    },
    "gate": {
        "Softmax": "gates.learned",
        "Sigmoid": "gates.learned",
        "GaussianGate": "gates.learned",
        "Viewing": "gates.learned",
        "Rounded": "gates.learned",
        "SoftmaxOf": "gates.scores",
        "Clipped": "gates.scores",
        "UnitLength": "gates.scores",
        "Repeated": "gates.scores",
        "Switches": "gates.scores",
    },
    "score gate": {"TopAndBottom": "gates.scores"},  # of the components' scores, not of rows
    "map": {
        "Affine": "maps",
        "WithGates": "maps",
        "Quadratic": "maps",
        "OwnFeatures": "maps",
    },
    "kernel": {
        "Linear": "kernels.standard",
        "Polynomial": "kernels.standard",
        "Gaussian": "kernels.standard",
        "OnColumns": "kernels.standard",
        "Precomputed": "kernels.standard",
        "Custom": "kernels.standard",
        "Scaled": "kernels.composite",
        "UnitDiagonal": "kernels.composite",
        "WeightedSum": "kernels.composite",
        "Product": "kernels.composite",
        "LDKLKernel": "kernels.tree_paths",
        "PairwiseNormalizedSum": "kernels.composite",
        "Conformal": "kernels.conformal",
    },
    # parts of other kinds, which treat them
    "part": {
        "TanhNode": "gates.trees.node_gates",
        "CompositionalNode": "gates.trees.node_gates",
        "IndicatorNode": "gates.trees.node_gates",
        "Columns": "gates.learned",
        "Family": "kernels.family",
        "Absolute": "kernels.row_scales",
        "Cells": "gates.cells",
        "ForestGate": "gates.forests.gate",
    },
    "calibration": {
        "LogLoss": "runtime.outcome",
        "Shares": "runtime.outcome",
        "Sigmoids": "runtime.outcome",
        "Temperature": "runtime.outcome",
        "Tables": "runtime.outcome",
    },
    "threshold": {"Threshold": "runtime.outcome"},
    "outcome": {"Outcome": "runtime.outcome", "EachLabel": "runtime.outcome"},
}
KINDS = {kind: module for family in FAMILIES.values() for kind, module in family.items()}
STAYS = {"NeighborhoodSVM", "Custom", "OwnFeatures"}  # training rows, and code: no file holds these
_FAMILY_OF = {kind: family for family, kinds in FAMILIES.items() for kind in kinds}

_ALL = ("predictor", "sparse gate", "gate", "score gate", "map", "kernel")
# What is done with a model: the module that has the table RULES, and the families in it.
TARGETS = {
    "check": ("runtime.rules", (*_ALL, "calibration", "threshold", "outcome")),
    "score": ("runtime.scores", _ALL),
    "onnx": ("export.onnx.graph", (*_ALL, "calibration")),
    "c": ("export.c.source", (*_ALL, "calibration")),
    "int8": ("export.c.quantized", _ALL),
    "js": ("export.js", (*_ALL, "calibration", "threshold", "outcome")),
    "sql": ("export.sql.statement", ("predictor", "sparse gate", "gate", "map", "calibration")),
    "explain": ("explain.explain", ("predictor",)),
    "row": ("single_row.makers", ("predictor", "calibration")),
    "label": ("displays.kernel_labels", ("kernel",)),
}
_QUERIES = (
    "SVMKNNClassifier solves a new problem around every query: it is its training rows, and there "
    "is nothing smaller to write; fit another method."
)
_SWITCHES = {"Switches": "TopAndBottom does it in a predictor"}
_TRAINING = {
    "Precomputed": "A Precomputed kernel belongs to the training rows: fit with a kernel of rows.",
    "Custom": "A Custom kernel is a function: write a class in its place, and register that.",
    "Conformal": "A machine of conformal kernels is stored as a ConformalLinear.",
    "OwnFeatures": "global_features is a function, which no file and no other language holds: take "
    "'quadratic', or give its columns with the rows.",
}
_TREE_KERNEL = {
    "LDKLKernel": "An LDKLKernel leads support rows down a tree, which only Python and the NumPy "
    "runtime do: export an LDKL model, which is quicker anyway.",
}
_NO_TABLES = "it has no table of its own"
_BLOCK = "a block of one row is as quick"
_SUPPORT = (
    "A {} compares a row with all its support rows, for which SQL is no place: export to ONNX or "
    "C, or fit another kind; a search is told by families=['linear', 'anchors', 'boosted trees', "
    "'oblique trees', 'hinge units']."
)
# Why a target has no function for a kind; users read those of files, ONNX, C and SQL.
NOT_IN = {
    "check": {"NeighborhoodSVM": _QUERIES, **_SWITCHES, **_TRAINING},
    "score": {"NeighborhoodSVM": _QUERIES, **_SWITCHES, **_TRAINING},
    "onnx": {"NeighborhoodSVM": _QUERIES, **_SWITCHES, **_TRAINING, **_TREE_KERNEL},
    "c": {
        "NeighborhoodSVM": _QUERIES,
        **_SWITCHES,
        **_TRAINING,
        **_TREE_KERNEL,
        "Product": "A product of kernels has no C source: fit with sums of kernels.",
    },
    "js": {"NeighborhoodSVM": _QUERIES, **_SWITCHES, **_TRAINING},
    "sql": {
        "NeighborhoodSVM": _QUERIES,
        **_SWITCHES,
        "OwnFeatures": _TRAINING["OwnFeatures"],
        **{
            kind: _SUPPORT.format(kind)
            for kind in ("KernelExpansion", "GatedExpansion", "GaussianCells")
        },
        "ConformalLinear": "Conformal kernels (a ConformalLinear) have no SQL: export to ONNX or "
        "C, or fit LLSVMClassifier, which is as local.",
        "ReconstructionCodes": "ReconstructionCodes solve linear equations for every row, which "
        "SQL does not: export to ONNX or C, or fit LLSVMClassifier, whose codes are exponentials.",
    },
    "explain": {
        "NeighborhoodSVM": "SVM-KNN trains a new machine around every row, so there is no model "
        "to take apart; fit a model that is trained once, such as LLSVMClassifier, to get "
        "explanations."
    },
    "int8": {
        "NeighborhoodSVM": _QUERIES,
        **dict.fromkeys(("GatedExpansion", "Mapped", "Stacked", "WithGates"), _NO_TABLES),
        "Exponential": _NO_TABLES,
        **dict.fromkeys(("Quadratic", "OwnFeatures"), "its numbers stand alone"),
        **dict.fromkeys(("Viewing", "Rounded", "SoftmaxOf", "Clipped"), _NO_TABLES),
        **dict.fromkeys(("UnitLength", "Repeated", "Switches", "TopAndBottom"), _NO_TABLES),
        **dict.fromkeys(FAMILIES["kernel"], _NO_TABLES),
    },
    "row": {
        **dict.fromkeys(("KernelExpansion", "GatedExpansion"), _BLOCK),
        "NeighborhoodSVM": "around every row it trains a machine, which takes longer than a block",
    },
    "label": {
        "PairwiseNormalizedSum": "no weights are drawn of it",
        "Conformal": "it has pictures of its own",
    },
}


@dataclass(frozen=True)
class Registered:
    """A class from outside, and what the targets do with it, by name."""

    cls: type
    family: str
    rules: dict


_REGISTERED = {}  # by the name that files have for it
_NAMES = {}  # those names by class


def register(
    cls, *, name=None, check=None, score=None, onnx=None, c=None, int8=None, sql=None, explain=None,
    row=None, label=None,
):  # fmt: skip
    """Let a gate, a kernel, a predictor or a method of yours be saved.

    A file calls it by ``name``. Files hold no code: who reads one has registered the class before,
    and who has not is told so. Every function is optional. What lacks one is refused in a sentence
    that names it; ``compile`` and ``explain`` of a model with your gate or kernel need nothing.

    Parameters
    ----------
    cls : type
        A frozen dataclass of numbers, arrays and such (a gate, kernel or predictor), or an
        estimator, which needs no functions.
    name : str or None
        What files call it: a word, a dot, a word. None takes the package and the class, as in
        ``"acme.Student"``.
    check : function (part, n_features)
        Holds the fields of ``part`` against what they must be, with the functions of
        ``nearlinear.runtime.fields``, before anything is computed. Gives the number of components
        of a gate, the number of outputs of a predictor, and None for a kernel.
    score : function (part, X), or (part, pairs) of a kernel
        Values in plain NumPy, for ``nearlinear.runtime``. A gate with ``codes`` gives indices and
        values. ``pairs`` has ``products`` and ``squared_distances``.
    onnx : function (graph, part, X), or (graph, part, pairs) of a kernel
        The same as nodes of a graph; gives their name.
    c : function (part, program), or (part, columns) of a kernel
        The same in C, such as ``gate_part`` of ``nearlinear.export.c.gates`` and ``formula`` of
        ``nearlinear.export.c.kernels`` make it.
    int8 : function (part)
        The part with its tables rounded; needed for C in eight bits if there are any tables.
    sql : function (query, part, X)
        The same in SQL, of names of columns: expressions, one for each output or component.
    explain : function (predictor, X, n_support, n_jobs)
        Of a predictor: what its scores are made of.
    row : function (predictor, n_features)
        Of a predictor: a function (row, scratch) that gives the scores of one row.
    label : function (kernel)
        Of a kernel: its description in pictures.

    Returns
    -------
    type
        The class.
    """
    name = name or f"{cls.__module__.partition('.')[0]}.{cls.__name__}"
    if name.count(".") != 1 or not all(name.split(".")):
        raise ValueError(f"name={name!r} must be two words with a dot between them.")
    known = _REGISTERED.get(name)
    if known is not None and (known.cls.__module__, known.cls.__qualname__) != (
        cls.__module__, cls.__qualname__
    ):  # fmt: skip
        raise ValueError(f"{name} is registered already, for {known.cls!r}: give another name.")
    family = _family(cls)
    if family != "method" and not is_dataclass(cls):
        raise TypeError(f"{cls.__name__} is no dataclass: a file holds the fields of one.")
    given = {
        "check": check, "score": score, "onnx": onnx, "c": c, "int8": int8, "sql": sql,
        "explain": explain, "row": row, "label": label,
    }  # fmt: skip
    rules = {target: rule for target, rule in given.items() if rule is not None}
    _REGISTERED[name], _NAMES[cls] = Registered(cls, family, rules), name
    return cls


def _family(cls):
    if hasattr(cls, "fit"):
        return "method"
    if hasattr(cls, "from_pairs"):
        return "kernel"
    if hasattr(cls, "codes"):
        return "sparse gate"
    if hasattr(cls, "reads_scores"):
        return "score gate"
    return "predictor" if hasattr(cls, "n_outputs") else "gate"


def kind_of(value):
    """The name that files have for an object's class, or None."""
    cls = type(value)
    if cls in _NAMES:
        return _NAMES[cls]
    kind = cls.__name__
    return kind if kind in KINDS and class_of(kind) is cls else None


def class_of(kind):
    if kind in _REGISTERED:
        return _REGISTERED[kind].cls
    return getattr(import_module(f".{KINDS[kind]}", __package__), kind)


def registered_method(name):
    """The estimator that was registered under a name, or None."""
    found = _REGISTERED.get(name)
    return found.cls if found is not None and found.family == "method" else None


def family_of(kind):
    """The name of a kind's family; None of an unknown kind."""
    if not isinstance(kind, str):
        return None
    return _REGISTERED[kind].family if kind in _REGISTERED else _FAMILY_OF.get(kind)


def fields_of(kind):
    """Names of the fields of a kind that was registered."""
    return tuple(field.name for field in fields(_REGISTERED[kind].cls))


def stranger(kind):
    """Words on a kind that nobody knows."""
    shown = repr(kind)[:40]
    if isinstance(kind, str) and "." in kind and kind not in _REGISTERED:
        return f"the kind {shown}, which is not registered: import the package that registers it"
    return f"the unknown kind {shown}"


@cache
def table(target):
    """The rules of a target for our own kinds."""
    return import_module(f".{TARGETS[target][0]}", __package__).RULES


def known(target, kind):
    """What a target does with a kind, or None."""
    if kind in _REGISTERED:
        return _REGISTERED[kind].rules.get(target)
    return table(target).get(kind)


def rule(target, kind, error):
    """What a target does with a kind; ``error`` makes an exception of the sentence why not."""
    found = known(target, kind)
    if found is not None:
        return found
    if kind in _REGISTERED:
        raise error(f"{kind} was registered without {target}=, which this needs.")
    raise error(NOT_IN[target].get(kind, f"There is no {target} rule for {stranger(kind)}."))


def rule_for(target, value, error):
    """The same for an object of a model."""
    kind = kind_of(value)
    if kind is None:
        name = type(value).__name__
        if name == "function":
            raise error("The model holds a function: write and register a class in its place.")
        raise error(f"{name} is no kind of nearlinear: call register({name}, {target}=…).")
    return rule(target, kind, error)
