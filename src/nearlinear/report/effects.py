"""Predictions as one column changes and all other columns are those of a typical row.

A column of numbers is evaluated on a grid of equally spaced points, any other column at its values.
"""

import numpy as np

from .subject import CLASSES, spread_over
from .value_measures import histogram

_MOST_COLUMNS, _MOST_OUTPUTS, _MOST_VALUES = 16, 6, 30
_FEW = 8  # values of a number that are drawn as dots
_GRID_POINTS = 200  # two pixels of the picture each
_HARDLY = 0.01  # of probability, or of the largest effect: columns that change no more


def effects(subject, order):
    """Curves of the first columns in ``order``, and names of those that change next to nothing.

    All curves are of the same classes: those that change most.
    """
    if not subject.rows.can_change:
        return {"curves": [], "hardly": []}
    found = [effect(subject, column) for column in order[:_MOST_COLUMNS]]
    found = [one for one in found if one is not None]
    moved = [np.ptp(one["told"], axis=0) for one in found]
    most = max((move.max() for move in moved), default=0.0)
    hardly = _HARDLY if _says(subject) == "probability" else _HARDLY * most
    drawn = [move.max() > min(hardly, 0.5 * most) for move in moved]
    kept = np.sort(np.argsort(-sum(moved, np.zeros(1)), kind="stable")[:_MOST_OUTPUTS])
    classes = subject.classes
    if classes is not None and len(kept) == 1:
        classes = classes[1:]
    for one in found:
        told = one.pop("told")
        one["curves"] = [
            {"of": None if classes is None else classes[k], "y": [_short(v) for v in told[:, k]]}
            for k in kept
        ]
        if one["missing"] is not None:
            one["missing"] = [_short(one["missing"][k]) for k in kept]
    return {
        "curves": [one for one, is_drawn in zip(found, drawn) if is_drawn],
        "hardly": [one["name"] for one, is_drawn in zip(found, drawn) if not is_drawn],
    }


def effect(subject, column):
    """One column; None where it has a single value. ``told`` is (n_points, n_outputs)."""
    cells = subject.rows.column(column)
    if cells.dtype == object and column in _dates(subject):
        found = _of_dates(subject, column, cells)
    elif cells.dtype == object:
        found = _of_values(subject, column, _texts(cells))
    else:
        known = np.unique(cells[np.isfinite(cells)])
        if len(known) < 2:
            return None
        if len(known) <= _FEW:
            found = _of_values(subject, column, known.tolist())
        else:
            found = _of_numbers(subject, column, known)
            found["histogram"] = histogram(cells[np.isfinite(cells)], 32)
    if found is None:
        return None
    return {
        "column": column, "name": subject.rows.names[column], "says": _says(subject),
        "here": subject.rows.row(subject.typical)[column],
        "missing": _if_missing(subject, column, cells), **found,
    }  # fmt: skip


def _if_missing(subject, column, cells):
    """What is said where the cell is missing; None where no row has such a gap."""
    if cells.dtype == object:
        gap, has_gaps = np.array([None], dtype=object), any(cell is None for cell in cells)
    else:
        gap, has_gaps = np.array([np.nan]), np.isnan(cells).any()
    return _told(subject, _scores_at(subject, column, gap))[0].tolist() if has_gaps else None


def _dates(subject):
    return () if subject.whole.table is None else subject.whole.table.dates


def _of_dates(subject, column, cells):
    """At dates that are in the rows, which are texts here, evenly spread."""
    known = sorted({cell for cell in cells if cell is not None})
    values = [known[k] for k in spread_over(len(known), _MOST_VALUES)]
    found = _of_values(subject, column, values)
    return found and {**found, "form": "dates"}


def _texts(cells):
    values, counts = np.unique([str(c) for c in cells if c is not None], return_counts=True)
    common = values[np.argsort(-counts, kind="stable")[:_MOST_VALUES]].tolist()
    return common if all(isinstance(c, str) for c in cells if c is not None) else []


def _says(subject):
    if subject.task != CLASSES:
        return "value"
    return "probability" if subject.whole.gives_probabilities else "score"


# --- single values --------------------------------------------------------------------------------


def _of_values(subject, column, values):
    if len(values) < 2:
        return None
    cells = subject.rows.column(column)
    counts = [int(np.sum(cells == value)) for value in values]
    told = _told(subject, _scores_at(subject, column, np.array(values, dtype=cells.dtype)))
    return {"form": "values", "x": values, "counts": counts, "told": told}


def _scores_at(subject, column, values):
    return subject.whole.scores(subject.rows.with_column(subject.typical, column, values))


def _told(subject, scores):
    """What is drawn of scores: values, or probabilities of classes."""
    chances = subject.whole.probabilities(scores) if subject.task == CLASSES else None
    if chances is None:
        return scores
    return chances[:, 1:] if chances.shape[1] == 2 else chances


def _short(number):
    return float(f"{number:.7g}")


# --- numbers --------------------------------------------------------------------------------------


def _of_numbers(subject, column, known):
    x = np.linspace(known[0], known[-1], _GRID_POINTS)
    told = _told(subject, _scores_at(subject, column, x))
    return {"form": "numbers", "x": [_short(v) for v in x], "told": told}
