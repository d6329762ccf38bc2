"""``row_scorer``: single rows in microseconds, for pipelines and wrapped models."""

from typing import Any

from sklearn.pipeline import make_pipeline

from ..single_row.scorer import RowScorer, WrappedScorer
from .model import model_parts
from .wrappers import unwrapped


def row_scorer(model: Any) -> RowScorer | WrappedScorer:
    """What ``compile()`` is for a model alone, for all that ``save`` takes.

    Parameters
    ----------
    model : estimator, Pipeline, search or wrapper
        Fitted: a model, a pipeline that ends in one, the search for either, or any of them within
        CalibratedClassifierCV, TunedThresholdClassifierCV or FixedThresholdClassifier.

    Returns
    -------
    RowScorer or WrappedScorer
        ``scorer.predict(x)`` is the label of a one-dimensional array and
        ``scorer.predict_proba(x)`` its probabilities, where the model has some.

    Raises
    ------
    ModelFileError
        The model is none of these.
    """
    whole, scorers = unwrapped(model), []
    for one in whole.models:
        _, steps, estimator = model_parts(one)
        # compile() puts what a model does to rows itself, the front door's encoder, in its place
        before = steps[: len(steps) - len(getattr(estimator, "_steps", ()))]
        scorers.append(estimator.compile(make_pipeline(*before) if before else None))
    return WrappedScorer(scorers, whole.outcome, whole.classes) if whole.wrappers else scorers[0]
