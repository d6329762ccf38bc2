"""The model itself, and what the page needs to ask it: columns, their ranges, some rows."""

import base64
import gzip
import tempfile
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..export.file import save
from ..runtime.container import ModelFileError
from .regions import answering
from .subject import CLASSES

_MOST_CONTROLS, _MOST_VALUES, _MOST_USUAL, _FEW = 40, 200, 6, 12
_STEPS = 200  # of a slider


def what_if(subject, order):
    """Columns that can be changed, the most important first, and rows to begin with."""
    if not subject.rows.can_change:
        return None
    kept = [column for column in order if subject.rows.names[column] not in _dropped(subject)]
    controls = [_control(subject, column) for column in kept]
    controls = [one for one in controls if one is not None][:_MOST_CONTROLS]
    for one in controls:
        one["can_miss"] = _can_miss(subject, one["column"])
    places = {"the most typical row": subject.typical, **_examples(subject)}
    # the page holds what it computes against these scores
    scores = subject.whole.scores(subject.rows.take(np.array(list(places.values()))))
    rows = [
        {
            "name": name, "row": subject.rows.row(int(place)), "scores": score.tolist(),
            "truth": subject.y[[place]].tolist()[0],
        }
        for (name, place), score in zip(places.items(), scores, strict=True)
    ]  # fmt: skip
    return {
        "controls": controls,
        "names": list(subject.rows.names),
        "rows": rows,
        # whether the model's own contributions are told, or those beside the typical row
        "own_parts": subject.explained is not None and subject.whole.is_centered,
        "support": hasattr(subject.model, "support_score"),
        "probabilities": subject.task == CLASSES and subject.whole.gives_probabilities,
    }


def _dropped(subject):
    """Columns that the encoder has dropped."""
    encoder = getattr(subject.model, "encoder_", None) or subject.whole.preparation
    first = encoder[0] if hasattr(encoder, "steps") else encoder
    return getattr(first, "dropped_", ())


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
        known = sorted(str(cell) for cell in cells if cell is not None) or ["2000-01-01"]
        return {"column": column, "name": name, "kind": "date", "low": known[0], "high": known[-1]}
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
    """Numbers of telling rows: usual ones, the least certain, a mistake."""
    y, answers = subject.y, subject.answers
    if subject.task != CLASSES:
        return {
            "the highest answer": int(answers.argmax()), "the lowest answer": int(answers.argmin()),
            "the largest error": int(np.abs(answers - y).argmax()),
        }  # fmt: skip
    margins, found = _margins(subject.whole.scores(subject.rows.cells)), {}
    for label in subject.classes[:_MOST_USUAL]:
        mine = np.flatnonzero((y == label) & (answers == label))
        if len(mine):
            found[f"a usual row of {label}"] = int(mine[np.argsort(margins[mine])[len(mine) // 2]])
    found["the least certain row"] = int(margins.argmin())
    wrong = np.flatnonzero(answers != y)
    if len(wrong):
        found["a surprising mistake"] = int(wrong[margins[wrong].argmax()])
    return found


def _margins(scores):
    """Absolute score of two classes, else the best score minus the second best."""
    if scores.shape[1] == 1:
        return np.abs(scores[:, 0])
    best = np.partition(scores, -2, axis=1)
    return best[:, -1] - best[:, -2]


def packed_model(subject):
    """The model file, compressed, in letters; or the reason why there is none."""
    try:
        return _packed(subject.whole.pipeline), None
    except (ModelFileError, ValueError, TypeError) as error:
        return None, str(error)


def packed_regions(subject):
    """Of an average, the member whose parts are the regions, as a model of its own; or nothing."""
    member = answering(subject.model.predictor_)
    if member is subject.model.predictor_:
        return ""
    alone = copy(subject.model)
    alone.predictor_ = member
    for name in ("record_", "tried_", "residuals_"):
        vars(alone).pop(name, None)
    try:
        return _packed(replace(subject.whole, model=alone).pipeline)
    except (ModelFileError, ValueError, TypeError):
        return ""


def _packed(model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.nlm"
        save(model, path)
        return base64.b64encode(gzip.compress(path.read_bytes(), 9, mtime=0)).decode()
