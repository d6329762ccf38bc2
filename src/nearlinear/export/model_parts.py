"""The parts of what a user hands over: steps before a model, and the model."""

from importlib import import_module

from sklearn.pipeline import Pipeline

from ..preparation.transformers import NoPreparation, preparation_of_steps
from ..runtime.container import ModelFileError


def model_parts(model):
    """What a search has found best (or the model itself), its steps before the model, the model."""
    model = _best(model)
    if not isinstance(model, Pipeline):
        return model, [], _ours(model)
    steps = [step for _, step in model.steps if not is_nothing(step)]
    if not steps:
        raise ModelFileError("A pipeline of nothing has no model file: save a model of nearlinear.")
    return model, steps[:-1], _ours(_best(steps[-1]))


def is_nothing(step):
    return step is None or (isinstance(step, str) and step == "passthrough")


def prepared_parts(model):
    """Preparation (or None), first step, and model."""
    _, steps, estimator = model_parts(model)
    try:
        preparation = preparation_of_steps(steps, getattr(estimator, "n_features_in_", None))
    except NoPreparation as error:
        raise ModelFileError(str(error)) from error
    return preparation, steps[0] if steps else estimator, estimator


def feature_names(first):
    """Names of the columns that the first step was fitted with, or None."""
    names = getattr(first, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _best(model):
    """The best estimator of a search; anything else as it is."""
    if not hasattr(model, "cv_results_"):
        return model
    if not hasattr(model, "best_estimator_"):
        raise ModelFileError(
            f"{type(model).__name__} kept no best estimator: search with refit=True."
        )
    return model.best_estimator_


def _ours(model):
    name = type(model).__name__
    package = import_module(__package__.rpartition(".")[0])
    if getattr(package, name, None) is not type(model):
        raise ModelFileError(
            f"{name} is no model of nearlinear: save one, or a pipeline that ends in one."
        )
    return model
