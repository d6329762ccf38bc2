"""Parameters chosen inside the training part that a model is fitted to, anew for every split."""

from functools import partial

import numpy as np
from sklearn.model_selection import (
    GridSearchCV,
    ParameterGrid,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from reproduce.model_cost import n_kernels


def chosen_by_folds(model, grid, folds=5, repeats=1, max_rows=None, margin=None):
    """The model with the best values of a grid by cross-validation, the first of equals.

    ``grid`` has a list of values for each parameter; a single candidate needs no search.
    ``repeats``: so many divisions into folds, all drawn. ``max_rows`` of the training part are used
    at most, drawn anew for every fold. With a ``margin``, of all candidates at most so many
    standard errors below the best the one with the fewest kernels is taken.
    """
    candidates = list(ParameterGrid(grid))
    if len(candidates) == 1:
        return model.set_params(**candidates[0])
    choice = {}
    if margin is not None:
        choice = {"scoring": _accuracy_and_size, "refit": partial(fewest_kernels, margin=margin)}
    return GridSearchCV(model, grid, cv=_parts(folds, repeats, max_rows), **choice)


def _parts(folds, repeats, max_rows):
    if max_rows is not None:
        held_out = max_rows // folds
        return StratifiedShuffleSplit(
            folds * repeats, train_size=max_rows - held_out, test_size=held_out, random_state=0
        )
    if repeats > 1:
        return RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=0)
    return StratifiedKFold(folds)


def _accuracy_and_size(model, X, y):
    return {"accuracy": model.score(X, y), "n_kernels": n_kernels(model)}


def fewest_kernels(results, margin):
    """Number of the smallest candidate near the best, the most accurate of equally small ones."""
    mean = results["mean_test_accuracy"]
    n_parts = sum(name.startswith("split") and name.endswith("accuracy") for name in results)
    best = np.argmax(mean)
    error = results["std_test_accuracy"][best] / np.sqrt(n_parts)
    is_near = mean >= mean[best] - margin * error
    sizes = np.where(is_near, results["mean_test_n_kernels"], np.inf)
    return int(np.lexsort((-mean, sizes))[0])
