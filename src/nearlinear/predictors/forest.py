"""f(x) = b + ⟨w, x⟩ + Σ_t ⟨w_l, z⟩, where l is the leaf of x in tree t."""

from dataclasses import dataclass, fields, replace

import numpy as np
from scipy.sparse import issparse

from .._cached import cached_property
from .._compile import compiled, compiled_fast_sums
from ..gates.forests.gate import ForestGate
from .base import Cost, check_width


@dataclass(frozen=True)
class Forest:
    """A linear model, possibly none, and what the leaves of a forest add to it.

    ``values`` (n_leaves, n_told) is the constant of each leaf. A tree of one value a leaf adds it
    to the output ``outputs[t]``; with as many values as outputs, leaves add to all. ``slopes``
    (n_leaves, n_told, n_slopes) see the columns ``slope_columns`` of a row; there may be none.
    ``root`` (n_outputs, n_features) sees all columns, and has no columns where there is no root.
    Root and slopes see ``fill`` in the place of a missing value; a value of 0 there, or an empty
    ``fill``, means 0. ``covers`` is the weight of the training rows in each leaf: explanations
    weigh the two sides of a split by it.
    """

    gate: ForestGate
    values: np.ndarray
    outputs: np.ndarray
    slopes: np.ndarray
    slope_columns: np.ndarray
    root: np.ndarray
    fill: np.ndarray
    intercept: np.ndarray
    covers: np.ndarray

    takes_missing = True  # no field: NaN is a value of rows

    @property
    def n_features(self):
        return self.gate.n_features

    @property
    def n_outputs(self):
        return len(self.intercept)

    @property
    def dtype(self):
        return self.gate.dtype

    @property
    def block_rows(self):
        return self.gate.packed.block_rows

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, n_outputs); rows dense or CSR."""
        check_width(X, self.n_features)
        scores = np.empty((X.shape[0], self.n_outputs), dtype=self.dtype)
        packed = self.gate.packed

        def work(start, stop, ends):
            sums = self.before_trees(X[start:stop])
            if self.slopes.shape[2]:
                Z = self.seen_by_slopes(X[start:stop])
                add_models(ends, packed.starts, packed.leaf_of, *self._models, Z, sums.T)
            elif self.values.shape[1] == 1:
                add_constants(ends, packed.starts, self.node_values, self.outputs, sums.T)
            else:
                add_vectors(ends, packed.starts, *self.node_vectors, self.values, sums)
            scores[start:stop] = sums

        packed.walk(X, work, n_jobs)
        return scores

    @cached_property
    def node_values(self):
        leaf = self.gate.packed.leaf_of
        return np.where(leaf >= 0, self.values[np.maximum(leaf, 0), 0], 0).astype(self.dtype)

    @cached_property
    def node_vectors(self):
        """What vector leaves add, by node: a line of a table; its output and its number.

        Many leaves know one class, and lines are few, so that caches hold all. In the place of an
        output, a leaf that adds to several has −1 less its own number.
        """
        leaves = np.arange(len(self.values))
        largest = np.abs(self.values).argmax(axis=1)
        is_one = np.count_nonzero(self.values, axis=1) <= 1
        lines = np.column_stack(
            [np.where(is_one, largest, -1 - leaves), self.values[leaves, largest]]
        )
        lines, line_of = np.unique(lines, axis=0, return_inverse=True)
        line_of = line_of.astype(np.min_scalar_type(len(lines)))
        by_node = line_of[np.maximum(self.gate.packed.leaf_of, 0)]
        return by_node, lines[:, 0].astype(np.int32), lines[:, 1].astype(self.dtype)

    @property
    def _models(self):
        return self.values, self.slopes, self.outputs

    def before_trees(self, X):
        """What comes before the trees, in float64; what a tree adds to is one stretch of memory."""
        order = "F" if self.values.shape[1] == 1 else "C"
        sums = np.empty((X.shape[0], self.n_outputs), order=order)
        sums[:] = self.intercept
        if self.root.shape[1]:
            sums += filled(X, self.fill) @ self.root.T.astype(np.float64)
        return sums

    def seen_by_slopes(self, X):
        fill = self.fill[self.slope_columns] if len(self.fill) else self.fill
        Z = X[:, self.slope_columns]
        Z = Z.toarray() if issparse(Z) else Z
        return np.ascontiguousarray(filled(Z, fill), dtype=self.dtype)

    def plain(self, X):
        """The same scores from the formula, in NumPy."""
        scores = self.before_trees(X)
        Z = self.seen_by_slopes(X).astype(np.float64)
        for tree, leaf in enumerate(self.gate.plain(X).T):
            told = self.values[leaf] + np.einsum("ikd,id->ik", self.slopes[leaf], Z)
            if self.values.shape[1] == 1:
                scores[:, self.outputs[tree]] += told[:, 0]
            else:
                scores += told
        return scores.astype(self.dtype)

    @property
    def cost(self):
        """A comparison is counted as a multiply-add; of paths, the mean over training rows."""
        work = int(self._costs_of_trees.sum() + self.root.size + 2 * len(self.gate.pairs))
        n_bytes = sum(array.nbytes for array in self._arrays())
        return Cost(work, work / (self.n_features * self.n_outputs), int(n_bytes))

    @property
    def _costs_of_trees(self):
        levels = levels_of(self.gate)[self.gate.columns < 0]
        n_leaves = np.diff(self.gate.leaf_starts)
        tree_of = np.repeat(np.arange(self.gate.n_trees), n_leaves)
        weight = np.maximum(self.covers, 0) + 1e-300
        per_tree = np.bincount(tree_of, weights=weight * levels) / np.bincount(tree_of, weight)
        told = self.values.shape[1] * (1 + self.slopes.shape[2])
        return per_tree + told

    def _arrays(self):
        for part in (self, self.gate):
            for field in fields(part):
                value = getattr(part, field.name)
                if isinstance(value, np.ndarray) and field.name != "covers":
                    yield value

    def in_precision(self, dtype):
        """The same forest for rows of another precision.

        One of float32 stays as it is: in float64 its pair columns would be rounded elsewhere, and
        rows change their leaves.
        """
        if np.dtype(dtype) != np.float32 or self.dtype == np.float32:
            return self
        names = ("values", "slopes", "root", "fill", "intercept")
        floats = {name: getattr(self, name).astype(np.float32) for name in names}
        return replace(self, gate=self.gate.in_single(), **floats)

    def __getstate__(self):
        """Fields only: a pickle has no use for what can be packed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def forest_of(
    gate, values, outputs, intercept, covers, *, slopes=None, slope_columns=(), root=None, fill=None
):
    """A forest with arrays of the right types; what is not given is not there."""
    dtype, n_outputs = gate.dtype, len(intercept)
    values = np.ascontiguousarray(values, dtype=dtype)
    if slopes is None:
        slopes, slope_columns = np.empty((*values.shape, 0)), ()
    return Forest(
        gate,
        values,
        np.asarray(outputs, dtype=np.int32),
        np.ascontiguousarray(slopes, dtype=dtype),
        np.asarray(slope_columns, dtype=np.int32),
        np.ascontiguousarray(np.empty((n_outputs, 0)) if root is None else root, dtype=dtype),
        np.asarray([] if fill is None else fill, dtype=dtype),
        np.asarray(intercept, dtype=dtype),
        np.asarray(covers, dtype=np.float32),
    )


