"""Sums of Gaussians around vectors, many rows side by side: one product, then one fused pass.

Two kinds of sums: with a number for each Gaussian, or with a linear model, cell by cell.

γ‖x − u‖² = γ‖x‖² + γ‖u‖² − 2γ⟨x, u⟩: rows and vectors are moved to a common center before, where
the difference loses no digits. Products hold a vector in each line and a row in each column, so
no sum runs across the vector unit.
"""

import itertools

import numpy as np

from .._compile import compiled_fast_sums
from ..gates.cells import by_group
from .decay import decay, exponential_numbers

# Rows of one product, which stay in the nearest cache with all that it writes. There are always
# as many, so that BLAS treats a row alike in any company.
_ROWS = 64


class GaussianSums:
    """Σ_j exp(−γ‖x − u_j‖²) c_jo for vectors u and coefficients c of shape (n_vectors, n_outputs).

    All numbers are of the coefficients' type.
    """

    def __init__(self, vectors, gamma, coefficients):
        dtype = coefficients.dtype
        exact = vectors.astype(np.float64)
        center = exact.mean(axis=0).astype(dtype)
        moved = exact - center
        self._center = center
        self._directions = np.ascontiguousarray(2.0 * gamma * moved, dtype=dtype)
        self._squares = (gamma * (moved**2).sum(axis=1)).astype(dtype)
        self._coefficients = np.ascontiguousarray(coefficients.T)
        self._gamma, self._decay = dtype.type(gamma), exponential_numbers(dtype)

    def add_to(self, scores, X):
        """Add the sums of a block of rows to their scores."""
        _add_plain(
            X, self._center, self._directions, self._squares, self._gamma, self._coefficients,
            *self._decay, scores,
        )  # fmt: skip


class CellSums:
    """b_c + Σ_j exp(−γ‖x − u_j‖²) (o_j + ⟨s_j, x − u_j⟩) over the vectors j of a row's cell c.

    Every cell moves its rows to its center. Vectors and slopes of a cell are one table, so that one
    product meets both.
    """

    def __init__(self, centers, gamma, vectors, starts, slopes, offsets, biases):
        dtype = slopes.dtype
        owner = np.repeat(np.arange(len(centers)), np.diff(starts))
        moved = vectors.astype(np.float64) - centers[owner]
        lines = np.concatenate([2.0 * gamma * moved[:, None], slopes], axis=1)
        tables = [lines[a:b].transpose(1, 0, 2).ravel() for a, b in itertools.pairwise(starts)]
        self._tables = np.concatenate([np.empty(0), *tables]).astype(dtype)
        self._starts = starts.astype(np.int64)
        self._squares = (gamma * (moved**2).sum(axis=1)).astype(dtype)
        constants = offsets - np.einsum("jod,jd->jo", slopes.astype(np.float64), moved)
        self._constants = np.ascontiguousarray(constants, dtype=dtype)
        self._centers, self._biases = np.ascontiguousarray(centers), np.ascontiguousarray(biases)
        self._gamma, self._decay = dtype.type(gamma), exponential_numbers(dtype)

    def score(self, X, cells, scores):
        """Fill in the scores of a block of rows, whose cells are known."""
        _score_cells(
            X, cells, self._centers, self._gamma, self._starts, self._tables, self._squares,
            self._constants, self._biases, *self._decay, scores,
        )  # fmt: skip


@compiled_fast_sums
def _move(X, which, center, gamma, rows, squares):
    """Some rows less the center, and γ times their squared lengths."""
    rows[len(which) :] = 0
    squares[len(which) :] = 0
    for i in range(len(which)):
        x, row = X[which[i]], rows[i]
        total = gamma - gamma
        for d in range(len(x)):
            away = x[d] - center[d]
            row[d] = away
            total += away * away
        squares[i] = gamma * total


@compiled_fast_sums
def _add_plain(
    X, center, directions, squares, gamma, coefficients, reduction, series, scores
):  # fmt: skip
    n_rows, n_features = X.shape
    n_outputs, n_vectors = coefficients.shape
    rows = np.empty((_ROWS, n_features), dtype=X.dtype)
    own = np.empty(_ROWS, dtype=X.dtype)
    products = np.empty((n_vectors, _ROWS), dtype=X.dtype)
    sums = np.empty((n_outputs, _ROWS), dtype=X.dtype)
    zero = gamma - gamma
    for start in range(0, n_rows, _ROWS):
        which = np.arange(start, min(start + _ROWS, n_rows))
        _move(X, which, center, gamma, rows, own)
        np.dot(directions, rows.T, products)
        if n_outputs == 1:
            total = sums[0]
            total[:] = zero
            for j in range(n_vectors):
                line, square, coefficient = products[j], squares[j], coefficients[0, j]
                for i in range(_ROWS):
                    u = max(own[i] + square - line[i], zero)
                    total[i] += coefficient * decay(u, reduction, series, own)
        else:
            for j in range(n_vectors):
                line, square = products[j], squares[j]
                for i in range(_ROWS):
                    u = max(own[i] + square - line[i], zero)
                    line[i] = decay(u, reduction, series, own)
            np.dot(coefficients, products, sums)
        for i in range(len(which)):
            for o in range(n_outputs):
                scores[start + i, o] += sums[o, i]


@compiled_fast_sums
def _score_cells(
    X, cells, centers, gamma, starts, tables, squares, constants, biases, reduction, series, scores
):
    n_features, (n_cells, n_outputs) = X.shape[1], biases.shape
    most = 0
    for c in range(n_cells):
        most = max(most, starts[c + 1] - starts[c])
    rows = np.empty((_ROWS, n_features), dtype=X.dtype)
    own = np.empty(_ROWS, dtype=X.dtype)
    room = np.empty(max(1, most * (1 + n_outputs) * _ROWS), dtype=X.dtype)
    sums = np.empty((n_outputs, _ROWS), dtype=X.dtype)
    zero = gamma - gamma
    order, ends = by_group(cells, n_cells)
    for c in range(n_cells):
        first, m = starts[c], starts[c + 1] - starts[c]
        n_lines = m * (1 + n_outputs)
        table = tables[first * (1 + n_outputs) * n_features :][: n_lines * n_features]
        table = table.reshape((n_lines, n_features))
        products = room[: n_lines * _ROWS].reshape((n_lines, _ROWS))
        for start in range(ends[c], ends[c + 1], _ROWS):
            which = order[start : min(start + _ROWS, ends[c + 1])]
            for o in range(n_outputs):
                sums[o, :] = biases[c, o]
            if m > 0:
                _move(X, which, centers[c], gamma, rows, own)
                np.dot(table, rows.T, products)
                for j in range(m):
                    line, square = products[j], squares[first + j]
                    local, constant, total = products[m + j], constants[first + j, 0], sums[0]
                    for i in range(_ROWS):
                        u = max(own[i] + square - line[i], zero)
                        line[i] = decay(u, reduction, series, own)
                        total[i] += line[i] * (local[i] + constant)
                    for o in range(1, n_outputs):
                        local, constant = products[(1 + o) * m + j], constants[first + j, o]
                        total = sums[o]
                        for i in range(_ROWS):
                            total[i] += line[i] * (local[i] + constant)
            for i in range(len(which)):
                for o in range(n_outputs):
                    scores[which[i], o] = sums[o, i]
