"""A small SVM for each query, trained on its nearest neighbors when it is asked."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .._cached import cached_property
from .._compile import compiled, run_blocks
from .._warn import warn_user
from .base import Cost

# Beyond this many features a k-d tree visits nearly every leaf and a matrix product is faster.
_TREE_FEATURES = 15
_BLOCK = 256
# Newton steps come after so many sweeps, so many times; a few rounds are usual.
_SWEEPS, _MOST_ROUNDS = 5, 200
# Added to the curvature, relative to a row's own.
_DAMPING = 1e-10


@dataclass(frozen=True)
class NeighborhoodSVM:
    """The training rows, and how to solve the problem around a query.

    Neighbors are moved to their mean and divided by their radius (root mean square distance to
    it), so that C and gamma mean the same in dense and in sparse regions. ``gamma`` 0 stands for
    the linear kernel. ``upper`` has the upper bound of each row's dual coefficient.
    """

    rows: np.ndarray
    labels: np.ndarray
    upper: np.ndarray
    n_classes: int
    n_neighbors: int
    gamma: float
    tol: float

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, 1 or n_classes); ±1 where all neighbors agree.

        A class that no neighbor has scores −1, or less where another class scores no more.
        """
        scores, unsolved = np.empty((len(X), self.n_outputs), dtype=self.rows.dtype), []

        def work(start, stop):
            neighbors = self.nearest(X[start:stop])
            count = _score_queries(
                X[start:stop], neighbors, self.rows, self.labels, self.upper, self.gamma,
                self.tol, scores[start:stop],
            )  # fmt: skip
            unsolved.append(count)

        run_blocks(work, len(X), _BLOCK, n_jobs)
        self._warn_of(sum(unsolved), len(X))
        return scores

    def _warn_of(self, n_unsolved, n_queries):
        if n_unsolved == 0:
            return
        from sklearn.exceptions import ConvergenceWarning

        warn_user(
            f"SVM-KNN: {n_unsolved} local machines of {n_queries} queries were not solved to "
            f"tol={self.tol:g}; raise tol, or lower C.",
            ConvergenceWarning,
        )

    @cached_property
    def _tree(self):
        return cKDTree(self.rows)

    @cached_property
    def _half_squares(self):
        return 0.5 * np.einsum("id,id->i", self.rows, self.rows)

    def nearest(self, X):
        """Row numbers of the nearest neighbors, shape (n_queries, n_neighbors), any order."""
        if self.n_neighbors == len(self.rows):
            return np.tile(np.arange(len(self.rows)), (len(X), 1))
        if self.rows.shape[1] <= _TREE_FEATURES:
            return self._tree.query(X, self.n_neighbors)[1].reshape(len(X), self.n_neighbors)
        halves = X @ self.rows.T
        np.subtract(self._half_squares, halves, out=halves)
        nearest = np.argpartition(halves, self.n_neighbors - 1, axis=1)[:, : self.n_neighbors]
        return np.ascontiguousarray(nearest)

    @property
    def n_features(self):
        return self.rows.shape[1]

    @property
    def n_outputs(self):
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def dtype(self):
        return self.rows.dtype

    @property
    def cost(self):
        """Search by brute force and one Gram matrix; the local solver's steps come on top."""
        n_rows, n_features = self.rows.shape
        work = n_features * (n_rows + self.n_neighbors**2)
        linear = n_features * self.n_outputs
        arrays = (self.rows, self.labels, self.upper)
        return Cost(int(work), work / linear, sum(array.nbytes for array in arrays))


@compiled
def _local_kernel(query, neighbors, rows, gamma, points, gram, similarity):
    """Kernel among the neighbors and to the query, plus one for the (regularized) bias."""
    n_neighbors, n_features = points.shape
    center = np.zeros(n_features)
    for a in range(n_neighbors):
        for d in range(n_features):
            center[d] += rows[neighbors[a], d] / n_neighbors
    radius = 0.0
    for a in range(n_neighbors):
        for d in range(n_features):
            points[a, d] = rows[neighbors[a], d] - center[d]
            radius += points[a, d] * points[a, d] / n_neighbors
    scale = 1.0 / np.sqrt(radius) if radius > 0.0 else 1.0
    points *= scale
    np.dot(points, points.T, gram)
    moved = (query - center) * scale
    np.dot(points, moved, similarity)
    if gamma > 0.0:
        square = np.dot(moved, moved)
        squares = np.diag(gram).copy()
        for a in range(n_neighbors):
            distance = max(0.0, squares[a] + square - 2.0 * similarity[a])
            similarity[a] = np.exp(-gamma * distance)
            for b in range(n_neighbors):
                distance = max(0.0, squares[a] + squares[b] - 2.0 * gram[a, b])
                gram[a, b] = np.exp(-gamma * distance)
    gram += 1.0
    similarity += 1.0


@compiled
def _sweep(gram, signs, upper, dual, scores):
    """A step of every coordinate; the largest change of a row's own margin."""
    largest = 0.0
    for i in range(len(dual)):
        gradient = 1.0 - signs[i] * scores[i]
        new = min(max(dual[i] + gradient / gram[i, i], 0.0), upper[i])
        change = new - dual[i]
        if change != 0.0:
            largest = max(largest, abs(change) * gram[i, i])
            dual[i] = new
            for b in range(len(dual)):
                scores[b] += change * signs[i] * gram[i, b]
    return largest


