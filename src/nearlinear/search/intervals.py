"""Intervals of values by split conformal calibration, on rows that no model had seen.

Regions are ranges of the answer: where errors grow with the value, intervals do, too. A region has
at least 100 held-out rows; below 200 rows there is one for all.
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._hints import Rows, Targets

_LEAST_ROWS, _MOST_REGIONS, _MOST_ERRORS = 100, 5, 2000


def residuals(found, blend):
    """For each output: edges of the regions, and in each the absolute errors in rising order."""
    answers, targets = blend.answers(found.answers), found.judge.targets
    regions, weight = [], found.judge.weight
    for answer, target in zip(answers.T, targets.T, strict=True):
        edges, errors = _edges(answer), np.abs(answer - target)
        place = np.searchsorted(edges, answer)
        masks = [place == k for k in range(len(edges) + 1)]
        own = [_ranked(errors[mine], weight[mine]) for mine in masks]
        regions.append({"edges": edges, "errors": own})
    return regions


def _edges(answer):
    """Of regions of as many rows each; where equal answers leave few to one, a neighbor has it."""
    n_regions = int(np.clip(len(answer) // _LEAST_ROWS, 1, _MOST_REGIONS))
    edges = np.unique(np.quantile(answer, np.arange(1, n_regions) / n_regions))
    while len(edges):
        counts = np.bincount(np.searchsorted(edges, answer), minlength=len(edges) + 1)
        if counts.min() >= _LEAST_ROWS:
            break
        edges = np.delete(edges, max(0, counts.argmin() - 1))
    return edges


def _ranked(errors, weight):
    """In rising order, as often as weights say; at most so many, the largest among them."""
    order = np.argsort(errors)
    total = np.cumsum(weight[order])
    count = int(np.clip(np.round(total[-1]), 1, _MOST_ERRORS))
    shares = (1.0 - 1e-9) * np.arange(1, count + 1) / count
    return errors[order][np.searchsorted(total, total[-1] * shares)]


def predict_interval(self: Any, X: Rows, coverage: float = 0.9) -> np.ndarray:
    """Intervals that hold the true value of a new row with about this probability.

    The errors of held-out rows, of models that had not seen them, say how wide: the next larger
    rank than the share asked for. Each region of the answer has its own width.

    Parameters
    ----------
    X : table or array of shape (n_samples, n_features)
        Rows.
    coverage : float, default=0.9
        Between 0 and 1.

    Returns
    -------
    array of shape (n_samples, 2), or (n_samples, n_outputs, 2)
        Lower and upper ends.
    """
    check_is_fitted(self, "predictor_")
    if not 0.0 < coverage < 1.0:
        raise ValueError(f"coverage={coverage!r} must be between 0 and 1.")
    scores = self._scores(X).astype(np.float64)
    ends = np.stack(
        [_ends(*pair, coverage) for pair in zip(scores.T, self.residuals_, strict=True)], axis=1
    )
    return ends[:, 0] if ends.shape[1] == 1 else ends


def coverage_by_region(self: Any, X: Rows, y: Targets, coverage: float = 0.9) -> Any:
    """How often intervals hold the true values of new rows, by regions of the answer.

    Parameters
    ----------
    X : table or array of shape (n_samples, n_features)
        Rows that the fit has not seen.
    y : array of shape (n_samples,)
        Their values.
    coverage : float, default=0.9
        Between 0 and 1.

    Returns
    -------
    DataFrame
        A row for each region: answers from and to, number of rows, half the width of an interval,
        share of the values that are held.
    """
    from pandas import DataFrame

    ends, y = self.predict_interval(X, coverage), np.asarray(y, dtype=np.float64).reshape(-1)
    if ends.ndim == 3:
        raise ValueError("coverage_by_region is for one output: give a model of one column of y.")
    edges = np.asarray(self.residuals_[0]["edges"], dtype=np.float64)
    place, is_held = (
        np.searchsorted(edges, self._scores(X)[:, 0]),
        (ends[:, 0] <= y) & (y <= ends[:, 1]),
    )
    found = []
    for region, (low, high) in enumerate(zip([-np.inf, *edges], [*edges, np.inf], strict=True)):
        mine = place == region
        errors = np.asarray(self.residuals_[0]["errors"][region])
        found.append({
            "from": low, "to": high, "rows": int(mine.sum()),
            "half_width": _width(errors, coverage),
            "coverage": float(is_held[mine].mean()) if mine.any() else np.nan,
        })  # fmt: skip
    return DataFrame(found)


def _ends(values, regions, coverage):
    widths = np.array([_width(np.asarray(errors), coverage) for errors in regions["errors"]])
    half = widths[np.searchsorted(regions["edges"], values)]
    return np.stack([values - half, values + half], axis=1)


def _width(errors, coverage):
    rank = int(np.ceil(coverage * (len(errors) + 1)))
    return errors[rank - 1] if rank <= len(errors) else np.inf
