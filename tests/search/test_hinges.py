"""Hinge units in a search: fits, their price, Ctrl-C, and where a model of them goes."""

from inspect import signature

import numpy as np
import pytest
from search.test_near_linear import table
from sklearn.neural_network import MLPClassifier

import nearlinear
from nearlinear import config_context
from nearlinear.estimators._base.input import fit_rows
from nearlinear.search import search
from nearlinear.search.candidates import Hinges, Shape
from nearlinear.search.portfolio import LINEAR


def rows_of(X, y, kind=nearlinear.NearLinearClassifier, weight=None):
    return fit_rows(kind(), X.astype(np.float32), y, weight)


@pytest.fixture
def X(rng):
    return rng.uniform(-1, 1, (600, 2))


def test_several_values_have_their_own_units(X):
    Y = np.column_stack([np.abs(X[:, 0]), 1e4 + 1e3 * np.abs(X[:, 1])])
    rows = rows_of(X, Y, nearlinear.NearLinearRegressor)
    found = Hinges(8).fit(rows, 0, None)(rows.X)
    errors = ((found - rows.targets) ** 2).mean(axis=0) / rows.targets.var(axis=0)
    assert found.dtype == np.float32
    assert np.all(errors < 0.02)


# NumPy 2.2 and 2.3 convert an array of one element to a scalar with a DeprecationWarning. As an
# error it would stop the conversion.
AS_OUTSIDE_OF_TESTS = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@AS_OUTSIDE_OF_TESTS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_logarithms_of_odds(X, n_classes):
    rows = rows_of(X, np.digitize(np.abs(X[:, 0]), [0.5, 0.8][: n_classes - 1]))
    predictor = Hinges(8, 2).fit(rows, 0, None)
    scores = predictor(rows.X)
    if n_classes == 2:
        scores = np.column_stack([0 * scores, scores])
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert -np.log(chances[np.arange(len(chances)), rows.labels]).mean() < 0.2
    told = Hinges(8, 2).cost(Shape(*rows.X.shape, predictor.n_outputs, True))
    assert told == predictor.cost


@AS_OUTSIDE_OF_TESTS
def test_one_feature_one_unit_and_one_target_give_arrays(X):
    rows = rows_of(X[:, :1], 3.0 * X[:, 0], nearlinear.NearLinearRegressor)
    predictor = Hinges(1).fit(rows, 0, None)
    assert [part.shape for part in predictor.weights] == [(1, 1), (1, 1)]
    assert predictor(rows.X).shape == (len(X), 1)


@pytest.mark.skipif(
    "sample_weight" not in signature(MLPClassifier.fit).parameters,
    reason="needs scikit-learn 1.7",
)
def test_weights_are_copies_and_a_seed_gives_the_same_bits(X):
    y, times = X[:, 0] > X[:, 1] ** 2, np.arange(len(X)) % 3 + 1
    copies = rows_of(np.repeat(X, times, axis=0), np.repeat(y, times))
    weighed = rows_of(X, y, weight=times)
    fits = [Hinges(4).fit(rows, seed, None) for rows, seed in ((copies, 1), (weighed, 1))]
    for name in ("weights", "biases"):
        for one, other in zip(*(getattr(fit, name) for fit in fits), strict=True):
            assert np.array_equal(one, other)


def test_old_scikit_learn_takes_no_weights(X, monkeypatch):
    monkeypatch.setattr(MLPClassifier, "fit", lambda self, X, y: self)
    rows = rows_of(X, X[:, 0] > 0, weight=np.arange(len(X)) % 3 + 1)
    with pytest.raises(ValueError, match=r"need scikit-learn 1\.7"):
        Hinges(4).fit(rows, 0, None)


def test_ctrl_c_is_heard(X, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(MLPClassifier, "_backprop", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Hinges(4).fit(rows_of(X, X[:, 0] > 0), 0, None)


def test_a_search_ships_them_and_explains_raw_columns(tmp_path, monkeypatch):
    monkeypatch.setattr(search, "portfolio", lambda *told, **more: [LINEAR, Hinges(16)])
    X, value = table(400)
    model = nearlinear.NearLinearClassifier(random_state=0, max_bytes=4000).fit(X, value > 2)
    assert type(model.predictor_).__name__ == "Hinges"
    scores = model.decision_function(X)
    nearlinear.save(model, tmp_path / "model.nlm")
    read = nearlinear.runtime.load(tmp_path / "model.nlm")
    plain = X.astype(object).where(X.notna(), None).to_numpy()
    np.testing.assert_allclose(read.decision_function(plain), scores, atol=1e-4)
    told = model.explain(X)
    assert told.feature_names == tuple(X.columns)
    total = told.contributions.sum(axis=2) + told.intercepts
    np.testing.assert_allclose(total[:, 0], scores, atol=1e-4)


def test_memory_is_refused_before_the_fit(X):
    words = "give fewer rows or columns"
    with config_context(max_memory=1000), pytest.raises(MemoryError, match=words):
        Hinges(4).fit(rows_of(X, X[:, 0] > 0), 0, None)
