"""Narrow rows down a tree side by side, where a node has its split and two more directions.

Row by row, a path is a chain: the next node is known only when the last product is done. Here many
rows take each level together, so that the processor works on many chains at once, and the three
products of a node share each number of the row. This beats sorting rows by node while rows are so
short that sorting costs more than loading a node again.
"""

import numpy as np

from ..._compile import compiled_fast_sums
from .balanced import PathProducts

VECTOR_BYTES = 32
WIDEST = 96  # wider rows are better sorted by node: measured
_ABREAST = 128


class LockstepBlock:
    """Memory for a block of rows on its way down; ``found`` has their products after ``walk``."""

    def __init__(self, inner, leaves, n_rows):
        self._inner, self._leaves = inner, leaves
        self._rows = np.zeros((_ABREAST, leaves.shape[2]), dtype=leaves.dtype)
        self._nodes = np.empty(_ABREAST, dtype=np.int64)
        self.found = PathProducts(inner, leaves, n_rows)

    def walk(self, X):
        _walk_abreast(
            X, self._rows, self._nodes, self._inner, self._leaves, self.found.inner,
            self.found.leaf,
        )  # fmt: skip


@compiled_fast_sums
def _walk_abreast(X, rows, nodes, inner, leaves, out, leaf_out):
    n_features, (n_abreast, width) = X.shape[1], rows.shape
    zero = rows.dtype.type(0.0)
    for first in range(0, len(X), n_abreast):
        n_rows = min(n_abreast, len(X) - first)
        for i in range(n_rows):
            source, row = X[first + i], rows[i]
            for d in range(n_features):
                row[d] = source[d]
            row[n_features] = 1.0
            nodes[i] = 0
        for level in range(len(out)):
            first_out, second_out = out[level, 1], out[level, 2]
            for i in range(n_rows):
                node, row = inner[nodes[i]], rows[i]
                p0, p1, p2 = node[0], node[1], node[2]
                a = b = c = zero
                for d in range(width):
                    x = row[d]
                    a += p0[d] * x
                    b += p1[d] * x
                    c += p2[d] * x
                first_out[first + i], second_out[first + i] = b, c
                nodes[i] = 2 * nodes[i] + (1 if a > 0 else 2)
        first_out, second_out = leaf_out[0], leaf_out[1]
        for i in range(n_rows):
            node, row = leaves[nodes[i] - len(inner)], rows[i]
            p1, p2 = node[0], node[1]
            b = c = zero
            for d in range(width):
                x = row[d]
                b += p1[d] * x
                c += p2[d] * x
            first_out[first + i], second_out[first + i] = b, c
