"""``save`` and ``load``: a fitted model as one file of data."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

import nearlinear

from .._hints import FilePath
from .._version import __version__
from ..estimators._base.model import Training
from ..kinds import kind_of, registered_method, stranger
from ..runtime.container import ModelFileError, read, write
from ..runtime.model import model_of
from .description import NotData, data_of, describe, restore
from .model import feature_names, is_nothing, model_parts
from .prepared_rows import describe_preparation, restored_steps
from .rewrapping import made_of, rewrapped, wrapper_data
from .wrappers import unwrapped

# What each method leaves after training.
_TREES = ("TreePath", "TreeLeaves", "LinkedTree", "Mapped", "Averaged")
_ANY = (
    "Additive", "LocallyLinear", "Forest", "KernelExpansion", "Stacked", "ConformalLinear",
    "GaussianCells", "Hinges", *_TREES,
)  # fmt: skip
_EXPANSIONS = ("Uniform", "Simple", "SPGG", "Sequential")
PREDICTORS = {
    **dict.fromkeys(("LLSVMClassifier", "LCCSVMClassifier"), ("LocallyLinear",)),
    **dict.fromkeys(("LLCSAPLClassifier", "ClusteredSVMClassifier"), ("LocallyLinear",)),
    **dict.fromkeys(("LDKLClassifier", "LDKLRegressor"), _TREES),
    "LocalForestClassifier": ("Forest",),
    "LocalForestRegressor": ("Forest", "Exponential"),
    **dict.fromkeys(("MLLKMClassifier", "MLLKMRegressor"), ("ConformalLinear",)),
    **{f"{name}MKLClassifier": ("KernelExpansion",) for name in (*_EXPANSIONS, "MWU")},
    **{f"{name}MKLRegressor": ("KernelExpansion",) for name in _EXPANSIONS},
    **dict.fromkeys(("LaSVMClassifier", "CPSPClassifier"), ("KernelExpansion",)),
    **dict.fromkeys(("DCPredClassifier", "DCPredRegressor"), ("GaussianCells", "LocallyLinear")),
    "NearLinearClassifier": _ANY,
    "NearLinearRegressor": _ANY,
    "LMKLClassifier": ("LocallyLinear", "GatedExpansion", "Stacked"),
    "LMKLRegressor": ("LocallyLinear", "GatedExpansion"),
    "ConvexLMKLClassifier": ("GatedExpansion", "Stacked"),
    "SwMKLClassifier": ("GatedExpansion", "Mapped", "Stacked"),
    "LDMKLClassifier": ("GatedExpansion", "Stacked"),
    "SAMKLClassifier": ("GatedExpansion", "Stacked"),
}
# Attributes that have a place of their own in the header.
_OWN_PLACE = {
    "predictor_", "classes_", "n_features_in_", "feature_names_in_", "n_gating_features_",
    "encoder_",
}  # fmt: skip


def save(model: Any, path: FilePath) -> None:
    """Write a fitted model, or a pipeline that ends in one, to a file.

    The file holds data alone: a JSON header and raw arrays, never code. It appears whole or not at
    all; an earlier file of the name stays as it was until then. ``load`` gives back an estimator
    that predicts the same bits, and ``nearlinear.runtime`` scores the file with NumPy alone.

    Parameters
    ----------
    model : estimator, Pipeline, search or wrapper
        Fitted. A pipeline may have scalers (standard, min-max, max-abs, robust), SimpleImputer,
        OneHotEncoder, SplineTransformer (degree 1) and a ColumnTransformer of these
        before the model. Of a search, such as
        GridSearchCV, the best estimator is saved. A model or pipeline may be wrapped in
        CalibratedClassifierCV, and all of these in TunedThresholdClassifierCV or
        FixedThresholdClassifier; the steps may stand before a wrapper, too.
    path : str or path
        By custom it ends in ``.nlm``.
    """
    whole, arrays = unwrapped(model), []
    header, *members = (_header_of(one, arrays) for one in whole.models)
    outcome = whole.outcome
    if outcome.gives_probabilities or outcome.is_of_each_label or whole.wrappers:
        header["outcome"] = describe(whole.outcome, arrays)
    if whole.wrappers:
        header["classes"] = describe(whole.classes, arrays)
        header["members"] = members
        header["wrapped_in"] = describe([wrapper_data(one) for one in whole.wrappers], arrays)
    try:
        model_of(header, arrays)
    except ModelFileError as error:  # a kernel that files do not have, say
        raise ModelFileError(f"{header['method']} cannot be saved: {error}") from error
    write(path, header, arrays)


def _header_of(model, arrays):
    """All about a model without wrappers; its arrays are appended to ``arrays``."""
    model, steps, estimator = model_parts(model)
    check_is_fitted(estimator, "predictor_")
    _check_labels(estimator)
    try:
        predictor = describe(estimator.predictor_, arrays)
    except NotData as error:
        raise ModelFileError(f"{type(estimator).__name__} cannot be saved: {error}.") from error
    first = steps[0] if steps else estimator
    return {
        "method": kind_of(estimator) or type(estimator).__name__,
        # for what is no data, such as a generator, the default stands in
        "parameters": describe(data_of(estimator.get_params(deep=False)), arrays),
        "predictor": predictor,
        "classes": describe(getattr(estimator, "classes_", None), arrays),
        "n_features": int(first.n_features_in_),
        "n_gating_features": int(getattr(estimator, "n_gating_features_", 0)),
        "feature_names": feature_names(steps, estimator),
        "preparation": describe_preparation(steps, estimator, arrays),
        "attributes": describe(data_of(_learned(estimator)), arrays),
        "record": _record(model, estimator),
    }


def load(path: FilePath) -> Any:
    """The model in a file, ready to predict.

    ``n_jobs`` is lowered to the processors of this machine. Rows whose scores are too large to be
    numbers are an error when they are scored, not NaN.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator, Pipeline or wrapper
        What was saved.

    Raises
    ------
    ModelFileError
        The file is no model file, is damaged, or has another format version.
    """
    header, arrays = read(path)
    checked = model_of(header, arrays)
    headers, parts = [header, *header.get("members", [])], [checked, *checked.others]
    models = [_model_of(*both, arrays) for both in zip(headers, parts, strict=True)]
    if "wrapped_in" in header:
        classes = np.asarray(restore(header["classes"], arrays))
        return rewrapped(models, restore(header["wrapped_in"], arrays), checked.outcome, classes)
    if "outcome" in header and checked.outcome != unwrapped(models[0]).outcome:
        raise ModelFileError(f"The model file has an outcome that its {checked.method} has not.")
    return models[0]


def _model_of(header, checked, arrays):
    """A model without wrappers."""
    estimator = _estimator_of(checked, restore(header["parameters"], arrays))
    _set_attributes(estimator, restore(header["attributes"], arrays))
    estimator.predictor_ = restore(header["predictor"], arrays)
    steps = restored_steps(header, arrays, checked, estimator)
    estimator.n_features_in_ = checked.width
    if hasattr(estimator, "encoder"):
        steps = _take_encoder(estimator, steps, checked)
    if hasattr(estimator, "gating_features"):
        estimator.n_gating_features_ = checked.n_gating_features
    if checked.classes is not None:
        estimator.classes_ = np.asarray(restore(header["classes"], arrays))
    n_rows = checked.record.get("training_rows")
    n_rows = n_rows if type(n_rows) is int else None
    estimator._training = Training(n_rows, is_from_file=True, preparation=checked.preparation)
    if checked.feature_names is not None and not steps:
        estimator.feature_names_in_ = np.array(checked.feature_names, dtype=object)
    return _as_saved(steps, estimator, checked.record.get("steps"))


def _take_encoder(estimator, steps, checked):
    """The steps but for the last, which becomes the model's own."""
    if estimator.encoder is None:
        estimator.encoder_ = None
        return steps
    if not steps:
        raise ModelFileError(f"The model file of a {checked.method} has no encoder.")
    estimator.encoder_ = steps[-1]
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(steps[-1], name):
            setattr(estimator, name, getattr(steps[-1], name))
    return steps[:-1]


