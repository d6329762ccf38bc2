"""How well kernels do alone: machines, the share of rows they get right, and where."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.svm import SVC, SVR

from nearlinear.kernels import Gaussian, Linear
from nearlinear.solvers.localized.success import SingleKernel, learn_success, stratified_folds
from nearlinear.solvers.machine.bias import FreeBias
from nearlinear.solvers.machine.exchange import Exchange
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.machine.working_sets import WorkingSets

N_ROWS = 50


@pytest.fixture(scope="module")
def rows():
    X, y = make_moons(N_ROWS, noise=0.35, random_state=1)
    return X, 2.0 * y - 1.0


@pytest.fixture
def single(rows):
    def make(kernel=None, X=rows[0], machine=None, tol=1e-7):
        kernel = kernel or Gaussian(0.7)
        return SingleKernel(kernel, X, machine or WorkingSets(), FreeBias(), tol=tol, max_bytes=1e9)

    return make


@pytest.fixture
def problem(rows):
    return DualProblem.of_signs(rows[1], np.full(N_ROWS, 2.0))


def fold_machines(X, y, folds, **settings):
    """Scores of every row by scikit-learn's machine of all other folds."""
    scores = np.empty(len(y))
    for held in folds:
        kept = np.setdiff1d(np.arange(len(y)), held)
        scores[held] = SVC(tol=1e-7, **settings).fit(X[kept], y[kept]).decision_function(X[held])
    return scores


# --- machines of one kernel --------------------------------------------------------------------


