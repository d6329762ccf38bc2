"""Parameters chosen inside the training part."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from reproduce import datasets
from reproduce.inner_search import chosen_by_folds
from reproduce.protocol import measure


@pytest.fixture(scope="module")
def split():
    return datasets.sines(60, 40)


def test_the_best_of_the_folds_is_taken(split):
    gammas = [1e-4, 1.0, 1e4]
    search = chosen_by_folds(SVC(), {"gamma": gammas}).fit(split.X_train, split.y_train)
    scores = [
        cross_val_score(SVC(gamma=gamma), split.X_train, split.y_train, cv=5).mean()
        for gamma in gammas
    ]
    assert search.best_index_ == np.argmax(scores)
    assert search.best_estimator_.gamma == gammas[np.argmax(scores)]


def test_one_candidate_needs_no_search():
    model = chosen_by_folds(SVC(), {"gamma": [0.5]})
    assert isinstance(model, SVC)
    assert model.gamma == 0.5


def test_a_part_of_the_rows_chooses_and_all_of_them_train(split):
    search = chosen_by_folds(SVC(), {"gamma": [0.1, 1.0]}, folds=4, max_rows=40)
    sizes = [(len(fit), len(test)) for fit, test in search.cv.split(split.X_train, split.y_train)]
    assert sizes == [(30, 10)] * 4
    search.fit(split.X_train, split.y_train)
    assert search.best_estimator_.shape_fit_[0] == len(split.y_train)


def test_a_row_says_which_candidate_was_chosen(split):
    # More rows than the warm-up has: only the model inside the search is warmed up.
    search = chosen_by_folds(SVC(), {"gamma": [1e-4, 1.0]}, max_rows=100)
    row = measure(search, split)
    assert row["chosen"] == 1
    assert row["n_support"] == len(search.best_estimator_.support_)
    assert np.isnan(measure(SVC(), split)["chosen"])
