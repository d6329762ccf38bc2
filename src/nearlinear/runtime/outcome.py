"""What scores mean: how they become probabilities and labels.

These are the formulas that everything else is held against: scikit-learn's calibrated and
threshold-tuned classifiers, the scorer of single rows, C and ONNX.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

_NARROWEST = 1e-30  # of a ramp, so that its steepness is a number in single precision
# Of mean probabilities that become scores. Shares of float32 are rounded by a tenth of it, so that
# scores at the floor are the same in every precision.
FLOOR = 1e-6
LARGEST_SCORE = 1e30  # that is calibrated: times a slope it still is a number in single precision


@dataclass(frozen=True)
class LogLoss:
    """Scores of the log loss are logarithms of odds: a softmax, with 0 for the first of two."""

    def __call__(self, scores):
        if scores.shape[1] == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        return _softmax(scores)


@dataclass(frozen=True)
class Shares:
    """Scores are shares of classes; of two, the second one's less the first one's."""

    def __call__(self, scores):
        if scores.shape[1] == 1:
            scores = np.hstack([1.0 - scores, 1.0 + scores]) / 2.0
        return scores


@dataclass(frozen=True)
class Sigmoids:
    """1 / (1 + exp(slope · score + offset)) for each output, then divided by their sum."""

    slopes: np.ndarray
    offsets: np.ndarray

    def __call__(self, scores):
        with np.errstate(over="ignore"):
            return _shared(1.0 / (1.0 + np.exp(self.slopes * scores + self.offsets)))


@dataclass(frozen=True)
class Temperature:
    """The softmax of ``factor`` times the scores; those of two classes are −score and score."""

    factor: np.ndarray

    def __call__(self, scores):
        if scores.shape[1] == 1:
            scores = np.hstack([-scores, scores])
        return _softmax(self.factor * scores)


@dataclass(frozen=True)
class Tables:
    """Straight lines between the points of a table for each output, then divided by their sum.

    Below the first point and above the last one the line is level.
    """

    scores: tuple
    probabilities: tuple

    def __call__(self, scores):
        found = [
            np.interp(score, *table)
            for score, *table in zip(scores.T, self.scores, self.probabilities, strict=True)
        ]
        return _shared(np.stack(found, axis=1))


@dataclass(frozen=True)
class Threshold:
    """The class ``positive`` from ``at`` on, the other one below.

    ``of`` says what is compared: the "probability" of that class, or its "score", which for the
    first class is that of the second with the other sign.
    """

    of: str
    at: float
    positive: int

    def __call__(self, scores, probabilities):
        if self.of == "probability":
            value = probabilities()[:, self.positive]
        else:
            value = scores[:, 0] if self.positive else -scores[:, 0]
        return np.where(value >= self.at, self.positive, 1 - self.positive)


@dataclass(frozen=True)
class Outcome:
    """Probabilities and labels of the scores of one model, or of several that are averaged.

    ``calibration`` has one of the kinds above for every model, or nothing where scores are no
    probabilities.
    """

    calibration: tuple = ()
    threshold: Threshold | None = None
    is_of_each_label: ClassVar[bool] = False

    @property
    def gives_probabilities(self):
        return len(self.calibration) > 0

    @property
    def is_calibrated(self):
        """Whether labels follow the probabilities, and not the scores."""
        return any(not isinstance(part, LogLoss | Shares) for part in self.calibration)

    def probabilities(self, scores):
        """Shape (n_rows, n_classes), of scores (n_rows, n_outputs) for each model."""
        found = sum(part(one) for part, one in zip(self.calibration, scores, strict=True))
        return found / len(scores) if len(scores) > 1 else found

    def places(self, scores):
        """Numbers of the classes of the same."""
        if self.threshold is not None:
            return self.threshold(scores[0], lambda: self.probabilities(scores))
        if self.is_calibrated:
            return self.probabilities(scores).argmax(axis=1)
        (scores,) = scores
        return (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)


@dataclass(frozen=True)
class EachLabel:
    """A row may have several labels: each is there where its score is positive.

    With ``of_log_loss`` the logistic function of a score is the label's probability.
    """

    of_log_loss: bool
    calibration: ClassVar[tuple] = ()
    threshold: ClassVar[None] = None
    is_calibrated: ClassVar[bool] = False
    is_of_each_label: ClassVar[bool] = True

    @property
    def gives_probabilities(self):
        return self.of_log_loss

    def probabilities(self, scores):
        """Shape (n_rows, n_labels), of the scores of the one model."""
        (scores,) = scores
        # the form that is no more than 1 / 2 never overflows
        rare = np.exp(-np.abs(scores))
        rare /= 1.0 + rare
        return np.where(scores > 0, 1.0 - rare, rare)

    def places(self, scores):
        """1 for each label that a row has, else 0."""
        return (scores[0] > 0).astype(int)


def averaged_scores(calibrations, weights, scores):
    """Scores of which the log loss makes the weighted mean of several models' probabilities.

    Of two classes log p₁ − log p₀, one column; of several log p_k for each. No probability counts
    as less than ``FLOOR``.
    """
    parts = zip(calibrations, weights, scores, strict=True)
    total = sum(
        weight * part(np.clip(np.asarray(one, np.float64), -LARGEST_SCORE, LARGEST_SCORE))
        for part, weight, one in parts
    )
    logs = np.log(np.maximum(total / sum(weights), FLOOR))
    return logs[:, 1:] - logs[:, :1] if scores[0].shape[1] == 1 else logs


def ramps(scores, probabilities):
    """A table as what it begins with, and ramps: where each starts, 1 / its width, its rise.

    The table's line at a score is the beginning, plus each rise times
    (score − start) · steepness, kept between 0 and 1.
    """
    scores = np.asarray(scores, dtype=np.float64)
    probabilities = np.asarray(probabilities, dtype=np.float64)
    rises = np.diff(probabilities)
    is_level = rises == 0.0
    widths = np.diff(scores)
    found = (scores[:-1], 1.0 / np.maximum(widths, _NARROWEST), rises)
    return probabilities[0], *(values[~is_level] for values in found)


def _softmax(scores):
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def _shared(values):
    """Two classes: the rest is the first one's. Several: shares of the sum, equal if that is 0."""
    if values.shape[1] == 1:
        return np.hstack([1.0 - values, values])
    total = values.sum(axis=1, keepdims=True)
    equal = np.full_like(values, 1.0 / values.shape[1])
    return np.divide(values, total, out=equal, where=total != 0)
