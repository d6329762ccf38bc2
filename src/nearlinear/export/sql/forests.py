"""Forests in SQL."""

import numpy as np

from .literals import number
from .walks import Tree, cases, last_node, lookup, nodes_of_cases

_MOST_CASES = 4096  # of a forest, about 150 MB in each of DuckDB's threads
_FEWEST_CASES = 31  # of a tree, however many there are


def forest(query, part, X):
    """b + ⟨root, x⟩ + Σ_t ⟨w_l, z⟩ in the order of trees, rounded once as the predictor does."""
    sums = _sums(query, part, X)
    return query.in_precision([query.let(query.total(terms)) for terms in sums], part.dtype)


def _sums(query, part, X):
    """Terms of each output."""
    gate, filled = part.gate, _filled(part, X)
    sums = [[number(b)] for b in part.intercept]
    if part.root.shape[1]:
        for terms, product in zip(sums, query.products(filled, part.root)):
            terms.append(product)
    seen = [filled[d] for d in part.slope_columns]
    all_columns = _with_pairs(query, gate, X)
    most = max(_FEWEST_CASES, _MOST_CASES // gate.n_trees)
    for t in range(gate.n_trees):
        tree, leaf_of = _tree(gate, t, all_columns)
        for output, told in _told(query, part, tree, leaf_of, most, seen, t):
            sums[output].append(told)
    return sums


def _filled(part, X):
    """What root and slopes see in place of a missing value."""
    if not (part.root.shape[1] or part.slopes.shape[2]):
        return X
    fill = part.fill if len(part.fill) else np.zeros(len(X))
    return [f"coalesce({x}, {number(value)})" for x, value in zip(X, fill)]


def _with_pairs(query, gate, X):
    """Each product is rounded, then the sum: as everywhere else, so that no row changes sides."""
    found = []
    is_single = gate.dtype == np.float32
    for (i, j), factors in zip(gate.pairs, gate.factors):
        first, second = (f"{X[d]} * {number(f)}" for d, f in zip((i, j), factors))
        if is_single:
            first, second = (f"CAST({one} AS FLOAT)" for one in (first, second))
            found.append(f"CAST({first} + {second} AS DOUBLE)")
        else:
            found.append(f"{first} + {second}")
    return (*X, *(query.let(one) for one in found))


def _tree(gate, t, X):
    """A tree of its own, and the number of the leaf at each node."""
    mine = slice(gate.starts[t], gate.starts[t + 1])
    columns, children = gate.columns[mine], gate.children[mine].astype(np.int64)
    is_inner = columns >= 0
    sets = {}
    for node in np.flatnonzero(is_inner) if len(gate.sets) else ():
        which = gate.sets[mine][node]
        if which >= 0:
            words = gate.categories[which]
            bits = (words[:, None] >> np.arange(32, dtype=np.uint32)) & 1
            sets[int(node)] = bits.ravel().astype(bool)
    tree = Tree(
        X, columns, gate.thresholds[mine], np.where(is_inner, children - gate.starts[t], 0),
        gate.missing_left[mine], sets,
    )  # fmt: skip
    return tree, np.where(is_inner, -1, children)


def _told(query, part, tree, leaf_of, most, seen, t):
    """Outputs, and what a tree adds to them."""
    n_told = part.values.shape[1]
    outputs = [int(part.outputs[t])] if n_told == 1 else range(n_told)
    nodes, is_all = nodes_of_cases(tree, most)
    if n_told == 1 and is_all:

        def end(node):
            leaf = leaf_of[node]
            slopes = part.slopes[leaf, 0]
            terms = [f"{x} * {number(w)}" for x, w in zip(seen, slopes) if w]
            return query.total([number(part.values[leaf, 0]), *terms])

        yield outputs[0], query.let(cases(tree, nodes, end))
        return
    at = last_node(query, tree, nodes)
    leaves = np.maximum(leaf_of, 0)
    for k, output in enumerate(outputs):
        told = np.where(leaf_of < 0, 0.0, part.values[leaves, k])
        terms = [lookup(query, told, at)] if np.any(told) else []
        for x, slopes in zip(seen, part.slopes[leaves, k].T):
            slopes = np.where(leaf_of < 0, 0.0, slopes)
            if np.any(slopes):
                terms.append(f"{lookup(query, slopes, at)} * {x}")
        if terms:
            yield output, query.let(query.total(terms))