def _as_saved(steps, estimator, names):
    """The estimator alone, or the pipeline with the names of its steps."""
    parts = [*steps, estimator]
    if not isinstance(names, list) or len(names) != len(parts):
        return make_pipeline(*parts) if steps else estimator
    return Pipeline([(str(name), part) for name, part in zip(names, parts, strict=True)])


def _set_attributes(estimator, attributes):
    if not isinstance(attributes, dict):
        raise ModelFileError("The model file's attributes are described wrongly.")
    for name, value in attributes.items():
        good = isinstance(name, str) and name.endswith("_") and not name.startswith("_")
        if not good or name in _OWN_PLACE or hasattr(type(estimator), name):
            raise ModelFileError(
                f"The model file sets {repr(name)[:40]}, which is no attribute of a fit."
            )
        setattr(estimator, name, value)


def _check_labels(estimator):
    classes = getattr(estimator, "classes_", None)
    if classes is None or classes.dtype.kind in "USO":
        return
    fits = classes.dtype.kind in "biu" or classes.dtype in (np.float16, np.float32, np.float64)
    if not fits or (classes.dtype.kind == "u" and np.any(classes > np.iinfo(np.int64).max)):
        raise ModelFileError(
            f"Labels of type {classes.dtype} have no place in a file: take strings, booleans, "
            "whole numbers or floats."
        )


def _learned(estimator):
    """Attributes that ``fit`` has set and that have no place of their own."""
    return {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_") and not name.startswith("_") and name not in _OWN_PLACE
    }


def _record(model, estimator):
    import scipy
    import sklearn

    cost = estimator.cost_
    score = getattr(estimator, "validation_score_", None)
    return {
        "training_rows": estimator._training.n_rows if hasattr(estimator, "_training") else None,
        "validation_score": None if score is None or not np.isfinite(score) else float(score),
        "steps": _step_names(model),
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


def _step_names(model):
    if not isinstance(model, Pipeline):
        return None
    return [name for name, step in model.steps if not is_nothing(step)]


def _estimator_of(checked, parameters):
    method = checked.method
    cls = registered_method(method)
    if cls is None:
        if method not in PREDICTORS or method not in nearlinear.__all__:
            raise ModelFileError(f"The model file has a method of {stranger(method)}.")
        if checked.predictor.kind not in PREDICTORS[method]:
            raise ModelFileError(f"The model file has a {checked.predictor.kind} for a {method}.")
        cls = getattr(nearlinear, method)
    if (checked.classes is None) != issubclass(cls, RegressorMixin):
        raise ModelFileError(f"The model file of a {method} has the wrong classes.")
    if checked.n_gating_features and "gating_features" not in cls._get_param_names():
        raise ModelFileError(f"The model file has gating features, which {method} does not take.")
    return made_of(cls, parameters, method)
