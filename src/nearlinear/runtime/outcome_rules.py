"""What an outcome may be made of: it comes out of a file, and is checked before it is used."""

import numpy as np

from .outcome import LogLoss, Outcome, Sigmoids, Tables, Temperature, Threshold
from .rules import _check, _count, _floats, _number, _require

_LARGEST = 1e300


def outcome_of(part, n_outputs, n_models):
    """The outcome of a file for so many models of so many outputs each."""
    return _check(part, {"Outcome": (("calibration", "threshold"), _outcome)}, "outcome",
                  n_outputs, n_models)  # fmt: skip


def _outcome(part, n_outputs, n_models):
    _require(isinstance(part.calibration, tuple), "Outcome", "its calibration is no tuple")
    parts = tuple(_check(one, _CALIBRATIONS, "calibration", n_outputs) for one in part.calibration)
    _require(len(parts) in (0, n_models), "Outcome", "not all models are calibrated")
    _require(len(set(map(type, parts))) <= 1, "Outcome", "its calibrations are of several kinds")
    threshold = None
    if part.threshold is not None:
        threshold = _check(part.threshold, _THRESHOLD, "threshold")
        _require(n_outputs == 1, "Threshold", "it stands before several classes")
        is_score = threshold.of == "score"
        _require(is_score or parts, "Threshold", "there are no probabilities")
    found = Outcome(parts, threshold)
    # the scores of several models mean something once they are calibrated
    is_one = n_models == 1
    _require(is_one or (found.is_calibrated and not (threshold and is_score)), "Outcome",
             "several models have no common scores")  # fmt: skip
    return found


def _sigmoids(part, n_outputs):
    for name in ("slopes", "offsets"):
        _floats(getattr(part, name), n_outputs, name=name)
    return Sigmoids(part.slopes, part.offsets)


def _temperature(part, n_outputs):
    _floats(part.factor, 1, name="factor")
    _require(0.0 < part.factor[0] <= 1e6, "Temperature", "its factor is out of bounds")
    return Temperature(part.factor)


def _tables(part, n_outputs):
    for tables in (part.scores, part.probabilities):
        _require(isinstance(tables, tuple) and len(tables) == n_outputs, "Tables", "some miss")
    for scores, probabilities in zip(part.scores, part.probabilities, strict=True):
        (n_points,) = _floats(scores, None, name="scores")
        _floats(probabilities, n_points, name="probabilities")
        _require(n_points >= 1, "Tables", "there are no points")
        _require(np.all(scores[1:] > scores[:-1]), "Tables", "its scores are not ascending")
        _require(float(np.abs(scores).max()) <= _LARGEST, "Tables", "its scores are too large")
        good = probabilities.min() >= 0.0 and probabilities.max() <= 1.0
        _require(good, "Tables", "its probabilities are none")
    return Tables(part.scores, part.probabilities)


def _threshold(part):
    _require(part.of in ("score", "probability"), "Threshold", "it is of something unknown")
    _number(part.at, "threshold")
    _count(part.positive, "positive class", 0, 1)
    return Threshold(part.of, float(part.at), part.positive)


_CALIBRATIONS = {
    "LogLoss": ((), lambda part, n_outputs: LogLoss()),
    "Sigmoids": (("slopes", "offsets"), _sigmoids),
    "Temperature": (("factor",), _temperature),
    "Tables": (("scores", "probabilities"), _tables),
}
_THRESHOLD = {"Threshold": (("of", "at", "positive"), _threshold)}
