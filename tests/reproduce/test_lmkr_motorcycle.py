"""The motorcycle data of the paper on localized multiple kernel regression."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reproduce import datasets
from reproduce.lmkr import figures, motorcycle
from reproduce.lmkr.motorcycle import Scatter


def scatter(n_rows=24):
    X = np.linspace(0.0, 6.0, n_rows)[:, None]
    sizes = {"svr": [1, 3], "lmkl_published": [1, 2]}
    return Scatter("wave", X, 50 * np.sin(X[:, 0]), 3, sizes, sizes)


def test_every_row_tests_in_one_fold():
    tested = np.concatenate([split.y_test for split in scatter().folds()])
    assert_allclose(np.sort(tested), np.sort(scatter().y))


def test_a_grid_is_scaled_like_the_rows_of_a_fold():
    rows = scatter()
    for split, other in zip(rows.folds(), rows.folds_before(rows.X)):
        assert np.array_equal(split.X_train, other.X_train)
        assert np.isin(np.round(split.X_test, 6), np.round(other.X_test, 6)).all()


def test_a_method_has_its_own_parameter():
    assert motorcycle.swept("svr_gaussian") == ("width", [s / 20 for s in range(1, 21)])
    parameters = motorcycle.parameters_of("lmkl_published", 7)
    assert parameters == {"C": 1000.0, "epsilon": 16.0, "gate_penalty": 0.0, "n_copies": 7}


def test_errors_and_support_by_value_and_fold_are_kept(tmp_path, monkeypatch):
    first = motorcycle.measured(tmp_path, scatter(), "svr")
    assert [array.shape for array in first] == [(2, 3), (2, 3)]
    assert (first[0][1] < first[0][0]).all()  # a wave is no line
    monkeypatch.setattr(motorcycle, "fitted", None)
    again = motorcycle.measured(tmp_path, scatter(), "svr")
    assert_allclose(again, first, rtol=1e-5)


def test_the_mean_curve_is_the_mean_over_folds():
    rows = scatter()
    curve = figures.mean_curve("svr", 3, rows, rows.X)
    fits = [motorcycle.fitted("svr", 3, split, 0) for split in rows.folds()]
    grids = [split.X_test for split in rows.folds_before(rows.X)]
    expected = np.mean([model.predict(grid) for model, grid in zip(fits, grids)], axis=0)
    assert_allclose(curve, expected)


def test_without_the_file_the_message_says_what_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv(datasets.FOLDER, str(tmp_path))
    with pytest.raises(datasets.DatasetError, match="mcycle of R's MASS"):
        motorcycle.load()
