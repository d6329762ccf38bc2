"""A model file as commands use it."""

from dataclasses import dataclass

import numpy as np

from .._cached import cached_property
from .._csv import name_of
from ..runtime.columns.names import column_positions, warn_of_extra_columns
from ..runtime.columns.read_rows import raw_sources
from ._errors import CommandError
from .tables.cells import raw_cells, refused
from .tables.reading import check_readable

_DENSE_NUMBERS = 1 << 21  # of sparse rows that are filled in at once


@dataclass(frozen=True)
class Scorer:
    """A model file's answers, by the reader that needs NumPy alone.

    It takes some microseconds a row where compiled code takes a fraction of one, and half the
    memory: reading the table takes longer than both.
    """

    file: object

    @property
    def n_features(self):
        return self.file.n_features

    @property
    def names(self):
        return self.file.feature_names

    @property
    def kept(self):
        """Places of columns that hold texts or dates, or that it does not look at."""
        return sorted({*self._unread, *range(self.n_features)} - (self._used - self._unread))

    @property
    def texts(self):
        """Names of the columns that hold texts or dates, which the model reads itself."""
        return [] if self.names is None else [self.names[k] for k in sorted(self._unread)]

    @property
    def used(self):
        """Names of the columns that predictions read."""
        return [name for name in self.names if name not in self.file.optional_names]

    @cached_property
    def _unread(self):
        preparation = self.file.preparation
        return set() if preparation is None else {
            *preparation.texts, *preparation.dates, *preparation.loose
        }  # fmt: skip

    @cached_property
    def _used(self):
        """Positions of the columns that predictions read."""
        preparation = self.file.preparation
        return set(range(self.n_features)) if preparation is None else raw_sources(preparation)

    def answers_to(self, piece, source, **wanted):
        """Columns of answers to a piece of a table, the labels (or values) first."""
        X = self._columns(piece, source)
        try:
            return self.answers(self.scores(X), **wanted)
        except ValueError as error:
            last = piece.first + X.shape[0] - 1
            where = f"{name_of(source)}, rows {piece.first} to {last}"
            raise refused(error, source, piece.first, where) from error

    def _columns(self, piece, source):
        """The columns of the fit, by name if both have names."""
        # where some gaps are filled, who fills them knows of the others
        preparation = self.file.preparation
        fills = preparation is not None and preparation.first.missing is not None
        takes_missing = self.file.takes_missing or fills
        options = {"takes_missing": takes_missing, "kept": self.kept}
        if piece.names is None or self.names is None:
            names = piece.names
            X = raw_cells(piece.values, names, source, piece.first, can_drop=True, **options)
            if X.shape[1] != self.n_features:
                raise CommandError(
                    f"{name_of(source)}: rows have {X.shape[1]} columns, the model takes "
                    f"{self.n_features}"
                )
            return X
        try:
            positions = column_positions(self.names, piece.names, self.file.optional_names)
        except ValueError as error:
            raise refused(error, source) from error
        warn_of_extra_columns(self.names, piece.names)
        # any column may replace an absent one, which no prediction reads
        order = [0 if position is None else position for position in positions]
        frame = piece.values.iloc[:, order]
        return raw_cells(frame, self.names, source, piece.first, **options)

    def scores(self, X):
        """Scores of each model in the file, of which there are several if they are averaged."""
        # sparse rows are filled in a few at a time
        step = max(1, _DENSE_NUMBERS // max(1, X.shape[1])) if hasattr(X, "toarray") else X.shape[0]
        parts = [self._scores(X[start : start + step]) for start in range(0, X.shape[0], step)]
        return [np.concatenate(scores) for scores in zip(*parts, strict=True)]

    def _scores(self, X):
        return self.file.all_scores(X.toarray() if hasattr(X, "toarray") else X)

    def answers(self, scores, with_scores=False, with_probabilities=False):
        """Columns by name: labels (or values), and what else is asked for."""
        found = {"prediction": self.file.labels(scores)}
        classes = self.file.classes
        if with_scores:
            is_one = scores[0].shape[1] == 1
            names = ["score"] if is_one else [f"score_{label}" for label in classes]
            found |= dict(zip(names, scores[0].T, strict=True))
        if with_probabilities:
            values = self.file.probabilities(scores)
            found |= {f"probability_{k}": v for k, v in zip(classes, values.T, strict=True)}
        return found


def load_scorer(path):
    """A scorer of the model in a file; what is wrong with it is one sentence."""
    file = load_file(path)
    if file.n_gating_features:
        raise CommandError(f"{path}: the model takes a second matrix; score it from Python")
    if file.outcome.is_of_each_label or (file.classes is None and file.n_outputs > 1):
        raise CommandError(f"{path}: the model gives several answers a row; score it from Python")
    return Scorer(file)


def load_file(path):
    """What a file holds, as the reader that needs NumPy alone sees it."""
    from nearlinear.runtime import ModelFileError, load

    check_readable(path)
    try:
        return load(path)
    except ModelFileError as error:
        raise CommandError(str(error)) from error


def load_model(path):
    """The estimator or pipeline in a file."""
    import nearlinear
    from nearlinear.runtime import ModelFileError

    check_readable(path)
    try:
        return nearlinear.load(path)
    except ModelFileError as error:
        raise CommandError(str(error)) from error
