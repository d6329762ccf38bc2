"""LDKL in its generality: global features, penalties, pruning."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from shipping import assert_ships
from sklearn.base import clone
from sklearn.datasets import make_circles, make_moons

import nearlinear
from nearlinear import LDKLClassifier, LDKLRegressor, config_context
from nearlinear.estimators._base import pruning
from nearlinear.export.c.literals import CSourceError
from nearlinear.export.c.source import to_c
from nearlinear.export.onnx.builder import OnnxExportError
from nearlinear.export.onnx.graph import to_onnx
from nearlinear.predictors.linked_tree import LinkedTree
from nearlinear.runtime import ModelFileError

QUICK = {"max_iter": 15, "random_state": 0}


@pytest.fixture(scope="module")
def moons():
    return make_moons(300, noise=0.15, random_state=0)


@pytest.fixture(scope="module")
def circles():
    return make_circles(300, noise=0.1, factor=0.4, random_state=0)


# --- global features ----------------------------------------------------------------------------


@pytest.mark.parametrize("node_gate", ["tanh", "indicator"])
def test_one_node_with_quadratic_features_learns_a_circle_and_ships(circles, node_gate, tmp_path):
    X, y = circles
    X = X + np.array([100.0, -3.0])  # products are of centered features
    settings = {"node_gate": node_gate, "jitter": 0.0, "max_iter": 60, "random_state": 0}
    model = LDKLClassifier(0, global_features="quadratic", **settings).fit(X, y)
    assert model.score(X, y) > 0.97
    if node_gate == "indicator":
        assert LDKLClassifier(0, **settings).fit(X, y).score(X, y) < 0.7
    assert_ships(model, X, tmp_path)


def test_deeper_trees_with_quadratic_features_ship_in_float32(moons, tmp_path):
    X, y = moons
    model = LDKLClassifier(2, global_features="quadratic", n_trees=2, **QUICK)
    model.fit(X.astype(np.float32), y)
    scores = model.decision_function(X.astype(np.float32))
    assert scores.dtype == np.float32
    nearlinear.save(model, tmp_path / "model.nlm")
    again = nearlinear.load(tmp_path / "model.nlm")
    np.testing.assert_array_equal(again.decision_function(X.astype(np.float32)), scores)


def test_the_depth_is_searched_for_on_top_of_a_quadratic_root(circles):
    X, y = circles
    model = LDKLClassifier(global_features="quadratic", **QUICK).fit(X, y)
    assert model.score(X, y) > 0.97
    linear = LDKLClassifier(**QUICK).fit(X, y).settings_tried_[0].loss
    assert model.settings_tried_[0].loss < 0.5 * linear  # a root alone has the circle nearly


def test_a_function_adds_its_columns_and_the_model_stays_in_python(circles, tmp_path):
    X, y = circles
    settings = {"node_gate": "indicator", "jitter": 0.0, "max_iter": 60, "random_state": 0}
    model = LDKLClassifier(0, global_features=_squares, **settings).fit(X, y)
    assert model.score(X, y) > 0.97
    scores = model.decision_function(X)
    np.testing.assert_allclose(model.explain(X).scores[:, 0], scores, atol=1e-9)
    np.testing.assert_allclose(model.compile()(X[0]), scores[0])
    np.testing.assert_allclose(model.predictor_.plain(X)[:, 0], scores, atol=1e-9)
    for refuse, error in [
        (lambda: nearlinear.save(model, tmp_path / "model.nlm"), ModelFileError),
        (lambda: to_onnx(model), OnnxExportError),
        (lambda: to_c(model, tmp_path), CSourceError),
    ]:
        with pytest.raises(error, match="global_features is a function"):
            refuse()


def _squares(X):
    return X**2


def test_streams_go_on_with_global_features(moons):
    X, y = moons
    model = LDKLClassifier(2, global_features="quadratic", **QUICK).fit(X, y)
    assert model.partial_fit(X, y).score(X, y) > 0.9
    assert hasattr(model.predictor_, "map")


@pytest.mark.parametrize(
    ("settings", "form", "words"),
    [
        ({"global_features": "quadratic", "n_components": 1}, np.asarray, "put a PCA before"),
        ({"global_features": "quadratic"}, csr_matrix, "Sparse data was passed"),
        ({"global_features": np.sum}, np.asarray, "must give a matrix of numbers"),
        ({"global_features": lambda X: X / 0.0}, np.asarray, "gave NaN or infinity"),
        ({"direction_penalty": (1.0, -1.0)}, np.asarray, "or two of them"),
        ({"direction_penalty": (1.0, 1.0, 1.0)}, np.asarray, "or two of them"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_what_does_not_go_together_is_one_sentence(moons, settings, form, words):
    X, y = moons
    with pytest.raises((ValueError, TypeError), match=words):
        LDKLClassifier(2, **settings).fit(form(X), y)


def test_the_memory_of_products_is_stated_before_it_is_taken():
    X = np.random.default_rng(0).standard_normal((60, 90))
    y = X[:, 0] > 0
    with config_context(max_memory=1.5e6):
        LDKLClassifier(1, n_components=None, **QUICK).fit(X, y)
        with pytest.raises(MemoryError, match="raise the limit"):
            LDKLClassifier(1, global_features="quadratic", **QUICK).fit(X, y)


# --- penalties -----------------------------------------------------------------


def test_each_penalty_shortens_its_own_part(moons):
    def lengths(**settings):
        tree = LDKLClassifier(2, C=10.0, **settings, **QUICK).fit(*moons).predictor_
        return np.array([np.linalg.norm(part) for part in (tree.splits, tree.slopes)])

    plain, both = lengths(), lengths(direction_penalty=0.3)
    assert np.all(both < 0.7 * plain)
    np.testing.assert_array_equal(both, lengths(direction_penalty=(0.3, 0.3)))
    splits, slopes = lengths(direction_penalty=(0.3, 0.0)), lengths(direction_penalty=[0.0, 0.3])
    assert splits[0] < 0.7 * plain[0] < slopes[0]
    assert slopes[1] < 0.7 * plain[1] < splits[1]


def test_the_original_schedule_takes_three_penalties(moons):
    settings = {"solver": "sgd", "loss": "hinge", "learning_rate": 10.0, **QUICK}
    same = LDKLClassifier(2, **settings).fit(*moons)
    named = LDKLClassifier(2, direction_penalty=(0.1, 0.1), **settings).fit(*moons)
    other = LDKLClassifier(2, direction_penalty=(0.01, 0.1), **settings).fit(*moons)
    X = moons[0]
    np.testing.assert_allclose(named.decision_function(X), same.decision_function(X))
    assert np.abs(other.decision_function(X) - same.decision_function(X)).max() > 1e-3


# --- pruning ------------------------------------------------------------------------------------


@pytest.mark.parametrize("node_gate", ["tanh", "compositional", "indicator"])
def test_nodes_that_are_not_needed_go_and_what_is_left_ships(moons, node_gate, tmp_path):
    X, y = moons
    settings = {"node_gate": node_gate, "max_iter": 40, "random_state": 0}
    whole = LDKLClassifier(6, **settings).fit(X, y)
    model = LDKLClassifier(6, pruning="l2", **settings).fit(X, y)
    assert isinstance(model.predictor_, LinkedTree)
    assert len(model.predictor_.weights) < 100 < 127
    assert model.cost_.n_bytes < whole.cost_.n_bytes
    assert model.score(X, y) > whole.score(X, y) - 0.03
    assert_ships(model, X, tmp_path)
    again = clone(model).fit(X[::-1], y[::-1])
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_a_linear_root_stays_and_forests_and_sparse_rows_are_pruned(moons):
    X, y = moons
    model = LDKLClassifier(4, linear_root=True, n_trees=2, pruning="l1", **QUICK).fit(X, y)
    assert len({len(tree.weights) for tree in model.predictor_.members}) == 1
    sparse = LDKLRegressor(4, pruning="l2", **QUICK).fit(csr_matrix(X), y)
    np.testing.assert_allclose(sparse.predict(X), sparse.predict(csr_matrix(X)), atol=1e-12)


def test_partial_fit_rejects_a_pruned_tree(moons):
    X, y = moons
    model = LDKLClassifier(6, pruning="l2", max_iter=40, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="cannot go on from a pruned tree"):
        model.partial_fit(X, y)


def test_ctrl_c_while_nodes_go_keeps_the_whole_model(moons, monkeypatch):
    def stop(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(pruning, "adapt_tree", stop)
    model = LDKLClassifier(4, pruning="l2", **QUICK)
    with pytest.raises(KeyboardInterrupt, match="the model before pruning is kept"):
        model.fit(*moons)
    assert len(model.predictor_.weights) == 31


def test_too_few_rows_to_hold_some_out_are_not_pruned(moons):
    X, y = moons
    tree = LDKLClassifier(3, pruning="l2", **QUICK).fit(X[:60], y[:60]).predictor_
    assert len(tree.weights) == 15
