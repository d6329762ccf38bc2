"""Rows before and after: scores of the model, and of the tables that are exported."""

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import check_array, check_consistent_length

from ..runtime.outcome import Outcome
from .c_check import drawn_rows
from .c_literals import CSourceError, too_large
from .c_quantised import with_arrays


@dataclass(frozen=True)
class Meaning:
    """What scores stand for; those of several models are side by side."""

    classes: np.ndarray | None
    outcome: Outcome

    def _apart(self, scores):
        return np.split(scores, max(1, len(self.outcome.calibration)), axis=1)

    def places(self, scores):
        """Numbers of classes."""
        return self.outcome.places(self._apart(scores))

    def probabilities(self, scores):
        return self.outcome.probabilities(self._apart(scores))


@dataclass(frozen=True)
class Comparison:
    """``before`` are scores of the model and ``after`` of its tables, in float32 arithmetic.

    ``rows`` are float32, as the C code takes them, and ``expected`` what it should give for them
    if it did not round.
    """

    rows: np.ndarray
    before: np.ndarray
    after: np.ndarray
    expected: np.ndarray
    meaning: Meaning
    labels: np.ndarray | None

    @property
    def largest_difference(self):
        return float(np.abs(self.after - self.before).max())

    @property
    def largest_score(self):
        return float(np.abs(self.before).max())

    @property
    def agreement(self):
        """The share of rows that keep their label; None for values."""
        if self.meaning.classes is None:
            return None
        places = self.meaning.places
        return float(np.mean(places(self.before) == places(self.after)))

    def accuracy(self, scores):
        """Accuracy, or R² of values; None without labels."""
        if self.labels is None:
            return None
        if self.meaning.classes is None:
            return float(r2_score(self.labels, scores[:, 0]))
        labels = self.meaning.classes[self.meaning.places(scores)]
        return float(accuracy_score(self.labels, labels))


def compare(models, exported, n_features, meaning, rows, labels):
    """Score rows with both; each is a list of predictors and the scaling before them."""
    if rows is None:
        rows = drawn_rows(*exported[0], n_features)
    narrow = rows.astype(np.float32)
    single = [(with_arrays(tables, np.float32), scaling) for tables, scaling in exported]
    with np.errstate(all="ignore"):
        after = _scores(single, narrow)
    if not np.all(np.isfinite(after)):
        raise too_large()
    expected = _scores(exported, narrow.astype(np.float64))
    return Comparison(narrow, _scores(models, rows), after, expected, meaning, labels)


def _scores(models, rows):
    return np.hstack([predictor(scaling(rows)) for predictor, scaling in models])


def checked_sample(sample, labels, n_features, preparation=None):
    """Dense rows and their labels, or None for what is not given."""
    if sample is None:
        if labels is not None:
            raise CSourceError("sample_labels were given without their rows: give sample, too.")
        return None, None
    sample = check_array(
        sample, accept_sparse="csr", dtype=np.float64, input_name="sample",
        ensure_all_finite=True if preparation is None else "allow-nan",
    )  # fmt: skip
    sample = sample.toarray() if hasattr(sample, "toarray") else sample
    if sample.shape[1] != n_features:
        raise CSourceError(
            f"sample has {sample.shape[1]} columns and the model takes {n_features}: give rows as "
            "the model takes them."
        )
    if labels is not None:
        labels = np.asarray(labels)
        check_consistent_length(sample, labels)
    return sample, labels
