"""Clusters in a kernel's space, with centers that a sample of the rows spans.

With S the sample, K_SS its Gram matrix and center l = Σ_j A_lj φ(x_j) over the sample,

    ‖φ(x) − center_l‖² = k(x, x) − 2 Σ_j A_lj k(x_j, x) + A_l K_SS A_lᵀ.

If the sample has all rows this is kernel k-means; else it is the approximate one (Chitta et al.,
KDD 2011).
"""

from dataclasses import dataclass

import numpy as np

_MOST_ROUNDS = 50
_TIE = 1e-6  # of the largest squared norm: the inverse of a Gram matrix is no more exact


@dataclass(frozen=True)
class KernelClusters:
    """Centers in the span of a sample: −½ × squared distance is coefficients @ k(sample, x) −
    offsets, up to ½ k(x, x), which all clusters share.
    """

    coefficients: np.ndarray  # (n_clusters, n_sample)
    offsets: np.ndarray
    labels: np.ndarray

    def scores(self, cross):
        """−½ squared distances of rows, from k(x, sample) of shape (n_rows, n_sample)."""
        return cross @ self.coefficients.T - self.offsets


def fit_kernel_clusters(cross, gram, weight, n_clusters, rng):
    """Clusters of the rows of ``cross`` = k(rows, sample), where ``gram`` = k(sample, sample).

    ``weight`` has one entry per row.
    """
    inverse = np.linalg.pinv(gram.astype(np.float64), rcond=1e-10, hermitian=True)
    labels = _seeds(cross, inverse, weight, n_clusters, rng)
    for _ in range(_MOST_ROUNDS):
        found = _centers(cross, gram, inverse, weight, labels, n_clusters)
        scores = found.scores(cross)
        new = scores.argmax(axis=1)
        new = _refill(new, scores, cross, inverse, n_clusters)
        if np.array_equal(new, labels):
            break
        labels = new
    return _centers(cross, gram, inverse, weight, labels, n_clusters)


def _centers(cross, gram, inverse, weight, labels, n_clusters):
    member = np.zeros((len(cross), n_clusters))
    member[np.arange(len(cross)), labels] = weight
    member /= np.maximum(member.sum(axis=0), 1e-300)
    coefficients = (member.T @ cross) @ inverse
    offsets = 0.5 * np.einsum("ls,st,lt->l", coefficients, gram, coefficients)
    return KernelClusters(coefficients, offsets, labels)


def _projected_norms(cross, inverse):
    """k(x, x) of the rows' projections on the sample's span."""
    return np.einsum("is,is->i", cross @ inverse, cross)


def _seeds(cross, inverse, weight, n_clusters, rng):
    """k-means++: every next seed is drawn by its squared distance to the nearest one so far.

    A row that is about as far from two seeds goes to the first: with narrow kernels most rows are
    so, and rounding is to decide nothing.
    """
    norms = _projected_norms(cross, inverse)
    tie = _TIE * norms.max(initial=0.0)
    chance = weight / weight.sum()
    nearest, labels = np.full(len(cross), np.inf), np.zeros(len(cross), dtype=np.intp)
    for cluster in range(n_clusters):
        seed = rng.choice(len(cross), p=chance)
        distances = norms - 2.0 * (cross @ (inverse @ cross[seed])) + norms[seed]
        labels[distances < nearest - tie] = cluster
        nearest = np.maximum(np.minimum(nearest, distances), 0.0)
        total = float(weight @ nearest)
        if total <= 1e-12 * max(float(weight @ norms), 1e-300):
            break  # every row is a seed
        chance = weight * nearest / total
    return labels


def _refill(labels, scores, cross, inverse, n_clusters):
    """An empty cluster takes the row that is served worst."""
    counts = np.bincount(labels, minlength=n_clusters)
    empty = np.flatnonzero(counts == 0)
    if len(empty) == 0 or len(labels) <= n_clusters:
        return labels
    far = _projected_norms(cross, inverse) - 2.0 * scores.max(axis=1)
    labels = labels.copy()
    for cluster, row in zip(empty, np.argsort(-far), strict=False):
        labels[row] = cluster
    return labels
