"""C-LMKL: one cluster is multiple kernel learning; weights and clusters against their formulas."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.svm import SVC

from nearlinear import ConvexLMKLClassifier, SimpleMKLClassifier, config_context
from nearlinear.estimators import convex_lmkl
from nearlinear.kernels import Gaussian, Linear, Polynomial, Scaled
from nearlinear.kernels.grams import Grams

KERNELS = [Gaussian(0.2), Gaussian(2.0), Linear(), Polynomial(2, gamma=0.5)]
EACH_P = pytest.mark.parametrize("p", [1.0, 4 / 3, 3.0])


def make(kernels=KERNELS, **settings):
    settings = {"C": 2.0, "normalization": None, "random_state": 0, "n_clusters": 2} | settings
    return ConvexLMKLClassifier(kernels, **settings)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((90, 3))
    return X, (np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] > 0.1).astype(int)


@pytest.fixture
def sharpness(monkeypatch):
    """Multiply the sharpness of the clusters by a factor."""
    usual = convex_lmkl._sharpness

    def multiply(factor):
        monkeypatch.setattr(convex_lmkl, "_sharpness", lambda scores: factor * usual(scores))

    return multiply


def places(support, X):
    """Which rows of X the support rows are."""
    return np.argmax((support[:, None] == X).all(axis=2), axis=1)


def distances_to_clusters(gram, labels, weight=None):
    """Squared distances in the kernel's space, of the rows to the means of the clusters."""
    weight = np.ones(len(gram)) if weight is None else weight
    found = []
    for cluster in np.unique(labels):
        share = np.where(labels == cluster, weight, 0.0)
        share = share / share.sum()
        found.append(np.diag(gram) - 2.0 * gram @ share + share @ gram @ share)
    return np.array(found).T


# --- limits ------------------------------------------------------------------------------------


@EACH_P
def test_one_cluster_is_multiple_kernel_learning(data, p):
    X, y = data
    local = make(n_clusters=1, p=p, tol=1e-5).fit(X, y)
    plain = SimpleMKLClassifier(KERNELS, C=2.0, normalization=None, p=p, tol=1e-5).fit(X, y)
    assert local.objective_ == pytest.approx(plain.objective_, rel=2e-5)
    np.testing.assert_allclose(local.kernel_weights_, [plain.kernel_weights_], atol=0.01)
    np.testing.assert_allclose(local.decision_function(X), plain.decision_function(X), atol=0.03)


@EACH_P
def test_soft_clusters_without_sharpness_are_multiple_kernel_learning(data, p, sharpness):
    X, y = data
    sharpness(1e-8)
    local = make(n_clusters=3, p=p, tol=1e-5).fit(X, y)
    # every cluster answers with a third: three times a ninth of the same kernel
    kernels = [Scaled(kernel, 1 / 3) for kernel in KERNELS]
    plain = SimpleMKLClassifier(kernels, C=2.0, normalization=None, p=p, tol=1e-5).fit(X, y)
    np.testing.assert_allclose(local.gate_(X), 1 / 3, atol=1e-6)
    assert local.objective_ == pytest.approx(plain.objective_, rel=3e-5)
    np.testing.assert_allclose(local.decision_function(X), plain.decision_function(X), atol=0.05)


@EACH_P
def test_one_kernel_and_one_cluster_give_the_support_vector_machine(moons, p):
    X, y = moons
    model = make(Gaussian(0.7), n_clusters=1, p=p, tol=1e-6).fit(X, y)
    svc = SVC(gamma=0.7, C=2.0, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(X), atol=0.02)


def test_one_kernel_and_clusters_give_the_machine_of_the_gated_kernel(data):
    X, y = data
    model = make(Gaussian(0.7), tol=1e-6).fit(X, y)
    shares = model.gate_(X)
    gram = shares @ shares.T * Gaussian(0.7)(X)
    svc = SVC(kernel="precomputed", C=2.0, tol=1e-6).fit(gram, y)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(gram), atol=0.02)
    np.testing.assert_allclose(model.kernel_weights_, 1.0)


