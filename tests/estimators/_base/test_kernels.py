"""What all estimators on sums of kernels do in the same way, each against an independent one."""

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import nearlinear
from nearlinear import config_context
from nearlinear.estimators import sequential_mkl
from nearlinear.estimators._base import kernels as machine_kernels
from nearlinear.kernels import Custom, Family, Gaussian, Linear, OnColumns, Polynomial, Scaled, bank
from nearlinear.kernels.grams import Grams
from nearlinear.solvers.mixture.objective import KernelObjective

LEARNED = ["SimpleMKL", "SPGGMKL", "SequentialMKL"]
ALL = ["UniformMKL", *LEARNED]
KERNELS = [Gaussian(0.2), Gaussian(2.0), Linear(), Polynomial(2, gamma=0.5)]
EACH = pytest.mark.parametrize("method", ALL)
EACH_LEARNED = pytest.mark.parametrize("method", LEARNED)
EACH_MACHINE = pytest.mark.parametrize("method", ["UniformMKL", "SimpleMKL", "SequentialMKL"])
EACH_SIMPLEX = pytest.mark.parametrize("method", ["SimpleMKL", "SequentialMKL"])
EACH_TASK = pytest.mark.parametrize("task", ["Classifier", "Regressor"])


def make(method, task="Classifier", kernels=KERNELS, **settings):
    return getattr(nearlinear, method + task)(kernels, **settings)


def score(model, X):
    return getattr(model, "decision_function", model.predict)(X)


def places(support, X):
    """Which rows of X the support rows are."""
    return np.argmax((support[:, None] == X).all(axis=2), axis=1)


def product(X, Z):
    """A kernel of the user."""
    return np.asarray(X @ Z.T)


