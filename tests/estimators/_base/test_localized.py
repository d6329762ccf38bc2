"""SwMKL and LD-MKL: one kernel is a support vector machine; steps retraced with scikit-learn."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from shipping import assert_ships
from sklearn.svm import SVC, SVR

from nearlinear import LDMKLClassifier, SwMKLClassifier, config_context
from nearlinear.estimators._base.rows import canonical_order
from nearlinear.kernels import Gaussian, Linear, Polynomial
from nearlinear.kernels.grams import Grams
from nearlinear.solvers.localized.success import SingleKernel, solve_where, stratified_folds
from nearlinear.solvers.machine.bias import FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.machine.working_sets import WorkingSets

KERNELS = [Gaussian(0.3), Gaussian(5.0), Linear()]
METHODS = {"SwMKL": SwMKLClassifier, "LDMKL": LDMKLClassifier}
EACH = pytest.mark.parametrize("method", METHODS)
EACH_BLEND = pytest.mark.parametrize("blend", ["separable", "pairwise"])
EACH_VOTE = pytest.mark.parametrize("vote", ["plain", "gated", "printed"])
EACH_SUCCESS = pytest.mark.parametrize("success", ["training", "out_of_fold"])
EACH_VARIANT = pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("SwMKL", {"blend": "separable"}),
        ("SwMKL", {"blend": "pairwise"}),
        ("LDMKL", {"vote": "plain"}),
        ("LDMKL", {"vote": "gated"}),
        ("LDMKL", {"vote": "printed"}),
    ],
    ids=["separable", "pairwise", "plain", "gated", "printed"],
)
C = 2.0
REGRESSION = {"C": 1.0, "epsilon": 0.01}


def make(method, kernels=KERNELS, **settings):
    settings = {"C": C, "normalization": None, "tol": 1e-7, "random_state": 0} | settings
    return METHODS[method](kernels, **settings)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X, noise = rng.standard_normal((80, 3)), 0.3 * rng.standard_normal(80)
    return X, (np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + noise > 0).astype(int)


def machine(kernel, X, y, weight=None):
    return SVC(kernel=lambda A, B: kernel(A, B), C=C, tol=1e-6).fit(X, y, weight)


@pytest.fixture(scope="module")
def expected_success(data):
    """Regressions of where each kernel's machine is right, as a function of rows."""
    X, y = data
    found = []
    for kernel in KERNELS:
        right = (machine(kernel, X, y).predict(X) == y).astype(float)
        # libsvm takes minutes for the last digits of a linear kernel
        svr = SVR(kernel=lambda A, B, k=kernel: k(A, B), tol=1e-4, **REGRESSION)
        found.append(svr.fit(X, right))
    return lambda Z: np.column_stack([svr.predict(Z) for svr in found])


# --- one kernel --------------------------------------------------------------------------------


@EACH_BLEND
@EACH_SUCCESS
@pytest.mark.parametrize("weight", [0.3, 10.0])
def test_one_kernel_of_swmkl_gives_the_support_vector_machine(moons, blend, success, weight):
    X, y = moons
    model = make("SwMKL", Gaussian(0.7), C=weight, blend=blend, success=success).fit(X, y)
    svc = SVC(gamma=0.7, C=weight, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(X), atol=0.02)


@EACH_SUCCESS
@pytest.mark.parametrize("vote", ["plain", "gated"])
@pytest.mark.parametrize("weight", [0.3, 10.0])
def test_one_kernel_of_ldmkl_votes_as_the_support_vector_machine(moons, vote, success, weight):
    X, y = moons
    model = make("LDMKL", Gaussian(0.7), C=weight, vote=vote, success=success).fit(X, y)
    svc = SVC(gamma=0.7, C=weight, tol=1e-6).fit(X, y)
    scores = svc.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), np.tanh(scores), atol=0.02)
    sure = np.abs(scores) > 0.02
    np.testing.assert_array_equal(model.predict(X)[sure], svc.predict(X)[sure])
    np.testing.assert_array_equal(model.gate_(X), 1.0)


def test_one_kernel_of_the_printed_vote_lacks_the_bias(moons):
    X, y = moons
    model = make("LDMKL", Gaussian(0.7), vote="printed").fit(X, y)
    svc = SVC(gamma=0.7, C=C, tol=1e-6).fit(X, y)
    expected = np.tanh(svc.decision_function(X) - svc.intercept_[0])
    np.testing.assert_allclose(model.decision_function(X), expected, atol=0.02)


