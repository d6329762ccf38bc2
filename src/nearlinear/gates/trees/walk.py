"""A block of rows down a tree, rows of one node together.

At every node the rows that reached it are multiplied with the node's directions, four rows and
three directions at a time, so that each number loaded is used several times; then the rows are
parted in place. A subtree is finished before its neighbor begins: its few rows stay in the
fastest cache. Rows and directions are padded with zeros to the width of the vector unit.
"""

import numpy as np

from ..._compile import compiled, compiled_fast_sums
from .balanced import PathProducts

VECTOR_BYTES = 64


class WalkBlock:
    """Memory for a block of rows on its way down; ``found`` has their products after ``walk``."""

    def __init__(self, inner, leaves, n_rows):
        self._inner, self._leaves = inner, leaves
        self._rows = np.zeros((n_rows, leaves.shape[2]), dtype=leaves.dtype)
        self._order, self._spare = np.empty((2, n_rows), dtype=np.int32)
        self._waiting = np.empty((len(leaves).bit_length(), 4), dtype=np.int64)
        self.found = PathProducts(inner, leaves, n_rows)

    def walk(self, X):
        _walk(
            X, self._rows, self._inner, self._leaves, self._order, self._spare, self._waiting,
            self.found.inner, self.found.leaf,
        )  # fmt: skip


@compiled
def _copy_rows(X, rows):
    n_features = X.shape[1]
    for i in range(len(X)):
        source, row = X[i], rows[i]
        for d in range(n_features):
            row[d] = source[d]
        row[n_features] = 1.0


@compiled
def _walk(X, rows, inner, leaves, order, spare, waiting, out, leaf_out):
    _copy_rows(X, rows)
    for i in range(len(X)):
        order[i] = i
    # right children that wait for their turn: node, first and last position, level
    waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3] = 0, 0, len(X), 0
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        node, start, stop, level = waiting[n_waiting]
        while start < stop and node < len(inner):
            _visit(rows, order, start, stop, inner[node], out[level])
            middle = _part(order, spare, start, stop, out[level, 0])
            level += 1
            waiting[n_waiting, 0], waiting[n_waiting, 1] = 2 * node + 2, middle
            waiting[n_waiting, 2], waiting[n_waiting, 3] = stop, level
            n_waiting += 1
            node, stop = 2 * node + 1, middle
        if start < stop:
            _visit(rows, order, start, stop, leaves[node - len(inner)], leaf_out)


@compiled
def _part(order, spare, start, stop, turns):
    """Rows with a positive turn first, both parts in their old order; where the second begins."""
    n_left, n_right = start, 0
    for t in range(start, stop):
        i = order[t]
        goes_left = 1 if turns[i] > 0 else 0
        # both are written and one counter moves: no branch to mispredict
        order[n_left] = i
        spare[n_right] = i
        n_left += goes_left
        n_right += 1 - goes_left
    for t in range(n_right):
        order[n_left + t] = spare[t]
    return n_left


@compiled_fast_sums
def _visit(rows, order, start, stop, directions, out):
    """out[q, i] = ⟨directions[q], rows[i]⟩ for the rows ``order[start:stop]``."""
    n_directions, width = directions.shape
    zero = rows.dtype.type(0.0)
    t = start
    while t + 4 <= stop:
        i0, i1, i2, i3 = order[t], order[t + 1], order[t + 2], order[t + 3]
        r0, r1, r2, r3 = rows[i0], rows[i1], rows[i2], rows[i3]
        q = 0
        while q + 3 <= n_directions:
            p0, p1, p2 = directions[q], directions[q + 1], directions[q + 2]
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = c0 = c1 = c2 = c3 = zero
            for d in range(width):
                a, b, c = p0[d], p1[d], p2[d]
                x0, x1, x2, x3 = r0[d], r1[d], r2[d], r3[d]
                a0 += a * x0
                a1 += a * x1
                a2 += a * x2
                a3 += a * x3
                b0 += b * x0
                b1 += b * x1
                b2 += b * x2
                b3 += b * x3
                c0 += c * x0
                c1 += c * x1
                c2 += c * x2
                c3 += c * x3
            o0, o1, o2 = out[q], out[q + 1], out[q + 2]
            o0[i0], o0[i1], o0[i2], o0[i3] = a0, a1, a2, a3
            o1[i0], o1[i1], o1[i2], o1[i3] = b0, b1, b2, b3
            o2[i0], o2[i1], o2[i2], o2[i3] = c0, c1, c2, c3
            q += 3
        while q < n_directions:
            p0 = directions[q]
            a0 = a1 = a2 = a3 = zero
            for d in range(width):
                a = p0[d]
                a0 += a * r0[d]
                a1 += a * r1[d]
                a2 += a * r2[d]
                a3 += a * r3[d]
            o0 = out[q]
            o0[i0], o0[i1], o0[i2], o0[i3] = a0, a1, a2, a3
            q += 1
        t += 4
    while t < stop:
        i0 = order[t]
        r0 = rows[i0]
        q = 0
        while q + 3 <= n_directions:
            p0, p1, p2 = directions[q], directions[q + 1], directions[q + 2]
            a0 = b0 = c0 = zero
            for d in range(width):
                x0 = r0[d]
                a0 += p0[d] * x0
                b0 += p1[d] * x0
                c0 += p2[d] * x0
            out[q, i0], out[q + 1, i0], out[q + 2, i0] = a0, b0, c0
            q += 3
        while q < n_directions:
            p0 = directions[q]
            a0 = zero
            for d in range(width):
                a0 += p0[d] * r0[d]
            out[q, i0] = a0
            q += 1
        t += 1
