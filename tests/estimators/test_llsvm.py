"""LLSVM and LCC+SVM: optima, limits and settings."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from nearlinear import LCCSVMClassifier, LLSVMClassifier
from nearlinear.gates.anchors import (
    InverseDistance,
    ReconstructionCodes,
    SoftAssignment,
    default_sharpness,
)
from reference import codes, kronecker
from reference.svm import solve_dual

# Solved far enough that scores are known to about √(2 tol × objective) = 0.003.
EXACT = {"tol": 1e-7, "max_iter": 20_000}
both = pytest.mark.parametrize("method", [LLSVMClassifier, LCCSVMClassifier])
each_loss = pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])


def odd_machine(gram, y, C):
    """SVC without a bias: each row once more, mirrored with its label, makes the bias zero."""
    mirrored = np.block([[gram, -gram], [-gram, gram]])
    return SVC(C=C / 2, kernel="precomputed", tol=1e-6).fit(mirrored, np.r_[y, -y])


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_llsvm_is_the_kernel_machine_of_its_codes(moons, rng, C):
    X, y = moons
    model = LLSVMClassifier(6, 3, C=C, random_state=0, **EXACT).fit(X, y)
    gamma = codes.soft(X, model.anchors_, 3, model.sharpness_)
    machine = odd_machine(kronecker.kernel(X, gamma), 2 * y - 1, C)
    queries = rng.standard_normal((30, 2))
    gamma_q = codes.soft(queries, model.anchors_, 3, model.sharpness_)
    cross = kronecker.kernel(queries, gamma_q, X, gamma)
    np.testing.assert_allclose(
        model.decision_function(queries),
        machine.decision_function(np.hstack([cross, -cross])),
        atol=0.01,
    )


def test_squared_hinge_llsvm_is_the_kernel_machine_of_its_codes(moons):
    X, y = moons[0][:100], moons[1][:100]
    model = LLSVMClassifier(5, 3, C=2.0, loss="squared_hinge", random_state=0, **EXACT).fit(X, y)
    gram = kronecker.kernel(X, codes.soft(X, model.anchors_, 3, model.sharpness_))
    alpha, _ = solve_dual(gram, 2 * y - 1, np.full(100, np.inf), np.full(100, 0.25))
    np.testing.assert_allclose(model.decision_function(X), gram @ (alpha * (2 * y - 1)), atol=0.01)


def test_lcc_is_a_linear_svm_on_the_codes(moons):
    X, y = moons
    model = LCCSVMClassifier(12, 4, random_state=0, **EXACT).fit(X, y)
    gamma = codes.reconstruction(X, model.anchors_, 4)
    linear = LinearSVC(loss="hinge", fit_intercept=False, dual=True, tol=1e-8, max_iter=1_000_000)
    np.testing.assert_allclose(
        model.decision_function(X), linear.fit(gamma, y).decision_function(gamma), atol=0.01
    )


def test_one_anchor_is_the_linear_svm(moons):
    X, y = moons
    model = LLSVMClassifier(1, **EXACT).fit(X, y)
    linear = LinearSVC(loss="hinge", dual=True, tol=1e-8, max_iter=1_000_000).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), linear.decision_function(X), atol=0.01)


def test_one_anchor_with_the_log_loss_is_logistic_regression(blobs):
    X, y = blobs
    model = LLSVMClassifier(1, loss="log_loss", **EXACT).fit(X, y)
    augmented = np.hstack([X, np.ones((len(X), 1))])
    logistic = LogisticRegression(fit_intercept=False, tol=1e-8, max_iter=10_000)
    np.testing.assert_allclose(
        model.predict_proba(X), logistic.fit(augmented, y).predict_proba(augmented), atol=1e-3
    )  # both stop at a small gradient


def test_flat_codes_of_all_anchors_are_one_linear_svm(moons):
    X, y = moons
    # f = ⟨w, x⟩ + b with w the mean of m equal models, whose norm counts m times
    model = LLSVMClassifier(5, 5, sharpness=1e-9, C=5 * 0.3, random_state=0, **EXACT).fit(X, y)
    linear = LinearSVC(C=0.3, loss="hinge", dual=True, tol=1e-8, max_iter=1_000_000).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), linear.decision_function(X), atol=0.01)


def test_several_classes_are_one_against_the_rest_on_shared_anchors(blobs):
    X, y = blobs
    together = LLSVMClassifier(6, n_neighbors=3, random_state=0, **EXACT).fit(X, y)
    for c in range(3):
        alone = LLSVMClassifier(6, n_neighbors=3, random_state=0, **EXACT)
        np.testing.assert_allclose(
            together.decision_function(X)[:, c],
            alone.fit(X, y == c).decision_function(X),
            atol=0.01,
        )


@both
@each_loss
def test_the_gap_is_below_the_tolerance(method, loss, blobs):
    model = method(8, 3, loss=loss, tol=1e-3, max_iter=2000, random_state=0).fit(*blobs)
    objective = 180 * 3  # at most, since saying nothing costs as much
    assert 0 <= model.duality_gap_ <= 1e-3 * objective
    assert model.n_iter_ < 2000


@both
def test_too_few_epochs_are_reported_with_the_gap_reached(method, moons):
    with pytest.warns(ConvergenceWarning, match=f"{method.__name__} stopped at .* duality gap"):
        method(8, C=1e4, tol=1e-9, max_iter=2, random_state=0).fit(*moons)


@both
@pytest.mark.parametrize("coding", ["soft", "inverse", "reconstruction"])
def test_each_coding_learns_with_its_own_gate(method, coding, moons):
    gates = {
        "soft": SoftAssignment, "inverse": InverseDistance, "reconstruction": ReconstructionCodes,
    }  # fmt: skip
    model = method(15, 4, coding=coding, C=10.0, random_state=0).fit(*moons)
    assert type(model.predictor_.gate) is gates[coding]
    assert model.score(*moons) > 0.93


def test_the_usual_codings_are_those_of_the_papers(moons):
    assert type(LLSVMClassifier().fit(*moons).predictor_.gate) is SoftAssignment
    assert type(LCCSVMClassifier().fit(*moons).predictor_.gate) is ReconstructionCodes


def test_lcc_has_constants_and_no_weights(blobs):
    model = LCCSVMClassifier(9, random_state=0).fit(*blobs)
    assert model.predictor_.weights.shape == (9, 0, 3)
    assert model.predictor_.biases.shape == (9, 3)


@both
@pytest.mark.parametrize("data", ["moons", "blobs"])
def test_compiled_scores_are_the_plain_ones(method, data, request):
    X, y = request.getfixturevalue(data)
    model = method(10, random_state=0).fit(X, y)
    scores = model.decision_function(X).reshape(len(X), -1)
    np.testing.assert_allclose(scores, model.predictor_.plain(X), atol=1e-9)


def test_sharpness_is_relative_to_the_spread_of_distances(moons):
    X, y = moons
    one, three = (
        LLSVMClassifier(8, sharpness=factor, random_state=0).fit(X, y) for factor in (1.0, 3.0)
    )
    assert three.sharpness_ == pytest.approx(3 * one.sharpness_)
    spread = default_sharpness(one.anchors_, 8, X)
    assert one.sharpness_ == pytest.approx(spread)
    assert default_sharpness(10 * one.anchors_, 8, 10 * X) == pytest.approx(spread / 100)


@both
def test_quiet_fits_print_nothing(method, moons, capsys):
    method(8, random_state=0).fit(*moons)
    assert capsys.readouterr().out == ""


def test_cost_counts_anchors_and_active_models(moons):
    cost = LLSVMClassifier(8, 3, random_state=0).fit(*moons).cost_
    assert cost.multiply_adds == 8 * 2 + 3 * (2 + 1)


def test_the_sharpness_does_not_hang_on_the_last_digits_of_the_rows(rng):
    X = np.exp(1.5 * rng.standard_normal((4000, 2)))
    noisy = X * (1.0 + 1e-13 * rng.standard_normal(X.shape))
    found = [default_sharpness(X[:30], 8, rows) for rows in (X, noisy)]
    assert found[1] == pytest.approx(found[0], rel=1e-6)
