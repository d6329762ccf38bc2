"""Rows down a tree whose nodes name their children, many rows side by side.

Nodes with children come first, the root is 0, and a child has a larger number than its parent.
``children`` (n_inner, 2) says where rows of a positive turn go, and where the others; −1 means that
they end at the node. Splits and the directions of the nodes' gates see the last columns of a row,
as many as they have; weights see all.
"""

import numpy as np
from scipy.sparse import issparse

from ..._compile import compiled_fast_sums

_ABREAST = 128
END = -1  # no node


def links_of_balanced(depth):
    """Children of the nodes of a balanced tree, which keep their numbers."""
    inner = np.arange(2**depth - 1, dtype=np.int32)
    return np.stack([2 * inner + 1, 2 * inner + 2], axis=1)


def levels_of(children, n_nodes):
    """The level of every node; a child comes after its parent."""
    levels = np.zeros(n_nodes, dtype=np.int32)
    for node, pair in enumerate(children):
        for child in pair:
            if child != END:
                levels[child] = levels[node] + 1
    return levels


def linked_subtree(depth, kept):
    """A balanced tree without some nodes: the numbers of those that stay, and their children.

    ``kept`` says for every node whether it stays; the parent of one that stays does so, too.
    """
    n_inner = 2**depth - 1
    nodes = np.flatnonzero(kept)
    inner = nodes[nodes < n_inner]
    has_child = kept[2 * inner + 1] | kept[2 * inner + 2]
    leaves = np.concatenate([inner[~has_child], nodes[nodes >= n_inner]])
    order = np.concatenate([inner[has_child], leaves])
    place = np.full(len(kept), END, dtype=np.int32)
    place[order] = np.arange(len(order))
    parents = inner[has_child]
    return order, np.stack([place[2 * parents + 1], place[2 * parents + 2]], axis=1)


class LinkedProducts:
    """What a walk finds for rows, level by level; zeros where a path has ended.

    ``paths`` (n_levels, n_rows) are nodes, ``own`` (n_levels, n_rows) products with the directions
    of their gates, ``local_scores`` (n_levels, n_outputs, n_rows) those with their weights. In a
    tree that ``ends_alone``, the last node of a path has the score: it stands on the first level.
    """

    def __init__(self, n_levels, n_outputs, n_rows, dtype, *, ends_alone):
        n_told = 1 if ends_alone else n_levels
        self.ends_alone = ends_alone
        self.paths = np.full((n_levels, n_rows), END, dtype=np.int32)
        self.own = np.zeros((0 if ends_alone else n_levels, n_rows), dtype=dtype)
        self.local_scores = np.zeros((n_told, n_outputs, n_rows), dtype=dtype)

    def walk_threes(self, X, children, threes):
        """Dense rows, where each node has a split, a direction of its gate and one of a score."""
        n_abreast = min(_ABREAST, len(X))
        rows = np.zeros((n_abreast, threes.shape[2]), dtype=threes.dtype)
        nodes, active = np.empty((2, n_abreast), dtype=np.int64)
        found = self.paths, self.own, self.local_scores[:, 0]
        _walk_threes(X, rows, nodes, active, children, threes, *found)

    def walk(self, X, children, splits, own, weights):
        """``own`` are the directions of the gates; of a tree that ends alone they are not read."""
        arrays = children, splits, own, weights, self.ends_alone
        found = self.paths, self.own, self.local_scores
        if issparse(X):
            _walk_sparse(X.indptr, X.indices, X.data, *arrays, *found)
            return
        n_abreast = min(_ABREAST, len(X))
        rows = np.empty((n_abreast, X.shape[1] + 1), dtype=weights.dtype)
        nodes, active = np.empty((2, n_abreast), dtype=np.int64)
        _walk_abreast(X, rows, nodes, active, *arrays, *found)


@compiled_fast_sums
def _dot(direction, row, first):
    total = direction.dtype.type(0.0)
    for d in range(len(direction)):
        total += direction[d] * row[first + d]
    return total


