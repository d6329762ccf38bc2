"""DC-Pred++: cells, the choice of their number, degenerate ones, and where models go."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from shipping import assert_ships
from sklearn.linear_model import Ridge

from nearlinear import DCPredClassifier, DCPredRegressor, config_context
from nearlinear.solvers.cells import division


def board(n_rows, rng):
    """A checker-board, which no line divides."""
    X = rng.uniform(-2.0, 2.0, (n_rows, 2))
    return X, (np.floor(X).sum(axis=1) % 2).astype(int)


@pytest.mark.parametrize(("n_clusters", "most_flat"), [(3, 64), (9, 4)], ids=["flat", "groups"])
def test_a_model_ships(moons, n_clusters, most_flat, tmp_path, monkeypatch):
    monkeypatch.setattr(division, "MOST_FLAT", most_flat)
    X, y = moons
    model = DCPredClassifier(n_clusters, n_landmarks=4, random_state=0).fit(X, y)
    assert (model.predictor_.cells.groups is None) == (most_flat == 64)
    assert_ships(model, X, tmp_path)


def test_one_cell_is_the_machine_of_all_rows(moons):
    X, y = moons
    model = DCPredClassifier(1, n_landmarks=5, random_state=0).fit(X, y)
    assert model.n_clusters_ == 1
    assert model.predictor_.landmarks.shape == (5, 2)
    assert model.newton_decrement_ < 1e-6
    assert model.score(X, y) > 0.95


def test_auto_takes_cells_where_they_help(rng):
    X, y = board(900, rng)
    model = DCPredClassifier(random_state=0).fit(X, y)
    assert model.n_clusters_ == 8
    assert [verdict.setting for verdict in model.settings_tried_] == [0, 1, 8]
    assert model.score(*board(500, rng)) > 0.9


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_auto_stays_with_a_line_where_there_is_no_more(rng, dtype):
    X = rng.standard_normal((200, 6)).astype(dtype)
    y = (X @ np.arange(1.0, 7.0) + 3.0 * rng.standard_normal(200) > 0).astype(int)
    model = DCPredClassifier(random_state=0).fit(X, y)
    assert model.n_clusters_ == 0
    assert model.gamma_ is None
    assert model.decision_function(X).dtype == dtype
    values = X @ np.arange(1.0, 7.0) + 3.0 * rng.standard_normal(200)
    line = DCPredRegressor(random_state=0).fit(X, values)
    assert line.n_clusters_ == 0
    assert line.score(X, values) == pytest.approx(Ridge().fit(X, values).score(X, values), abs=1e-3)


def test_cells_of_one_class_and_of_few_rows_are_served():
    rng = np.random.default_rng(0)
    corners = np.array([[0.0, 0.0], [9.0, 9.0], [0.0, 9.0]])
    X = np.repeat(corners, [2000, 1500, 5], axis=0) + 0.1 * rng.standard_normal((3505, 2))
    y = np.repeat([0, 1, 0], [2000, 1500, 5])
    X = np.concatenate([X, X[:10], X[3500:3502]])
    y = np.concatenate([y, 1 - y[:10], [1, 0]])  # some rows have both labels
    model = DCPredClassifier(3, n_landmarks=8, random_state=0).fit(X, y)
    counts = sorted(np.diff(model.predictor_.starts).tolist())
    assert counts == [0, 5, 8]  # one class; five distinct rows; more rows than landmarks
    cell = int(np.flatnonzero(np.diff(model.predictor_.starts) == 0)[0])
    np.testing.assert_array_equal(model.predictor_.biases[cell], [1.0])
    assert model.score(X, y) > 0.8


def test_classes_share_the_landmarks_and_each_is_its_own_problem(blobs):
    X, y = blobs
    model = DCPredClassifier(2, n_landmarks=4, random_state=0).fit(X, y)
    alone = DCPredClassifier(2, n_landmarks=4, random_state=0).fit(X, y == 1)
    assert model.predictor_.slopes.shape == (8, 3, 4)
    np.testing.assert_allclose(
        model.decision_function(X)[:, 1], alone.decision_function(X), atol=1e-5
    )


def test_weight_k_equals_k_copies_in_any_order(moons, rng):
    X, y = moons
    weight = rng.integers(1, 4, len(y))
    settings = {"n_clusters": 3, "n_landmarks": 5, "random_state": 0}
    weighted = DCPredClassifier(**settings).fit(X, y, sample_weight=weight)
    order = rng.permutation(weight.sum())
    copied = DCPredClassifier(**settings, n_jobs=2)
    copied.fit(np.repeat(X, weight, axis=0)[order], np.repeat(y, weight)[order])
    np.testing.assert_array_equal(weighted.decision_function(X), copied.decision_function(X))


def test_gamma_is_relative_and_values_have_no_unit(wave):
    X, y = wave
    one = DCPredRegressor(1, random_state=0).fit(X, y)
    other = DCPredRegressor(1, random_state=0).fit(10.0 * X, 1000.0 * y + 5.0)
    assert other.gamma_ == pytest.approx(one.gamma_ / 100.0)
    # k-means starts at other rows: the order of rows is that of their content
    assert other.score(10.0 * X, 1000.0 * y + 5.0) == pytest.approx(one.score(X, y), abs=0.01)
    assert one.score(X, y) > 0.95


def test_wide_rows_have_fewer_landmarks(rng):
    X = rng.standard_normal((60, 30))
    model = DCPredClassifier(1, random_state=0).fit(X, X[:, 0] > 0)
    assert len(model.predictor_.landmarks) == 120 // 31


def test_too_little_memory_and_sparse_rows_are_refused(moons):
    X, y = moons
    with config_context(max_memory=1e5):
        with pytest.raises(MemoryError, match="lower n_landmarks, or raise the limit"):
            DCPredClassifier().fit(X, y)
        with pytest.raises(MemoryError, match="rows of fewer columns, by PCA"):
            DCPredClassifier(n_landmarks=1).fit(X, y)
    with pytest.raises(TypeError, match="dense data is required"):
        DCPredClassifier().fit(csr_matrix(X), y)
