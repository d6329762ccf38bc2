"""``save`` and ``load``: a fitted model as one file of data."""

from importlib import import_module

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from .._version import __version__
from ..runtime.container import ModelFileError, read, write
from ..runtime.model import model_of
from .description import NotData, describe, restore

# Attributes that have a place of their own in the header.
_OWN_PLACE = {"predictor_", "classes_", "n_features_in_", "feature_names_in_"}


def save(model, path):
    """Write a fitted model, or a pipeline of StandardScaler and one, to a file.

    The file holds data alone: a JSON header and raw arrays, never code. It appears whole or not at
    all; an earlier file of the name stays as it was until then. ``load`` gives back an estimator
    that predicts the same bits, and ``nearlinear.runtime`` scores the file with NumPy alone.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted. A pipeline may have a StandardScaler before the model, and nothing else.
    path : str or path
        By custom it ends in ``.nlm``.
    """
    scaler, estimator = _parts(model)
    check_is_fitted(estimator, "predictor_")
    arrays = []
    try:
        predictor = describe(estimator.predictor_, arrays)
    except NotData as error:
        raise ModelFileError(_why_not(estimator, error)) from error
    named = scaler if scaler is not None else estimator
    names = getattr(named, "feature_names_in_", None)
    header = {
        "method": type(estimator).__name__,
        "parameters": describe(_parameters(estimator), arrays),
        "predictor": predictor,
        "classes": describe(getattr(estimator, "classes_", None), arrays),
        "n_features": int(estimator.n_features_in_),
        "n_gating_features": int(getattr(estimator, "n_gating_features_", 0)),
        "feature_names": None if names is None else [str(name) for name in names],
        "scaler": describe(_scaler_arrays(scaler), arrays),
        "attributes": describe(_attributes(estimator, arrays), arrays),
        "record": _record(estimator, scaler),
    }
    write(path, header, arrays)


def load(path):
    """The model in a file, ready to predict.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator or Pipeline
        What was saved.

    Raises
    ------
    ModelFileError
        The file is no model file, is damaged, or is of a newer version.
    """
    header, arrays = read(path)
    checked = model_of(header, arrays)
    estimator = _estimator_of(checked.method, restore(header["parameters"], arrays))
    for name, value in restore(header["attributes"], arrays).items():
        if not name.endswith("_") or name.startswith("_") or name in _OWN_PLACE:
            raise ModelFileError(f"The model file sets {name!r}, which is no attribute of a fit.")
        setattr(estimator, name, value)
    estimator.predictor_ = restore(header["predictor"], arrays)
    estimator.n_features_in_ = checked.n_features
    if checked.classes is not None:
        estimator.classes_ = np.asarray(restore(header["classes"], arrays))
    scaler = _scaler_of(checked, header["record"])
    if checked.feature_names is not None:
        named = estimator if scaler is None else scaler
        named.feature_names_in_ = np.array(checked.feature_names, dtype=object)
    return estimator if scaler is None else make_pipeline(scaler, estimator)


def _parts(model):
    """Scaler (or None) and estimator."""
    if not isinstance(model, Pipeline):
        return None, _ours(model)
    steps = [step for _, step in model.steps if step not in (None, "passthrough")]
    scaler = steps[0] if len(steps) == 2 else None
    if not steps or len(steps) > 2 or not isinstance(scaler, StandardScaler | None):
        kinds = ", ".join(type(step).__name__ for step in steps)
        raise ModelFileError(
            f"A pipeline of {kinds} has no model file: save StandardScaler and one model of "
            "nearlinear, or the model alone."
        )
    return scaler, _ours(steps[-1])


def _ours(model):
    name = type(model).__name__
    package = import_module(__package__.rpartition(".")[0])
    if getattr(package, name, None) is not type(model):
        raise ModelFileError(f"{name} is no model of nearlinear.")
    return model


def _why_not(estimator, error):
    name = type(estimator).__name__
    if name == "SVMKNNClassifier":
        return (
            "SVMKNNClassifier solves a new problem around every query: it is its training rows, "
            "and there is nothing smaller to save."
        )
    return f"{name} cannot be saved: {error}."


def _parameters(estimator):
    """Constructor parameters; what is no data, such as a generator or code, becomes None."""
    found = estimator.get_params(deep=False)
    for name, value in found.items():
        try:
            describe(value, [])
        except NotData:
            found[name] = None
    return found


def _attributes(estimator, arrays):
    """What ``fit`` has learned and is data."""
    found = {}
    for name, value in vars(estimator).items():
        if name.endswith("_") and not name.startswith("_") and name not in _OWN_PLACE:
            try:
                describe(value, [])
            except NotData:
                continue
            found[name] = value
    return found


def _scaler_arrays(scaler):
    if scaler is None:
        return None
    check_is_fitted(scaler)
    mean = scaler.mean_ if scaler.with_mean else None
    scale = scaler.scale_ if scaler.with_std else None
    return {
        "mean": None if mean is None else np.asarray(mean, dtype=np.float64),
        "scale": None if scale is None else np.asarray(scale, dtype=np.float64),
    }


def _scaler_of(checked, record):
    if checked.mean is None and checked.scale is None and not record.get("scaled"):
        return None
    scaler = StandardScaler(
        with_mean=checked.mean is not None, with_std=checked.scale is not None
    )  # fmt: skip
    scaler.mean_, scaler.scale_ = checked.mean, checked.scale
    scaler.var_ = None if checked.scale is None else checked.scale**2
    scaler.n_features_in_ = checked.n_features
    scaler.n_samples_seen_ = record.get("scaler_rows")
    return scaler


def _record(estimator, scaler):
    import scipy
    import sklearn

    cost = estimator.cost_
    score = getattr(estimator, "validation_score_", None)
    seen = getattr(scaler, "n_samples_seen_", None)
    return {
        "training_rows": getattr(estimator, "_n_training_rows", None),
        "validation_score": None if score is None or not np.isfinite(score) else float(score),
        "scaled": scaler is not None,
        "scaler_rows": int(seen) if np.ndim(seen) == 0 and seen is not None else None,
        "cost": {
            "multiply_adds": cost.multiply_adds,
            "times_linear": cost.times_linear,
            "n_bytes": cost.n_bytes,
        },
        "versions": {
            "nearlinear": __version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
    }


def _estimator_of(method, parameters):
    package = import_module(__package__.rpartition(".")[0])
    if method not in package.__all__ or not method.endswith(("Classifier", "Regressor")):
        raise ModelFileError(f"The model file names the unknown method {method!r}.")
    cls = getattr(package, method)
    known = cls._get_param_names()
    if not isinstance(parameters, dict) or not set(parameters) <= set(known):
        raise ModelFileError(f"The model file has parameters that {method} does not have.")
    return cls(**parameters)
