"""One parameter chosen inside the training part that a model is fitted to, anew for every split."""

from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit


def chosen_by_folds(model, name, candidates, folds=5, max_rows=None):
    """The model with the best of several values by cross-validation, the first of equals.

    ``max_rows`` of the training part are used at most, drawn anew for every fold. A single
    candidate needs no search.
    """
    if len(candidates) == 1:
        return model.set_params(**{name: candidates[0]})
    if max_rows is None:
        parts = StratifiedKFold(folds)
    else:
        held_out = max_rows // folds
        parts = StratifiedShuffleSplit(
            folds, train_size=max_rows - held_out, test_size=held_out, random_state=0
        )
    return GridSearchCV(model, {name: candidates}, cv=parts)