def test_hard_clusters_learn_as_if_alone_but_for_the_bias(data, sharpness):
    X, y = data
    sharpness(1e6)
    model = make(tol=1e-5).fit(X, y)
    shares = model.gate_(X)
    np.testing.assert_allclose(shares.max(axis=1), 1.0, atol=1e-6)
    # a cluster's kernels do not meet another cluster's rows
    inside, outside = X[shares[:, 0] > 0.5], X[shares[:, 1] > 0.5]
    gates = model.predictor_.gate(np.vstack([inside[:1], outside[:1]]))
    np.testing.assert_allclose(gates[:, :4], [[1.0] * 4, [0.0] * 4], atol=1e-6)


# --- the optimum -------------------------------------------------------------------------------


@EACH_P
@pytest.mark.parametrize("n_clusters", [2, 3])
def test_weights_of_every_cluster_lie_on_the_ball_of_p(data, n_clusters, p):
    X, y = data
    model = make(n_clusters=n_clusters, p=p).fit(X, y)
    assert model.kernel_weights_.shape == (n_clusters, 4)
    assert model.kernel_weights_.min() >= 0.0
    np.testing.assert_allclose((model.kernel_weights_**p).sum(axis=1), 1.0)


@EACH_P
@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_the_gap_is_below_the_tolerance(data, p, tol):
    model = make(p=p, tol=tol).fit(*data)
    assert 0.0 <= model.duality_gap_ <= tol * model.objective_


@EACH_P
def test_the_objective_and_its_gap_are_those_of_the_model(data, p):
    X, y = data
    model = make(p=p, tol=1e-3).fit(X, y)
    predictor, weights = model.predictor_, model.kernel_weights_.ravel()
    support = places(predictor.components.support, X)
    gates = np.repeat(model.gate_(X), 4, axis=1)
    used = weights > 0
    prices = np.zeros(8)
    norm, coef = 0.0, np.zeros((8, 90))
    coef[:, support] = predictor.components.coefficients
    for q in range(8):
        gram = KERNELS[q % 4](X)
        if used[q]:
            norm += coef[q] @ gram @ coef[q] / weights[q]
    # the dual vector behind all of them: coefficients are a_i c_l(x_i) β_lm
    q = int(np.flatnonzero(used)[0])
    dual = coef[q] / weights[q] / gates[:, q]
    for q in range(8):
        prices[q] = (dual * gates[:, q]) @ KERNELS[q % 4](X) @ (dual * gates[:, q])
    loss = 2.0 * np.maximum(0.0, 1.0 - (2 * y - 1) * model.decision_function(X)).sum()
    assert model.objective_ == pytest.approx(0.5 * norm + loss, rel=1e-6)
    power = np.inf if p == 1.0 else p / (p - 1.0)
    balls = sum(np.linalg.norm(part, power) for part in prices.reshape(2, 4))
    best_known = np.abs(dual).sum() - 0.5 * balls
    assert model.duality_gap_ == pytest.approx(model.objective_ - best_known, abs=1e-6)


def test_p_of_one_gives_exact_zeros(data):
    model = make("gaussians", p=1.0, tol=1e-3, normalization="variance").fit(*data)
    assert np.all((model.kernel_weights_ == 0.0).sum(axis=1) >= 5)


def test_a_larger_p_makes_weights_alike(data):
    shares = [(w := make(p=p).fit(*data).kernel_weights_).min() / w.max() for p in (1.0, 2.0, 50.0)]
    assert shares[0] < shares[1] < shares[2]
    assert shares[2] > 0.8


