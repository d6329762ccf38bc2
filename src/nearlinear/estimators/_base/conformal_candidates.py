"""Where conformal kernels may stand, and how far they may reach."""

import numpy as np

from ...gates.clustering import fit_anchors, limit_to_distinct

# Relative to one over the rows' median squared distance.
_BANDWIDTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


def place_anchors(anchors, n_anchors, rows, rng):
    """Distinct anchors: "rows", "kmeans" or given ones; ``rows`` are TrainingRows."""
    if not isinstance(anchors, str):
        given = _checked_numbers(anchors, 2, "anchors").astype(rows.X.dtype)
        if given.shape[1] != rows.X.shape[1]:
            raise ValueError(
                f"anchors have {given.shape[1]} features and X has {rows.X.shape[1]}: "
                "give anchors in the space of the rows."
            )
        return np.unique(given, axis=0)
    n_anchors = n_anchors or rows.n_distinct
    if anchors == "kmeans":
        n_anchors = limit_to_distinct(n_anchors, rows.n_distinct, "n_anchors")
        return fit_anchors(rows.X, n_anchors, rng, rows.weight)
    distinct = np.r_[True, np.any(rows.X[1:] != rows.X[:-1], axis=1)]
    numbers = np.flatnonzero(distinct)  # equal rows are neighbors in the canonical order
    if len(numbers) > n_anchors:
        numbers = np.sort(rng.choice(numbers, n_anchors, replace=False))
    return rows.X[numbers]


def checked_bandwidths(bandwidths):
    """Relative bandwidths in order; None stands for six over two and a half decades."""
    if bandwidths is None:
        return np.array(_BANDWIDTHS)
    numbers = np.unique(_checked_numbers(bandwidths, 1, "bandwidths"))
    if not numbers[0] > 0:
        raise ValueError(f"bandwidths must be numbers above 0, not {bandwidths!r}.")
    return numbers


def _checked_numbers(given, n_axes, name):
    """Finite numbers, at least one, in an array of so many axes."""
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.ndim != n_axes or numbers.size == 0 or not np.all(np.isfinite(numbers)):
        shape = "one row of" if n_axes == 1 else "a table (n_anchors, n_features) of"
        seen = " ".join(repr(given).split())[:80]
        raise ValueError(f"{name} must be {shape} finite numbers, not {seen}.")
    return numbers
