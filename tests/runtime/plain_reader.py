"""A second reader of model files, from docs/deploy/model-file.md with the standard library alone.

Slow, and without the checks that a real reader needs: rows are lists, arrays are nested lists.
"""

import json
import math
import struct
from operator import mul
from statistics import NormalDist
from types import SimpleNamespace

_CODES = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "|i1": "b", "|u1": "B", "|b1": "?"}


def read(data):
    """The header with its arrays in place, as a dictionary."""
    assert data[:8] == b"\x89NLM\r\n\x1a\n"
    version, _, length = struct.unpack_from("<IIQ", data, 8)
    assert version == 1
    header = json.loads(data[24 : 24 + length].decode("utf-8"))
    arrays = [_array(data, entry) for entry in header.pop("arrays")]
    return _filled(header, arrays)


def scores(model, row):
    """Scores of one row, a list with one number for each output."""
    row, d = list(row), model["n_features"]
    row[:d] = _prepared(model["preparation"], row[:d])
    return _score(model["predictor"], row)


def _prepared(table, row):
    if table is None:
        return row
    if "before" in table:
        return _prepared(table["after"], _prepared(table["before"], row))
    row = row + [_place(row[column], *how) for column, *how in table["readings"] or []]
    found = []
    for j, source in enumerate(table["source"] or range(len(row))):
        value = row[source]
        if value != value:
            found.append(table["missing"][j])
            continue
        if table["equals"] and table["equals"][j] == table["equals"][j]:
            value = float(value == table["equals"][j])
        if table["curves"] and table["curves"][j]:
            curve = table["curves"][j]
            value = _normal(value) if curve == "normal" else _on_curve(value, *curve)
        raw = value
        value = (value - (table["shift"] or {j: 0.0})[j]) / (table["scale"] or {j: 1.0})[j]
        if table["low"]:
            value = min(max(value, table["low"][j]), table["high"][j])
        if table["fold"]:
            shift, scale, lift, floor = table["fold"][j]
            value = min(value, max((raw - shift) / scale + lift, floor))
        found.append(value)
    if table["matrix"] is None:
        return found
    pairs = zip(table["matrix"], table["offset"])
    return [sum(a * b for a, b in zip(line, found)) + c for line, c in pairs]


def _place(cell, categories, unknown):
    if cell in categories:
        return float(categories.index(cell))
    assert unknown != "refused" or cell != cell
    return math.nan if cell != cell or unknown == "missing" else -1.0


def _normal(tail):
    score = NormalDist().inv_cdf(max(abs(tail), 1e-7 - 2.0**-52))
    return -score if tail < 0 else score


