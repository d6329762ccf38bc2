"""The model itself, and what the page needs to ask it: columns, their ranges, some rows."""

import base64
import gzip
import tempfile
from pathlib import Path

import numpy as np

from ..export.file import save
from ..runtime.container import ModelFileError
from .subject import CLASSES

_MOST_CONTROLS, _MOST_VALUES, _FEW = 40, 200, 12
_STEPS = 200  # of a slider


def what_if(subject, order):
    """Columns that can be changed, the most important first, and rows to begin with."""
    if not subject.rows.can_change:
        return None
    controls = [_control(subject, column) for column in order]
    controls = [one for one in controls if one is not None][:_MOST_CONTROLS]
    for one in controls:
        one["can_miss"] = _can_miss(subject, one["column"])
    rows = [{"name": "the most typical row", "row": subject.rows.row(subject.typical)}]
    return {
        "controls": controls,
        "names": list(subject.rows.names),
        "rows": rows + _examples(subject),
        "support": hasattr(subject.model, "support_score"),
        "expected": _expected(subject),
    }


def _expected(subject):
    """What Python says of the first row: the page holds itself against it."""
    scores = subject.whole.scores(subject.rows.take(np.array([subject.typical])))
    chances = subject.whole.probabilities(scores) if subject.task == CLASSES else None
    return {
        "scores": scores[0].tolist(),
        "probabilities": None if chances is None else chances[0].tolist(),
    }


def _can_miss(subject, column):
    """Whether the model answers a row in which this cell is missing."""
    is_text = subject.rows.column(column).dtype == object
    gap = np.array([None if is_text else np.nan], dtype=object if is_text else np.float64)
    try:
        subject.whole.scores(subject.rows.with_column(subject.typical, column, gap))
    except (TypeError, ValueError):
        return False
    return True


def _control(subject, column):
    cells, name = subject.rows.column(column), subject.rows.names[column]
    dates = () if subject.whole.table is None else subject.whole.table.dates
    if column in dates:
        known = sorted(str(cell) for cell in cells if cell is not None)
        return known and {"column": column, "name": name, "kind": "date",
                          "low": known[0], "high": known[-1]} or None  # fmt: skip
    if cells.dtype == object:
        values = {cell for cell in cells.tolist() if cell is not None}
        if not values or not all(isinstance(cell, str) for cell in values):
            return None
        known = sorted(values)[:_MOST_VALUES]
        return {"column": column, "name": name, "kind": "text", "values": known}
    known = np.unique(cells[np.isfinite(cells)])
    if len(known) == 0:
        return None
    is_whole = bool(np.all(known == np.round(known)))
    low, high = float(known[0]), float(known[-1])
    step = 1.0 if is_whole and high - low < 1e6 else float(f"{(high - low) / _STEPS:.1g}") or 1.0
    return {
        "column": column, "name": name, "kind": "number", "low": low, "high": high, "step": step,
        "is_whole": is_whole, "spread": float(np.std(cells[np.isfinite(cells)])),
        "values": known.tolist() if len(known) <= _FEW else None,
    }  # fmt: skip


def _examples(subject):
    """A row that the model is least sure of, and its worst mistake."""
    y, answers = subject.y, subject.answers
    found = []
    if subject.task != CLASSES:
        away = np.abs(answers - y)
        pairs = (("lowest answer", answers.argmin()), ("highest answer", answers.argmax()),
                 ("largest error", away.argmax()))  # fmt: skip
        return [_example(subject, name, place) for name, place in pairs]
    scores = subject.whole.scores(subject.rows.cells)
    sure = np.abs(scores[:, 0]) if scores.shape[1] == 1 else _lead(scores)
    for label in subject.classes[:6]:
        mine = np.flatnonzero((y == label) & (answers == label))
        if len(mine):
            middle = mine[np.argsort(sure[mine])[len(mine) // 2]]
            found.append(_example(subject, f"a usual row of {label}", middle))
    found.append(_example(subject, "the least certain row", sure.argmin()))
    wrong = np.flatnonzero(answers != y)
    if len(wrong):
        found.append(_example(subject, "a surprising mistake", wrong[sure[wrong].argmax()]))
    return found


def _lead(scores):
    best = np.sort(scores, axis=1)
    return best[:, -1] - best[:, -2]


def _example(subject, name, place):
    truth = subject.y[place]
    return {
        "name": name, "row": subject.rows.row(int(place)),
        "truth": truth.item() if hasattr(truth, "item") else truth,
    }  # fmt: skip


def packed_model(subject):
    """The model file, compressed, in letters; or the reason why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.nlm"
        try:
            save(subject.whole.pipeline, path)
        except (ModelFileError, ValueError, TypeError) as error:
            return None, str(error)
        return base64.b64encode(gzip.compress(path.read_bytes(), 9, mtime=0)).decode(), None
