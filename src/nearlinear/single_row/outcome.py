"""Probabilities and the class of one row, in plain Python: for a few numbers NumPy is slow.

``runtime/outcome.py`` has the same formulas for many rows, and says what they mean.
"""

from bisect import bisect_right
from math import exp

import numpy as np

from ..runtime.outcome import LARGEST_SCORE


def row_probabilities(outcome, scores):
    """An array over classes, of one list of scores for each model."""
    if outcome.is_of_each_label:
        return outcome.probabilities([np.array(scores)])[0]
    return np.array(_probabilities(outcome, scores))


def row_place(outcome, scores):
    """The number of the class."""
    threshold = outcome.threshold
    if threshold is not None:
        if threshold.of == "probability":
            value = _probabilities(outcome, scores)[threshold.positive]
        else:
            value = scores[0][0] if threshold.positive else -scores[0][0]
        return threshold.positive if value >= threshold.at else 1 - threshold.positive
    values = _probabilities(outcome, scores) if outcome.is_calibrated else scores[0]
    if len(values) == 1:
        return int(values[0] > 0)
    return values.index(max(values))


def _probabilities(outcome, scores):
    found = [
        CALIBRATIONS[type(part).__name__](part, one)
        for part, one in zip(outcome.calibration, scores, strict=True)
    ]
    if len(found) == 1:
        return found[0]
    return [sum(values) / len(found) for values in zip(*found, strict=True)]


def member_probabilities(calibration, scores):
    """Of a member of an average; its scores may be too large to be calibrated as they are."""
    scores = [min(max(score, -LARGEST_SCORE), LARGEST_SCORE) for score in scores]
    return CALIBRATIONS[type(calibration).__name__](calibration, scores)


def _log_loss(part, scores):
    return _softmax([0.0, *scores] if len(scores) == 1 else scores)


def _own_shares(part, scores):
    if len(scores) == 1:
        return [(1.0 - scores[0]) / 2.0, (1.0 + scores[0]) / 2.0]
    return scores


def _sigmoids(part, scores):
    slopes, offsets = part.slopes.tolist(), part.offsets.tolist()
    return _shared(
        [
            1.0 / (1.0 + exp(min(slope * score + offset, _LARGEST)))
            for slope, offset, score in zip(slopes, offsets, scores, strict=True)
        ]
    )


_LARGEST = 700.0  # beyond it the probability is 0 to the last digit, and exp overflows at 710


def _temperature(part, scores):
    factor = part.factor.item()
    scores = [-scores[0], scores[0]] if len(scores) == 1 else scores
    return _softmax([factor * score for score in scores])


def _tables(part, scores):
    tables = zip(scores, part.scores, part.probabilities, strict=True)
    return _shared([_interpolated(*table) for table in tables])


def _interpolated(score, known, values):
    place = bisect_right(known, score)
    if place == 0 or place == len(known):
        return float(values[max(place - 1, 0)])
    low, high = float(known[place - 1]), float(known[place])
    first, last = float(values[place - 1]), float(values[place])
    return first + (last - first) * (score - low) / (high - low)


def _softmax(scores):
    top = max(scores)
    values = [exp(score - top) for score in scores]
    total = sum(values)
    return [value / total for value in values]


def _shared(values):
    if len(values) == 1:
        return [1.0 - values[0], values[0]]
    total = sum(values)
    return [value / total for value in values] if total else [1.0 / len(values)] * len(values)


CALIBRATIONS = {
    "LogLoss": _log_loss,
    "Shares": _own_shares,
    "Sigmoids": _sigmoids,
    "Temperature": _temperature,
    "Tables": _tables,
}
