"""SAMKL: with all kernels on it is SimpleMKL; switches, scores and objective by hand."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.svm import SVC

from nearlinear import SAMKLClassifier, SimpleMKLClassifier, UniformMKLClassifier, config_context
from nearlinear.estimators import samkl
from nearlinear.kernels import Gaussian, Linear, Polynomial
from nearlinear.solvers.localized.switches import held_out_errors

KERNELS = [Gaussian(0.2), Gaussian(2.0), Linear(), Polynomial(2, gamma=0.5)]
C = 2.0
EACH_SELECTION = pytest.mark.parametrize("n_selected", [1, 2, 3, 4])


def make(kernels=KERNELS, **settings):
    return SAMKLClassifier(kernels, **{"C": C, "normalization": None, "tol": 1e-4} | settings)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((90, 3))
    return X, (np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] > 0.1).astype(int)


def places(support, X):
    """Which rows of X the support rows are."""
    return np.argmax((support[:, None] == X).all(axis=2), axis=1)


def shares_by_hand(model, Z):
    """What every kernel says of a row."""
    components = model.predictor_.components
    return np.column_stack(
        [
            kernel(Z, components.support) @ coef
            for kernel, coef in zip(KERNELS, components.coefficients, strict=True)
        ]
    )


def best_difference(shares, n_selected):
    """Half the largest sum of so many shares plus half the smallest, row by row."""
    ordered = np.sort(shares, axis=1)
    return 0.5 * ordered[:, :n_selected].sum(axis=1) + 0.5 * ordered[:, -n_selected:].sum(axis=1)


# --- all kernels on ----------------------------------------------------------------------------


@pytest.mark.parametrize("normalization", [None, "variance", "diagonal"])
def test_all_kernels_on_is_simple_mkl(data, normalization):
    X, y = data
    settings = {"C": C, "normalization": normalization, "tol": 1e-5}
    switched = SAMKLClassifier(KERNELS, n_selected=4, **settings).fit(X, y)
    simple = SimpleMKLClassifier(KERNELS, **settings).fit(X, y)
    assert switched.objective_ == pytest.approx(simple.objective_, rel=2e-5)
    np.testing.assert_allclose(switched.kernel_weights_, simple.kernel_weights_, atol=0.01)
    np.testing.assert_allclose(
        switched.decision_function(X), simple.decision_function(X), atol=0.03
    )
    np.testing.assert_array_equal(switched.switches_share_, 1.0)
    assert switched.n_iter_ == 1


@pytest.mark.parametrize("n_selected", [None, 1])
def test_one_kernel_gives_the_support_vector_machine(moons, n_selected):
    X, y = moons
    model = make(Gaussian(0.7), n_selected=n_selected, tol=1e-6).fit(X, y)
    svc = SVC(gamma=0.7, C=C, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(X), atol=0.02)
    np.testing.assert_array_equal(model.kernel_weights_, [1.0])


def test_three_classes_with_all_kernels_on_are_simple_mkl(blobs):
    X, y = blobs
    switched = make(n_selected=4, tol=1e-5).fit(X, y)
    simple = SimpleMKLClassifier(KERNELS, C=C, normalization=None, tol=1e-5).fit(X, y)
    assert np.shape(switched.kernel_weights_) == np.shape(switched.switches_share_) == (3, 4)
    np.testing.assert_allclose(
        switched.decision_function(X), simple.decision_function(X), atol=0.05
    )


# --- the model that predicts -------------------------------------------------------------------


@EACH_SELECTION
def test_scores_are_the_best_sums_for_and_against(data, rng, n_selected):
    X, y = data
    model = make(n_selected=n_selected).fit(X, y)
    Z = rng.standard_normal((40, 3))
    expected = best_difference(shares_by_hand(model, Z), n_selected) + model.predictor_.bias
    np.testing.assert_allclose(model.decision_function(Z), expected, atol=1e-9)


@EACH_SELECTION
@pytest.mark.parametrize("max_rounds", [1, 4])
def test_the_objective_is_that_of_the_model_as_it_predicts(data, n_selected, max_rounds):
    X, y = data
    model = make(n_selected=n_selected, max_rounds=max_rounds).fit(X, y)
    components, norm = model.predictor_.components, 0.0
    for kernel, coef, weight in zip(
        KERNELS, components.coefficients, model.kernel_weights_, strict=True
    ):
        if weight > 0.0:
            norm += coef @ kernel(components.support) @ coef / weight
    loss = C * np.maximum(0.0, 1.0 - (2 * y - 1) * model.decision_function(X)).sum()
    assert model.objective_ == pytest.approx(0.5 * norm + loss, rel=1e-6)


@EACH_SELECTION
def test_weights_lie_on_the_simplex(data, n_selected):
    model = make(n_selected=n_selected).fit(*data)
    assert model.kernel_weights_.min() >= 0.0
    assert model.kernel_weights_.sum() == pytest.approx(1.0)
    assert model.duality_gap_ >= 0.0


def test_without_a_number_of_kernels_the_best_of_three_models_is_kept(data, monkeypatch):
    X, y = data
    errors = []

    def note(*arguments):
        errors.extend(held_out_errors(*arguments))
        return np.array(errors)

    monkeypatch.setattr(samkl, "held_out_errors", note)
    model = make().fit(X, y)
    best = int(np.argmin(errors))
    three = [UniformMKLClassifier(KERNELS, C=C, normalization=None, tol=1e-4), make(n_selected=4)]
    expected = [*three, make(n_selected=3)][best].fit(X, y)
    assert model.n_selected_ == [4, 4, 3][best]
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=0.01)


@pytest.mark.parametrize("kind", ["noisy line", "symbols"])
def test_the_default_is_not_worse_than_equal_weights_for_all_rows(kind):
    rng = np.random.default_rng(0)
    if kind == "noisy line":
        X = rng.standard_normal((900, 6))
        y = (X[:, 0] + X[:, 1] + 1.5 * rng.standard_normal(900) > 0).astype(int)
    else:  # like a board game: pairs of equal symbols decide
        board = rng.integers(3, size=(900, 6))
        X, y = np.eye(3)[board].reshape(900, 18), (board[:, ::2] == board[:, 1::2]).sum(axis=1) > 1
    scores = [
        model.fit(X[:200], y[:200]).score(X[200:], y[200:])
        for model in (SAMKLClassifier(), UniformMKLClassifier())
    ]
    assert scores[0] > scores[1] - 0.01


def test_objectives_of_all_rounds_are_told(data):
    X, y = data
    model = make(n_selected=2, max_rounds=5).fit(X, y)
    assert model.objective_path_[model.n_iter_ - 1] == model.objective_
    assert model.objective_ == model.objective_path_.min()
    cut = make(n_selected=2, max_rounds=2).fit(X, y)
    np.testing.assert_array_equal(cut.objective_path_, model.objective_path_[:2])


@EACH_SELECTION
def test_shares_of_switches_are_their_mean(data, n_selected):
    model = make(n_selected=n_selected).fit(*data)
    assert model.switches_share_.shape == (4,)
    # all on in the first round, so many on in any other
    assert model.switches_share_.sum() == pytest.approx(4 if model.n_iter_ == 1 else n_selected)


@EACH_SELECTION
def test_gate_values_are_the_switches_that_predict(data, rng, n_selected):
    X, y = data
    model = make(n_selected=n_selected).fit(X, y)
    Z = rng.standard_normal((40, 3))
    values, shares = model.gate_values(Z), shares_by_hand(model, Z)
    assert set(np.unique(values)) <= {0.0, 0.5, 1.0}
    np.testing.assert_array_equal(values.sum(axis=1), n_selected)
    np.testing.assert_allclose((values * shares).sum(axis=1), best_difference(shares, n_selected))


@EACH_SELECTION
def test_more_rounds_are_never_worse(data, n_selected):
    values = [make(n_selected=n_selected, max_rounds=n).fit(*data).objective_ for n in (1, 2, 5)]
    assert values[2] <= values[1] <= values[0]


@EACH_SELECTION
def test_the_round_that_was_kept_is_counted(data, n_selected):
    X, y = data
    model = make(n_selected=n_selected, max_rounds=5).fit(X, y)
    assert 1 <= model.n_iter_ <= 5
    cut = make(n_selected=n_selected, max_rounds=model.n_iter_).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), cut.decision_function(X))


def test_new_rows_are_classified_better_than_by_chance(data, rng):
    X, y = data
    model = make().fit(X, y)
    Z = rng.standard_normal((300, 3))
    truth = (np.sin(2.0 * Z[:, 0]) + 0.5 * Z[:, 1] > 0.1).astype(int)
    assert model.score(Z, truth) > 0.8


def test_support_rows_are_counted(moons):
    model = make(C=100.0, tol=1e-2).fit(*moons)
    assert model.n_support_ >= model.predictor_.components.n_support
    assert model.support_share_ == model.n_support_ / 200 < 1.0


# --- ways to a model ---------------------------------------------------------------------------


def test_more_kernels_than_there_are_cannot_be_selected(data):
    with pytest.raises(
        ValueError, match=r"SAMKLClassifier\(n_selected=5\) is more than the 4 kernels there are"
    ):
        make(n_selected=5).fit(*data)


@EACH_SELECTION
def test_weight_k_equals_k_copies(data, rng, n_selected):
    X, y = data
    weight = rng.integers(0, 4, len(y))
    weighted = make(n_selected=n_selected).fit(X, y, sample_weight=weight)
    copied = make(n_selected=n_selected).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.decision_function(X), copied.decision_function(X))


def test_weights_are_those_of_the_support_vector_machine(moons, rng):
    X, y = moons
    weight = rng.uniform(0.1, 3.0, len(y))
    settings = {"C": C, "tol": 1e-6, "class_weight": {1: 3.0}}
    model = make(Gaussian(0.7), **settings).fit(X, y, sample_weight=weight)
    svc = SVC(gamma=0.7, **settings).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(X), atol=0.02)


@EACH_SELECTION
def test_sparse_rows_learn_as_dense_ones(data, n_selected):
    X, y = np.where(np.abs(data[0]) < 0.5, 0.0, data[0]), data[1]
    settings = {"n_selected": n_selected, "tol": 1e-6, "max_rounds": 2}
    dense, sparse = (make(**settings).fit(rows, y) for rows in (X, csr_matrix(X)))
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-3)
    np.testing.assert_allclose(
        sparse.decision_function(X), sparse.decision_function(csr_matrix(X)), atol=1e-10
    )


@EACH_SELECTION
def test_threads_and_pickling_do_not_change_a_bit(data, n_selected):
    X, y = data
    one, two = (make(n_selected=n_selected, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    copy = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(copy.decision_function(X), one.decision_function(X))


def test_single_precision_rows_stay_so(data):
    X, y = data[0].astype(np.float32), data[1]
    model = make(tol=1e-2).fit(X, y)
    components = model.predictor_.components
    assert components.support.dtype == components.coefficients.dtype == np.float32
    assert model.decision_function(data[0]).dtype == np.float32


def test_precomputed_kernels_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="SAMKLClassifier needs rows, not kernels='precomputed'"):
        make("precomputed").fit(np.stack([X @ X.T] * 2, axis=2), y)


def test_too_little_memory_is_refused_with_the_parameter_to_raise(moons):
    words = "give fewer rows, or raise the limit"
    with config_context(max_memory=1e5), pytest.raises(MemoryError, match=words):
        make().fit(*moons)