@EACH_BLEND
def test_a_kernel_given_twice_is_that_kernel_in_swmkl(moons, blend):
    X, y = moons
    twice = make("SwMKL", [Gaussian(0.7)] * 2, blend=blend).fit(X, y)
    once = make("SwMKL", Gaussian(0.7), blend=blend).fit(X, y)
    # half of either: unit lengths and pairwise shares add up to one
    np.testing.assert_allclose(twice.decision_function(X), once.decision_function(X), atol=0.02)


@EACH_VOTE
def test_a_kernel_given_twice_is_that_kernel_in_ldmkl(moons, vote):
    X, y = moons
    twice = make("LDMKL", [Gaussian(0.7)] * 2, vote=vote).fit(X, y)
    once = make("LDMKL", Gaussian(0.7), vote=vote).fit(X, y)
    np.testing.assert_allclose(twice.gate_(X), 0.5)
    # every row has the gate 1/M for both, and nobody is left out
    share = 0.5 if vote == "printed" else 1.0  # the printed vote multiplies by the gate itself
    expected = np.tanh(share * once.predictor_.components(X)[:, 0])
    np.testing.assert_allclose(twice.decision_function(X), expected, atol=0.02)


# --- success -----------------------------------------------------------------------------------


@EACH
def test_success_is_the_share_of_rows_that_a_kernel_alone_gets_right(data, method):
    X, y = data
    model = make(method).fit(X, y)
    shares = [machine(kernel, X, y).score(X, y) for kernel in KERNELS]
    assert len(set(shares)) == 3
    np.testing.assert_allclose(model.success_, shares)


@EACH
def test_success_out_of_fold_is_that_of_rows_not_seen(data, method):
    X, y = data
    model = make(method, success="out_of_fold", n_folds=4).fit(X, y)
    seen = make(method).fit(X, y)
    assert np.all(model.success_ <= seen.success_ + 0.02)
    assert model.success_[1] < seen.success_[1] - 0.05  # the narrow kernel knows its rows by heart


@EACH
def test_success_out_of_fold_retraced(data, method):
    X, y = data
    model = make(method, success="out_of_fold", n_folds=4).fit(X, y)
    order, _ = canonical_order(X, y)  # in which rows are learned from
    folds = stratified_folds(2.0 * y[order] - 1.0, 4, np.random.RandomState(0))
    for m, kernel in enumerate(KERNELS):
        right = np.zeros(80, dtype=bool)
        for held in folds:
            kept = np.setdiff1d(np.arange(80), held)
            found = machine(kernel, X[order[kept]], y[order[kept]])
            right[held] = found.predict(X[order[held]]) == y[order[held]]
        assert model.success_[m] == pytest.approx(right.mean())


@EACH
def test_success_counts_rows_by_weight(data, method, rng):
    X, y = data
    weight = rng.uniform(0.1, 3.0, len(y))
    model = make(method).fit(X, y, sample_weight=weight)
    for kernel, share in zip(KERNELS, model.success_, strict=True):
        assert share == pytest.approx(machine(kernel, X, y, weight).score(X, y, weight))


def test_the_gate_of_swmkl_is_expected_success_between_a_thousandth_and_one(
    data, expected_success, rng
):
    X, y = data
    model = make("SwMKL").fit(X, y)
    Z = 2.0 * rng.standard_normal((50, 3))
    expected = np.clip(expected_success(Z), 1e-3, 1.0)
    np.testing.assert_allclose(model.gate_(Z), expected, atol=5e-3)
    far = model.gate_(100.0 * Z)
    assert far.min() >= 1e-3
    assert far.max() <= 1.0


def test_the_gate_of_ldmkl_is_a_softmax_of_expected_success(data, expected_success, rng):
    X, y = data
    model = make("LDMKL").fit(X, y)
    Z = 2.0 * rng.standard_normal((50, 3))
    powers = np.exp(expected_success(Z))
    expected = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.gate_(Z), expected, atol=0.02)
    np.testing.assert_allclose(model.gate_(Z).sum(axis=1), 1.0)


