"""Files of earlier versions: their headers, rewritten in today's names.

Old names stand in these tables and nowhere else. The rules check a header after this.
"""

import numpy as np

# Kinds, under their old names.
KINDS = {
    "TanhFeature": "TanhNode",
    "CompositionalFeature": "CompositionalNode",
}
# Fields of kinds, which have their new names here.
FIELDS = {
    ("GaussianGate", "centres"): "centers",
    ("TreePath", "feature"): "node_gate",
}
# Parameters of a method, or of all methods (None); those that became nothing are gone.
PARAMETERS = {
    (None, "normalisation"): "normalization",
    ("MLLKMClassifier", "normalisation"): "length_exponent",
    ("MLLKMRegressor", "normalisation"): "length_exponent",
    (None, "feature"): "node_gate",
    (None, "hard_share"): "hard_fraction",
    (None, "n_restarts"): "n_init",
    (None, "insertions"): "max_insertions",
    (None, "chunk"): "chunk_size",
    ("LDMKLClassifier", "max_iter"): None,
    ("SwMKLClassifier", "max_iter"): None,
    ("SAMKLClassifier", "random_state"): None,
}
# Values of parameters, which have their new names here.
VALUES = {("bias", "penalised"): "penalized"}


def upgrade(header, arrays, version):
    """Change the header of such a version in place; its new arrays are appended to ``arrays``.

    What is described wrongly stays so, for the rules to refuse.
    """
    members = header.get("members")
    for one in [header, *(members if isinstance(members, list) else [])]:
        if isinstance(one, dict) and version < 3:
            _upgrade_parameters(one)
    waiting = [header]
    while waiting:  # no recursion: a header may be nested deeply
        value = waiting.pop()
        if isinstance(value, dict):
            if value.get("$") == "object":
                _upgrade_object(value, arrays)
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _upgrade_object(value, arrays):
    kind, fields = value.get("kind"), value.get("fields")
    if not isinstance(kind, str) or not isinstance(fields, dict):
        return
    kind = KINDS.get(kind, kind)
    fields = {FIELDS.get((kind, name), name): fields[name] for name in fields}
    old_fields, remake = _REMADE.get(kind, ((), None))
    if remake is not None and set(fields) == set(old_fields):
        kind, fields = remake(fields, arrays)
    value["kind"], value["fields"] = kind, fields


# --- kinds that became others -------------------------------------------------------------------


def _object(kind, **fields):
    return {"$": "object", "kind": kind, "fields": fields}


def _gated_linear(old, arrays):
    """Weights were (d, q), biases (q,), for one output."""
    found = [_array(old[name], arrays) for name in ("weights", "biases")]
    is_number = isinstance(old["bias"], int | float) and abs(old["bias"]) <= 1e300
    if not is_number or [getattr(array, "ndim", None) for array in found] != [2, 1]:
        return "GatedLinear", old
    weights, biases = np.ascontiguousarray(found[0].T)[:, :, None], found[1][:, None]
    new = {"weights": weights, "biases": biases, "intercept": np.array([float(old["bias"])])}
    described = {}
    for name, array in new.items():
        described[name] = {"$": "array", "number": len(arrays)}
        arrays.append(array)
    return "LocallyLinear", {"gate": old["gate"], **described}


def _array(described, arrays):
    number = described.get("number") if isinstance(described, dict) else None
    is_one = type(number) is int and 0 <= number < len(arrays) and "as" not in described
    return arrays[number] if is_one and described.get("$") == "array" else None


def _tree_path(old, arrays):
    """Leaves and projections had no kinds of their own."""
    projection = old.pop("projection")
    node_gate = old["node_gate"]
    name = node_gate.get("kind") if isinstance(node_gate, dict) else None
    kind, fields = "TreePath", old
    if name == "IndicatorFeature":
        kind = "TreeLeaves"
        fields = {name: old[name] for name in ("splits", "weights", "intercept")}
    if projection is None:
        return kind, fields
    seen = _object("Affine", matrix=projection)
    return "Mapped", {"map": seen, "predictor": _object(kind, **fields)}


def _gated_rows(old, arrays):
    expansion = old["expansion"]
    inner = expansion.get("fields") if isinstance(expansion, dict) else None
    n_features = inner.get("n_features") if isinstance(inner, dict) else None
    seen = _object("WithGates", gate=old["gate"], n_features=n_features)
    return "Mapped", {"map": seen, "predictor": expansion}


def _vote(old, arrays):
    return "GatedExpansion", {**old, "bias": 0.0, "activation": "tanh"}


def _selected(old, arrays):
    gate = _object("TopAndBottom", count=old.pop("n_selected"))
    return "GatedExpansion", {**old, "gate": gate, "activation": "identity"}


