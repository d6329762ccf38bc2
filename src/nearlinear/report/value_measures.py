"""How good a regressor is on rows that it has not seen, and how often its intervals hold."""

import numpy as np

from .subject import spread_over

_COVERAGES = (0.5, 0.8, 0.9, 0.95)
_MOST_POINTS, _MOST_BINS = 400, 21


def value_measures(subject):
    """Figures, points of true and predicted values, residuals, and intervals if there are any."""
    y, answers = subject.y, np.asarray(subject.answers, dtype=np.float64)
    errors, around = answers - y, y - y.mean()
    total = float(np.sum(around**2))
    places = spread_over(len(y), _MOST_POINTS)
    return {
        "rows": len(y),
        "r2": 1.0 - float(np.sum(errors**2)) / total if total > 0 else None,
        "rmse": float(np.sqrt(np.mean(errors**2))),
        "mae": float(np.mean(np.abs(errors))),
        "baseline": float(np.sqrt(np.mean(around**2))),
        "median": float(np.median(y)),
        "points": [[float(y[k]), float(answers[k])] for k in places],
        "residuals": histogram(errors, _MOST_BINS),
        "intervals": _intervals(subject),
    }


def histogram(values, most):
    """Edges of bins and the number of values in each."""
    counts, edges = np.histogram(values, bins=int(np.clip(np.sqrt(len(values)), 5, most)))
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def _intervals(subject):
    judge = subject.judge
    if not hasattr(judge.model, "predict_interval"):
        return None
    rows, y, found = judge.prepared(subject.rows.cells), subject.y, []
    for coverage in _COVERAGES:
        low, high = judge.model.predict_interval(rows, coverage).T
        if np.all(np.isfinite(high - low)):
            found.append({
                "asked": coverage,
                "held": float(np.mean((low <= y) & (y <= high))),
                "width": float(np.mean(high - low)),
            })  # fmt: skip
    if not found:
        return None
    regions = judge.model.coverage_by_region(rows, y, 0.9).to_dict("records")
    return {"levels": found, "regions": [_region(one) for one in regions]}


def _region(one):
    numbers = {key: float(one[key]) for key in ("from", "to", "half_width", "coverage")}
    found = {key: value if np.isfinite(value) else None for key, value in numbers.items()}
    return {**found, "rows": int(one["rows"])}
