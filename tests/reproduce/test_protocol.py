"""Rows are measured once, and times are taken as they should be."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge
from sklearn.svm import SVC

from reproduce import datasets
from reproduce.protocol import RowStore, best_seconds, linear_yardstick, measure
from reproduce.split import Split


def key(seed=0, **parameters):
    return {"dataset": "letter", "method": "linear", "seed": seed, "parameters": parameters}


@pytest.fixture
def counted():
    """A measurement that knows how often it was made."""

    def make():
        make.calls += 1
        return {"accuracy": 97.25}

    make.calls = 0
    return make


def test_a_row_that_is_there_is_not_measured_again(tmp_path, counted):
    path = tmp_path / "rows.csv"
    first, was_made = RowStore(path, ("accuracy",)).get_or_add(key(C=1.0, loss="hinge"), counted)
    assert was_made
    # Another process, and the same parameters in another order.
    again, was_made = RowStore(path, ("accuracy",)).get_or_add(key(loss="hinge", C=1.0), counted)
    assert not was_made
    assert counted.calls == 1
    assert again == first


@pytest.mark.parametrize("other", [key(seed=1, C=1.0), key(C=2.0), key(C=1.0, tol=0.1)])
def test_another_seed_or_parameter_is_another_row(tmp_path, counted, other):
    store = RowStore(tmp_path / "rows.csv", ("accuracy",))
    store.get_or_add(key(C=1.0), counted)
    store.get_or_add(other, counted)
    assert counted.calls == 2
    assert RowStore(store.path, ("accuracy",)).rows() == store.rows()


def test_a_failed_measurement_leaves_no_row(tmp_path):
    store = RowStore(tmp_path / "rows.csv", ("accuracy",))
    with pytest.raises(ZeroDivisionError):
        store.get_or_add(key(), lambda: 1 / 0)
    assert store.rows() == []
    assert not store.path.exists()


def test_slow_calls_are_made_once_and_quick_ones_in_turns():
    made = []
    calls = {"a": lambda: made.append("a"), "b": lambda: made.append("b")}
    best_seconds(calls, budget=60.0, max_repeats=3)
    assert made == ["a", "b"] * 3
    made.clear()
    best_seconds(calls, budget=0.0, max_repeats=3)
    assert made == ["a", "b"]


def test_yardstick_scores_every_class():
    y = np.r_[np.zeros(5000, int), np.ones(5000, int), 2]
    X = np.random.default_rng(0).standard_normal((len(y), 3))
    assert linear_yardstick(Split("three", X, y, X, y), max_rows=50).coef_.shape == (3, 3)


def test_measured_accuracy_is_that_of_the_test_part():
    split = datasets.sines(40, 30)
    row = measure(SVC(gamma=1.0), split)
    expected = SVC(gamma=1.0).fit(split.X_train, split.y_train).score(split.X_test, split.y_test)
    assert row["accuracy"] == pytest.approx(100 * expected)
    assert (row["n_train"], row["n_test"]) == (80, 60)
    assert row["times_linear"] > 0
    # One call for 60 rows, not for the thousands that give the time per row.
    assert 0 < row["predict_ms"] < 1e-3 * 5000 * row["predict_us_per_row"]


class Hoarder(ClassifierMixin, BaseEstimator):
    """Holds much memory while it is fitted, and knows how many threads it predicts with."""

    def __init__(self, n_jobs=2):
        self.n_jobs = n_jobs

    def fit(self, X, y):
        self.n_jobs_of_fit_, self.label_ = self.n_jobs, y[0]
        np.ones(8_000_000).sum()  # beyond 32 MB the allocator always asks the system
        return self

    def predict(self, X):
        self.n_jobs_of_prediction_ = self.n_jobs
        return np.full(len(X), self.label_)


def test_the_memory_of_a_fit_is_measured_although_it_is_gone():
    row = measure(Hoarder(), datasets.sines(40, 30))
    assert 0.9 * 64e6 < row["fit_bytes"] < 128e6


def test_several_threads_may_fit_but_one_predicts():
    model = Hoarder(n_jobs=2)
    measure(model, datasets.sines(40, 30))
    assert (model.n_jobs_of_fit_, model.n_jobs_of_prediction_) == (2, 1)


def test_error_of_a_regression_is_in_the_unit_of_its_target():
    split = datasets.friedman(60, 40)
    row = measure(Ridge(), split)
    residual = split.y_test - Ridge().fit(split.X_train, split.y_train).predict(split.X_test)
    assert row["mse"] == pytest.approx(np.mean((split.target_scale * residual) ** 2))
    assert "accuracy" not in row


def test_a_column_that_a_row_lacks_is_empty_and_comes_back_as_nan(tmp_path):
    store = RowStore(tmp_path / "rows.csv", ("accuracy", "mse"))
    store.get_or_add(key(), lambda: {"mse": 2.5})
    (row,) = RowStore(store.path, ("accuracy", "mse")).rows()
    assert np.isnan(row["accuracy"])
    assert row["mse"] == 2.5
