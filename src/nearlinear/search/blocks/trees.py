"""Oblique trees from all rows: LDKL learns from blocks, and keeps a checkpoint of its own."""

import numpy as np

from ...estimators.ldkl import LDKLClassifier, LDKLRegressor


def refit_trees(candidate, rows, seed, n_jobs, checkpoint, every):
    """The predictor of one tree, in blocks."""
    kind = LDKLClassifier if rows.is_of_classes else LDKLRegressor
    depth = "auto" if np.isinf(candidate.depth) else int(candidate.depth)
    model = kind(n_trees=1, depth=depth, random_state=seed, n_jobs=n_jobs)
    return model.fit(rows.source, checkpoint=checkpoint, every=every).predictor_