def filled(X, fill):
    """Rows with other numbers in place of missing values; CSR rows have 0 there."""
    values = X.data if issparse(X) else X
    missing = np.isnan(values)
    if not missing.any():
        return X
    if issparse(X):
        X = X.copy()
        X.data = np.where(missing, fill[X.indices] if len(fill) else 0, values).astype(X.dtype)
        return X
    return np.where(missing, fill if len(fill) else 0, X).astype(X.dtype)


def levels_of(gate):
    """The level of every node in its tree."""
    levels = np.zeros(len(gate.columns), dtype=np.int32)
    for node in np.flatnonzero(gate.columns >= 0):
        levels[gate.children[node] : gate.children[node] + 2] = levels[node] + 1
    return levels


@compiled
def add_constants(ends, starts, node_values, outputs, sums):
    """``sums`` (n_outputs, n_rows) are of rows that have ended at the nodes ``ends``."""
    for t in range(len(starts) - 1):
        values, end, total = node_values[starts[t] :], ends[t], sums[outputs[t]]
        for i in range(len(total)):
            total[i] += values[end[i]]


@compiled
def add_vectors(ends, starts, line_of, outputs, numbers, values, sums):
    """``sums`` (n_rows, n_outputs)."""
    for t in range(len(starts) - 1):
        lines, end = line_of[starts[t] :], ends[t]
        for i in range(len(sums)):
            line = lines[end[i]]
            output = outputs[line]
            if output >= 0:
                sums[i, output] += numbers[line]
            else:
                total, value = sums[i], values[-1 - output]
                for k in range(len(value)):
                    total[k] += value[k]


@compiled_fast_sums
def add_models(ends, starts, leaf_of, values, slopes, outputs, Z, sums):
    one_output = values.shape[1] == 1
    zero = Z.dtype.type(0.0)
    for t in range(len(starts) - 1):
        leaves, end = leaf_of[starts[t] :], ends[t]
        for i in range(sums.shape[1]):
            leaf = leaves[end[i]]
            for k in range(values.shape[1]):
                slope, total = slopes[leaf, k], zero
                for d in range(Z.shape[1]):
                    total += slope[d] * Z[i, d]
                sums[outputs[t] if one_output else k, i] += values[leaf, k] + total
