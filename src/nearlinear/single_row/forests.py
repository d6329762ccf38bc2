"""One row through a forest. Every array that a pass takes costs it a fifth of a microsecond, so all
tables stand in two of them: one of whole numbers, one of floats.
"""

import numpy as np

from .._compile import compiled, compiled_fast_sums
from .passes import are_finite

# Places of the counts that begin the whole numbers; sections follow, each from its own place on.
(
    _N_FEATURES, _N_USED, _N_PAIRS, _N_TREES, _N_TOLD, _N_SLOPES, _N_ROOT, _N_FILLED, _N_WORDS,
    _USED, _PAIRS, _STARTS, _OUTPUTS, _LEAF_OF, _SLOPE_COLUMNS, _NODES, _SETS, _CATEGORIES,
    _FACTORS, _ROOT, _FILL, _VALUES, _SLOPES, _THRESHOLDS, _N_FIXED,
) = range(25)  # fmt: skip


def forest_pass(forest, n_features):
    """A function (row, scratch) → scores."""
    packed, dtype = forest.gate.packed, forest.dtype
    narrow = packed.narrow_missing if dtype == np.float32 else None
    whole, floats = _tables(forest, packed, narrow)
    n_work, n_outputs = 2 * packed.width + 1 + packed.n_trees, forest.n_outputs
    run = (wide_row if narrow is None else narrow_row).dispatcher()

    def score(x, scratch):
        scores = scratch.get("scores", n_outputs, dtype)
        work = scratch.get("work", n_work, np.int64)
        return scores if run(x, whole, floats, work, scores) else None

    return score


def _tables(forest, packed, narrow):
    n_fixed = [
        packed.n_features, len(packed.used), len(packed.pairs), packed.n_trees,
        forest.values.shape[1], forest.slopes.shape[2], forest.root.shape[1], len(forest.fill),
        packed.categories.shape[1],
    ]  # fmt: skip
    nodes = _wide_nodes(packed) if narrow is None else narrow.nodes
    whole = [
        packed.used, packed.pairs, packed.starts, forest.outputs, packed.leaf_of,
        forest.slope_columns, nodes, packed.sets, packed.categories,
    ]  # fmt: skip
    floats = [packed.factors, forest.root, forest.fill, forest.values, forest.slopes]
    floats.append(packed.thresholds if narrow is None else packed.thresholds[:0])
    of_whole = _N_FIXED + np.cumsum([0, *(part.size for part in whole)])[:-1]
    of_floats = forest.n_outputs + np.cumsum([0, *(part.size for part in floats)])[:-1]
    first = np.concatenate([n_fixed, of_whole, of_floats])
    flat = [np.ravel(part).astype(np.int64) for part in whole]
    numbers = [np.ravel(part).astype(np.float64) for part in (forest.intercept, *floats)]
    return np.concatenate([first, *flat]), np.concatenate(numbers)


def _wide_nodes(packed):
    """Column, whether missing values go to the first child, and that child."""
    columns, missing = packed.columns.astype(np.int64), packed.missing_left.astype(np.int64)
    return (columns << 33) | (missing << 32) | packed.children


@compiled
def _is_row(x, whole, kind):
    """As many numbers as there are features, none of them infinite, in the model's precision."""
    if len(x) != whole[_N_FEATURES]:
        return False
    n_infinite = 0
    for d in range(len(x)):
        n_infinite += np.isinf(kind(x[d]))
    return n_infinite == 0


@compiled
def _column(x, whole, floats, kind, s):
    """A column that trees split, or a pair column: each product is rounded, then the sum."""
    n_used = whole[_N_USED]
    if s < n_used:
        return kind(x[whole[whole[_USED] + s]]) + kind(0.0)  # −0 becomes 0
    pair, factor = whole[_PAIRS] + 2 * (s - n_used), whole[_FACTORS] + 2 * (s - n_used)
    one = kind(x[whole[whole[_USED] + whole[pair]]]) * kind(floats[factor])
    two = kind(x[whole[whole[_USED] + whole[pair + 1]]]) * kind(floats[factor + 1])
    return (one + two) + kind(0.0)


@compiled
def _step(nodes, keys, j):
    node = nodes[j]
    key = keys[(node >> 22) & 0x3FF]
    return (node & 0x3FFFFF) + (1 if key > (node >> 32) else 0)


@compiled
def _fill_keys(x, whole, floats, kind, work):
    width = whole[_N_USED] + whole[_N_PAIRS]
    work[0] = 0  # leaves read it, where nothing is split at all, too
    for s in range(width):
        bits = np.float32(_column(x, whole, floats, kind, s)).view(np.int32)
        key = bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF))
        missing = (bits & np.int32(0x7FFFFFFF)) > np.int32(0x7F800000)
        work[s] = np.int32(0x7FFFFFFF) if missing else key
        work[width + s] = np.int32(-0x80000000) if missing else key


