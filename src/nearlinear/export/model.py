"""The parts of what a user hands over: steps before a model, and the model."""

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import nearlinear

from ..kinds import kind_of
from ..preparation.transformers import NoPreparation, preparation_of_steps
from ..runtime.container import ModelFileError


def model_parts(model):
    """What a search has found best (or the model itself), its steps before the model, the model."""
    model = best_of(model)
    steps = [model]
    if isinstance(model, Pipeline):
        steps = [step for _, step in model.steps if not is_nothing(step)]
    if not steps:
        raise ModelFileError("A pipeline of nothing has no model file: save a model of nearlinear.")
    last = _ours(best_of(steps[-1]))
    return model, [*steps[:-1], *getattr(last, "_steps", ())], last


def width_of(estimator):
    """Columns that come to a model, behind what it does to rows itself."""
    return getattr(estimator, "_width", estimator.n_features_in_)


def is_nothing(step):
    return step is None or (isinstance(step, str) and step == "passthrough")


def prepared_parts(model, refusal):
    """Preparation (or None), names of raw columns (or None), and model.

    A gate's own columns follow the raw ones. ``refusal`` is the error that says what is not taken.
    """
    try:
        _, steps, estimator = model_parts(model)
        check_is_fitted(estimator, "predictor_")
        preparation = preparation_of_steps(steps, width_of(estimator))
    except (ModelFileError, NoPreparation) as error:
        raise refusal(str(error)) from error
    if preparation is not None:
        preparation = preparation.and_columns(getattr(estimator, "n_gating_features_", 0))
    return preparation, feature_names(steps, estimator), estimator


def require_no_dates(parts, refusal, why):
    """Refuse a column of dates, by name, where they have no place; ``why`` says so."""
    for preparation, names, _ in parts:
        if preparation is not None and preparation.dates:
            place = preparation.dates[0]
            column = place if names is None else repr(names[place])
            raise refusal(
                f"Column {column} holds dates, {why}: give numbers, such as days since 1970, "
                "before fitting."
            )


def feature_names(steps, estimator):
    """Names of the columns that a pipeline was fitted with, or None."""
    names = getattr(steps[0] if steps else estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def count_columns(estimator):
    """Columns of a model's row, those that only a gate sees among them."""
    return width_of(estimator) + getattr(estimator, "n_gating_features_", 0)


def best_of(model):
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
    if getattr(nearlinear, name, None) is not type(model) and kind_of(model) is None:
        raise ModelFileError(
            f"{name} is no model of nearlinear: save one, or a pipeline that ends in one, or "
            f"register({name}) by nearlinear.kinds."
        )
    return model