@EACH
def test_gate_values_are_those_of_the_gate(data, blobs, method):
    X, y = data
    model = make(method).fit(X, y)
    np.testing.assert_array_equal(model.gate_values(X), model.gate_(X))
    assert [values.shape for values in make(method).fit(*blobs).gate_values(blobs[0])] == [
        (len(blobs[0]), 3)
    ] * 3
    with pytest.raises(ValueError, match="X has 2 features"):
        model.gate_values(X[:, :2])


# --- SwMKL retraced ----------------------------------------------------------------------------


def test_the_separable_kernel_retraced(data, expected_success, rng):
    X, y = data
    model = make("SwMKL").fit(X, y)
    Z = rng.standard_normal((30, 3))

    def kernel(A, B):
        parts = []
        for rows in (A, B):
            gates = np.clip(expected_success(rows), 1e-3, 1.0)
            parts.append(gates / np.linalg.norm(gates, axis=1, keepdims=True))
        left, right = parts
        return sum(np.outer(left[:, m], right[:, m]) * KERNELS[m](A, B) for m in range(3))

    assert np.linalg.eigvalsh(kernel(X, X)).min() > -1e-9
    svc = SVC(kernel=kernel, C=C, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.decision_function(Z), svc.decision_function(Z), atol=0.03)


def test_the_pairwise_kernel_retraced(data, expected_success, rng):
    X, y = data
    model = make("SwMKL", blend="pairwise").fit(X, y)
    Z = rng.standard_normal((30, 3))

    def kernel(A, B):
        left, right = (np.clip(expected_success(rows), 1e-3, 1.0) for rows in (A, B))
        total = sum(np.outer(left[:, m], right[:, m]) * KERNELS[m](A, B) for m in range(3))
        return total / (left @ right.T)

    svc = SVC(kernel=kernel, C=C, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.decision_function(Z), svc.decision_function(Z), atol=0.03)


def test_the_objective_of_swmkl_is_that_of_the_last_machine(data):
    X, y = data
    model = make("SwMKL").fit(X, y)
    gates = model.predictor_.gate(X)
    np.testing.assert_allclose((gates**2).sum(axis=1), 1.0)
    gram = sum(np.outer(gates[:, m], gates[:, m]) * KERNELS[m](X) for m in range(3))
    svc = SVC(kernel="precomputed", C=C, tol=1e-6).fit(gram, y)
    coef = svc.dual_coef_[0]
    loss = C * np.maximum(0.0, 1.0 - (2 * y - 1) * svc.decision_function(gram)).sum()
    norm = 0.5 * coef @ gram[np.ix_(svc.support_, svc.support_)] @ coef
    assert model.objective_ == pytest.approx(norm + loss, rel=1e-5)
    assert 0.0 <= model.duality_gap_ <= 1e-6 * model.objective_


# --- LD-MKL retraced ---------------------------------------------------------------------------


def least_gate(n_kernels=3):
    """1/M, but for expected successes that are alike: they differ by two free errors at most."""
    return 0.999 * np.exp(-2.0 * REGRESSION["epsilon"]) / n_kernels


def ldmkl_by_hand(expected_success, X, y, Z, vote):
    """Algorithm 3 with scikit-learn's machines."""

    def softmax(values):
        powers = np.exp(values)
        return powers / powers.sum(axis=1, keepdims=True)

    gates, at_new = (softmax(expected_success(rows)) for rows in (X, Z))
    total = np.zeros(len(Z))
    for m, kernel in enumerate(KERNELS):
        mine = np.flatnonzero(gates[:, m] >= least_gate())
        if len(mine) < 8 or len(set(y[mine])) == 1:
            mine = np.arange(len(y))
        svc = machine(kernel, X[mine], y[mine])
        rows, coef, bias = mine[svc.support_], svc.dual_coef_[0], svc.intercept_[0]
        if vote != "plain":
            coef, bias = (3 if vote == "gated" else 1) * gates[rows, m] * coef, 0.0
        if vote == "gated":
            scores, signs = kernel(X[mine], X[rows]) @ coef, 2 * y[mine] - 1
            losses = [np.maximum(0, 1 - signs * (scores + b)).sum() for b in signs - scores]
            flat = np.isclose(losses, min(losses))
            bias = np.mean(np.array([(signs - scores)[flat].min(), (signs - scores)[flat].max()]))
        total += at_new[:, m] * np.tanh(kernel(Z, X[rows]) @ coef + bias)
    return total, gates


