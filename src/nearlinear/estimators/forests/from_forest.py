"""A fitted forest of another library, served by our predictor."""

from typing import Any

import numpy as np

from ..._hints import Rows
from ...gates.forests.readers.reading import read_forest
from ...predictors.combined import Exponential
from ...predictors.forest import forest_of
from ...runtime.outcome import LogLoss, Shares, Sigmoids
from .._base.model import Learned
from .local_forest import LocalForestClassifier, LocalForestRegressor


def from_forest(model: Any, X: Rows | None = None) -> LocalForestClassifier | LocalForestRegressor:
    """The same model, with the same scores, as one of ours.

    It answers as the library does: ``predict`` gives the same labels and values,
    ``decision_function`` its raw scores (of random forests the share of the second class less that
    of the first, or all shares), ``predict_proba`` its probabilities. Batches and single rows are
    faster, and it is explained, saved and exported as all our models are. Where the library learned
    logarithms of values (Poisson, gamma and Tweedie losses), explanations are of these.

    At once the scores of 1,000 rows are compared with the library's own.

    Parameters
    ----------
    model : fitted model, or path
        Of scikit-learn: DecisionTree, ExtraTree, RandomForest, ExtraTrees, GradientBoosting,
        HistGradientBoosting. Of LightGBM, XGBoost and CatBoost: the estimators and boosters, or a
        file that these have written.
    X : array of shape (n_rows, n_features) or None, default=None
        Rows for the comparison. None makes some from the thresholds of the forest: the values at
        which rows part, the numbers next to them, categories and missing values.

    Returns
    -------
    LocalForestClassifier or LocalForestRegressor
        Fitted.

    Raises
    ------
    ForestNotRead
        The model is no forest, has something that is not read (the sentence says what), or the
        scores differ.

    Notes
    -----
    Missing values are NaN. Categories are whole numbers from 0 on, as the library was given them. A
    category that the fit has not seen may go another way than in XGBoost, which refuses some of
    them.
    """
    forest = read_forest(model, X)
    predictor = forest_of(
        forest.gate, forest.values, forest.outputs, forest.intercept, forest.covers
    )
    if forest.link == "log":
        predictor = Exponential(predictor)
    of_rows = {"n_features_in_": forest.n_features}
    if forest.feature_names is not None:
        of_rows["feature_names_in_"] = forest.feature_names
    if forest.classes is None:
        return LocalForestRegressor()._settle(Learned(predictor), None, of_rows)
    learned = Learned(predictor, {"calibration_": _calibration(forest)})
    of_rows["classes_"] = forest.classes
    return LocalForestClassifier()._settle(learned, None, of_rows)


def _calibration(forest):
    if forest.link == "shares":
        return Shares()
    if forest.link is None or forest.steepness == 1.0:
        return None if forest.link is None else LogLoss()
    return Sigmoids(np.array([-forest.steepness]), np.zeros(1))
