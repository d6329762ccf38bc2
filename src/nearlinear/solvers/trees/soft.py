"""Slopes of the loss in all parameters of a soft tree, in matrix products.

f(z) = Σ_k I_k c_k W_k z with I the soft memberships under turns t_k = tanh(s⟨θ_k, z⟩). With G the
slope of the loss in f, g_k = ⟨G, W_k z⟩ and A_k the sum of I c g over the subtree of k,

    ∂/∂W_k = G I_k c_k z,   ∂/∂c_k = I_k g_k,   ∂/∂θ_k = s [A_left (1 − t_k) − A_right (1 + t_k)] z.

A batch is cut into chunks whose arrays stay in the cache; every chunk has its own sums, added up in
order, so that the result does not depend on the number of threads.
"""

from typing import NamedTuple

import numpy as np

from ..._compile import compiled, run_blocks
from ...gates.trees.balanced import columns_seen, count_splits, soft_memberships

_CHUNK_BYTES = 3 << 20


class TreeGradients(NamedTuple):
    """Slopes of the loss; that of the projection is None where there is none or it stays."""

    splits: np.ndarray
    slopes: np.ndarray
    weights: np.ndarray
    projection: np.ndarray | None = None


class SoftPass:
    """Memory for the passes over chunks of a batch, allocated once for a shape of tree."""

    def __init__(self, model, batch_size):
        self._like = model
        n_nodes, n_outputs, _ = model.weights.shape
        per_row = (len(model.splits) * 2 + len(model.slopes) + n_nodes * (3 + n_outputs)) * (
            model.weights.dtype.itemsize
        )
        self.chunk = int(np.clip(_CHUNK_BYTES // per_row // 16 * 16, 32, 512))
        self.chunk = min(self.chunk, batch_size)
        self._room = [_Chunk(model, self.chunk) for _ in range(-(-batch_size // self.chunk))]
        self._batch_size = batch_size

    def __reduce__(self):
        """Memory is allocated anew elsewhere, not sent there."""
        return SoftPass, (self._like, self._batch_size)

    def gradients(
        self, model, Z, targets, row_weight, sharpness, loss, n_jobs=None, row_slopes=None
    ):
        """Weighted loss of a batch and its gradients; the arrays are overwritten by the next.

        ``Z`` are rows as the tree sees them; ``row_slopes``, if given, receives the slopes of the
        loss in these rows.
        """
        values = np.zeros(len(self._room))

        def work(start, stop):
            number = start // self.chunk
            room, rows = self._room[number], slice(start, stop)
            scores = room.forward(model, Z[rows], sharpness)
            slopes = row_weight[rows, None] * loss.slope(scores, targets[rows])
            values[number] = row_weight[rows] @ loss.value(scores, targets[rows])
            room.backward(model, Z[rows], slopes, sharpness)
            if row_slopes is not None:
                room.slopes_of_rows(model, row_slopes[rows])

        run_blocks(work, Z.shape[0], self.chunk, n_jobs)
        used = self._room[: -(-Z.shape[0] // self.chunk)]
        for other in used[1:]:
            for total, part in zip(used[0].sums[:3], other.sums[:3]):
                total += part
        return float(values.sum()), used[0].sums

    def scores(self, model, Z, sharpness, n_jobs=None):
        """Soft scores of any number of rows, shape (n_rows, n_outputs)."""
        out = np.empty((Z.shape[0], model.weights.shape[1]), dtype=model.weights.dtype)
        for start in range(0, Z.shape[0], self.chunk):
            rows = slice(start, start + self.chunk)
            out[rows] = self._room[0].forward(model, Z[rows], sharpness)
        return out

    def mean_distance(self, model, Z):
        """Mean of |⟨θ, z⟩| over splits and rows: the unit of the sharpness."""
        splits = model.splits[: count_splits(model.depth)]
        Z = columns_seen(Z, splits.shape[1])
        return float(np.mean(np.abs(Z @ splits.T))) if len(splits) else 1.0


class _Chunk:
    """The arrays of one chunk of rows."""

    def __init__(self, model, n_rows):
        n_nodes, n_outputs, _ = model.weights.shape
        dtype = model.weights.dtype
        n_splits = count_splits(model.depth)

        def make(n):
            return np.empty((n, n_rows), dtype=dtype)

        self._arrays = {
            "split_scores": make(len(model.splits)),
            "slope_scores": make(len(model.slopes)),
            "local_scores": make(n_nodes * n_outputs),
            "turns": make(n_splits),
            "split_slopes": make(len(model.splits)),
            "shares": make(n_nodes),
            "features": make(n_nodes),
            "slope_c": make(n_nodes),
        }
        self.sums = TreeGradients(
            np.zeros_like(model.splits), np.zeros_like(model.slopes), np.zeros_like(model.weights)
        )

    def _of(self, name, n_rows):
        array = self._arrays[name]
        if n_rows == array.shape[1]:
            return array
        # a shorter last chunk takes a prefix of the memory, so that rows stay contiguous
        return array.ravel()[: len(array) * n_rows].reshape(len(array), n_rows)

    def forward(self, model, Z, sharpness):
        n_rows = Z.shape[0]
        split_scores = self._of("split_scores", n_rows)
        slope_scores = self._of("slope_scores", n_rows)
        local_scores = self._of("local_scores", n_rows)
        turns, shares = self._of("turns", n_rows), self._of("shares", n_rows)
        _project(model.splits, Z, split_scores)
        _project(model.slopes, Z, slope_scores)
        _project(model.weight_rows, Z, local_scores)
        np.multiply(split_scores[: len(turns)], turns.dtype.type(sharpness), out=turns)
        np.tanh(turns, out=turns)
        soft_memberships(turns, shares)
        features = model.node_gate.values(split_scores, slope_scores, self._of("features", n_rows))
        scores = np.zeros((model.weights.shape[1], n_rows), dtype=local_scores.dtype)
        _add_local_scores(shares, features, local_scores, scores)
        return scores.T

    def backward(self, model, Z, slopes, sharpness):
        n_rows = Z.shape[0]
        features, slope_c = self._of("features", n_rows), self._of("slope_c", n_rows)
        local_scores, shares = self._of("local_scores", n_rows), self._of("shares", n_rows)
        split_slopes = self._of("split_slopes", n_rows)
        slopes = np.ascontiguousarray(slopes.T, dtype=local_scores.dtype)
        _local_slopes(slopes, shares, features, local_scores, slope_c)
        split_slopes[...] = 0.0
        _split_slopes(
            self._of("turns", n_rows), shares, local_scores.dtype.type(sharpness), split_slopes
        )
        slope_slopes = self._of("slope_scores", n_rows)
        model.node_gate.backward(
            features, slope_c, self._of("split_scores", n_rows), split_slopes, slope_slopes
        )
        _collect(split_slopes, Z, self.sums.splits)
        _collect(slope_slopes, Z, self.sums.slopes)
        _collect(local_scores, Z, self.sums.weights.reshape(model.weight_rows.shape))

    def slopes_of_rows(self, model, out):
        """Slopes of the loss in the rows themselves, after ``backward``."""
        n_rows = len(out)
        np.matmul(self._of("split_slopes", n_rows).T, model.splits, out=out)
        if len(model.slopes):
            out += self._of("slope_scores", n_rows).T @ model.slopes
        out += self._of("local_scores", n_rows).T @ model.weight_rows


def _project(directions, Z, out):
    """⟨direction, z⟩ for every direction and row, direction-major."""
    Z = columns_seen(Z, directions.shape[1])
    if isinstance(Z, np.ndarray):
        np.matmul(directions, Z.T, out=out)
    else:
        out[...] = (Z @ directions.T).T


def _collect(slopes, Z, out):
    """Σ over rows of slope × row, one row for each direction."""
    Z = columns_seen(Z, out.shape[1])
    if isinstance(Z, np.ndarray):
        np.matmul(slopes, Z, out=out)
    else:
        out[...] = (Z.T @ slopes.T).T


@compiled
def _add_local_scores(shares, features, local_scores, scores):
    n_outputs = len(scores)
    for k in range(len(shares)):
        share, feature = shares[k], features[k]
        for c in range(n_outputs):
            local_score, score = local_scores[k * n_outputs + c], scores[c]
            for i in range(len(share)):
                score[i] += share[i] * feature[i] * local_score[i]


@compiled
def _local_slopes(slopes, shares, features, local_scores, slope_c):
    """∂L/∂c into ``slope_c``, ∂L/∂(W_k z) over ``local_scores``, I_k c_k g_k over ``shares``."""
    n_outputs, n_rows = slopes.shape
    for k in range(len(shares)):
        share, feature, force = shares[k], features[k], slope_c[k]
        force[:] = 0.0
        for c in range(n_outputs):
            local_score, slope = local_scores[k * n_outputs + c], slopes[c]
            for i in range(n_rows):
                force[i] += slope[i] * local_score[i]
                local_score[i] = slope[i] * share[i] * feature[i]
        for i in range(n_rows):
            force[i] *= share[i]
            share[i] = force[i] * feature[i]


@compiled
def _split_slopes(turns, subtree, sharpness, slopes):
    """Sums over subtrees from the leaves up, in place, and the slopes in the splits' scores."""
    one = turns.dtype.type(1.0)
    for k in range(len(turns) - 1, -1, -1):
        own, left, right = subtree[k], subtree[2 * k + 1], subtree[2 * k + 2]
        turn, slope = turns[k], slopes[k]
        for i in range(len(own)):
            slope[i] = sharpness * (left[i] * (one - turn[i]) - right[i] * (one + turn[i]))
            own[i] += left[i] + right[i]