@compiled
def narrow_row(x, whole, floats, work, scores):
    """Every column has two keys: the first takes missing values to the right, the second left."""
    kind = scores.dtype.type
    if not _is_row(x, whole, kind):
        return False
    width, n_trees = whole[_N_USED] + whole[_N_PAIRS], whole[_N_TREES]
    _fill_keys(x, whole, floats, kind, work)
    ends, starts = work[2 * width + 1 :], whole[whole[_STARTS] :]
    nodes = whole[whole[_NODES] :]
    for t in range(0, n_trees - 3, 4):
        t0, t1 = nodes[starts[t] :], nodes[starts[t + 1] :]
        t2, t3 = nodes[starts[t + 2] :], nodes[starts[t + 3] :]
        a0 = a1 = a2 = a3 = 0
        moved = 1
        while moved != 0:
            b0, b1 = _step(t0, work, a0), _step(t1, work, a1)
            b2, b3 = _step(t2, work, a2), _step(t3, work, a3)
            a0, a1 = _step(t0, work, b0), _step(t1, work, b1)
            a2, a3 = _step(t2, work, b2), _step(t3, work, b3)
            moved = (a0 ^ b0) | (a1 ^ b1) | (a2 ^ b2) | (a3 ^ b3)
        ends[t], ends[t + 1], ends[t + 2], ends[t + 3] = a0, a1, a2, a3
    for t in range(n_trees - n_trees % 4, n_trees):
        j, before = 0, -1
        while j != before:
            before = j
            j = _step(nodes[starts[t] :], work, j)
        ends[t] = j
    _tell(x, whole, floats, ends, scores)
    return are_finite(scores)


@compiled
def _wide_end(whole, floats, seen, start):
    """Where a row ends in the tree whose nodes begin there."""
    n_words, has_sets = whole[_N_WORDS], whole[_CATEGORIES] > whole[_SETS]
    j, before = 0, -1
    while j != before:
        before, place = j, start + j
        node = whole[whole[_NODES] + place]
        value, left = seen[node >> 33], (node >> 32) & 1 == 1
        number = whole[whole[_SETS] + place] if has_sets else -1
        if number >= 0:
            if value > -1.0 and value < 32.0 * n_words:
                category = np.int64(value)
                word = whole[whole[_CATEGORIES] + number * n_words + (category >> 5)]
                left = (word >> (category & 31)) & 1 == 1
        elif value == value:
            left = value <= floats[whole[_THRESHOLDS] + place]
        j = (node & 0x7FFFFFFF) + (0 if left else 1)
    return j


@compiled
def wide_row(x, whole, floats, work, scores):
    kind = scores.dtype.type
    if not _is_row(x, whole, kind):
        return False
    width = whole[_N_USED] + whole[_N_PAIRS]
    seen, ends, starts = work.view(np.float64), work[2 * width + 1 :], whole[whole[_STARTS] :]
    for s in range(width):
        seen[s] = _column(x, whole, floats, kind, s)
    for t in range(whole[_N_TREES]):
        ends[t] = _wide_end(whole, floats, seen, starts[t])
    _tell(x, whole, floats, ends, scores)
    return are_finite(scores)


@compiled
def _known(x, whole, floats, d):
    value = np.float64(x[d])
    if value == value:
        return value
    return floats[whole[_FILL] + d] if whole[_N_FILLED] > 0 else 0.0


@compiled_fast_sums
def _tell(x, whole, floats, ends, scores):
    """Root and leaves, summed in float64."""
    n_told, n_slopes = whole[_N_TOLD], whole[_N_SLOPES]
    starts, leaf_of = whole[whole[_STARTS] :], whole[whole[_LEAF_OF] :]
    for c in range(len(scores)):
        total = floats[c]
        for d in range(whole[_N_ROOT]):
            total += floats[whole[_ROOT] + c * whole[_N_ROOT] + d] * _known(x, whole, floats, d)
        for t in range(whole[_N_TREES]):
            if n_told == 1 and whole[whole[_OUTPUTS] + t] != c:
                continue
            row = leaf_of[starts[t] + ends[t]] * n_told + (0 if n_told == 1 else c)
            total += floats[whole[_VALUES] + row]
            slopes = floats[whole[_SLOPES] + row * n_slopes :]
            for s in range(n_slopes):
                d = whole[whole[_SLOPE_COLUMNS] + s]
                total += slopes[s] * _known(x, whole, floats, d)
        scores[c] = total
