"""Which columns matter: sizes of contributions, or how far shuffling a column moves answers."""

from dataclasses import dataclass

import numpy as np

from .subject import CLASSES, spread_over

_MOST_ROWS = 300
_MOST_SHUFFLED = 200  # columns


@dataclass(frozen=True, eq=False)
class Moves:
    """How far each raw column moves the answers of some rows; ``by`` says how that is known.

    ``sizes`` has shape (n_rows, n_columns), ``places`` are the numbers of the rows.
    """

    by: str
    places: np.ndarray
    sizes: np.ndarray

    @property
    def importances(self):
        """Of each raw column, in the units of the sizes."""
        return self.sizes.mean(axis=0)


def moves_of(subject):
    """Sizes of contributions, or those of shuffling; None where there are too many columns."""
    told = subject.explained
    if told is not None:
        parts = told[1].contributions
        # what a column adds to every row tells none apart
        parts = np.abs(parts - parts.mean(axis=0)).sum(axis=1)
        sizes = parts[:, : subject.rows.shape[1]].copy()
        for part, (i, j, *_) in zip(parts.T[sizes.shape[1] :], told[1].pairs, strict=True):
            sizes[:, [i, j]] += part[:, None] / 2.0
        return Moves("contribution", told[0], sizes)
    if subject.rows.shape[1] > _MOST_SHUFFLED:
        return None
    return Moves("shuffling", *_shuffled(subject))


def _shuffled(subject):
    """How far answers move when the cells of a column change places."""
    rows, whole = subject.rows, subject.whole
    places = spread_over(rows.shape[0], _MOST_ROWS)
    before = _answers(subject, whole.scores(rows.take(places)))
    turned = np.random.default_rng(0).permutation(len(places))
    sizes = np.empty((len(places), rows.shape[1]))
    for column in range(rows.shape[1]):
        cells = rows.column(column)[places][turned]
        after = _answers(subject, whole.scores(rows.with_columns(places, column, cells)))
        sizes[:, column] = np.abs(after - before).sum(axis=1)
    return places, sizes


def _answers(subject, scores):
    chances = subject.whole.probabilities(scores) if subject.task == CLASSES else None
    return scores if chances is None else chances