@compiled
def _newton_direction(gram, signs, free, gradient, factor, direction):
    """Solve the dual's Newton equations of the rows ``free`` by a Cholesky factor."""
    n_free = len(free)
    for a in range(n_free):
        i = free[a]
        for b in range(a + 1):
            j = free[b]
            total = signs[i] * signs[j] * gram[i, j]
            if a == b:  # a linear kernel has fewer dimensions than there may be free rows
                total += _DAMPING * gram[i, i]
            for c in range(b):
                total -= factor[a, c] * factor[b, c]
            if a == b:
                factor[a, a] = np.sqrt(max(total, _DAMPING * gram[i, i]))
            else:
                factor[a, b] = total / factor[b, b]
    for a in range(n_free):
        total = gradient[free[a]]
        for c in range(a):
            total -= factor[a, c] * direction[c]
        direction[a] = total / factor[a, a]
    for a in range(n_free - 1, -1, -1):
        total = direction[a]
        for c in range(a + 1, n_free):
            total -= factor[c, a] * direction[c]
        direction[a] = total / factor[a, a]


@compiled
def _climb(gram, signs, upper, dual, scores, factor):
    """Newton steps of the rows inside their box; a row that reaches its border stays there."""
    n_rows = len(dual)
    gradient, image, direction = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    free = np.flatnonzero((dual > 0.0) & (dual < upper))
    while len(free) > 0:
        for i in range(n_rows):
            gradient[i] = 1.0 - signs[i] * scores[i]
        _newton_direction(gram, signs, free, gradient, factor, direction)
        image[:] = 0.0
        slope, bend = 0.0, 0.0
        for a in range(len(free)):
            i, move = free[a], direction[a]
            slope += gradient[i] * move
            for b in range(n_rows):
                image[b] += move * signs[i] * gram[i, b]
        room = np.inf
        for a in range(len(free)):
            i, move = free[a], direction[a]
            bend += move * signs[i] * image[i]
            if move != 0.0:
                border = upper[i] if move > 0.0 else 0.0
                room = min(room, (border - dual[i]) / move)
        if not slope > 0.0:  # solved, up to rounding
            return
        best = slope / bend if bend > 0.0 else np.inf
        step = min(best, room)
        if step == np.inf:
            return
        inside = np.ones(len(free), dtype=np.bool_)
        for a in range(len(free)):
            i, move = free[a], direction[a]
            border = upper[i] if move > 0.0 else 0.0
            inside[a] = move == 0.0 or (border - dual[i]) / move > step
            dual[i] = dual[i] + step * move if inside[a] else border
        scores += step * image
        if np.all(inside):
            return
        free = free[inside]


@compiled
def _solve_dual(gram, signs, upper, tol, dual, scores, factor):
    """Ascent on Σα − ½ aᵀKa over 0 ≤ α ≤ u, a = α y; whether it was solved.

    Sweeps over the coordinates find out which rows lie inside their box, Newton steps of these
    find the optimum where sweeps alone would take thousands. It is solved when a sweep that
    follows a Newton step changes no margin by ``tol``.
    """
    dual[:] = 0.0
    scores[:] = 0.0
    for _ in range(_MOST_ROUNDS):
        for _ in range(_SWEEPS):
            _sweep(gram, signs, upper, dual, scores)
        _climb(gram, signs, upper, dual, scores, factor)
        if _sweep(gram, signs, upper, dual, scores) < tol:
            return True
    return False


@compiled
def _score_queries(X, neighbors, rows, labels, upper, gamma, tol, scores):
    """Fill ``scores``; the number of machines that were not solved."""
    n_neighbors, n_outputs = neighbors.shape[1], scores.shape[1]
    points = np.empty((n_neighbors, rows.shape[1]))
    gram, similarity = np.empty((n_neighbors, n_neighbors)), np.empty(n_neighbors)
    signs, dual, local = np.empty(n_neighbors), np.empty(n_neighbors), np.empty(n_neighbors)
    factor, is_near = np.empty((n_neighbors, n_neighbors)), np.empty(n_outputs, dtype=np.bool_)
    n_unsolved = 0
    for i in range(len(X)):
        around = neighbors[i]
        near = labels[around]
        first = near[0]
        if np.all(near == first):
            for c in range(n_outputs):
                scores[i, c] = 1.0 if first == (1 if n_outputs == 1 else c) else -1.0
            continue
        _local_kernel(X[i].astype(np.float64), around, rows, gamma, points, gram, similarity)
        least = 0.0
        for c in range(n_outputs):
            positive = 1 if n_outputs == 1 else c
            is_near[c] = np.any(near == positive)
            if not is_near[c]:
                continue
            for a in range(n_neighbors):
                signs[a] = 1.0 if near[a] == positive else -1.0
            if not _solve_dual(gram, signs, upper[around], tol, dual, local, factor):
                n_unsolved += 1
            scores[i, c] = np.sum(dual * signs * similarity)
            least = min(least, scores[i, c])
        for c in range(n_outputs):
            if not is_near[c]:  # below all others, in single precision, too
                scores[i, c] = -1.0 if least > -1.0 else 2.0 * least
    return n_unsolved