def test_clusters_with_needs_of_their_own_have_weights_of_their_own(rng, sharpness):
    # on the left a wave of the second column, on the right a line
    X = np.vstack([rng.normal([-6, 0], 1.0, (50, 2)), rng.normal([6, 0], 1.0, (50, 2))])
    y = np.where(X[:, 0] < 0, np.sin(4.0 * X[:, 1]) > 0, X[:, 1] > 0).astype(int)
    kernels = [Gaussian(3.0), Scaled(Linear(), 5.0)]
    sharpness(10.0)
    model = make(kernels, p=1.0, C=10.0).fit(X, y)
    left = model.gate_(X[:1])[0].argmax()
    assert model.kernel_weights_[left, 0] > 0.9
    assert model.kernel_weights_[1 - left, 1] > 0.4


# --- clusters ----------------------------------------------------------------------------------


def test_clusters_of_a_row_sum_to_one(data):
    X, y = data
    shares = make(n_clusters=3).fit(X, y).gate_values(X)
    assert shares.shape == (90, 3)
    assert shares.min() >= 0.0
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_clusters_are_a_softmax_of_distances_under_the_mean_of_the_kernels(data):
    X, y = data
    model = make(n_clusters=3).fit(X, y)
    gram = sum(kernel(X) for kernel in KERNELS) / 4
    shares = model.gate_(X)
    distances = distances_to_clusters(gram, shares.argmax(axis=1))
    two = np.sort(distances, axis=1)[:, :2]
    steep = 1.0 / np.mean(two[:, 1] - two[:, 0])
    expected = np.exp(-steep * (distances - distances.min(axis=1, keepdims=True)))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, expected, atol=1e-4)


def test_shares_of_clusters_are_their_mean_answer(data):
    X, y = data
    model = make(n_clusters=3).fit(X, y)
    np.testing.assert_allclose(model.cluster_share_, model.gate_(X).mean(axis=0))
    assert model.cluster_share_.sum() == pytest.approx(1.0)


def test_shares_of_clusters_count_rows_by_weight(data, rng):
    X, y = data
    weight = rng.uniform(0.1, 3.0, len(y))
    model = make(n_clusters=3).fit(X, y, sample_weight=weight)
    expected = np.average(model.gate_(X), axis=0, weights=weight)
    np.testing.assert_allclose(model.cluster_share_, expected)


def test_a_sample_of_rows_spans_the_centers(data, monkeypatch):
    X, y = data
    exact = make().fit(X, y)
    monkeypatch.setattr(convex_lmkl, "_CENTER_ROWS", 30)
    sampled = make().fit(X, y)
    assert exact.gate_.scores.support.shape == (90, 3)
    assert sampled.gate_.scores.support.shape == (30, 3)
    assert sampled.score(X, y) > 0.85


def test_more_clusters_than_distinct_rows_give_a_warning_and_a_model():
    X = np.repeat(np.array([[0.0, 0.0], [1.0, 1.0]]), 10, axis=0)
    y = np.repeat([0, 1], 10)
    with pytest.warns(UserWarning, match="n_clusters=5 is more than the 2 distinct training rows"):
        model = make(n_clusters=5).fit(X, y)
    assert model.kernel_weights_.shape == (2, 4)
    assert model.score(X, y) == 1.0


