"""A model file as commands use it."""

from dataclasses import dataclass

import numpy as np

from ._failure import CommandError
from ._tables import check_readable

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

    def answers(self, X):
        """Labels (or values) and scores."""
        # sparse rows are filled in a few at a time
        step = max(1, _DENSE_NUMBERS // max(1, X.shape[1])) if hasattr(X, "toarray") else X.shape[0]
        parts = [self._scores(X[start : start + step]) for start in range(0, X.shape[0], step)]
        scores = np.concatenate(parts)
        if self.file.classes is None:
            return scores, scores
        return self.file.labels(scores), scores

    def _scores(self, X):
        return self.file.decision_function(X.toarray() if hasattr(X, "toarray") else X)

    def header(self, scores):
        """Names of the columns that are written."""
        if self.file.classes is None or scores.ndim == 1:
            return ["prediction", "score"]
        return ["prediction", *(f"score_{name}" for name in self.file.classes)]


def load_scorer(path):
    """A scorer of the model in a file; what is wrong with it is one sentence."""
    file = load_file(path)
    if file.n_gating_features:
        raise CommandError(f"{path}: the model takes a second matrix; score it from Python")
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
