"""Anchors from data: weighted k-means, for dense and sparse rows, plain or class by class."""

import numpy as np
from scipy.sparse import csr_matrix

from .._compile import run_blocks
from .._warn import warn_user
from .nearest import AnchorGeometry

# k-means sees at most this many rows: anchors are averages, and more rows hardly move them.
_MOST_ROWS = 20_000
_BLOCK = 4096


def fit_anchors(X, n_anchors, rng, sample_weight, max_iter=25):
    """Centers of weighted k-means, started by k-means++, shape (n_anchors, n_features).

    The rows of ``X`` must be distinct. Runs on one thread of ours whatever the machine, so that
    one seed gives one result.
    """
    from sklearn.cluster import kmeans_plusplus

    if X.shape[0] > _MOST_ROWS:
        chosen = rng.choice(X.shape[0], _MOST_ROWS, replace=False)
        X, sample_weight = X[chosen], sample_weight[chosen]
    seed = rng.randint(np.iinfo(np.int32).max)
    anchors, _ = kmeans_plusplus(X, n_anchors, sample_weight=sample_weight, random_state=seed)
    anchors = anchors.toarray() if hasattr(anchors, "toarray") else np.array(anchors)
    labels = None
    for _ in range(max_iter):
        previous, (labels, distances) = labels, assign(X, anchors)
        if previous is not None and np.mean(labels != previous) < 1e-3:
            break
        anchors = _centers(X, labels, distances, sample_weight, n_anchors).astype(X.dtype)
    return np.ascontiguousarray(anchors)


def fit_class_anchors(X, classes, n_anchors, rng, sample_weight):
    """k-means inside each class, with anchors in proportion to the class's weight, at least one.

    Keeps rare classes represented.
    """
    _, members = np.unique(classes, return_inverse=True)
    share = np.bincount(members, weights=sample_weight) / sample_weight.sum()
    counts = _shared_out(n_anchors, share, np.bincount(members))
    parts = []
    for label in np.flatnonzero(counts):
        rows = np.flatnonzero(members == label)
        parts.append(fit_anchors(X[rows], counts[label], rng, sample_weight[rows]))
    return np.vstack(parts)


def _shared_out(total, share, most):
    """Whole numbers in proportion to ``share``, one each if there is enough, ``total`` in all."""
    counts = np.minimum(np.floor(total * share).astype(int), most)
    if total >= len(share):
        counts = np.maximum(counts, 1)
    while counts.sum() > total:
        counts[(counts - total * share + (counts > 1)).argmax()] -= 1
    while counts.sum() < min(total, most.sum()):
        counts[np.where(counts < most, total * share - counts, -np.inf).argmax()] += 1
    return counts


def limit_to_distinct(n_wanted, n_distinct, parameter):
    """As many anchors or clusters as there are distinct rows, with a warning if that is fewer."""
    if n_wanted <= n_distinct:
        return int(n_wanted)  # True is 1
    warn_user(
        f"{parameter}={n_wanted} is more than the {n_distinct} distinct training rows; "
        f"{n_distinct} are used."
    )
    return n_distinct


def assign(X, anchors):
    """Nearest anchor of each row and its half squared distance (up to a constant of the row)."""
    geometry = AnchorGeometry(anchors.astype(X.dtype, copy=False))
    labels = np.empty(X.shape[0], dtype=np.int32)
    distances = np.empty(X.shape[0])

    def work(start, stop):
        nearest = geometry.half_distances(X[start:stop])
        labels[start:stop] = nearest.argmin(axis=0)
        distances[start:stop] = nearest.min(axis=0) + geometry.shift(X[start:stop])

    run_blocks(work, X.shape[0], _BLOCK)
    return labels, distances


def _centers(X, labels, distances, sample_weight, n_anchors):
    n_rows = X.shape[0]
    membership = csr_matrix((sample_weight, (labels, np.arange(n_rows))), shape=(n_anchors, n_rows))
    mass = np.asarray(membership.sum(axis=1))
    sums = membership @ X
    centers = np.asarray(sums.todense() if hasattr(sums, "todense") else sums, dtype=np.float64)
    centers /= np.maximum(mass, np.finfo(np.float64).tiny)
    empty = np.flatnonzero(mass[:, 0] == 0)
    if len(empty):  # an empty cluster restarts at one of the rows that are served worst
        farthest = np.argsort(distances)[::-1][: len(empty)]
        rows = X[farthest]
        centers[empty] = rows.toarray() if hasattr(rows, "toarray") else rows
    return centers
