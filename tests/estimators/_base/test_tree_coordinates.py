"""Trees found in scaled coordinates, as predictors of the user's rows and back."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.estimators._base.rows import TrainingRows
from nearlinear.estimators._base.task import Classification
from nearlinear.estimators._base.tree_coordinates import TreeCoordinates
from nearlinear.gates.trees.balanced import hard_paths
from nearlinear.solvers.trees.model import RowScaling
from nearlinear.solvers.trees.paths import path_scores
from nearlinear.solvers.trees.pruning import pruned_scores
from reference.tree_problem import make_projected, make_tree

each_kind = pytest.mark.parametrize("kind", ["tanh", "compositional", "indicator"])
each_form = pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])


@pytest.fixture
def X(rng):
    return 4.0 * rng.standard_normal((30, 5)) + [7.0, 0.0, 0.0, -3.0, 100.0]


def coordinates(X, scale=2.5, offset=-1.5):
    return TreeCoordinates(RowScaling.of(X, np.ones(X.shape[0])), scale, offset)


def models(kind):
    return make_tree(kind, 2, 2, n_features=5), make_projected(kind, 2)


@each_kind
@each_form
def test_a_predictor_gives_the_scores_of_its_tree_in_the_users_units(X, kind, form):
    found = coordinates(form(X))
    for model in models(kind):
        Z = model.rows(found.rows(form(X)))
        scores = path_scores(model, Z, hard_paths(Z, model.splits, 2))
        np.testing.assert_allclose(
            found.predictor(model)(form(X)), 2.5 * scores - 1.5, atol=1e-9
        )  # scores of size ten after sums of numbers of size a hundred


@each_kind
@pytest.mark.parametrize("gone", [[6], [1, 3, 4, 5]], ids=["a leaf", "most"])
def test_a_pruned_tree_takes_no_more_bytes_than_the_whole_one(X, kind, gone):
    found, kept = coordinates(X), np.ones(7, dtype=bool)
    kept[gone] = False
    for model in models(kind):
        whole, pruned = found.predictor(model), found.predictor(model, kept)
        assert pruned.cost.n_bytes <= whole.cost.n_bytes
        scores = 2.5 * pruned_scores(model, found.rows(X), kept) - 1.5
        np.testing.assert_allclose(pruned(X), scores, atol=1e-9)  # as above


@each_kind
def test_a_predictor_and_its_tree_have_the_same_scores(X, kind):
    found = coordinates(X)
    for model in models(kind):
        predictor = found.predictor(model)
        again = found.predictor(found.model(predictor, np.float64))
        np.testing.assert_allclose(again(X), predictor(X), atol=1e-9)  # as above


@pytest.mark.parametrize("kind", ["tanh", "compositional"])
def test_a_tree_comes_back_from_its_predictor(X, kind):
    found = coordinates(X)
    for model in models(kind):
        again = found.model(found.predictor(model), np.float64)
        for name in ("splits", "slopes", "weights"):
            np.testing.assert_allclose(getattr(again, name), getattr(model, name), atol=1e-10)
        if model.projection is not None:
            np.testing.assert_allclose(again.projection, model.projection, atol=1e-10)


@each_kind
def test_a_tree_comes_back_in_the_precision_asked_for(X, kind):
    found = coordinates(X)
    for model in models(kind):
        again = found.model(found.predictor(model), np.float32)
        assert again.splits.dtype == again.weights.dtype == np.float32
        assert model.projection is None or again.projection.dtype == np.float32


def test_targets_are_moved_and_scaled(X):
    rows = SimpleNamespace(X=X, targets=np.array([[-1.5], [1.0], [6.0]]))
    np.testing.assert_allclose(coordinates(X).targets(rows), [[0.0], [1.0], [3.0]])


def test_targets_of_classes_stay(X):
    rows = SimpleNamespace(X=X, targets=np.array([[-1.0], [1.0]]))
    assert coordinates(X, 1.0, 0.0).targets(rows) is rows.targets


@each_kind
@pytest.mark.parametrize("features", ["quadratic", np.sin], ids=["quadratic", "function"])
def test_a_tree_with_global_features_is_a_predictor_of_plain_rows_and_back(X, kind, features):
    rows = TrainingRows(X, None, np.ones((30, 2)), np.ones(30), 30, Classification(np.arange(3)))
    parameters = SimpleNamespace(global_features=features, solver="adam")
    found = TreeCoordinates.of(parameters, rows)
    Z, n_seen = found.rows(X), found.n_seen
    assert n_seen == 6
    assert Z.shape[1] == 6 + (15 if features == "quadratic" else 5)
    np.testing.assert_allclose(Z[:, :-6].std(axis=0), 1.0)
    wide = make_tree(kind, 2, 2, n_features=Z.shape[1] - 1)
    splits, slopes = wide.splits[:, -6:].copy(), wide.slopes[:, -6:].copy()
    model = replace(wide, splits=splits, slopes=slopes)
    scores = path_scores(model, Z, hard_paths(Z, model.splits, 2))
    predictor = found.predictor(model)
    np.testing.assert_allclose(predictor(X), scores, atol=1e-9)
    again = found.predictor(found.model(predictor, np.float64))
    np.testing.assert_allclose(again(X), scores, atol=1e-9)