@EACH_VOTE
def test_votes_retraced(data, expected_success, rng, vote):
    X, y = data
    Z = rng.standard_normal((30, 3))
    model = make("LDMKL", vote=vote).fit(X, y)
    expected, gates = ldmkl_by_hand(expected_success, X, y, Z, vote)
    counts = (gates >= least_gate()).sum(axis=0)
    assert counts.min() < 80  # some machine has seen some of the rows only
    np.testing.assert_allclose(model.decision_function(Z), expected, atol=0.03)


@EACH_VOTE
def test_a_vote_lies_between_minus_one_and_one(data, rng, vote):
    X, y = data
    model = make("LDMKL", vote=vote).fit(X, y)
    assert np.abs(model.decision_function(10.0 * rng.standard_normal((50, 3)))).max() <= 1.0


@pytest.mark.parametrize(
    ("rows", "is_solved_anew"),
    [(np.arange(5), False), (np.arange(0, 60, 2), False), (np.arange(6), True)],
    ids=["few rows", "one class", "enough"],
)
def test_a_kernel_that_answers_for_few_rows_keeps_its_first_machine(rows, is_solved_anew):
    X, signs = np.random.default_rng(0).standard_normal((60, 2)), np.tile([1.0, -1.0], 30)
    problem = DualProblem.of_signs(signs, np.full(60, C))
    single = SingleKernel(Linear(), X, WorkingSets(), FreeBias(), tol=1e-6, max_bytes=1e9)
    first = single.solve(problem)
    solved_on, found = solve_where((single, first, rows), problem)
    assert (found is not first) == is_solved_anew
    np.testing.assert_array_equal(solved_on, rows if is_solved_anew else np.arange(60))


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    X, noise = rng.standard_normal((900, 4)), 0.5 * rng.standard_normal(900)
    return X, (np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + noise > 0).astype(int)


@pytest.mark.parametrize(
    ("tol", "dtype"), [(1e-6, np.float64), (1e-2, np.float32)], ids=["tol", "precision"]
)
def test_labels_of_ldmkl_depend_on_neither_tolerance_nor_precision(noisy, tol, dtype):
    X, y = noisy[0], noisy[1]
    one = LDMKLClassifier().fit(X[:300], y[:300])
    other = LDMKLClassifier(tol=tol).fit(X[:300].astype(dtype), y[:300])
    differ = np.mean(one.predict(X[300:]) != other.predict(X[300:].astype(dtype)))
    assert differ <= 0.01  # the machines themselves are solved to 1e-2


def test_the_objective_of_ldmkl_is_the_sum_over_its_machines(data):
    X, y = data
    model = make("LDMKL").fit(X, y)
    total = 0.0
    for kernel, gates in zip(KERNELS, model.gate_values(X).T, strict=True):
        rows = np.flatnonzero(gates >= least_gate())
        svc = machine(kernel, X[rows], y[rows])
        coef, gram = svc.dual_coef_[0], kernel(X[rows][svc.support_])
        total += 0.5 * coef @ gram @ coef
        losses = np.maximum(0.0, 1.0 - (2 * y[rows] - 1) * svc.decision_function(X[rows]))
        total += C * losses.sum()
    assert model.objective_ == pytest.approx(total, rel=1e-5)


# --- several classes, support, ways to a model -------------------------------------------------


@EACH
def test_three_classes_are_machines_against_the_rest(blobs, method):
    X, y = blobs
    model = make(method, tol=1e-6).fit(X, y)
    assert model.decision_function(X).shape == (len(X), 3)
    assert len(model.gate_) == 3
    assert np.shape(model.success_) == (3, 3)
    for c in range(3):
        alone = make(method, tol=1e-6).fit(X, y == c)
        np.testing.assert_allclose(
            model.decision_function(X)[:, c], alone.decision_function(X), atol=1e-6
        )
        np.testing.assert_allclose(model.success_[c], alone.success_)


@EACH
def test_support_rows_are_counted(moons, method):
    model = make(method, C=100.0, tol=1e-3).fit(*moons)
    assert model.n_support_ == model.predictor_.components.n_support < 200
    assert model.support_share_ == model.n_support_ / 200


