"""What an outcome may be made of: it comes out of a file, and is checked before it is used."""

import numpy as np

from .fields import checked, count, floats, number, require
from .outcome import EachLabel, LogLoss, Outcome, Shares, Sigmoids, Tables, Temperature, Threshold

_LARGEST = 1e300


def outcome_of(part, n_outputs, n_models):
    """The outcome of a file for so many models of so many outputs each."""
    return checked(part, "outcome", n_outputs, n_models)


def _outcome(part, n_outputs, n_models):
    require(isinstance(part.calibration, tuple), "Outcome", "its calibration is no tuple")
    parts = tuple(checked(one, "calibration", n_outputs) for one in part.calibration)
    require(len(parts) in (0, n_models), "Outcome", "not all models are calibrated")
    require(len(set(map(type, parts))) <= 1, "Outcome", "its calibrations are of several kinds")
    threshold = None
    if part.threshold is not None:
        threshold = checked(part.threshold, "threshold")
        require(n_outputs == 1, "Threshold", "it stands before several classes")
        is_score = threshold.of == "score"
        require(is_score or parts, "Threshold", "there are no probabilities")
    found = Outcome(parts, threshold)
    # the scores of several models mean something once they are calibrated
    is_one = n_models == 1
    require(is_one or (found.is_calibrated and not (threshold and is_score)), "Outcome",
             "several models have no common scores")  # fmt: skip
    return found


def _each_label(part, n_outputs, n_models):
    require(type(part.of_log_loss) is bool, "EachLabel", "of_log_loss is no boolean")
    require(n_models == 1 and n_outputs > 1, "EachLabel", "it is of one model and several labels")
    return EachLabel(part.of_log_loss)


def _sigmoids(part, n_outputs):
    for name in ("slopes", "offsets"):
        floats(getattr(part, name), n_outputs, name=name)
    return Sigmoids(part.slopes, part.offsets)


def _temperature(part, n_outputs):
    floats(part.factor, 1, name="factor")
    require(0.0 < part.factor[0] <= 1e6, "Temperature", "its factor is out of bounds")
    return Temperature(part.factor)


def _tables(part, n_outputs):
    for tables in (part.scores, part.probabilities):
        require(isinstance(tables, tuple) and len(tables) == n_outputs, "Tables", "some miss")
    for scores, probabilities in zip(part.scores, part.probabilities, strict=True):
        (n_points,) = floats(scores, None, name="scores")
        floats(probabilities, n_points, name="probabilities")
        require(n_points >= 1, "Tables", "there are no points")
        require(np.all(scores[1:] > scores[:-1]), "Tables", "its scores are not ascending")
        require(float(np.abs(scores).max()) <= _LARGEST, "Tables", "its scores are too large")
        good = probabilities.min() >= 0.0 and probabilities.max() <= 1.0
        require(good, "Tables", "its probabilities are none")
    return Tables(part.scores, part.probabilities)


def _threshold(part):
    require(part.of in ("score", "probability"), "Threshold", "it is of something unknown")
    number(part.at, "threshold")
    count(part.positive, "positive class", 0, 1)
    return Threshold(part.of, float(part.at), part.positive)


OUTCOMES = {
    "LogLoss": ((), lambda part, n_outputs: LogLoss()),
    "Shares": ((), lambda part, n_outputs: Shares()),
    "Sigmoids": (("slopes", "offsets"), _sigmoids),
    "Temperature": (("factor",), _temperature),
    "Tables": (("scores", "probabilities"), _tables),
    "Threshold": (("of", "at", "positive"), _threshold),
    "Outcome": (("calibration", "threshold"), _outcome),
    "EachLabel": (("of_log_loss",), _each_label),
}
