"""Private names of scikit-learn: no other module of the package imports one.

A version of scikit-learn that renames or removes a private name requires changes in this file only.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing as select_rows
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "StrOptions",
    "calibrated_classifier",
    "check_feature_names_in",
    "check_sample_weight",
    "fit_context",
    "select_rows",
    "sigmoid_calibrator",
    "temperature_calibrator",
]

Method = TypeVar("Method", bound=Callable[..., Any])


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]:
    """Decorator of ``fit`` that validates parameters; typed, so that signatures are preserved."""
    return _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)


def calibrated_classifier(estimator, calibrators, *, method, classes):
    """One member of ``CalibratedClassifierCV.calibrated_classifiers_``."""
    from sklearn.calibration import _CalibratedClassifier

    return _CalibratedClassifier(estimator, calibrators, method=method, classes=classes)


def sigmoid_calibrator(slope, offset):
    """A fitted calibrator of ``CalibratedClassifierCV(method="sigmoid")``."""
    from sklearn.calibration import _SigmoidCalibration

    calibrator = _SigmoidCalibration()
    calibrator.a_, calibrator.b_ = slope, offset
    return calibrator


def temperature_calibrator(factor):
    """A fitted calibrator of ``CalibratedClassifierCV(method="temperature")``."""
    from sklearn.calibration import _TemperatureScaling  # scikit-learn 1.8 or newer

    calibrator = _TemperatureScaling()
    calibrator.beta_ = factor
    return calibrator
