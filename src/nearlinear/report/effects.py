"""What the model says as one column changes and all others stay those of a typical row.

A curve is put together from the model's own pieces: its corners and jumps are known (``corners``,
``bends``), and where three places of a piece lie on a line, the line is the model. Elsewhere the
curve is followed on a fine grid.
"""

import numpy as np

from .bends import bends
from .corners import corners, is_of_lines
from .subject import CLASSES, spread_over
from .value_measures import histogram

_MOST_COLUMNS, _MOST_OUTPUTS, _MOST_VALUES = 16, 6, 30
_FEW = 8  # values of a number that are drawn as dots
_MOST_PIECES, _GRID = 600, 257
_HARDLY = 0.01  # of probability, or of the largest effect: columns that change no more
_NARROW = 1e-6  # of the range of a column: pieces that rounding makes
_STRAIGHT = 1e-5  # of the height of a curve
_WITHIN = 9  # points of a piece that is no line, at least


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
    low, high = float(known[0]), float(known[-1])
    edges = _edges(subject, column, low, high)
    if edges is None or len(edges) - 1 > _MOST_PIECES:
        x, form = np.linspace(low, high, _GRID), "grid"
        scores = _scores_at(subject, column, x)
    else:
        x, scores, form = _pieces(subject, column, edges)
    return {
        "form": form, "pieces": None if edges is None else len(edges) - 1,
        "x": [_short(v) for v in x], "told": _told(subject, scores),
    }  # fmt: skip


def _edges(subject, column, low, high):
    """Ends of all pieces; None where the steps before the model make a smooth curve."""
    whole = subject.whole
    if whole.is_bare:
        known = np.empty(0)
    elif whole.table is None or (known := bends(whole.table, column, low, high)) is None:
        return None
    edges = np.concatenate([[low], known, [high]])
    if len(edges) - 1 > _MOST_PIECES:
        return edges
    places = edges[:-1, None] + np.diff(edges)[:, None] * [0.25, 0.75]
    Z = whole.encoded(subject.rows.with_column(subject.typical, column, places.ravel()))
    Z = (Z.toarray() if hasattr(Z, "toarray") else Z).astype(np.float64)
    Z = Z.reshape(len(places), 2, -1)
    steps = 2.0 * (Z[:, 1] - Z[:, 0])
    starts = Z[:, 0] - 0.25 * steps
    found = [edges]
    for first, width, start, step in zip(edges[:-1], np.diff(edges), starts, steps, strict=True):
        found.append(first + width * corners(subject.model.predictor_, start, step))
    return _apart(np.unique(np.concatenate(found)))


def _apart(edges):
    """Edges without those that only rounding sets apart; both ends stay."""
    wide = _NARROW * (edges[-1] - edges[0])
    kept = [edges[0]]
    for edge in edges[1:-1]:
        if edge - kept[-1] > wide and edges[-1] - edge > wide:
            kept.append(edge)
    return np.array([*kept, edges[-1]])


def _pieces(subject, column, edges):
    """Points of the curve, and whether all pieces are level ("steps"), straight or neither."""
    widths = np.diff(edges)
    places = edges[:-1, None] + widths[:, None] * [0.25, 0.5, 0.75]
    scores = _scores_at(subject, column, places.ravel()).reshape(len(widths), 3, -1)
    height = np.ptp(scores.reshape(-1, scores.shape[2]), axis=0).max()
    rounding = 64 * np.finfo(subject.model.predictor_.dtype).eps * np.abs(scores).max()
    slack = _STRAIGHT * height + rounding
    is_level = np.all(np.ptp(scores, axis=1) <= slack, axis=1)
    away = np.abs(scores[:, 1] - (scores[:, 0] + scores[:, 2]) / 2.0)
    is_straight = np.all(away <= slack, axis=1)
    counts = np.maximum(_WITHIN, np.ceil(_GRID * widths / widths.sum())).astype(int)
    x, y = [], []
    for k, (first, width) in enumerate(zip(edges[:-1], widths, strict=True)):
        if is_level[k]:
            x.append(first + width * np.array([0.0, 1.0]))
            y.append(np.repeat(scores[k, 1:2], 2, axis=0))
        elif is_straight[k]:
            slope = 2.0 * (scores[k, 2] - scores[k, 0])
            # a line of scores is a bent line of probabilities
            along = np.linspace(0.0, 1.0, counts[k] if subject.task == CLASSES else 2)
            x.append(first + width * along)
            y.append(scores[k, 0] + (along[:, None] - 0.25) * slope)
        else:
            # just inside the ends: at an end itself the next piece may answer
            along = np.clip(np.linspace(0.0, 1.0, counts[k]), 1e-4, 1.0 - 1e-4)
            x.append(first + width * along)
            y.append(_scores_at(subject, column, first + width * along))
    form = "steps" if is_level.all() else "lines" if (is_level | is_straight).all() else "mixed"
    if not is_of_lines(subject.model.predictor_):
        form = "mixed"  # straight as far as an eye can see
    return np.concatenate(x), np.concatenate(y), form
