"""LLSVM and LCC+SVM: optima, limits and settings."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from nearlinear import LCCSVMClassifier, LLSVMClassifier
from nearlinear.gates.anchors import InverseDistance, ReconstructionCodes, SoftAssignment
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
    anchors = X[:6].copy()
    together = LLSVMClassifier(anchors=anchors, n_neighbors=3, random_state=0, **EXACT).fit(X, y)
    for c in range(3):
        alone = LLSVMClassifier(anchors=anchors, n_neighbors=3, random_state=1, **EXACT)
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

    def sharpness(scale, **settings):
        return LLSVMClassifier(anchors=scale * X[:8], **settings).fit(scale * X, y).sharpness_

    assert sharpness(1, sharpness=3.0) == pytest.approx(3 * sharpness(1))
    assert sharpness(10) == pytest.approx(sharpness(1) / 100)


def test_given_anchors_are_used_and_left_alone(moons):
    X, y = moons
    anchors = X[:7].copy()
    model = LLSVMClassifier(anchors=anchors).fit(X, y)
    np.testing.assert_array_equal(model.anchors_, anchors)
    assert model.anchors_ is not anchors


def test_class_balanced_anchors_serve_a_rare_class(rng):
    X = np.vstack([rng.standard_normal((195, 2)), [8.0, 8.0] + 0.1 * rng.standard_normal((5, 2))])
    y = np.r_[np.zeros(195, int), np.ones(5, int)]
    anchors = LLSVMClassifier(6, anchors="class_balanced", random_state=0).fit(X, y).anchors_
    assert cdist(anchors, X[195:].mean(axis=0)[None]).min() < 0.1


def test_class_balanced_anchors_serve_every_class(blobs):
    X, y = blobs
    weight = np.where(y == 1, 1e-4, 1.0)  # nearly nothing
    model = LLSVMClassifier(6, anchors="class_balanced", random_state=0)
    anchors = model.fit(X, y, sample_weight=weight).anchors_
    means = [np.average(X[y == c], axis=0) for c in range(3)]
    assert cdist(anchors, [means[1]]).min() < 1e-6  # its one anchor is its mean


@both
@each_loss
def test_a_warm_start_saves_epochs(method, loss, moons):
    model = method(8, 3, loss=loss, warm_start=True, tol=1e-5, max_iter=5000, random_state=0)
    cold = model.fit(*moons).n_iter_
    scores = model.decision_function(moons[0])
    warm = model.fit(*moons).n_iter_
    assert warm < cold
    # two ends inside a gap of 1e-5 of the objective
    np.testing.assert_allclose(model.decision_function(moons[0]), scores, atol=0.1)


@both
def test_a_warm_start_keeps_the_anchors(method, moons):
    model = method(8, warm_start=True).fit(*moons)
    anchors = model.anchors_.copy()
    np.testing.assert_array_equal(model.fit(*moons).anchors_, anchors)


def test_a_warm_start_with_another_cost_ends_where_a_cold_one_does(moons):
    X, y = moons
    settings = {"anchors": X[:6].copy(), "n_neighbors": 3, "random_state": 0, **EXACT}
    warm = LLSVMClassifier(C=0.1, warm_start=True, **settings).fit(X, y)
    warm.set_params(C=5.0).fit(X, y)
    cold = LLSVMClassifier(C=5.0, **settings).fit(X, y)
    np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=0.02)


def test_a_warm_start_takes_other_classes_and_other_features(moons, blobs):
    model = LLSVMClassifier(8, warm_start=True, random_state=0).fit(*moons).fit(*blobs)
    assert model.score(*blobs) > 0.75
    assert model.fit(*moons).score(*moons) > 0.85


@both
def test_verbose_prints_the_certificate(method, moons, capsys):
    method(8, verbose=1, random_state=0).fit(*moons)
    printed = capsys.readouterr().out
    assert printed.startswith(f"{method.__name__}: epoch ")
    assert " s, objective " in printed
    assert "gap" in printed


@both
def test_quiet_fits_print_nothing(method, moons, capsys):
    method(8, random_state=0).fit(*moons)
    assert capsys.readouterr().out == ""


def test_cost_counts_anchors_and_active_models(moons):
    cost = LLSVMClassifier(8, 3, random_state=0).fit(*moons).cost_
    assert cost.multiply_adds == 8 * 2 + 3 * (2 + 1)


def test_the_sharpness_does_not_hang_on_the_last_digits_of_the_rows(rng):
    X = np.exp(1.5 * rng.standard_normal((4000, 2)))
    y = X[:, 0] > 1.0
    found = [
        LLSVMClassifier(anchors=X[:30], coding="soft", max_iter=5, tol=1.0)
        .fit(rows, y)
        .predictor_.gate.sharpness
        for rows in (X, X * (1.0 + 1e-13 * rng.standard_normal(X.shape)))
    ]
    assert found[1] == pytest.approx(found[0], rel=1e-6)
