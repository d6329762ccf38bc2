"""Which columns matter: mean contributions, or what is lost when a column is shuffled."""

import numpy as np

from .subject import CLASSES, spread_over

_MOST_ROWS = 300
_MOST_SHUFFLED = 200  # columns


def importances(subject):
    """A number for each raw column, and what it is; None where there are too many columns."""
    told = subject.explained
    if told is not None:
        parts = np.abs(told[1].contributions).mean(axis=0).sum(axis=0)
        found = parts[: subject.rows.shape[1]].copy()
        for part, (i, j, *_) in zip(parts[len(found) :], told[1].pairs, strict=True):
            found[[i, j]] += part / 2.0
        return {"by": "contribution", "values": found.tolist()}
    if subject.rows.shape[1] > _MOST_SHUFFLED:
        return None
    return {"by": "shuffling", "values": _shuffled(subject)}


def _shuffled(subject):
    """How far the answers move when the cells of a column change places."""
    rows, whole = subject.rows, subject.whole
    places = spread_over(rows.shape[0], _MOST_ROWS)
    before = _answers(subject, whole.scores(rows.take(places)))
    turned = np.roll(np.random.default_rng(0).permutation(len(places)), 1)
    found = []
    for column in range(rows.shape[1]):
        cells = rows.column(column)[places][turned]
        after = _answers(subject, whole.scores(rows.with_columns(places, column, cells)))
        found.append(float(np.abs(after - before).mean()))
    return found


def _answers(subject, scores):
    chances = subject.whole.probabilities(scores) if subject.task == CLASSES else None
    return scores if chances is None else chances