def test_support_rows_of_the_pairwise_blend_are_counted(moons):
    model = make("SwMKL", C=100.0, tol=1e-3, blend="pairwise").fit(*moons)
    assert model.n_support_ == len(model.predictor_.predictor.support) < 200


@EACH_VARIANT
@EACH_SUCCESS
def test_weight_k_equals_k_copies(data, rng, method, settings, success):
    X, y = data
    weight = rng.integers(0, 4, len(y))
    weighted = make(method, success=success, **settings).fit(X, y, sample_weight=weight)
    copied = make(method, success=success, **settings)
    copied.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.decision_function(X), copied.decision_function(X))


@EACH_VARIANT
@EACH_SUCCESS
def test_threads_and_pickling_do_not_change_a_bit(data, method, settings, success):
    X, y = data
    one, two = (
        make(method, n_jobs=n, success=success, **settings).fit(X, y) for n in (1, 2)
    )  # fmt: skip
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    copy = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(copy.decision_function(X), one.decision_function(X))


@EACH
def test_threads_change_nothing_where_memory_is_short(data, method, monkeypatch):
    # one matrix fits, two do not
    monkeypatch.setattr("nearlinear.estimators._base.kernels._GRAM_BYTES", 1.5 * 8 * 80**2)
    one, two = (make(method, n_jobs=n).fit(*data).decision_function(data[0]) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@EACH_VARIANT
def test_sparse_rows_learn_as_dense_ones(data, method, settings):
    X, y = np.where(np.abs(data[0]) < 0.5, 0.0, data[0]), data[1]
    dense, sparse = (make(method, **settings).fit(rows, y) for rows in (X, csr_matrix(X)))
    np.testing.assert_allclose(
        sparse.decision_function(csr_matrix(X)), dense.decision_function(X), atol=0.02
    )
    np.testing.assert_allclose(
        sparse.decision_function(X), sparse.decision_function(csr_matrix(X)), atol=1e-10
    )


@EACH_VARIANT
def test_single_precision_rows_stay_so(data, method, settings):
    X, y = data[0].astype(np.float32), data[1]
    model = make(method, tol=1e-3, **settings).fit(X, y)
    machine = getattr(model.predictor_, "components", None) or model.predictor_.predictor
    assert machine.support.dtype == machine.coefficients.dtype == np.float32
    assert model.decision_function(data[0]).dtype == np.float32


@EACH_VARIANT
def test_machines_may_be_solved_from_columns(data, method, settings):
    X, y = data

    model = make(method, solver="mwu", tol=1e-3, **settings).fit(X, y)
    assert model.score(X, y) > 0.8
    alone = make(method, Gaussian(0.3), solver="mwu", tol=1e-3, **settings).fit(X, y)
    gram = Gaussian(0.3)(X)
    svc = SVC(kernel="precomputed", C=1e6, tol=1e-6).fit(gram + np.eye(80) / C, y)
    scores = gram[:, svc.support_] @ svc.dual_coef_[0] + svc.intercept_[0]
    if settings == {"vote": "printed"}:
        scores -= svc.intercept_[0]
    expected = scores if method == "SwMKL" else np.tanh(scores)
    np.testing.assert_allclose(alone.decision_function(X), expected, atol=0.1)


# without a bias the printed vote knows no heavy class
@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("SwMKL", {"blend": "separable"}),
        ("SwMKL", {"blend": "pairwise"}),
        ("LDMKL", {"vote": "plain"}),
        ("LDMKL", {"vote": "gated"}),
    ],
    ids=["separable", "pairwise", "plain", "gated"],
)
def test_a_heavy_class_is_predicted_more_often(moons, rng, method, settings):
    X, y = moons[0] + rng.standard_normal(moons[0].shape), moons[1]  # much overlap
    light, heavy = (
        make(method, tol=1e-2, class_weight={1: factor}, **settings).fit(X, y).predict(X).mean()
        for factor in (0.1, 10.0)
    )
    assert heavy > light + 0.2