@compiled_fast_sums
def _line_up(X, first, rows, nodes, active):
    """Some rows and their constant at the root; how many they are."""
    n_rows, n_features = min(len(rows), len(X) - first), X.shape[1]
    for i in range(n_rows):
        source, row = X[first + i], rows[i]
        for d in range(n_features):
            row[d] = source[d]
        row[n_features] = 1.0
        nodes[i], active[i] = 0, i
    return n_rows


@compiled_fast_sums
def _walk_abreast(
    X,
    rows,
    nodes,
    active,
    children,
    splits,
    own,
    weights,
    ends_alone,
    paths,
    features,
    local_scores,
):
    n_inner, skipped = len(children), X.shape[1] + 1 - splits.shape[1]
    for first in range(0, len(X), len(rows)):
        n_active = _line_up(X, first, rows, nodes, active)
        level = 0
        while n_active > 0:
            n_on = 0
            for t in range(n_active):
                i = active[t]
                node, row = nodes[i], rows[i]
                paths[level, first + i] = node
                child = -1
                if node < n_inner:
                    child = children[node, 0 if _dot(splits[node], row, skipped) > 0 else 1]
                if not ends_alone:
                    features[level, first + i] = _dot(own[node], row, skipped)
                    for c in range(weights.shape[1]):
                        local_scores[level, c, first + i] = _dot(weights[node, c], row, 0)
                elif child < 0:
                    for c in range(weights.shape[1]):
                        local_scores[0, c, first + i] = _dot(weights[node, c], row, 0)
                if child >= 0:
                    nodes[i] = child
                    active[n_on] = i
                    n_on += 1
            n_active = n_on
            level += 1


@compiled_fast_sums
def _walk_threes(X, rows, nodes, active, children, threes, paths, features, local_scores):
    width, n_inner = rows.shape[1], len(children)
    zero = rows.dtype.type(0.0)
    for first in range(0, len(X), len(rows)):
        n_active = _line_up(X, first, rows, nodes, active)
        level = 0
        while n_active > 0:
            path, feature, score = paths[level], features[level], local_scores[level]
            n_on = 0
            for t in range(n_active):
                i = active[t]
                node, row = nodes[i], rows[i]
                three = threes[node]
                p0, p1, p2 = three[0], three[1], three[2]
                a = b = c = zero
                for d in range(width):
                    x = row[d]
                    a += p0[d] * x
                    b += p1[d] * x
                    c += p2[d] * x
                path[first + i], feature[first + i], score[first + i] = node, b, c
                child = children[node, 0 if a > 0 else 1] if node < n_inner else -1
                # written always, and counted if it goes on: no branch to mispredict
                nodes[i] = child
                active[n_on] = i
                n_on += 1 if child >= 0 else 0
            n_active = n_on
            level += 1


@compiled_fast_sums
def _sparse_dot(direction, columns, data, start, stop):
    total = direction[len(direction) - 1]
    for t in range(start, stop):
        total += direction[columns[t]] * data[t]
    return total


@compiled_fast_sums
def _walk_sparse(
    indptr, columns, data, children, splits, own, weights, ends_alone, paths, features, local_scores
):
    for i in range(len(indptr) - 1):
        start, stop = indptr[i], indptr[i + 1]
        node, level = 0, 0
        while node >= 0:
            paths[level, i] = node
            child = -1
            if node < len(children):
                turn = _sparse_dot(splits[node], columns, data, start, stop)
                child = children[node, 0 if turn > 0 else 1]
            if not ends_alone:
                features[level, i] = _sparse_dot(own[node], columns, data, start, stop)
            if not ends_alone or child < 0:
                place = 0 if ends_alone else level
                for c in range(weights.shape[1]):
                    local_scores[place, c, i] = _sparse_dot(
                        weights[node, c], columns, data, start, stop
                    )
            node = child
            level += 1
