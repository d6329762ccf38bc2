"""Wrappers as data, and put on again around models that come from a file."""

import os

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline

from .._sklearn import calibrated_classifier, sigmoid_calibrator, temperature_calibrator
from ..runtime.container import ModelFileError
from ..runtime.outcome import Sigmoids, Tables
from .description import data_of
from .wrappers import KINDS, threshold_of

_METHODS = {"Sigmoids": "sigmoid", "Tables": "isotonic", "Temperature": "temperature"}


def wrapper_data(wrapper):
    """Kind, parameters that are data, and what else is to be kept of a wrapper."""
    kind = type(wrapper).__name__
    found = {"kind": kind}
    if isinstance(wrapper, Pipeline):
        return found | {"last": wrapper.steps[-1][0]}
    if isinstance(wrapper, FrozenEstimator):
        return found
    found["parameters"] = data_of(wrapper.get_params(deep=False))
    found["parameters"].pop("estimator", None)
    if isinstance(wrapper, TunedThresholdClassifierCV):
        found["best_score"] = float(wrapper.best_score_)
        label = wrapper._curve_scorer._get_pos_label()
        found["names_its_positive"] = label is not None
    return found


def rewrapped(models, wrappers, outcome, classes):
    """What was saved: the wrappers around models from a file; all of it is checked."""
    if not isinstance(wrappers, list) or not 1 <= len(wrappers) <= 10:
        raise ModelFileError("The model file's wrappers are described wrongly.")
    kinds = [str(one.get("kind")) if isinstance(one, dict) else "" for one in wrappers]
    _check_kinds(kinds, outcome)
    before = []
    if "Pipeline" in kinds:
        if not all(isinstance(model, Pipeline) for model in models):
            raise ModelFileError("The model file has a pipeline without steps.")
        before, models = models[0].steps[:-1], [model.steps[-1][1] for model in models]
    if "CalibratedClassifierCV" in kinds:
        _check_order(classes)
        _name_classes(models, outcome, classes)
    inner = models
    for kind, data in zip(reversed(kinds), reversed(wrappers), strict=True):
        if kind == "FrozenEstimator":
            inner = [FrozenEstimator(model) for model in inner]
        elif kind == "Pipeline":
            steps = [*before, (str(data.get("last")), inner[0])]
            inner = [Pipeline(steps)]
        elif kind == "CalibratedClassifierCV":
            inner = [_calibrated(inner, data, outcome, classes)]
        else:
            inner = [_thresholded(inner[0], kind, data, outcome.threshold)]
    return inner[0]


def _check_kinds(kinds, outcome):
    """One of each at most, in an order that can be, and as the outcome has it."""
    real = [kind for kind in kinds if kind != "FrozenEstimator"]
    thresholds = [kind for kind in real if kind in _THRESHOLDS]
    good = all(kind in KINDS for kind in kinds)
    good = good and len(set(real)) == len(real) and len(thresholds) <= 1
    good = good and bool(thresholds) == (outcome.threshold is not None)
    good = good and ("CalibratedClassifierCV" in real) == outcome.is_calibrated
    good = good and "CalibratedClassifierCV" not in real[: -1 if outcome.is_calibrated else None]
    if not good:
        raise ModelFileError("The model file's wrappers are not those of its outcome.")


_THRESHOLDS = {
    cls.__name__: cls for cls in (TunedThresholdClassifierCV, FixedThresholdClassifier)
}  # fmt: skip


def made_of(cls, parameters, name, **given):
    """An estimator with what a file says of its parameters, and with those ``given``."""
    known = set(cls._get_param_names()) - set(given)
    if not isinstance(parameters, dict) or not set(parameters) <= known:
        raise ModelFileError(f"The model file has parameters that {name} does not have.")
    if type(parameters.get("n_jobs")) is int:  # of another machine, perhaps, or of no good will
        parameters["n_jobs"] = min(parameters["n_jobs"], os.cpu_count() or 1)
    made = cls(**given, **parameters)
    try:
        made._validate_params()
    except (ValueError, TypeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ModelFileError(f"The model file has a wrong parameter: {reason}") from error
    return made


def _made(cls, inner, data):
    return made_of(cls, data.get("parameters"), cls.__name__, estimator=clone(inner))


def _takes_columns_of(made, inner):
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(inner, name):
            setattr(made, name, getattr(inner, name))
    return made


# --- calibration --------------------------------------------------------------------------------


def _name_classes(models, outcome, classes):
    """Temperatures are learned from numbers in place of strings; elsewhere all labels are one."""
    is_temperature = type(outcome.calibration[0]).__name__ == "Temperature"
    if is_temperature and classes.dtype.kind in "UO" and isinstance(classes[0], str):
        classes = np.arange(len(classes))
    for model in models:
        last = model.steps[-1][1] if isinstance(model, Pipeline) else model
        last.classes_ = classes


def _check_order(classes):
    """scikit-learn takes the order of labels for that of the classes."""
    if classes.tolist() != sorted(classes.tolist()):
        raise ModelFileError("The classes of a calibrated model are out of order.")


def _calibrated(models, data, outcome, classes):
    kinds = {type(one).__name__ for one in outcome.calibration}
    made = _made(CalibratedClassifierCV, models[0], data)
    if kinds != {next((k for k, method in _METHODS.items() if method == made.method), None)}:
        raise ModelFileError("The model file's calibration is not of its method.")
    made.classes_ = classes
    made.calibrated_classifiers_ = [
        calibrated_classifier(model, _calibrators(one), method=made.method, classes=classes)
        for model, one in zip(models, outcome.calibration, strict=True)
    ]
    return _takes_columns_of(made, models[0])


def _calibrators(calibration):
    from sklearn.isotonic import IsotonicRegression

    if isinstance(calibration, Sigmoids):
        pairs = zip(calibration.slopes, calibration.offsets, strict=True)
        return [sigmoid_calibrator(slope, offset) for slope, offset in pairs]
    if isinstance(calibration, Tables):
        pairs = zip(calibration.scores, calibration.probabilities, strict=True)
        return [_isotonic(IsotonicRegression(out_of_bounds="clip"), *pair) for pair in pairs]
    return [temperature_calibrator(calibration.factor[0])]


def _isotonic(model, scores, probabilities):
    model.X_thresholds_, model.y_thresholds_ = scores, probabilities
    model.X_min_, model.X_max_ = scores.min(), scores.max()
    model.increasing_ = True
    model._build_f(scores, probabilities)
    return model


# --- thresholds ---------------------------------------------------------------------------------


def _thresholded(inner, kind, data, threshold):
    made = _made(_THRESHOLDS[kind], inner, data)
    if getattr(made, "cv", None) == "prefit":
        made.estimator = inner
    made.estimator_ = inner
    if kind == "TunedThresholdClassifierCV":
        made.best_threshold_ = np.float64(threshold.at)
        score = data.get("best_score")
        made.best_score_ = np.float64(score) if type(score) is float else np.float64("nan")
        made._curve_scorer = made._get_curve_scorer()
        if data.get("names_its_positive"):
            label = made.classes_[threshold.positive]
            made._curve_scorer._kwargs = {**made._curve_scorer._kwargs, "pos_label": label}
    if threshold_of(made) != threshold:
        raise ModelFileError("The model file's threshold is not that of its parameters.")
    return _takes_columns_of(made, inner)