def test_the_machine_is_that_of_the_kernel(single, problem, rows):
    X, y = rows
    machine = single().solve(problem)
    svc = SVC(gamma=0.7, C=2.0, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(
        y - machine.slack + machine.bias, svc.decision_function(X), atol=5e-3
    )


def test_a_machine_of_some_rows_scores_the_others(single, problem, rows):
    X, y = rows
    kept, held = np.arange(0, N_ROWS, 2), np.arange(1, N_ROWS, 2)
    machine = single().solve(problem.take(kept), kept)
    svc = SVC(gamma=0.7, C=2.0, tol=1e-7).fit(X[kept], y[kept])
    np.testing.assert_allclose(
        single().scores(machine, kept, held), svc.decision_function(X[held]), atol=5e-3
    )


def test_another_way_to_the_machine_may_be_named(single, problem, rows):
    machine = single(machine=Exchange(), tol=1e-4).solve(problem)
    plain = single().solve(problem)
    # the squared hinge has no bound on its coefficients
    assert np.abs(machine.dual_coef).max() != pytest.approx(np.abs(plain.dual_coef).max(), rel=0.01)


def test_a_regression_is_the_same_beside_both_machines(single, problem):
    values = DualProblem.of_values(problem.targets, np.ones(len(problem)), 0.1)
    found = [single(machine=kind).regress(values) for kind in (WorkingSets(), Exchange())]
    np.testing.assert_allclose(found[0].dual_coef, found[1].dual_coef, atol=1e-3)
    assert np.abs(found[1].dual_coef).max() <= 1.0


# --- success -----------------------------------------------------------------------------------


def test_the_share_is_that_of_the_rows_the_machine_gets_right(single, problem, rows):
    X, y = rows
    found = learn_success(single(), problem, np.ones(N_ROWS), C=1.0, epsilon=0.01)
    right = SVC(gamma=0.7, C=2.0, tol=1e-7).fit(X, y).predict(X) == y
    assert 0.7 < right.mean() < 1.0
    assert found.share == pytest.approx(right.mean())


def test_the_share_counts_rows_by_their_weight(single, problem, rows, rng):
    X, y = rows
    weight = rng.uniform(0.1, 3.0, N_ROWS)
    found = learn_success(single(), problem, weight, C=1.0, epsilon=0.01)
    right = SVC(gamma=0.7, C=2.0, tol=1e-7).fit(X, y).predict(X) == y
    assert found.share == pytest.approx(weight @ right / weight.sum())


def test_expected_success_is_support_vector_regression_of_what_is_right(single, problem, rows):
    X, y = rows
    found = learn_success(single(), problem, np.ones(N_ROWS), C=0.5, epsilon=0.05)
    right = (SVC(gamma=0.7, C=2.0, tol=1e-7).fit(X, y).predict(X) == y).astype(float)
    svr = SVR(gamma=0.7, C=0.5, epsilon=0.05, tol=1e-7).fit(X, right)
    np.testing.assert_allclose(found.expected, svr.predict(X), atol=1e-3)


def test_heavy_rows_pull_the_regression_harder(single, problem, rows, rng):
    X, y = rows
    weight = rng.uniform(0.1, 3.0, N_ROWS)
    found = learn_success(single(), problem, weight, C=0.5, epsilon=0.05)
    right = (SVC(gamma=0.7, C=2.0, tol=1e-7).fit(X, y).predict(X) == y).astype(float)
    svr = SVR(gamma=0.7, C=0.5, epsilon=0.05, tol=1e-7).fit(X, right, sample_weight=weight)
    np.testing.assert_allclose(found.expected, svr.predict(X), atol=1e-3)


def test_expected_success_at_the_rows_is_what_the_regression_says_of_them(single, problem):
    found = learn_success(single(), problem, np.ones(N_ROWS), C=1.0, epsilon=0.01)
    everyone = np.arange(N_ROWS)
    by_hand = single().scores(found.regression, everyone, everyone)
    np.testing.assert_allclose(found.expected, by_hand, atol=1e-9)


def test_constant_success_gives_a_constant_regression(single, rows):
    X, _ = rows
    y = np.where(X[:, 0] > np.median(X[:, 0]), 1.0, -1.0)
    apart = X + np.outer(y, [3.0, 0.0])
    problem = DualProblem.of_signs(y, np.full(N_ROWS, 10.0))
    found = learn_success(single(Linear(), apart), problem, np.ones(N_ROWS), C=1.0, epsilon=0.01)
    assert found.share == 1.0
    np.testing.assert_array_equal(found.regression.dual_coef, 0.0)
    np.testing.assert_allclose(found.expected, 1.0, atol=0.01)
    assert np.ptp(found.expected) == 0.0


def test_regressions_are_solved_by_pair_steps_whatever_solves_machines(single, problem):
    found = learn_success(
        single(machine=Exchange(), tol=1e-3), problem, np.ones(N_ROWS), C=1.0, epsilon=0.01
    )
    # the box of the ε-insensitive machine, whose coefficients sum to zero
    assert np.abs(found.regression.dual_coef).max() <= 1.0
    assert found.regression.dual_coef.sum() == pytest.approx(0.0, abs=1e-9)


# --- held-out rows -----------------------------------------------------------------------------


def test_success_of_held_out_rows_comes_from_machines_that_did_not_see_them(single, problem, rows):
    X, y = rows
    kernel = Gaussian(20.0)  # right on all rows that it has seen
    folds = stratified_folds(y, 5, np.random.RandomState(0))
    seen = learn_success(single(kernel), problem, np.ones(N_ROWS), C=1.0, epsilon=0.01)
    held = learn_success(single(kernel), problem, np.ones(N_ROWS), C=1.0, epsilon=0.01, folds=folds)
    right = fold_machines(X, y, folds, gamma=20.0, C=2.0) * y > 0
    assert held.share == pytest.approx(right.mean())
    assert held.share < seen.share - 0.1
    svr = SVR(gamma=20.0, C=1.0, epsilon=0.01, tol=1e-7).fit(X, right.astype(float))
    np.testing.assert_allclose(held.expected, svr.predict(X), atol=1e-3)


def test_labels_of_held_out_rows_do_not_reach_the_scores_on_them(single, rows):
    _, y = rows
    held = np.arange(0, N_ROWS, 5)
    wrong = y.copy()
    wrong[held] *= -1.0
    shares = []
    for signs in (y, wrong):
        problem = DualProblem.of_signs(signs, np.full(N_ROWS, 2.0))
        alone = np.zeros(N_ROWS)
        alone[held] = 1.0  # count the held-out rows only
        found = learn_success(single(), problem, alone, C=1.0, epsilon=0.01, folds=(held,))
        shares.append(found.share)
    # the same scores: what was right is wrong with labels turned over
    assert shares[0] == pytest.approx(1.0 - shares[1])


def test_the_machine_that_is_kept_has_seen_all_rows(single, problem, rows):
    folds = stratified_folds(rows[1], 5, np.random.RandomState(0))
    with_folds = learn_success(single(), problem, np.ones(N_ROWS), C=1.0, epsilon=0.01, folds=folds)
    plain = learn_success(single(), problem, np.ones(N_ROWS), C=1.0, epsilon=0.01)
    np.testing.assert_array_equal(with_folds.machine.dual_coef, plain.machine.dual_coef)


# --- folds -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_folds", [2, 3, 5])
def test_folds_are_disjoint_and_cover_all_rows(rows, n_folds):
    folds = stratified_folds(rows[1], n_folds, np.random.RandomState(0))
    assert len(folds) == n_folds
    np.testing.assert_array_equal(np.sort(np.concatenate(folds)), np.arange(N_ROWS))


@pytest.mark.parametrize("n_folds", [2, 3, 5])
def test_folds_have_both_signs_in_proportion(n_folds):
    y = np.where(np.arange(60) < 40, 1.0, -1.0)
    for fold in stratified_folds(y, n_folds, np.random.RandomState(0)):
        assert np.sum(y[fold] > 0) in (40 // n_folds, -(-40 // n_folds))
        assert np.sum(y[fold] < 0) in (20 // n_folds, -(-20 // n_folds))


def test_a_sign_with_fewer_rows_than_folds_is_missing_in_some(rng):
    y = np.where(np.arange(30) < 3, 1.0, -1.0)
    folds = stratified_folds(y, 5, np.random.RandomState(0))
    assert len(folds) == 5
    assert sorted(np.sum(y[fold] > 0) for fold in folds) == [0, 0, 1, 1, 1]


def test_a_sign_with_one_row_gives_no_folds():
    assert stratified_folds(np.array([1.0, -1.0, -1.0, -1.0]), 2, np.random.RandomState(0)) == ()


def test_every_machine_of_folds_sees_both_signs():
    y = np.where(np.arange(12) < 2, 1.0, -1.0)
    for fold in stratified_folds(y, 6, np.random.RandomState(0)):
        assert set(np.delete(y, fold)) == {-1.0, 1.0}


def test_folds_are_random_but_one_seed_gives_the_same(rows):
    one, same, other = (
        stratified_folds(rows[1], 5, np.random.RandomState(seed)) for seed in (0, 0, 1)
    )
    assert all(np.array_equal(a, b) for a, b in zip(one, same, strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(one, other, strict=True))
