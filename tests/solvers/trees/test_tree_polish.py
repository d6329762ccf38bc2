"""Weights at fixed paths, against optima found by other libraries."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from nearlinear.gates.trees.balanced import hard_paths
from nearlinear.losses import LOSSES, EpsilonInsensitive, SquaredError
from nearlinear.solvers.trees.paths import can_polish, path_scores, polish_weights
from reference import tree
from reference.tree_problem import SIGMA, make_projected, make_rows, make_tree

each_kind = pytest.mark.parametrize("kind", ["tanh", "compositional", "indicator"])
each_depth = pytest.mark.parametrize("depth", [0, 2])
POLISHABLE = {
    "hinge": LOSSES["hinge"],
    "squared_hinge": LOSSES["squared_hinge"],
    "log_loss": LOSSES["log_loss"],
    "squared_error": SquaredError(),
}
each_loss = pytest.mark.parametrize("loss", POLISHABLE.values(), ids=POLISHABLE)
C, N_ROWS = 0.7, 80


@pytest.fixture
def data():
    """Rows, ±1 targets and weights, with a rule that weights can learn."""
    Z, _, weight = make_rows(n_rows=N_ROWS)
    targets = np.where(Z[:, 0] * Z[:, 1] + 0.3 * Z[:, 2] > 0, 1.0, -1.0)[:, None]
    return Z, targets, weight


def polish(model, Z, targets, weight, loss, **settings):
    return polish_weights(
        model, Z, targets, weight, loss=loss, C=C, rng=np.random.RandomState(0), **settings
    )


def objective(model, Z, targets, weight, loss):
    """½ ‖W‖² + C Σ w loss at hard paths."""
    scores = path_scores(model, Z, hard_paths(Z, model.splits, model.depth))
    return 0.5 * np.sum(model.weights**2) + C * weight @ loss.value(scores, targets)


def gated_rows(model, kind, Z):
    """The features c_k(z) z of all nodes side by side, zero off the path."""
    out = np.zeros((len(Z), len(model.weights), Z.shape[1]))
    for i, z in enumerate(Z):
        for node in tree.path(z, model.splits, model.depth):
            out[i, node] = tree.feature(z, node, kind, model.splits, model.slopes, SIGMA) * z
    return out.reshape(len(Z), -1)


@each_depth
@each_kind
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_margin_losses_reach_the_optimum_of_a_linear_svm(data, kind, depth, loss):
    Z, targets, weight = data
    model = make_tree(kind, depth)
    svm = LinearSVC(loss=loss, C=C, fit_intercept=False, tol=1e-8, max_iter=100_000)
    svm.fit(gated_rows(model, kind, Z), targets[:, 0], sample_weight=weight)
    scores = gated_rows(model, kind, Z) @ svm.coef_.T
    expected = 0.5 * np.sum(svm.coef_**2) + C * weight @ LOSSES[loss].value(scores, targets)
    found = objective(polish(model, *data, LOSSES[loss]), *data, LOSSES[loss])
    assert found == pytest.approx(expected, rel=1e-3)  # the relative gap at which polishing ends


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
def test_another_constant_feature_is_penalized_as_it_stands_in_the_rows(data, loss):
    Z, targets, weight = data
    Z[:, -1] = 4.0
    model, loss = make_tree("tanh"), LOSSES[loss]
    best = objective(polish(model, *data, loss), *data, loss)
    wide = gated_rows(model, "tanh", Z)

    def value(weights):
        scores = (wide @ weights)[:, None]
        return 0.5 * weights @ weights + C * weight @ loss.value(scores, targets)

    found = minimize(value, np.zeros(wide.shape[1]), method="BFGS").fun
    assert best == pytest.approx(found, rel=2e-3)  # stopped at a gap of 1e-3


@each_depth
@each_kind
def test_the_log_loss_reaches_the_optimum_of_logistic_regression(data, kind, depth):
    Z, targets, weight = data
    model = make_tree(kind, depth)
    other = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=10_000)
    other.fit(gated_rows(model, kind, Z), targets[:, 0], sample_weight=weight)
    found = polish(model, *data, LOSSES["log_loss"]).weights.ravel()
    np.testing.assert_allclose(found, other.coef_[0], atol=0.02)  # stopped at 1e-6 of the objective


@each_depth
@each_kind
def test_the_squared_error_reaches_the_optimum_of_ridge_regression(data, kind, depth, rng):
    Z, _, weight = data
    values = rng.standard_normal((N_ROWS, 1))
    model = make_tree(kind, depth)
    other = Ridge(alpha=1.0 / C, fit_intercept=False)
    other.fit(gated_rows(model, kind, Z), values[:, 0], sample_weight=weight)
    found = polish(model, Z, values, weight, SquaredError()).weights.ravel()
    np.testing.assert_allclose(found, other.coef_, atol=0.02)  # as above


@each_kind
@each_loss
def test_the_objective_falls(data, kind, loss):
    model = make_tree(kind)
    assert objective(polish(model, *data, loss), *data, loss) < objective(model, *data, loss)


@each_kind
@each_loss
def test_an_optimum_is_not_left(data, kind, loss):
    best = polish(make_tree(kind), *data, loss)
    again = objective(polish(best, *data, loss), *data, loss)
    assert again <= objective(best, *data, loss) * (1.0 + 1e-9)


@each_loss
def test_several_outputs_are_polished_together(loss):
    Z, targets, weight = make_rows(3, N_ROWS)
    model = make_tree("tanh", 2, 3)
    polished = polish(model, Z, targets, weight, loss)
    assert polished.weights.shape == model.weights.shape
    before, after = (objective(each, Z, targets, weight, loss) for each in (model, polished))
    assert after < 0.5 * before


@each_kind
def test_splits_and_slopes_stay(data, kind):
    model = make_tree(kind)
    polished = polish(model, *data, LOSSES["hinge"])
    assert polished.splits is model.splits
    assert polished.slopes is model.slopes


@each_loss
def test_sparse_rows_are_polished_as_dense_ones(data, loss):
    Z, targets, weight = data
    model = make_tree("tanh")
    found = [
        objective(polish(model, form(Z), targets, weight, loss), *data, loss)
        for form in (np.asarray, csr_matrix)
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-3)  # the gap at which polishing ends


@each_loss
def test_float32_stays_float32(data, loss):
    Z, targets, weight = data
    model = make_tree("tanh", dtype=np.float32)
    found = polish(model, Z.astype(np.float32), targets.astype(np.float32), weight, loss)
    assert found.weights.dtype == np.float32


def test_the_number_of_threads_does_not_change_a_bit():
    Z, targets, weight = make_rows(3, N_ROWS)
    model = make_tree("tanh", 2, 3)
    one, two = (
        polish(model, Z, targets, weight, LOSSES["hinge"], n_jobs=n_jobs) for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.weights, two.weights)


def test_losses_without_a_solver_cannot_be_polished():
    assert [name for name, loss in LOSSES.items() if not can_polish(loss)] == ["crammer_singer"]
    assert can_polish(SquaredError())
    assert not can_polish(EpsilonInsensitive(0.1))


def test_projected_rows_are_polished_as_they_are_seen():
    Z, targets, weight = make_rows(1, N_ROWS, n_features=5)
    model = make_projected("tanh")
    bare = make_tree("tanh")
    found = polish(model, Z, targets, weight, LOSSES["log_loss"])
    expected = polish(bare, model.rows(Z), targets, weight, LOSSES["log_loss"])
    np.testing.assert_array_equal(found.weights, expected.weights)
    assert found.projection is model.projection