@EACH
def test_folds_are_random_but_one_seed_gives_one_model(data, method):
    X, y = data
    one, same, other = (
        make(method, success="out_of_fold", random_state=seed).fit(X, y).decision_function(X)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-6


@EACH
def test_a_class_of_one_row_has_no_folds(data, method):
    X, y = data[0], (np.arange(80) == 7).astype(int)
    settings = {"C": 100.0, "tol": 1e-4}
    held, seen = (
        make(method, success=s, **settings).fit(X, y) for s in ("out_of_fold", "training")
    )
    np.testing.assert_array_equal(held.decision_function(X), seen.decision_function(X))


@EACH
def test_machines_from_columns_make_no_matrix_but_for_regressions(data, monkeypatch, method):
    X, y = data
    sizes, plain = [], Grams.weighted

    def note(grams, weights, out=None):
        sizes.append(grams.n_kernels)
        return plain(grams, weights, out)

    monkeypatch.setattr(Grams, "weighted", note)
    make(method, solver="mwu", tol=1e-2).fit(X, y)
    assert sizes == [1, 1, 1]  # one regression per kernel


@EACH
def test_precomputed_kernels_are_refused(data, method):
    X, y = data
    with pytest.raises(ValueError, match=f"{method}Classifier needs rows, not kernels="):
        make(method, "precomputed").fit(np.stack([X @ X.T] * 2, axis=2), y)


@EACH
def test_too_little_memory_is_refused_with_the_parameter_to_raise(moons, method):
    words = "give fewer rows, or raise the limit"
    with config_context(max_memory=1e5), pytest.raises(MemoryError, match=words):
        make(method).fit(*moons)


@EACH
def test_little_memory_gives_the_model_of_much(data, method):
    X, y = data
    kernels = [Gaussian(0.3), Polynomial(2, gamma=0.5)]
    with config_context(max_memory=6e5):
        little = make(method, kernels, tol=1e-4).fit(X, y)
    with config_context(max_memory=1e9):
        much = make(method, kernels, tol=1e-4).fit(X, y)
    apart = np.abs(little.decision_function(X) - much.decision_function(X))
    # LD-MKL trains on rows with a gate of at least 1 / M: rounding may let one in or out
    assert np.mean(apart <= 0.05) >= 0.95


# --- success on landmarks ----------------------------------------------------------------------


@pytest.fixture
def with_landmarks(monkeypatch):
    """Make regressions of success use so many landmarks for any number of rows."""

    def arrange(count):
        monkeypatch.setattr("nearlinear.estimators._base.localized._MAX_REGRESSED_ROWS", 0)
        monkeypatch.setattr("nearlinear.estimators._base.localized._N_LANDMARKS", count)

    return arrange


@EACH
def test_all_rows_as_landmarks_give_the_machine_of_all_rows(data, method, with_landmarks):
    X, y = data
    kernels = [Gaussian(0.3), Gaussian(1.0)]
    whole = make(method, kernels).fit(X, y)
    with_landmarks(80)
    spanned = make(method, kernels).fit(X, y)
    np.testing.assert_allclose(spanned.gate_values(X), whole.gate_values(X), atol=0.03)
    assert np.mean(spanned.predict(X) == whole.predict(X)) > 0.95


@EACH
def test_a_gate_on_landmarks_keeps_few_rows_and_ships(data, method, with_landmarks, tmp_path):
    X, y = data
    with_landmarks(12)
    model = make(method, [Gaussian(0.3), Gaussian(1.0)], tol=1e-4).fit(X, y)
    assert model.gate_.scores.n_support <= 12
    assert_ships(model, X, tmp_path)


@EACH
def test_landmarks_know_no_copies(data, rng, method, with_landmarks):
    X, y = data
    weight = rng.integers(1, 4, len(y))
    with_landmarks(12)
    weighted = make(method, n_jobs=2).fit(X, y, sample_weight=weight)
    copied = make(method).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.decision_function(X), copied.decision_function(X))


@EACH
def test_landmarks_beyond_the_memory_are_refused(data, method, with_landmarks):
    with_landmarks(10**6)
    words = "give fewer rows, or raise the limit"
    with config_context(max_memory=5e5), pytest.raises(MemoryError, match=words):
        make(method).fit(*data)


@EACH
def test_published_averages_solve_machines_to_their_gap(data, method):
    X, y = data
    fine, averaged = (
        make(method, Gaussian(0.3), solver=s, tol=1e-2).fit(X, y) for s in ("mwu", "averaging")
    )
    assert averaged.duality_gap_ <= 0.0101 * averaged.objective_
    assert averaged.objective_ == pytest.approx(fine.objective_, rel=0.02)
