"""Screening: the columns that are most relevant to the target one by one.

A column's relevance is its squared correlation with the target, or that of its distance from its
mean, whichever is larger. Columns that matter only in combination with others have none.
"""

from dataclasses import dataclass, replace

import numpy as np

REASON = "screened out: the time limit is too short for all columns, and others are more relevant"


@dataclass(frozen=True)
class Screening:
    """At most ``n_columns`` encoded columns; ``sources`` is the raw column of each encoded one.

    Encoded columns of one raw column are selected together.
    """

    n_columns: int
    sources: np.ndarray

    def select(self, rows):
        """Encoded columns in ascending order, selected by these rows alone."""
        scores = relevance(rows.X, rows.targets, rows.weight)
        raw, places = np.unique(self.sources, return_inverse=True)
        best = np.zeros(len(raw))
        np.maximum.at(best, places, scores)
        order = np.argsort(-best, kind="stable")
        n_encoded = np.cumsum(np.bincount(places)[order])
        n_raw = max(1, np.searchsorted(n_encoded, self.n_columns, side="right"))
        return np.flatnonzero(np.isin(places, order[:n_raw]))

    def parts(self, parts_of):
        """``parts_of`` of a ``Contest``; the training rows of each round select its columns."""

        def screened(one):
            kept, held = parts_of(one)
            columns = self.select(kept)
            return take_columns(kept, columns), np.ascontiguousarray(held[:, columns])

        return screened


def relevance(X, targets, weight):
    """Squared correlation of each column, or of its distance from its mean, with the targets.

    Of several targets, the correlations are summed.
    """
    targets = targets - np.average(targets, axis=0, weights=weight)
    norms = weight @ targets**2
    targets = targets / np.sqrt(np.where(norms > 0.0, norms, 1.0))
    centered = X - np.average(X, axis=0, weights=weight)
    distances = np.abs(centered)
    distances -= np.average(distances, axis=0, weights=weight)
    return np.maximum(*(_explained(Z, targets, weight) for Z in (centered, distances)))


def _explained(Z, targets, weight):
    norms = weight @ Z**2
    products = Z.T @ (weight[:, None] * targets)
    return (products**2).sum(axis=1) / np.where(norms > 0.0, norms, 1.0)


def take_columns(rows, columns):
    """Rows of some columns, in canonical form."""
    targets = np.unique(rows.targets, axis=0, return_inverse=True)[1].ravel()
    return replace(rows, X=np.ascontiguousarray(rows.X[:, columns])).merged(targets)
