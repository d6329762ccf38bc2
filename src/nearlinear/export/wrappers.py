"""scikit-learn's wrappers around our models: taken off, and put on again.

``CalibratedClassifierCV``, ``TunedThresholdClassifierCV`` and ``FixedThresholdClassifier`` say what
scores mean. What they wrap, and what an exporter has to deal with, are one or several models as
they would be without them, and an ``Outcome``.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..runtime.container import ModelFileError
from ..runtime.outcome import EachLabel, LogLoss, Outcome, Sigmoids, Tables, Temperature, Threshold
from .model import best_of, prepared_parts

_THRESHOLDS = (TunedThresholdClassifierCV, FixedThresholdClassifier)
KINDS = {
    cls.__name__: cls
    for cls in (CalibratedClassifierCV, *_THRESHOLDS, FrozenEstimator, Pipeline)
}  # fmt: skip


@dataclass(frozen=True)
class Unwrapped:
    """Models (each an estimator, or a pipeline that ends in one), and what their scores mean.

    ``wrappers`` are what was taken off, the outermost first.
    """

    models: tuple
    outcome: Outcome | EachLabel
    wrappers: tuple

    @property
    def classes(self):
        """The labels; None for a regression."""
        owner = next((one for one in self.wrappers if hasattr(one, "classes_")), self.models[0])
        return getattr(owner, "classes_", None)


def unwrapped(model):
    """A model without the wrappers around it; checks that these are fitted, and are known."""
    wrappers, before, models = [], (), (model,)
    calibration, threshold = None, None
    while True:
        one = models[0]
        if (kind := _kind(one)) is None:
            found = tuple(best_of(model) for model in models)
            if found[0] is one:
                break
            models = found
            continue
        wrappers.append(one)
        if kind is Pipeline:
            _require(not before, "A pipeline within a pipeline")
            before, models = tuple(one.steps[:-1]), (one.steps[-1][1],)
        elif kind is FrozenEstimator:
            models = tuple(model.estimator for model in models)
        elif kind is CalibratedClassifierCV:
            _require(calibration is None, "A calibrated model of a calibrated one")
            check_is_fitted(one)
            pairs = one.calibrated_classifiers_
            calibration = tuple(_calibration(pair, one.classes_) for pair in pairs)
            models = tuple(pair.estimator for pair in pairs)
        else:
            is_first = threshold is None and calibration is None
            _require(is_first, f"A {kind.__name__} within a calibrated or threshold-tuned model")
            check_is_fitted(one, "estimator_")
            threshold, models = threshold_of(one), (one.estimator_,)
    if before:
        models = tuple(_behind(before, model) for model in models)
    if calibration is None:
        # what is not fitted, or not ours, is told by who asks for its parts
        own = hasattr(models[0], "classes_") and hasattr(models[0], "predict_proba")
        last = _last(models[0])
        if getattr(last, "multilabel_", False) and threshold is None:
            return Unwrapped(models, EachLabel(own), tuple(wrappers))
        calibration = (getattr(last, "calibration_", None) or LogLoss(),) if own else ()
    return Unwrapped(models, Outcome(calibration, threshold), tuple(wrappers))


def _last(model):
    """A model, or the last step of a pipeline."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) and model.steps else model
    return best_of(last)


def prepared_models(model, refusal):
    """An ``Unwrapped``, and of each of its models what ``prepared_parts`` gives."""
    try:
        whole = unwrapped(model)
    except ModelFileError as error:
        raise refusal(str(error)) from error
    return whole, [prepared_parts(one, refusal) for one in whole.models]


def _kind(model):
    """The wrapper that a model is, or None; a pipeline is one around another wrapper only."""
    if type(model) is Pipeline:
        return Pipeline if model.steps and _kind(best_of(model.steps[-1][1])) is not None else None
    # what is derived from a wrapper may do something else
    return next((cls for cls in KINDS.values() if type(model) is cls), None)


def _behind(steps, model):
    _require(not isinstance(model, Pipeline), "A pipeline within a pipeline")
    return Pipeline([*steps, (type(model).__name__.lower(), model)])


def _require(condition, what):
    if not condition:
        raise ModelFileError(f"{what} can be neither saved nor exported: take the model inside it.")


def _calibration(pair, classes):
    n_classes = len(classes)
    numbers = range(n_classes) if pair.method == "temperature" else classes  # labels may be encoded
    known = pair.estimator.classes_
    is_whole = np.array_equal(known, classes) or np.array_equal(known, numbers)
    _require(is_whole, "A calibrated model, one part of which has not seen all classes,")
    calibrators = pair.calibrators
    if pair.method == "sigmoid":
        return Sigmoids(
            np.array([one.a_ for one in calibrators], dtype=np.float64),
            np.array([one.b_ for one in calibrators], dtype=np.float64),
        )
    if pair.method == "isotonic":
        return Tables(
            tuple(one.X_thresholds_ for one in calibrators),
            tuple(one.y_thresholds_ for one in calibrators),
        )
    _require(pair.method == "temperature", f"A calibration by {pair.method!r}")
    return Temperature(np.reshape(calibrators[0].beta_, 1))


def threshold_of(model):
    """What a fitted wrapper compares, and with what."""
    of = model.response_method
    if of == "auto":
        of = "predict_proba" if hasattr(model.estimator_, "predict_proba") else "decision_function"
    is_probability = of == "predict_proba"
    if isinstance(model, TunedThresholdClassifierCV):
        at, label = model.best_threshold_, model._curve_scorer._get_pos_label()
    else:
        at, label = model.threshold, model.pos_label
        at = (0.5 if is_probability else 0.0) if at == "auto" else at
    found = model.classes_.tolist()
    _require(
        label is None or label in found, f"A threshold of the unknown class {str(label)[:40]!r}"
    )
    positive = 1 if label is None else found.index(label)
    return Threshold("probability" if is_probability else "score", float(at), positive)