def _on_curve(x, knots, values):
    if knots is None:
        return values[int(x) + 1]
    if x in knots:
        first, count = knots.index(x), knots.count(x)
        return values[first + (count - 1) // 2]
    return _line(x, knots, values)


def label(model, row):
    found = scores(model, row)
    if model["classes"] is None:
        return found[0]
    return model["classes"][_class(model, found, row)]


def _class(model, found, row):
    outcome = model.get("outcome")
    kinds = {part.kind for part in outcome.calibration} if outcome else set()
    threshold = outcome.threshold if outcome else None
    if threshold:
        value = found[0] if threshold.positive else -found[0]
        if threshold.of == "probability":
            value = probabilities(model, row)[threshold.positive]
        return threshold.positive if value >= threshold.at else 1 - threshold.positive
    found = probabilities(model, row) if kinds - {"LogLoss"} else found
    return int(found[0] > 0) if len(found) == 1 else found.index(max(found))


def probabilities(model, row):
    """Probabilities of the classes of one row: the mean over all models of the file."""
    models = [model, *model.get("members", [])]
    found = [
        _CALIBRATIONS[part.kind](part, scores(one, row))
        for part, one in zip(model["outcome"].calibration, models, strict=True)
    ]
    return [math.fsum(values) / len(found) for values in zip(*found)]


def _odds(part, found):
    found = [0.0, *found] if len(found) == 1 else found
    return _shares([math.exp(score - max(found)) for score in found])


def _own_shares(part, found):
    return [(1.0 - found[0]) / 2.0, (1.0 + found[0]) / 2.0] if len(found) == 1 else found


def _sigmoids(part, found):
    sums = [a * score + b for a, b, score in zip(part.slopes, part.offsets, found)]
    return _shares([1.0 / (1.0 + math.exp(min(value, 700.0))) for value in sums])


def _temperature(part, found):
    found = [-found[0], found[0]] if len(found) == 1 else found
    return _odds(part, [part.factor[0] * score for score in found])


def _tables(part, found):
    return _shares([_line(*table) for table in zip(found, part.scores, part.probabilities)])


def _line(score, known, values):
    if score <= known[0] or score >= known[-1]:
        return values[0 if score <= known[0] else -1]
    k = max(k for k in range(len(known)) if known[k] <= score)
    return values[k] + (values[k + 1] - values[k]) * (score - known[k]) / (known[k + 1] - known[k])


def _shares(values):
    if len(values) == 1:
        return [1.0 - values[0], values[0]]
    total = math.fsum(values)
    return [value / total if total else 1.0 / len(values) for value in values]


_CALIBRATIONS = {
    "LogLoss": _odds, "Shares": _own_shares, "Sigmoids": _sigmoids, "Temperature": _temperature,
    "Tables": _tables,
}  # fmt: skip


# --- bytes and descriptions ---------------------------------------------------------------------


def _array(data, entry):
    count = math.prod(entry["shape"])
    flat = struct.unpack_from(f"<{count}{_CODES[entry['dtype']]}", data, entry["offset"])
    return _nested(list(flat), entry["shape"])


def _nested(flat, shape):
    if len(shape) < 2:
        return flat if shape else flat[0]
    step = math.prod(shape[1:])
    return [_nested(flat[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]


def _filled(value, arrays):
    if isinstance(value, list):
        return [_filled(item, arrays) for item in value]
    if isinstance(value, dict) and "$" not in value:
        # the steps of a preparation are for Python alone
        return {name: _filled(item, arrays) for name, item in value.items() if name != "steps"}
    if not isinstance(value, dict):
        return value
    mark = value["$"]
    if mark == "array":
        return arrays[value["number"]]
    if mark in ("tuple", "strings", "objects"):
        return [_filled(item, arrays) for item in value["items"]]
    if mark == "dict":
        items = [_filled(item, arrays) for item in value["items"]]
        return {key: item for key, item in items if not isinstance(key, list)}
    if mark == "number":
        return float(value["value"])
    if mark == "csr":
        return _dense(value["shape"], *(_filled(value[name], arrays) for name in _CSR))
    assert mark == "object"
    parts = {name: _filled(item, arrays) for name, item in value["fields"].items()}
    return SimpleNamespace(kind=value["kind"], **parts)


_CSR = ("data", "indices", "indptr")


def _dense(shape, data, indices, indptr):
    rows = [[0.0] * shape[1] for _ in range(shape[0])]
    for i, row in enumerate(rows):
        for k in range(indptr[i], indptr[i + 1]):
            row[indices[k]] += data[k]
    return rows


# --- predictors ---------------------------------------------------------------------------------


def _score(part, x):
    return _PREDICTORS[part.kind](part, x)


def _dot(a, b):
    return math.fsum(map(mul, a, b))


def _square(a, b, metric=None):
    return math.fsum(w * (p - q) ** 2 for p, q, w in zip(a, b, metric or [1.0] * len(a)))


def _locally_linear(part, x):
    total = list(part.intercept or [0.0] * len(part.biases[0]))
    is_sparse = hasattr(part.gate, "anchors")
    for j, share in _codes(part.gate, x) if is_sparse else enumerate(_gate(part.gate, x)):
        for o, bias in enumerate(part.biases[j]):
            models = part.weights[j]
            total[o] += share * (bias + math.fsum(x[d] * models[d][o] for d in range(len(models))))
    return total


def _codes(gate, x):
    squares = [_square(x, v, getattr(gate, "metric", None)) for v in gate.anchors]
    near = sorted(range(len(squares)), key=squares.__getitem__)[: gate.n_neighbors]
    if gate.kind == "SoftAssignment":
        values = [math.exp(-gate.sharpness * (squares[j] - squares[near[0]])) for j in near]
    elif gate.kind == "InverseDistance":
        # the page's floor for anchors of size one; only a row that is an anchor meets it
        values = [1.0 / math.sqrt(max(squares[j], 2.0**-52)) for j in near]
    else:
        away = [[v - p for v, p in zip(gate.anchors[j], x)] for j in near]
        gram = [[_dot(a, b) for b in away] for a in away]
        ridge = gate.ridge * math.fsum(gram[k][k] for k in range(len(near)))
        for k in range(len(near)):
            gram[k][k] += ridge
        values = _solved(gram, [1.0] * len(near))
    total = math.fsum(values)
    return [(j, value / total) for j, value in zip(near, values)]


def _solved(matrix, right):
    """Gaussian elimination; the matrix is positive definite."""
    n = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for k in range(n):
        for i in range(k + 1, n):
            share = rows[i][k] / rows[k][k]
            rows[i] = [a - share * b for a, b in zip(rows[i], rows[k])]
    found = [0.0] * n
    for k in reversed(range(n)):
        known = _dot(rows[k][k + 1 : n], found[k + 1 :])
        found[k] = (rows[k][n] - known) / rows[k][k]
    return found


def _tree_path(part, x):
    z, node, above, total = [*x, 1.0], 0, 1.0, list(part.intercept)
    while True:
        if part.node_gate.kind == "TanhNode":
            above = math.tanh(part.node_gate.sigma * _dot(part.slopes[node], z))
        else:
            above = math.tanh(above * _dot(part.splits[node], z))
        total = [t + above * _dot(w, z) for t, w in zip(total, part.weights[node])]
        if node >= len(part.weights) // 2:
            return total
        node = _child(part, node, z)


def _tree_leaves(part, x):
    z, node = [*x, 1.0], 0
    while node < len(part.weights) - 1:
        node = _child(part, node, z)
    leaf = part.weights[node - len(part.weights) + 1]
    return [b + _dot(w, z) for b, w in zip(part.intercept, leaf)]


def _linked_tree(part, x):
    z, node, above, total = [*x, 1.0], 0, 1.0, list(part.intercept)
    kind = part.node_gate.kind
    while node >= 0:
        seen = z[len(z) - len((part.slopes or part.splits or [z])[0]) :]
        after = -1
        if node < len(part.children):
            after = part.children[node][0 if _dot(part.splits[node], seen) > 0 else 1]
        if kind == "TanhNode":
            above = math.tanh(part.node_gate.sigma * _dot(part.slopes[node], seen))
        elif kind == "CompositionalNode":
            above = math.tanh(above * _dot(part.splits[node], seen))
        else:
            above = 1.0 if after < 0 else 0.0
        total = [t + above * _dot(w, z) for t, w in zip(total, part.weights[node])]
        node = after
    return total


def _child(part, node, z):
    return 2 * node + (1 if _dot(part.splits[node], z) > 0 else 2)


def _mapped(part, x):
    if part.map.kind == "WithGates":
        return _score(part.predictor, [*x, *_gate(part.map.gate, x)])
    if part.map.kind == "Quadratic":
        z = [(p - c) / part.map.scale for p, c in zip(x, part.map.center)]
        pairs = [z[i] * z[j] for i in range(len(z)) for j in range(i, len(z))]
        return _score(part.predictor, [*pairs, *z])
    return _score(part.predictor, [_dot(row, [*x, 1.0]) for row in part.map.matrix])


def _averaged(part, x):
    found = [_score(one, x) for one in part.members]
    if part.calibrations:
        pairs = zip(part.calibrations, found)
        found = [_CALIBRATIONS[one.kind](one, scores) for one, scores in pairs]
    mean = [_dot(part.weights, column) / math.fsum(part.weights) for column in zip(*found)]
    if not part.calibrations:
        return mean
    logs = [math.log(max(p, 1e-6)) for p in mean]
    return [logs[1] - logs[0]] if len(part.members[0].intercept) == 1 else logs


def _additive(part, x):
    total = [b + _dot(w, x) for b, w in zip(part.intercept, zip(*part.weights))]
    for value, first, last in zip(x, part.firsts, part.firsts[1:]):
        if first < last:
            for o, told in enumerate(zip(*part.values[first:last])):
                total[o] += _line(value, part.knots[first:last], told)
    return total


def _hinges(part, x):
    layers = [(list(zip(*weights)), biases) for weights, biases in zip(part.weights, part.biases)]
    for rows, biases in layers[:-1]:
        x = [max(0.0, b + _dot(w, x)) for b, w in zip(biases, rows)]
    return [b + _dot(w, x) for w, b in zip(*layers[-1])]


def _forest(part, x):
    gate, total = part.gate, list(part.intercept)
    pairs = zip(gate.pairs, gate.factors)
    columns = [*x, *(a * x[i] + b * x[j] for (i, j), (a, b) in pairs)]
    z = [(part.fill or [0.0] * len(x))[d] if v != v else v for d, v in enumerate(x)]
    total = [t + _dot(w, z) if w else t for t, w in zip(total, part.root)]
    for t, node in enumerate(gate.starts[:-1]):
        while gate.columns[node] >= 0:
            node = gate.children[node] + (0 if _goes_first(gate, node, columns) else 1)
        leaf = gate.children[node]
        seen = [z[d] for d in part.slope_columns]
        told = [v + _dot(w, seen) for v, w in zip(part.values[leaf], part.slopes[leaf])]
        for k, value in enumerate(told):
            total[part.outputs[t] if len(told) == 1 else k] += value
    return total


def _goes_first(gate, node, columns):
    value, number = columns[gate.columns[node]], gate.sets[node] if gate.sets else -1
    if number >= 0:
        words = gate.categories[number]
        if -1 < value < 32 * len(words):
            return words[int(value) // 32] >> int(value) % 32 & 1 == 1
    elif value == value:
        return value <= gate.thresholds[node]
    return gate.missing_left[node] == 1


def _conformal(part, x):
    total = list(part.biases)
    for k, o, weights in zip(part.kernels, part.outputs, part.weights):
        away = [p - c for p, c in zip(x, part.anchors[k])]
        distances = [abs(a) for a in away]
        if not part.per_feature:
            distances = [math.hypot(*away)] * len(away)
        fade = [_PROFILES[part.profile](part.gammas[k], r) for r in distances]
        total[o] += math.fsum(h * a * w for h, a, w in zip(fade, away, weights))
    return total


_PROFILES = {
    "exponential": lambda gamma, r: math.exp(-gamma * r),
    "gaussian": lambda gamma, r: math.exp(-gamma * r * r),
    "linear": lambda gamma, r: max(1.0 - gamma * r, 0.0),
    "square": lambda gamma, r: max(1.0 - gamma * r * r, 0.0),
}


def _gaussian_cells(part, x):
    def nearest(places, first, last):
        return min(range(first, last), key=lambda place: math.dist(x, places[place]))

    cells, first, last = part.cells, 0, len(part.cells.centers)
    if cells.groups is not None:
        group = nearest(cells.groups, 0, len(cells.groups))
        first, last = cells.firsts[group], cells.firsts[group + 1]
    cell = nearest(cells.centers, first, last)
    total = list(part.biases[cell])
    for j in range(part.starts[cell], part.starts[cell + 1]):
        away = [p - u for p, u in zip(x, part.landmarks[j])]
        share = math.exp(-part.gamma * math.fsum(a * a for a in away))
        for o, slopes in enumerate(part.slopes[j]):
            local = part.offsets[j][o] + math.fsum(s * a for s, a in zip(slopes, away))
            total[o] += share * local
    return total


def _expansion(part, x):
    if part.owners is not None:
        return [
            bias + math.fsum(c * _kernel(part.kernels[m], x, z) for c, z in zip(own, part.support))
            for m, own, bias in zip(part.owners, part.coefficients, part.biases)
        ]
    total = list(part.biases)
    for kernel, table in zip(part.kernels, part.coefficients):
        for row, coefficients in zip(part.support, table):
            value = _kernel(kernel, x, row)
            total = [t + value * c for t, c in zip(total, coefficients)]
    return total


def _gated_expansion(part, x):
    scores = _score(part.components, x)
    if part.gate.kind == "TopAndBottom":
        ordered, n = sorted(scores), part.gate.count
        return [0.5 * math.fsum(ordered[:n] + ordered[-n:]) + part.bias]
    answers = [math.tanh(f) for f in scores] if part.activation == "tanh" else scores
    return [_dot(_gate(part.gate, x), answers) + part.bias]


_PREDICTORS = {
    "LocallyLinear": _locally_linear,
    "TreePath": _tree_path,
    "TreeLeaves": _tree_leaves,
    "LinkedTree": _linked_tree,
    "Forest": _forest,
    "ConformalLinear": _conformal,
    "GaussianCells": _gaussian_cells,
    "KernelExpansion": _expansion,
    "GatedExpansion": _gated_expansion,
    "Mapped": _mapped,
    "Additive": _additive,
    "Averaged": _averaged,
    "Hinges": _hinges,
    "Exponential": lambda p, x: [math.exp(f) for f in _score(p.predictor, x)],
    "Stacked": lambda p, x: [f for output in p.outputs for f in _score(output, x)],
}

# --- kernels and gates --------------------------------------------------------------------------


def _kernel(part, x, z):
    if part.kind == "UnitDiagonal":
        own = _kernel(part.kernel, x, x) * _kernel(part.kernel, z, z)
        return _kernel(part.kernel, x, z) / math.sqrt(own) if own > 0 else 0.0
    if part.kind == "OnColumns":
        return _kernel(part.kernel, [x[d] for d in part.columns], [z[d] for d in part.columns])
    if part.kind == "WeightedSum":
        return math.fsum(w * _kernel(k, x, z) for w, k in zip(part.weights, part.kernels))
    if part.kind == "Product":
        return math.prod(_kernel(k, x, z) for k in part.kernels)
    if part.kind == "LDKLKernel":
        gates, others = _gates_passed(part.tree, x), _gates_passed(part.tree, z)
        return math.fsum(gates[node] * others[node] for node in gates if node in others)
    if part.kind == "PairwiseNormalizedSum":
        d = part.n_features
        shares = [p * q for p, q in zip(x[d:], z[d:])]
        values = [_kernel(kernel, x[:d], z[:d]) for kernel in part.kernels]
        return _dot(shares, values) / math.fsum(shares)
    return {
        "Linear": lambda: _dot(x, z),
        "Polynomial": lambda: (part.gamma * _dot(x, z) + part.coef0) ** part.degree,
        "Gaussian": lambda: math.exp(-part.gamma * _square(x, z)),
        "Scaled": lambda: part.factor * _kernel(part.kernel, x, z),
    }[part.kind]()


def _gates_passed(part, x):
    """{node: gate} of a balanced tree with tanh gates."""
    z, node, found = [*x, 1.0], 0, {}
    while True:
        found[node] = math.tanh(part.node_gate.sigma * _dot(part.slopes[node], z))
        if node >= len(part.weights) // 2:
            return found
        node = _child(part, node, z)


def _gate(part, x):
    return _GATES[part.kind](part, x)


def _softmax(values):
    values = [math.exp(value - max(values)) for value in values]
    return [value / math.fsum(values) for value in values]


def _linear(part, x):
    return [_dot(v, x) + offset for v, offset in zip(part.directions, part.offsets)]


def _gaussian_gate(part, x):
    widths = [part.scale * math.exp(2.0 * max(-20.0, min(w, 20.0))) for w in part.log_widths]
    return _softmax([-_square(x, c) / s for c, s in zip(part.centers, widths)])


def _rounded(part, x):
    values = _gate(part.gate, x)
    return [0.0 if v < part.margin else 1.0 if v > 1.0 - part.margin else v for v in values]


def _unit_length(part, x):
    values = _gate(part.gate, x)
    return [value / math.hypot(*values) for value in values]


_GATES = {
    "Softmax": lambda part, x: _softmax(_linear(part, x)),
    "Sigmoid": lambda part, x: [0.5 + 0.5 * math.tanh(0.5 * value) for value in _linear(part, x)],
    "GaussianGate": _gaussian_gate,
    "Viewing": lambda part, x: _gate(part.gate, [x[d] for d in part.view.columns]),
    "Rounded": _rounded,
    "SoftmaxOf": lambda part, x: _softmax([part.sharpness * f for f in _score(part.scores, x)]),
    "Clipped": lambda part, x: [min(max(f, part.floor), 1.0) for f in _score(part.scores, x)],
    "UnitLength": _unit_length,
    "Repeated": lambda part, x: [v for v in _gate(part.gate, x) for _ in range(part.count)],
}
