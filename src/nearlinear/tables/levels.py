"""Levels of a column and what is known of y in each of them, counted block by block.

Rows are dealt into five folds by their numbers. So the mean of y over a level is known of all rows,
and of all but those of a fold: what rows of that fold are encoded by in training.
"""

import numpy as np

from ..streams.survey import row_ranks

N_FOLDS = 5
_MOST_LEVELS, _MOST_NUMBERS = 100_000, 4_000_000  # of a column: those that come first are counted
_COUNT, _SUM, _SQUARES = range(3)


def folds_of(row, n_rows, seed):
    """The fold of each of some rows, the first of which has this number."""
    return (row_ranks(row, n_rows, seed + 1) % np.uint64(N_FOLDS)).astype(np.intp)


class Answers:
    """Counts of classes in each fold, or moments of values less a number near their mean."""

    def __init__(self, is_of_classes):
        self.is_of_classes = is_of_classes
        self.labels, self.center = {}, 0.0 if is_of_classes else None
        self.totals = np.zeros((N_FOLDS, 0 if is_of_classes else 3))

    def of(self, y):
        """Numbers of the columns that each row adds to, and what it adds there."""
        if self.is_of_classes:
            known = self.labels
            codes = np.array([known.setdefault(one, len(known)) for one in y.tolist()], np.intp)
            return [(codes, np.ones(len(y)))]
        if self.center is None:
            self.center = float(np.mean(y))
        y, ones = y - self.center, np.ones(len(y), dtype=np.intp)
        return [(_COUNT * ones, np.ones(len(y))), (_SUM * ones, y), (_SQUARES * ones, y * y)]

    @property
    def width(self):
        return len(self.labels) if self.is_of_classes else 3

    def add(self, folds, told):
        self.totals = _summed(self.totals[:, None], folds, 0 * folds, told, 1, self.width)[:, 0]

    @property
    def classes(self):
        return np.unique(np.array(list(self.labels)))


class Levels:
    """Sums of ``Answers`` by fold and level; ``is_open`` once there are more than are counted."""

    def __init__(self):
        self.ids, self.is_open = {}, False
        self.sums = np.zeros((N_FOLDS, 0, 0))

    def add(self, cells, folds, told, width):
        """Cells are texts or numbers, and None where one is missing."""
        ids, most = self.ids, min(_MOST_LEVELS, _MOST_NUMBERS // (N_FOLDS * width))
        if len(ids) + len(cells) <= most:
            codes = np.array([ids.setdefault(cell, len(ids)) for cell in cells], dtype=np.intp)
        else:
            codes = np.empty(len(cells), dtype=np.intp)
            for place, cell in enumerate(cells):
                code = ids.get(cell, -1)
                if code < 0 and len(ids) < most:
                    code = ids[cell] = len(ids)
                codes[place] = code
            if codes.min(initial=0) < 0:
                self.is_open = True
                kept = np.flatnonzero(codes >= 0)
                codes, folds = codes[kept], folds[kept]
                told = [(columns[kept], added[kept]) for columns, added in told]
        self.sums = _summed(self.sums, folds, codes, told, len(ids), width)

    def counts(self, is_of_classes):
        """Rows by level."""
        sums = self.sums[:, : len(self.ids)].sum(axis=0)
        counts = sums.sum(axis=1) if is_of_classes else sums[:, _COUNT]
        return dict(zip(self.ids, np.rint(counts).astype(int).tolist(), strict=True))

    def means(self, categories, answers, left_out=None):
        """What each of the categories is encoded by, a list of arrays, one for each column of y.

        As scikit-learn's TargetEncoder has it: the mean of y over a level, drawn toward that of all
        rows, the more the fewer rows and the wider they spread. Rows of a fold may be left out.
        """
        places = [self.ids.get(None if one != one else one, -1) for one in categories]
        folds = [fold for fold in range(N_FOLDS) if fold != left_out]
        sums = np.zeros((len(self.ids) + 1, answers.width))  # the last one is that of a stranger
        own = self.sums[folds, : len(self.ids)].sum(axis=0)
        sums[:-1, : own.shape[1]] = own
        return [
            answers.center + _shrunk(*level, *whole)
            for level, whole in zip(
                _moments(sums[places], answers), _overall(answers, folds), strict=True
            )
        ]


def overall_means(answers, left_out=None):
    """The mean of each column of y, without rows of a fold."""
    folds = [fold for fold in range(N_FOLDS) if fold != left_out]
    return answers.center + np.array([mean for mean, _ in _overall(answers, folds)])


def _overall(answers, folds):
    totals = answers.totals[folds].sum(axis=0)[None]
    found = []
    for count, total, squares in _moments(totals, answers):
        mean = total[0] / count[0]
        found.append((mean, max(0.0, squares[0] / count[0] - mean * mean)))
    return found


def _moments(sums, answers):
    """Of each column of y as TargetEncoder has them: rows, sums and sums of squares by level."""
    if not answers.is_of_classes:
        yield tuple(sums.T)  # of values less their center
        return
    order = [answers.labels[label] for label in answers.classes.tolist()]
    count = sums.sum(axis=1)
    for place in order[1:] if len(order) == 2 else order:
        yield count, sums[:, place], sums[:, place]


def _shrunk(count, total, squares, overall, variance):
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / count
        spread = np.maximum(0.0, squares / count - mean * mean)
        share = variance * count / (variance * count + spread)
        return np.where(np.isnan(share), overall, share * mean + (1.0 - share) * overall)


def _summed(sums, folds, codes, told, n_levels, width):
    """Sums with room for so many levels and columns, and with what rows add."""
    n_folds, had, wide = sums.shape
    if n_levels > had or width > wide:
        room = had if n_levels <= had else max(n_levels, min(2 * had, _MOST_LEVELS))
        grown = np.zeros((n_folds, room, max(width, wide)))
        grown[:, :had, :wide] = sums
        sums = grown
    shape = sums.shape
    for columns, added in told:
        places = np.ravel_multi_index((folds, codes, columns), shape)
        sums += np.bincount(places, added, minlength=sums.size).reshape(shape)
    return sums