def _mean(members):
    items = members.get("items") if isinstance(members, dict) else None
    weights = [1.0] * len(items) if isinstance(items, list) else []
    weights, none = ({"$": "tuple", "items": found} for found in (weights, []))
    return "Averaged", {"members": members, "weights": weights, "calibrations": none}


def _with(kind, **fields):
    return lambda old, arrays: (kind, {**old, **fields})


_SUPPORT = ("kernels", "support", "coefficients", "biases", "n_features")
# Fields that a kind had, and what becomes of it.
_REMADE = {
    "LocallyLinear": (("gate", "weights", "biases"), _with("LocallyLinear", intercept=None)),
    "GatedLinear": (("gate", "weights", "biases", "bias"), _gated_linear),
    "TreePath": (
        ("splits", "slopes", "weights", "intercept", "node_gate", "projection"), _tree_path
    ),
    "TreeForest": (("trees",), lambda old, arrays: _mean(old["trees"])),
    "Mean": (("predictors",), lambda old, arrays: _mean(old["predictors"])),
    "KernelExpansion": (_SUPPORT, _with("KernelExpansion", owners=None)),
    "ComponentScores": ((*_SUPPORT, "owners"), _with("KernelExpansion")),
    "GatedExpansion": (
        ("gate", "components", "bias"), _with("GatedExpansion", activation="identity")
    ),
    "GatedVote": (("gate", "components"), _vote),
    "SelectedSum": (("components", "n_selected", "bias"), _selected),
    "ExpansionOfGatedRows": (("gate", "expansion"), _gated_rows),
}  # fmt: skip


# --- parameters ---------------------------------------------------------------------------------


def _upgrade_parameters(header):
    method, described = header.get("method"), header.get("parameters")
    items = described.get("items") if isinstance(described, dict) else None
    if not isinstance(method, str) or not isinstance(items, list):
        return
    found = []
    for item in items:
        if isinstance(item, list) and len(item) == 2 and isinstance(item[0], str):
            name, value = item
            name = PARAMETERS.get((method, name), PARAMETERS.get((None, name), name))
            if name is None:
                continue
            item = [name, VALUES.get((name, value), value) if isinstance(value, str) else value]
        found.append(item)
    described["items"] = found


# --- categories ---------------------------------------------------------------------------------

_NEVER = -2.0  # the place of a category that no reading knows
_MOST_COLUMNS = 1 << 20  # a small file may speak of many


def read_categories(table, n_features):
    """A table of a preparation whose columns are compared with categories: now with their places.

    ``categories`` and ``known`` become ``readings`` and ``equals``; each column is read once, or
    once for every list of all that is known.
    """
    categories, known = table.pop("categories"), table.pop("known")
    if categories is None and known is None:
        return table
    if table["source"] is None and n_features > _MOST_COLUMNS:
        return table | {"readings": "none"}  # which the rules refuse
    source = np.arange(n_features) if table["source"] is None else table["source"]
    categories = [None] * np.size(source) if categories is None else categories
    known = [] if known is None else known
    if not _are_old_categories(categories, known, source):
        return table | {"readings": "none"}
    found = {}  # of each column: its first list of categories, as what is read
    readings = [[column, list(dict.fromkeys(values)), "refused"] for column, values in known]
    for place, (column, values, _) in enumerate(readings):
        found.setdefault(column, (place, {value: p for p, value in enumerate(values)}))
    for column, category in zip(source.tolist(), categories):
        if category is not None and column not in found:
            found[column] = len(readings), {}
            readings.append([column, [], "other"])
        if category is not None and readings[found[column][0]][2] == "other":
            place, places = found[column]
            if places.setdefault(category, len(places)) == len(readings[place][1]):
                readings[place][1].append(category)
    new, equals = source.copy(), np.full(len(source), np.nan)
    for j, (column, category) in enumerate(zip(source.tolist(), categories)):
        if category is not None:
            place, places = found[column]
            new[j], equals[j] = n_features + place, places.get(category, _NEVER)
    return table | {"source": new, "readings": readings, "equals": equals}


def _are_old_categories(categories, known, source):
    good = isinstance(categories, list) and isinstance(source, np.ndarray) and source.ndim == 1
    good = good and source.dtype.kind == "i" and len(source) == len(categories)
    good = good and isinstance(known, list)
    return good and _are_values([one for one in categories if one is not None]) and all(
        isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int and _are_values(pair[1])
        for pair in known
    )  # fmt: skip


def _are_values(values):
    return isinstance(values, list) and all(isinstance(one, str | int | float) for one in values)
