"""Files of earlier versions: their headers, rewritten in today's names.

Old names stand in these tables and nowhere else. The rules check a header after this.
"""

# Kinds, under their old names.
KINDS = {
    "TanhFeature": "TanhNode",
    "CompositionalFeature": "CompositionalNode",
    "IndicatorFeature": "IndicatorNode",
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


def upgrade(header):
    """Change a header in place. What is described wrongly stays so, for the rules to refuse."""
    members = header.get("members")
    for one in [header, *(members if isinstance(members, list) else [])]:
        if isinstance(one, dict):
            _upgrade_parameters(one)
    waiting = [header]
    while waiting:  # no recursion: a header may be nested deeply
        value = waiting.pop()
        if isinstance(value, dict):
            if value.get("$") == "object":
                _upgrade_object(value)
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _upgrade_object(value):
    kind, fields = value.get("kind"), value.get("fields")
    if isinstance(kind, str) and isinstance(fields, dict):
        value["kind"] = kind = KINDS.get(kind, kind)
        value["fields"] = {FIELDS.get((kind, name), name): fields[name] for name in fields}


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
