"""Parameters chosen inside the training part."""

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid, RepeatedStratifiedKFold, cross_val_score
from sklearn.svm import SVC

from nearlinear import LLSVMClassifier
from reproduce import datasets
from reproduce.inner_search import chosen_by_folds, fewest_kernels
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


def test_several_parameters_are_chosen_over_repeated_folds(split):
    grid = {"gamma": [1e-4, 1.0], "C": [1e-3, 10.0]}
    search = chosen_by_folds(SVC(), grid, folds=3, repeats=4).fit(split.X_train, split.y_train)
    parts = RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0)
    scores = [
        cross_val_score(SVC(**candidate), split.X_train, split.y_train, cv=parts).mean()
        for candidate in ParameterGrid(grid)
    ]
    assert search.cv_results_["mean_test_score"] == pytest.approx(scores)
    assert search.best_params_ == {"gamma": 1.0, "C": 10.0}


@pytest.mark.parametrize(
    ("margin", "chosen"),
    [
        (0.0, 0),
        (0.5, 2),  # a standard error is 0.04/√4 = 0.02, so 0.89 counts, and of those the smallest
        (1.6, 3),  # 0.868 counts, too
    ],
)
def test_of_nearly_equal_candidates_the_smallest_is_taken(margin, chosen):
    results = {
        "mean_test_accuracy": np.array([0.90, 0.895, 0.895, 0.87, 0.5]),
        "std_test_accuracy": np.array([0.04, 0.2, 0.2, 0.0, 0.0]),
        "mean_test_n_kernels": np.array([30.0, 20.0, 10.0, 5.0, 1.0]),
        **{f"split{part}_test_accuracy": None for part in range(4)},
        **{f"split{part}_test_n_kernels": None for part in range(4)},
    }
    assert fewest_kernels(results, margin) == chosen


def test_of_equally_small_candidates_the_most_accurate_is_taken():
    results = {
        "mean_test_accuracy": np.array([0.90, 0.91, 0.92]),
        "std_test_accuracy": np.array([0.1, 0.1, 0.1]),
        "mean_test_n_kernels": np.array([2.0, 2.0, 4.0]),
        "split0_test_accuracy": None,
    }
    assert fewest_kernels(results, margin=1.0) == 1


def test_a_margin_makes_machines_smaller(split):
    grid = {"n_anchors": [8, 1]}
    machines = [
        chosen_by_folds(LLSVMClassifier(n_neighbors=1, random_state=0), grid, margin=margin)
        for margin in (0.0, 1e6)
    ]
    large, small = (
        machine.fit(split.X_train, split.y_train).best_params_["n_anchors"] for machine in machines
    )
    assert (large, small) == (8, 1)
