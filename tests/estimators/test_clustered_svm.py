"""CSVM: the equivalent kernel and the two limits of its alignment."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.svm import LinearSVC

from nearlinear import ClusteredSVMClassifier
from reference.svm import solve_dual

# Solved far enough that scores are known to about √(2 tol × objective) ‖z‖ = 0.01.
EXACT = {"tol": 1e-8, "max_iter": 100_000, "random_state": 0}


def linear_svm(C):
    return LinearSVC(C=C, loss="hinge", dual=True, tol=1e-8, max_iter=5_000_000)


def clusters_of(model, X):
    return cdist(X, model.predictor_.gate.anchors).argmin(axis=1)


@pytest.fixture(scope="module")
def overlapping():
    """Noisy labels, so that every cluster has rows of both classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 2))
    return X, (X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(120) > 0).astype(int)


@pytest.mark.parametrize("alignment", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_scores_are_those_of_the_equivalent_kernel(overlapping, alignment, loss):
    X, y = overlapping
    model = ClusteredSVMClassifier(4, alignment=alignment, loss=loss, C=0.5, **EXACT).fit(X, y)
    cluster = clusters_of(model, X)
    together = cluster[:, None] == cluster
    gram = (1.0 / alignment + together) * (X @ X.T + 1.0)
    box = (
        (np.full(120, 0.5), np.zeros(120))
        if loss == "hinge"
        else (np.full(120, np.inf), np.ones(120))
    )
    alpha, _ = solve_dual(gram, 2 * y - 1, *box)
    np.testing.assert_allclose(model.decision_function(X), gram @ (alpha * (2 * y - 1)), atol=0.02)


def test_without_alignment_every_cluster_has_its_own_machine(overlapping):
    X, y = overlapping
    model = ClusteredSVMClassifier(3, alignment=1e9, C=0.5, **EXACT).fit(X, y)
    cluster = clusters_of(model, X)
    for label in range(3):
        rows = cluster == label
        alone = linear_svm(0.5).fit(X[rows], y[rows])
        np.testing.assert_allclose(
            model.decision_function(X[rows]), alone.decision_function(X[rows]), atol=0.02
        )


def test_with_full_alignment_all_clusters_share_one_machine(overlapping):
    X, y = overlapping
    # λ → 0 frees the common model; C = C′ λ keeps it where C′ alone would put it
    model = ClusteredSVMClassifier(3, alignment=1e-5, C=0.5e-5, **EXACT).fit(X, y)
    alone = linear_svm(0.5).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=0.02)


def test_one_cluster_is_one_machine(overlapping):
    X, y = overlapping
    # kernel (1 / λ + 1) ⟨x, x′⟩, so the cost counts (1 / λ + 1) times
    model = ClusteredSVMClassifier(1, alignment=0.5, C=0.1, **EXACT).fit(X, y)
    alone = linear_svm(0.1 * 3.0).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=0.02)


def test_a_row_is_answered_by_the_model_of_its_cluster(blobs):
    X, y = blobs
    model = ClusteredSVMClassifier(5, random_state=0).fit(X, y)
    predictor, cluster = model.predictor_, clusters_of(model, X)
    expected = [x @ predictor.weights[c] + predictor.biases[c] for x, c in zip(X, cluster)]
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-10)


def test_compiled_scores_are_the_plain_ones(blobs):
    X, y = blobs
    model = ClusteredSVMClassifier(5, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), model.predictor_.plain(X), atol=1e-10)


def test_the_log_loss_aligns_clusters_too(blobs):
    X, y = blobs
    apart = ClusteredSVMClassifier(4, alignment=100.0, loss="log_loss", random_state=0).fit(X, y)
    near = ClusteredSVMClassifier(4, alignment=0.01, loss="log_loss", random_state=0).fit(X, y)

    def spread(model):
        weights = model.predictor_.weights
        return np.linalg.norm(weights - weights.mean(axis=0)) / np.linalg.norm(weights)

    assert spread(near) < 0.5 * spread(apart)


def test_the_gap_is_below_the_tolerance(overlapping):
    model = ClusteredSVMClassifier(4, tol=1e-4, max_iter=10_000, random_state=0).fit(*overlapping)
    assert 0 <= model.duality_gap_ <= 1e-4 * 120
    assert model.n_iter_ < 10_000


def test_cost_counts_centers_and_one_model(blobs):
    cost = ClusteredSVMClassifier(5, random_state=0).fit(*blobs).cost_
    assert cost.multiply_adds == 5 * 4 + (4 + 1) * 3