def test_one_seed_gives_one_clustering_and_another_seed_another(data):
    X, y = data
    one, same, other = (
        make(n_clusters=4, random_state=seed).fit(X, y).decision_function(X) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-6


# --- several classes ---------------------------------------------------------------------------


def test_classes_share_clusters_and_have_weights_of_their_own(blobs):
    X, y = blobs
    model = make(n_clusters=3).fit(X, y)
    assert [weights.shape for weights in model.kernel_weights_] == [(3, 4)] * 3
    assert model.gate_[0] is model.gate_[1] is model.gate_[2]
    assert [values.shape for values in model.gate_values(X)] == [(len(X), 3)] * 3
    assert np.abs(model.kernel_weights_[0] - model.kernel_weights_[1]).max() > 0.01
    assert model.decision_function(X).shape == (len(X), 3)


def test_three_classes_are_machines_against_the_rest(blobs):
    X, y = blobs
    model = make(n_clusters=2, tol=1e-5).fit(X, y)
    for c in range(3):
        alone = make(n_clusters=2, tol=1e-5).fit(X, y == c)
        np.testing.assert_allclose(
            model.decision_function(X)[:, c], alone.decision_function(X), atol=0.02
        )


# --- ways to a model ---------------------------------------------------------------------------


@EACH_P
def test_machines_may_be_solved_from_columns(data, monkeypatch, p):
    X, y = data
    # for p = 1 the model of J takes a block of the matrix
    if p > 1.0:

        def refuse(*args, **kwargs):
            raise AssertionError("a whole Gram matrix")

        for name in ("weighted", "modulated"):
            monkeypatch.setattr(Grams, name, refuse)
    model = make(solver="mwu", p=p).fit(X, y)
    predictor, weights = model.predictor_, model.kernel_weights_.ravel()
    assert model.score(X, y) > 0.9
    assert 0.0 <= model.duality_gap_ <= 1e-2 * model.objective_
    support = places(predictor.components.support, X)
    norm = 0.0
    for q in np.flatnonzero(weights):
        coef = predictor.components.coefficients[q]
        norm += coef @ KERNELS[q % 4](X[support]) @ coef / weights[q]
    slack = np.maximum(0.0, 1.0 - (2 * y - 1) * model.decision_function(X))
    assert model.objective_ == pytest.approx(0.5 * norm + (slack**2).sum(), rel=1e-4)


@pytest.mark.parametrize("solver", ["smo", "mwu"])
def test_weight_k_equals_k_copies(data, rng, solver):
    X, y = data
    weight = rng.integers(0, 4, len(y))
    weighted = make(solver=solver).fit(X, y, sample_weight=weight)
    copied = make(solver=solver).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.decision_function(X), copied.decision_function(X))


def test_weights_are_those_of_the_support_vector_machine(moons, rng):
    X, y = moons
    weight = rng.uniform(0.1, 3.0, len(y))
    settings = {"C": 2.0, "tol": 1e-6, "class_weight": {1: 3.0}}
    model = make(Gaussian(0.7), n_clusters=1, **settings).fit(X, y, sample_weight=weight)
    svc = SVC(gamma=0.7, **settings).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(X), atol=0.02)


def test_sparse_rows_learn_as_dense_ones(data):
    X, y = np.where(np.abs(data[0]) < 0.5, 0.0, data[0]), data[1]
    dense, sparse = (make(tol=1e-5).fit(rows, y) for rows in (X, csr_matrix(X)))
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-4)
    np.testing.assert_allclose(sparse.gate_(csr_matrix(X)), dense.gate_(X), atol=1e-6)
    np.testing.assert_allclose(
        sparse.decision_function(csr_matrix(X)), dense.decision_function(X), atol=0.02
    )


def test_threads_and_pickling_do_not_change_a_bit(data):
    X, y = np.vstack([data[0]] * 4) + 0.01 * np.arange(360)[:, None], np.tile(data[1], 4)
    one, two = (make(n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    copy = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(copy.decision_function(X), one.decision_function(X))


def test_too_little_memory_is_refused_with_the_parameter_to_raise(moons, rng):
    words = "give fewer rows, or raise the limit"
    with config_context(max_memory=1e5), pytest.raises(MemoryError, match=words):
        make().fit(*moons)
    X = rng.standard_normal((1000, 3))
    with config_context(max_memory=2.2e7), pytest.raises(MemoryError, match=words):
        make().fit(X, X[:, 0] > 0.1)


def test_precomputed_kernels_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="ConvexLMKLClassifier needs rows, not kernels="):
        make("precomputed").fit(np.stack([X @ X.T] * 2, axis=2), y)