@pytest.fixture(scope="module")
def data():
    """Rows, labels and values; the last rows are for scoring."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((90, 3))
    values = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(90)
    # a spread of one, in which C and epsilon are what they are in the formulas
    scaled = (values - values.mean()) / values.std()
    return X, {"Classifier": (values > 0.1).astype(int), "Regressor": scaled}


# --- one kernel is a support vector machine ----------------------------------------------------


@EACH_MACHINE
@pytest.mark.parametrize("C", [0.3, 10.0])
def test_one_kernel_gives_the_support_vector_machine(method, C, moons):
    X, y = moons
    model = make(method, kernels=Gaussian(0.7), normalization=None, C=C, tol=1e-6).fit(X, y)
    svc = SVC(gamma=0.7, C=C, tol=1e-6).fit(X, y)
    # a gap of 1e-6 of the objective leaves the scores this free
    np.testing.assert_allclose(score(model, X), svc.decision_function(X), atol=0.02)
    np.testing.assert_array_equal(model.kernel_weights_, [1.0])


@EACH_MACHINE
def test_one_kernel_gives_support_vector_regression(method, wave):
    X, y = wave
    settings = {"C": 2.0, "epsilon": 0.05}
    model = make(
        method, "Regressor", Gaussian(0.7), normalization=None, tol=1e-6, **settings
    ).fit(X, y)  # fmt: skip
    own = {name: value * y.std() for name, value in settings.items()}
    svr = SVR(gamma=0.7, tol=1e-6, **own).fit(X, y)
    np.testing.assert_allclose(model.predict(X), svr.predict(X), atol=0.01)


def test_one_kernel_with_a_penalty_gives_the_machine_of_its_weight(moons):
    X, y = moons
    model = make("SPGGMKL", kernels=Gaussian(0.7), normalization=None, tol=1e-6, C=2.0).fit(X, y)
    weight = model.kernel_weights_[0]
    svc = SVC(kernel=lambda A, B: weight * Gaussian(0.7)(A, B), tol=1e-6, C=2.0).fit(X, y)
    np.testing.assert_allclose(score(model, X), svc.decision_function(X), atol=0.02)


def test_uniform_weights_give_the_machine_of_the_mean(data):
    X, y = data[0], data[1]["Classifier"]
    model = make("UniformMKL", normalization=None, tol=1e-6, C=2.0).fit(X, y)
    svc = SVC(kernel=lambda A, B: sum(kernel(A, B) for kernel in KERNELS) / 4, tol=1e-6, C=2.0)
    svc.fit(X, y)
    np.testing.assert_allclose(score(model, X), svc.decision_function(X), atol=0.02)
    np.testing.assert_array_equal(model.kernel_weights_, np.full(4, 0.25))


def test_three_classes_are_three_machines_against_the_rest(blobs):
    X, y = blobs
    model = make("SimpleMKL", kernels=Gaussian(0.5), normalization=None, tol=1e-6, C=2.0).fit(X, y)
    for c in range(3):
        svc = SVC(gamma=0.5, tol=1e-6, C=2.0).fit(X, y == c)
        np.testing.assert_allclose(score(model, X)[:, c], svc.decision_function(X), atol=0.02)


@pytest.mark.parametrize("bias", ["penalized", "none"])
def test_a_penalized_bias_is_a_constant_kernel_and_none_is_none(data, bias):
    X, y = data[0], data[1]["Classifier"]
    plain = make(
        "UniformMKL", kernels=Gaussian(0.7), normalization=None, tol=1e-7, bias=bias, C=2.0
    ).fit(X, y)  # fmt: skip
    constant = 1.0 if bias == "penalized" else 0.0
    gram = Gaussian(0.7)(X) + constant
    coef = np.zeros(len(X))
    support = places(plain.predictor_.support, X)
    coef[support] = plain.predictor_.coefficients[0, :, 0]
    np.testing.assert_allclose(score(plain, X), gram @ coef, atol=1e-9)
    # the optimum of the box alone: no constraint Σa = 0
    signs = 2 * y - 1
    slack = 1 - signs * (gram @ coef)
    objective = 0.5 * coef @ gram @ coef + 2.0 * np.maximum(slack, 0).sum()
    dual = np.abs(coef).sum() - 0.5 * coef @ gram @ coef
    assert np.all((signs * coef >= 0) & (signs * coef <= 2.0))
    assert objective - dual < 1e-5 * objective
    assert plain.objective_ == pytest.approx(objective, rel=1e-5)


# --- the optimum -------------------------------------------------------------------------------


@EACH_TASK
def test_all_ways_to_the_weights_reach_the_same_objective(data, task):
    X, y = data[0], data[1][task]
    models = [
        make("SimpleMKL", task, tol=1e-4, weight_solver=solver).fit(X, y)
        for solver in ("reduced_gradient", "newton", "closed_form")
    ]
    models.append(make("SequentialMKL", task, tol=1e-4).fit(X, y))
    np.testing.assert_allclose([m.objective_ for m in models], models[0].objective_, rtol=1e-3)
    assert max(m.duality_gap_ for m in models) < 1e-4 * models[0].objective_
    for model in models:
        np.testing.assert_allclose(model.kernel_weights_, models[0].kernel_weights_, atol=0.03)


@EACH_TASK
@EACH_SIMPLEX
def test_learned_weights_are_no_worse_than_equal_ones(data, method, task):
    X, y = data[0], data[1][task]
    learned, equal = (make(name, task, tol=1e-4).fit(X, y) for name in (method, "UniformMKL"))
    assert learned.objective_ < equal.objective_


@EACH_TASK
@EACH
def test_the_objective_is_that_of_the_model(data, method, task):
    X, y = data[0], data[1][task]
    model = make(method, task, normalization=None, tol=1e-4, C=2.0).fit(X, y)
    grams = [kernel(X) for kernel in model.predictor_.kernels]
    support = places(model.predictor_.support, X)
    used = model.kernel_weights_[model.kernel_weights_ > 0]
    norm = 0.0
    for gram, weight, coef in zip(grams, used, model.predictor_.coefficients[:, :, 0], strict=True):
        norm += coef @ gram[np.ix_(support, support)] @ coef / weight
    if task == "Classifier":
        loss = np.maximum(0, 1 - (2 * y - 1) * score(model, X)).sum()
    else:
        loss = np.maximum(0, np.abs(y - score(model, X)) - 0.1).sum()
    value = 0.5 * norm + 2.0 * loss
    if method == "SPGGMKL":  # the penalty, whose factor is relative to the problem
        assert value < model.objective_
    else:
        assert model.objective_ == pytest.approx(value, rel=1e-6)


def test_the_gap_of_sequential_mkl_covers_every_kernel(data):
    X, y = data[0], data[1]["Classifier"]
    model = nearlinear.SequentialMKLClassifier(
        bank(widths=4), normalization=None, tol=1e-3
    ).fit(X, y)  # fmt: skip
    support = places(model.predictor_.support, X)
    first = np.flatnonzero(model.kernel_weights_)[0]
    coef = np.zeros(len(X))
    coef[support] = model.predictor_.coefficients[0, :, 0] / model.kernel_weights_[first]
    prices = np.array([coef @ kernel.for_rows(X)(X) @ coef for kernel in model.kernels_])
    missing = 0.5 * (prices.max() - model.kernel_weights_ @ prices)
    assert (model.kernel_weights_ == 0).sum() > 10
    assert missing <= model.duality_gap_ * (1 + 1e-6)
    assert model.duality_gap_ <= 1e-3 * model.objective_


@EACH_SIMPLEX
def test_kernels_times_s_and_c_over_s_leave_the_scores(data, method):
    X, y = data[0], data[1]["Classifier"]
    settings = {"normalization": None, "tol": 1e-5}
    plain = make(method, C=2.0, **settings).fit(X, y)
    scaled = make(method, kernels=[Scaled(k, 5.0) for k in KERNELS], C=0.4, **settings).fit(X, y)
    assert scaled.objective_ * 5.0 == pytest.approx(plain.objective_, rel=1e-4)
    np.testing.assert_allclose(score(scaled, X), score(plain, X), atol=0.05)


@EACH_TASK
@EACH
@pytest.mark.parametrize("normalization", ["variance", "trace", "diagonal"])
def test_normalized_kernels_do_not_feel_their_scale(data, method, task, normalization):
    X, y = data[0], data[1][task]
    scaled = [
        Scaled(kernel, factor) for kernel, factor in zip(KERNELS, (4, 0.5, 8, 2), strict=True)
    ]
    settings = {"normalization": normalization, "tol": 1e-3}
    one, other = (make(method, task, part, **settings).fit(X, y) for part in (KERNELS, scaled))
    np.testing.assert_allclose(score(other, X), score(one, X), atol=0.02)


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Polynomial(2), OnColumns(Linear(), (1,))])
def test_a_unit_variance_is_that_of_the_centered_matrix(data, kernel):
    X, y = data[0], data[1]["Classifier"]
    gram = kernel.for_rows(X)(X)
    centered = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
    variance = np.trace(centered) / (len(X) - 1)
    model = make("UniformMKL", kernels=kernel, tol=1e-6, C=2.0).fit(X, y)
    svc = SVC(kernel="precomputed", tol=1e-6, C=2.0).fit(gram / variance, y)
    np.testing.assert_allclose(score(model, X), svc.decision_function(gram / variance), atol=0.02)


def test_a_unit_trace_is_that_of_the_matrix(data):
    X, y = data[0], data[1]["Classifier"]
    gram = Polynomial(2).for_rows(X)(X)
    gram /= np.trace(gram) / len(X)
    settings = {"tol": 1e-6, "C": 2.0}
    model = make("UniformMKL", kernels=Polynomial(2), normalization="trace", **settings).fit(X, y)
    svc = SVC(kernel="precomputed", **settings).fit(gram, y)
    np.testing.assert_allclose(score(model, X), svc.decision_function(gram), atol=0.02)


def test_a_unit_diagonal_is_that_of_cosines(data):
    X, y = data[0], data[1]["Classifier"]
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    settings = {"tol": 1e-6, "C": 2.0}
    model = make("UniformMKL", kernels="linear", normalization="diagonal", **settings).fit(X, y)
    svc = SVC(kernel="linear", **settings).fit(rows, y)
    np.testing.assert_allclose(score(model, X), svc.decision_function(rows), atol=0.02)


@EACH_TASK
def test_weights_lie_on_the_ball_of_p(data, task):
    X, y = data[0], data[1][task]
    for p in (1.0, 2.0, 4.0):
        model = make("SimpleMKL", task, p=p).fit(X, y)
        assert np.sum(model.kernel_weights_**p) == pytest.approx(1.0)
        assert model.duality_gap_ <= 1e-2 * model.objective_


def test_p_makes_weights_alike(data):
    X, y = data[0], data[1]["Classifier"]
    shares = []
    for p in (1.0, 2.0, 50.0):
        weights = make("SimpleMKL", p=p).fit(X, y).kernel_weights_
        shares.append(weights.min() / weights.max())
    assert shares[0] < shares[1] < shares[2]
    assert shares[2] > 0.85


@EACH_TASK
@pytest.mark.parametrize("p", [1.0, 2.0])
def test_a_larger_sigma_gives_smaller_weights(data, task, p):
    X, y = data[0], data[1][task]
    sums = [make("SPGGMKL", task, sigma=s, p=p).fit(X, y).kernel_weights_.sum() for s in (0.3, 3.0)]
    assert sums[0] > 1.5 * sums[1]


@pytest.mark.parametrize("rows", ["moons", "blobs", "digits"])
def test_a_sigma_of_one_gives_weights_that_sum_to_about_one(rows, request):
    if rows == "digits":
        from sklearn.datasets import load_digits

        X, y = load_digits(n_class=3, return_X_y=True)
        X, y = StandardScaler().fit_transform(X)[:150], y[:150]
    else:
        X, y = request.getfixturevalue(rows)
    sums = nearlinear.SPGGMKLClassifier(tol=1e-3).fit(X, y).kernel_weights_.sum(axis=-1)
    assert np.all(np.abs(np.log2(sums)) < 1.0), sums


# --- shapes of what is learned -----------------------------------------------------------------


@EACH
def test_weights_have_one_row_per_machine(method, moons, blobs, wave):
    assert make(method).fit(*moons).kernel_weights_.shape == (4,)
    assert make(method).fit(*blobs).kernel_weights_.shape == (3, 4)
    assert make(method, "Regressor").fit(*wave).kernel_weights_.shape == (4,)


@EACH
def test_weights_belong_to_the_kernels_named_in_kernels_(method, moons):
    model = make(method, kernels=["linear", Family((Gaussian(), Polynomial(2)), "both")])
    model.fit(*moons)
    assert len(model.kernels_) == len(model.kernel_weights_) == 1 + 3 * 2
    assert model.kernels_[0] == Linear()
    assert model.kernels_[-1] == OnColumns(Polynomial(2), (1,))


@EACH
def test_kernels_that_vanish_are_left_out_with_weight_zero(method, moons):
    X, y = moons
    X = np.column_stack([X, np.zeros(len(X))])
    kernels = [OnColumns(Linear(), (2,)), Gaussian(), OnColumns(Linear(), (0,))]
    with pytest.warns(UserWarning, match="1 of 3 kernels are zero on the training rows"):
        model = make(method, kernels=kernels).fit(X, y)
    assert model.kernel_weights_.shape == (3,)
    assert model.kernel_weights_[0] == 0.0
    assert model.kernel_weights_[1] > 0.0
    without = make(method, kernels=kernels[1:]).fit(X, y)
    np.testing.assert_array_equal(score(model, X), score(without, X))


@EACH_SIMPLEX
def test_kernels_without_weight_are_not_stored(method, moons):
    model = make(method, kernels="gaussians").fit(*moons)
    used = np.count_nonzero(model.kernel_weights_)
    assert used < 10
    assert len(model.predictor_.kernels) == used


@EACH
def test_support_rows_are_counted(method, moons):
    model = make(method, C=100.0).fit(*moons)
    assert model.n_support_ == len(model.predictor_.support) < 200
    assert model.support_share_ == model.n_support_ / 200


# --- ways to name kernels ----------------------------------------------------------------------

SAME = {
    "name": ("linear", [Linear()]),
    "class": (Polynomial(3), [Polynomial(3)]),
    "function": (product, [Linear()]),
    "custom": (Custom(product), [Linear()]),
    "names": (["linear", "poly", "gaussian"], [Linear(), Polynomial(), Gaussian()]),
    "family": (Family((Linear(),), "each"), [OnColumns(Linear(), (d,)) for d in range(3)]),
    "gaussians": ("gaussians", bank(degrees=(), columns="all")),
    "bank": ("bank", bank()),
    "nested": ([["linear"], (Gaussian(),)], [Linear(), Gaussian()]),
    "mixed": ([product, "gaussian"], ["linear", Gaussian()]),
}


@EACH
@pytest.mark.parametrize("case", SAME)
def test_kernels_may_be_named_in_many_ways(data, method, case):
    X, y = data[0], data[1]["Classifier"]
    one, other = (make(method, kernels=kernels).fit(X, y) for kernels in SAME[case])
    np.testing.assert_allclose(score(one, X), score(other, X), atol=1e-8)
    np.testing.assert_allclose(one.kernel_weights_, other.kernel_weights_, atol=1e-8)


# --- precomputed stacks ------------------------------------------------------------------------


def stack(X, Z=None):
    return np.stack([kernel(X, X if Z is None else Z) for kernel in KERNELS], axis=2)


@EACH_TASK
@EACH
@pytest.mark.parametrize("normalization", ["variance", "trace", None])
def test_a_stack_gives_what_its_kernels_give(data, method, task, normalization):
    X, y = data[0], data[1][task]
    settings = {"normalization": normalization, "tol": 1e-5}
    given = make(method, task, "precomputed", **settings).fit(stack(X[:60]), y[:60])
    known = make(method, task, **settings).fit(X[:60], y[:60])
    assert given.objective_ == pytest.approx(known.objective_, rel=1e-4)
    np.testing.assert_allclose(given.kernel_weights_, known.kernel_weights_, atol=0.01)
    np.testing.assert_allclose(
        score(given, stack(X[60:], X[:60])), score(known, X[60:]), atol=0.02
    )  # rows stand in another order


@EACH_TASK
@EACH
def test_a_grid_search_cuts_a_stack_on_both_sides(data, method, task):
    X, y = data[0], data[1][task]
    grid = {"C": [1e-4, 1.0, 10.0]}
    by_stack = GridSearchCV(make(method, task, "precomputed", tol=1e-4), grid, cv=3)
    by_stack.fit(stack(X), y)
    by_rows = GridSearchCV(make(method, task, tol=1e-4), grid, cv=3).fit(X, y)
    assert by_stack.best_params_ == by_rows.best_params_
    np.testing.assert_allclose(
        by_stack.cv_results_["mean_test_score"], by_rows.cv_results_["mean_test_score"], atol=0.02
    )


@EACH
def test_a_single_precomputed_matrix_is_a_stack_of_one(data, method):
    X, y = data[0], data[1]["Classifier"]
    gram = Gaussian(0.7)(X)
    flat = make(method, kernels="precomputed").fit(gram, y)
    deep = make(method, kernels="precomputed").fit(gram[:, :, None], y)
    np.testing.assert_array_equal(score(flat, gram), score(deep, gram[:, :, None]))
    assert flat.kernel_weights_.shape == (1,)


@EACH_TASK
@EACH
def test_weights_of_rows_count_in_a_stack(data, method, task, rng):
    X, y = data[0], data[1][task]
    weight = rng.integers(0, 3, len(y)).astype(float)
    given = make(method, task, "precomputed", tol=1e-5, normalization=None)
    given.fit(stack(X), y, sample_weight=weight)
    known = make(method, task, tol=1e-5, normalization=None).fit(X, y, sample_weight=weight)
    assert given.objective_ == pytest.approx(known.objective_, rel=1e-4)
    np.testing.assert_allclose(score(given, stack(X)), score(known, X), atol=0.02)


def test_only_stacks_are_pairwise():
    assert make("SimpleMKL", kernels="precomputed").__sklearn_tags__().input_tags.pairwise
    assert not make("SimpleMKL").__sklearn_tags__().input_tags.pairwise


def test_a_stack_that_is_not_square_is_refused(data):
    X, y = data[0], data[1]["Classifier"]
    with pytest.raises(ValueError, match=r"as many columns as rows in fit; it has shape \(90, 60"):
        make("SimpleMKL", kernels="precomputed").fit(stack(X, X[:60]), y)


def test_a_stack_with_other_columns_is_refused(data):
    X, y = data[0], data[1]["Classifier"]
    model = make("SimpleMKL", kernels="precomputed").fit(stack(X), y)
    with pytest.raises(ValueError, match=r"X has 60 features, but .* is expecting 90 features"):
        model.predict(stack(X, X[:60]))


def test_a_stack_with_another_number_of_kernels_is_refused(data):
    X, y = data[0], data[1]["Classifier"]
    model = make("UniformMKL", kernels="precomputed").fit(stack(X), y)
    with pytest.raises(ValueError, match="kernels"):
        model.predict(stack(X)[:, :, :2])
    with pytest.raises(ValueError, match="kernels"):
        model.predict(np.concatenate([stack(X)] * 2, axis=2))


def test_a_stack_cannot_be_given_a_unit_diagonal(data):
    X, y = data[0], data[1]["Classifier"]
    with pytest.raises(ValueError, match="cannot be given a unit diagonal"):
        make("SimpleMKL", kernels="precomputed", normalization="diagonal").fit(stack(X), y)


# --- inside scikit-learn -----------------------------------------------------------------------


@EACH_TASK
@EACH
def test_a_pipeline_scores_as_its_last_step(data, method, task):
    X, y = data[0] * 50 + 7, data[1][task]
    pipe = make_pipeline(StandardScaler(), make(method, task)).fit(X, y)
    rows = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(
        score(pipe, X), score(make(method, task).fit(rows, y), rows)
    )  # fmt: skip
    assert cross_val_score(pipe, X, y, cv=3).mean() > (0.7 if task == "Classifier" else 0.4)


@EACH_TASK
@EACH
def test_a_model_with_kernels_of_all_kinds_survives_pickling_and_cloning(data, method, task):
    X, y = data[0], data[1][task]
    kernels = ["gaussian", product, Family((Polynomial(2),), "each"), Custom(product)]
    model = make(method, task, kernels).fit(X, y)
    np.testing.assert_array_equal(score(pickle.loads(pickle.dumps(model)), X), score(model, X))
    copy = clone(model)
    assert not hasattr(copy, "predictor_")
    np.testing.assert_array_equal(score(copy.fit(X, y), X), score(model, X))


def test_the_kernels_of_a_pipeline_can_be_searched(data):
    X, y = data[0], data[1]["Classifier"]
    search = GridSearchCV(
        make_pipeline(StandardScaler(), nearlinear.UniformMKLClassifier()),
        {"uniformmklclassifier__kernels": ["linear", "gaussians", [Linear(), Gaussian()]]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.75


# --- weights, precision, memory ----------------------------------------------------------------


@EACH_TASK
@EACH
def test_weight_k_equals_k_copies(data, method, task, rng):
    X, y = data[0], data[1][task]
    weight = rng.integers(1, 4, len(y))
    weighted = make(method, task, "bank").fit(X, y, sample_weight=weight)
    copied = make(method, task, "bank").fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(score(weighted, X), score(copied, X))


@pytest.mark.parametrize("method", ["UniformMKL", "SimpleMKL"])
def test_weights_are_those_of_the_support_vector_machine(method, moons, rng):
    X, y = moons
    weight = rng.random(len(y)) * 3
    settings = {"tol": 1e-6, "C": 2.0, "class_weight": {1: 3.0}}
    model = make(method, kernels=Gaussian(0.7), normalization=None, **settings)
    model.fit(X, y, sample_weight=weight)
    svc = SVC(gamma=0.7, **settings).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(score(model, X), svc.decision_function(X), atol=0.02)


@EACH_TASK
@EACH
def test_threads_do_not_change_a_bit(data, method, task):
    X, y = np.vstack([data[0]] * 4) + 0.01 * np.arange(360)[:, None], np.tile(data[1][task], 4)
    one, two = (make(method, task, "gaussians", n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(score(one, X), score(two, X))
    np.testing.assert_array_equal(one.kernel_weights_, two.kernel_weights_)


@EACH_TASK
@EACH
def test_sparse_rows_learn_as_dense_ones(data, method, task):
    X, y = np.where(np.abs(data[0]) < 0.5, 0.0, data[0]), data[1][task]
    kernels = [*KERNELS, OnColumns(Gaussian(), (1,))]
    dense = make(method, task, kernels, tol=1e-5).fit(X, y)
    sparse = make(method, task, kernels, tol=1e-5).fit(csr_matrix(X), y)
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-4)
    np.testing.assert_allclose(score(sparse, csr_matrix(X)), score(dense, X), atol=0.02)
    np.testing.assert_allclose(score(sparse, X), score(sparse, csr_matrix(X)), atol=1e-10)


@EACH_TASK
@EACH
def test_single_precision_learns_about_the_same(data, method, task):
    X, y = data[0], data[1][task]
    single, double = (make(method, task).fit(X.astype(t), y) for t in (np.float32, np.float64))
    assert score(single, X).dtype == np.float32
    assert single.objective_ == pytest.approx(double.objective_, rel=0.02)
    np.testing.assert_allclose(score(single, X), score(double, X), atol=0.3)


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((300, 3))
    values = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(300)
    return X, {"Classifier": (values > 0.1).astype(int), "Regressor": values}


# The quickest way to the weights: these tests are about memory.
QUICK = {"SimpleMKL": {"weight_solver": "newton"}}


def assert_same_model(one, other, X):
    assert one.objective_ == pytest.approx(other.objective_, rel=2e-3)
    assert np.abs(score(one, X) - score(other, X)).max() < 0.1
    assert one.duality_gap_ <= 1e-3 * one.objective_


@EACH_TASK
@EACH
def test_little_memory_gives_the_model_of_much(many, method, task):
    X, y = many[0], many[1][task]
    model = make(method, task, "gaussians", tol=1e-3, **QUICK.get(method, {}))
    with config_context(max_memory=7e6):
        little = clone(model).fit(X, y)
    with config_context(max_memory=1e9):
        much = clone(model).fit(X, y)
    assert_same_model(little, much, X)


@EACH_TASK
@EACH
def test_rows_on_demand_give_the_model_of_the_matrix(many, method, task, monkeypatch):
    X, y = many[0], many[1][task]
    settings = {"tol": 1e-3, **QUICK.get(method, {})}
    matrix = make(method, task, "gaussians", **settings).fit(X, y)
    computed = []
    plain = Grams.rows

    def note(grams, weights, which, max_bytes):
        source = plain(grams, weights, which, max_bytes)
        computed.append(type(source).__name__)
        return source

    monkeypatch.setattr(Grams, "rows", note)
    # a hundred rows of single precision
    monkeypatch.setattr(machine_kernels, "_GRAM_BYTES", 40_000)
    on_demand = make(method, task, "gaussians", **settings).fit(X, y)
    assert set(computed) == {"ComputedRows"}
    assert_same_model(on_demand, matrix, X)


@EACH
def test_too_little_memory_is_refused_with_the_parameter_to_raise(many, method):
    X, y = many[0], many[1]["Classifier"]
    words = "give fewer rows, or raise the limit"
    with config_context(max_memory=5e5), pytest.raises(MemoryError, match=words):
        make(method).fit(X, y)


@EACH
def test_a_fit_stays_within_the_memory_allowed(method):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1200, 3))
    y = (np.sin(2 * X[:, 0]) + X[:, 1] > 0).astype(int)
    # a matrix of single precision has 6e6 bytes
    allowed = 1.8e7
    model = make(method, kernels="gaussians", tol=0.05, **QUICK.get(method, {}))
    model.fit(X[:50], y[:50])  # what is loaded once
    tracemalloc.start()
    with config_context(max_memory=allowed):
        model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < allowed


# --- what is said ------------------------------------------------------------------------------


@EACH_TASK
@EACH_LEARNED
def test_a_fit_that_was_stopped_early_says_so(data, method, task):
    X, y = data[0], data[1][task]
    with pytest.warns(ConvergenceWarning) as caught:
        model = make(method, task, tol=1e-6, max_iter=1).fit(X, y)
    relative = model.duality_gap_ / model.objective_
    text = str(caught[0].message)
    assert text.startswith(f"{method}{task} stopped at a relative duality gap of {relative:.1e}")
    assert "raise max_iter" in text
    assert caught[0].filename == __file__


def test_a_stream_of_kernels_that_was_stopped_early_says_so(moons, monkeypatch):
    kernels = [Linear(), Polynomial(1), Gaussian(width=10.0), Gaussian(width=0.3)]
    full = make("SequentialMKL", kernels=kernels).fit(*moons)
    monkeypatch.setattr(sequential_mkl, "CHUNK", 1)
    with pytest.warns(ConvergenceWarning):
        cut = make("SequentialMKL", kernels=iter(kernels), max_iter=1, tol=1e-6).fit(*moons)
    assert cut.objective_ - full.objective_ <= cut.duality_gap_


def test_a_machine_of_equal_weights_that_was_stopped_early_says_so(moons):
    with pytest.warns(ConvergenceWarning, match="UniformMKLClassifier stopped .* raise max_iter"):
        make("UniformMKL", kernels=Gaussian(), tol=1e-9, C=1e3, max_iter=1).fit(*moons)


def test_a_search_that_is_interrupted_leaves_its_last_weights(moons, monkeypatch):
    X, y = moons
    evaluate, calls = KernelObjective.at, []

    def impatient(self, *args, **kwargs):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(1)
        return evaluate(self, *args, **kwargs)

    monkeypatch.setattr(KernelObjective, "at", impatient)
    model = nearlinear.SimpleMKLClassifier()
    with pytest.raises(KeyboardInterrupt, match="Interrupted"):
        model.fit(X, y)
    assert model.kernel_weights_.sum() == pytest.approx(1.0)
    assert model.duality_gap_ > 0
    assert model.score(X, y) > 0.9


def test_an_interruption_before_anything_is_found_is_passed_on(moons, monkeypatch):
    def interrupted(self, *args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(KernelObjective, "at", interrupted)
    with pytest.raises(KeyboardInterrupt):
        nearlinear.SimpleMKLClassifier().fit(*moons)
