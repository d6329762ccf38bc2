"""A model file as commands use it."""

from dataclasses import dataclass

import numpy as np

from ._failure import CommandError
from ._tables import check_readable


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
        X = X.toarray() if hasattr(X, "toarray") else X  # one piece, not the table
        scores = self.file.decision_function(X)
        if self.file.classes is None:
            return scores, scores
        places = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.array(self.file.classes)[places], scores

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
