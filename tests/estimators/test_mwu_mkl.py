"""MWUMKL: both solvers, the squared-hinge machine, and no Gram matrix."""

import tracemalloc

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from nearlinear import MWUMKLClassifier
from nearlinear.kernels import Gaussian, Linear, Polynomial

KERNELS = [Gaussian(0.2), Gaussian(2.0), Linear(), Polynomial(2, gamma=0.5)]
BOTH = pytest.mark.parametrize("solver", ["exchange", "averaging"])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 3))
    return X, (np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] > 0.1).astype(int)


def squared_hinge_scores(gram, y, C):
    """The machine with squared slacks is a hard-margin one on K + I / C."""
    svc = SVC(kernel="precomputed", C=1e6, tol=1e-8).fit(gram + np.eye(len(y)) / C, y)
    coef = np.zeros(len(y))
    coef[svc.support_] = svc.dual_coef_[0]
    return gram @ coef + svc.intercept_


@BOTH
@pytest.mark.parametrize("C", [0.5, 5.0])
def test_one_kernel_gives_the_machine_with_squared_slacks(data, solver, C):
    X, y = data
    model = MWUMKLClassifier(
        Gaussian(0.7), normalization=None, C=C, solver=solver, tol=1e-3, eps=0.005
    ).fit(X, y)  # fmt: skip
    expected = squared_hinge_scores(Gaussian(0.7)(X), y, C)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=0.1)  # of a gap of 1e-3


def test_both_solvers_agree(data):
    X, y = data
    settings = {"normalization": "trace", "C": 2.0, "eps": 0.05}
    exchange = MWUMKLClassifier(KERNELS, tol=1e-3, **settings).fit(X, y)
    averaging = MWUMKLClassifier(KERNELS, tol=0.05, solver="averaging", **settings).fit(X, y)
    assert averaging.objective_ >= exchange.objective_ - exchange.duality_gap_
    assert exchange.objective_ >= averaging.objective_ - averaging.duality_gap_
    assert averaging.objective_ == pytest.approx(exchange.objective_, rel=0.05)
    assert np.mean(exchange.predict(X) == averaging.predict(X)) > 0.95


@BOTH
def test_the_gap_is_certified(data, solver):
    tol = {"exchange": 0.005, "averaging": 0.1}[solver]
    model = MWUMKLClassifier(KERNELS, solver=solver, tol=tol, eps=0.05).fit(*data)
    assert 0 <= model.duality_gap_ <= tol * model.objective_
    assert model.n_iter_ > 1


@BOTH
def test_weights_lie_on_the_simplex(data, blobs, solver):
    settings = {"solver": solver, "tol": 0.2, "eps": 0.1}
    one = MWUMKLClassifier(KERNELS, **settings).fit(*data).kernel_weights_
    three = MWUMKLClassifier(KERNELS, **settings).fit(*blobs).kernel_weights_
    assert one.shape == (4,)
    assert three.shape == (3, 4)
    for weights in (one, *three):
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1.0)


def test_the_kernel_that_separates_gets_the_weight(rng):
    X = rng.standard_normal((100, 2))
    y = (np.linalg.norm(X, axis=1) > 1.2).astype(int)
    model = MWUMKLClassifier([Linear(), Polynomial(2)], normalization="trace", C=10.0).fit(X, y)
    assert model.kernel_weights_[1] > 0.8
    assert model.score(X, y) > 0.95


def test_weight_k_equals_k_copies(data, rng):
    X, y = data
    weight = rng.integers(1, 4, len(y))
    weighted = MWUMKLClassifier(KERNELS).fit(X, y, sample_weight=weight)
    copied = MWUMKLClassifier(KERNELS).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.decision_function(X), copied.decision_function(X))


def test_a_stack_gives_what_its_kernels_give(data):
    X, y = data
    stack = np.stack([kernel(X) for kernel in KERNELS], axis=2)
    settings = {"normalization": "trace", "tol": 1e-3, "C": 2.0}
    given = MWUMKLClassifier("precomputed", **settings).fit(stack, y)
    known = MWUMKLClassifier(KERNELS, **settings).fit(X, y)
    assert given.objective_ == pytest.approx(known.objective_, rel=2e-3)
    np.testing.assert_allclose(given.decision_function(stack), known.decision_function(X), atol=0.1)


def test_a_row_of_weight_zero_in_a_stack_counts_for_nothing(data):
    X, y = data
    weight = np.r_[np.zeros(5), np.ones(75)]
    stack = np.stack([kernel(X) for kernel in KERNELS], axis=2)
    settings = {"normalization": None, "tol": 1e-3, "C": 2.0}
    given = MWUMKLClassifier("precomputed", **settings).fit(stack, y, sample_weight=weight)
    absent = MWUMKLClassifier(KERNELS, **settings).fit(X[5:], y[5:])
    np.testing.assert_allclose(
        given.decision_function(stack), absent.decision_function(X), atol=0.1
    )  # fmt: skip


@BOTH
def test_no_gram_matrix_is_formed(solver):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    # a normalization takes the matrix of 500 rows, however many there are
    model = MWUMKLClassifier(
        [Gaussian(1.0), Linear()], normalization=None, solver=solver, tol=0.2, eps=0.1
    )
    model.fit(X[:100], y[:100])  # what is loaded once
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 1500**2  # one matrix of single precision


@BOTH
def test_a_fit_that_was_stopped_early_says_so(data, solver):
    with pytest.warns(ConvergenceWarning) as caught:
        model = MWUMKLClassifier(KERNELS, solver=solver, max_iter=2, tol=1e-4).fit(*data)
    relative = model.duality_gap_ / model.objective_
    text = str(caught[0].message)
    assert text.startswith(f"MWUMKLClassifier stopped at a relative duality gap of {relative:.1e}")
    assert "raise max_iter" in text


def test_there_is_no_choice_of_the_bias():
    assert "bias" not in MWUMKLClassifier().get_params()
    assert "bias :" not in MWUMKLClassifier.__doc__
