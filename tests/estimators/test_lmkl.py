"""LMKL: one component is a support vector machine, linear kernels collapse, gates are learned."""

import pickle
import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVC, SVR, LinearSVC

from nearlinear import LMKLClassifier, LMKLRegressor, config_context
from nearlinear.estimators import lmkl
from nearlinear.kernels import Custom, Gaussian, Linear, OnColumns, Polynomial
from nearlinear.kernels.gated_grams import GatedGrams
from nearlinear.kernels.grams import Grams
from nearlinear.predictors.gated_expansion import GatedExpansion
from nearlinear.predictors.locally_linear import LocallyLinear
from nearlinear.solvers.localized.gate import GateObjective

AFFINE = Polynomial(1, gamma=1.0, coef0=1.0)
TASKS = {"Classifier": LMKLClassifier, "Regressor": LMKLRegressor}
EACH_TASK = pytest.mark.parametrize("task", TASKS)
EACH_GATE = pytest.mark.parametrize("gate", ["softmax", "sigmoid", "gaussian"])
EACH_SUM_TO_ONE = pytest.mark.parametrize("gate", ["softmax", "gaussian"])
EACH_SOLVER = pytest.mark.parametrize("solver", ["smo", "mwu", "adam"])
SHORT = {"max_iter": 8, "max_epochs": 20, "random_state": 0}


def make(task="Classifier", kernels=AFFINE, **settings):
    settings = {"n_copies": 3, "C": 2.0, "gate_penalty": 0.1, "normalization": None} | settings
    return TASKS[task](kernels, **SHORT | settings)


def score(model, X, **gating):
    return getattr(model, "decision_function", model.predict)(X, **gating)


@dataclass(frozen=True)
class Halves:
    """A gate of the user with nothing to learn: two components, left and right of zero."""

    parameters = np.zeros(0)

    def start(self, Z, n_components, rng):
        return self

    def with_parameters(self, parameters):
        return self

    def gradient(self, Z, slopes):
        return np.zeros(0)

    def __call__(self, Z):
        first = Z[:, [0]]
        right = 0.2 + 0.6 * (
            np.asarray(first.todense() if hasattr(first, "todense") else first) > 0
        )
        return np.hstack([right, 1.0 - right])


@dataclass(frozen=True)
class Step:
    """A gate of the user with one parameter: where along the first column two halves meet."""

    place: float = 0.3

    def start(self, Z, n_components, rng):
        return Step(0.3)

    @property
    def parameters(self):
        return np.array([self.place])

    def with_parameters(self, parameters):
        return Step(float(parameters[0]))

    def __call__(self, Z):
        right = 1.0 / (1.0 + np.exp(-3.0 * (Z[:, :1] - self.place)))
        return np.hstack([right, 1.0 - right])

    def gradient(self, Z, slopes):
        gates = self(Z)
        return np.array([-3.0 * np.sum((slopes[:, 0] - slopes[:, 1]) * gates[:, 0] * gates[:, 1])])


@pytest.fixture(scope="module")
def data():
    """Rows, labels and values."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((90, 3))
    values = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(90)
    # a spread of one, in which C and epsilon are what they are in the formulas
    scaled = (values - values.mean()) / values.std()
    return X, {"Classifier": (values > 0.1).astype(int), "Regressor": scaled}


@pytest.fixture
def machines(monkeypatch):
    """What the dual has found for every output: gate and machine, and the set-up they are from."""
    kept, plain = [], lmkl._dual_output

    def note(*found):
        kept.append(found)
        return plain(*found)

    monkeypatch.setattr(lmkl, "_dual_output", note)
    return kept


def by_hand(found, setup, owners, Z):
    """Σ_q γ_q(z) Σ_i a_i γ_q(x_i) k_q(x_i, z) + b, component by component."""
    machine, X = found.machine, setup.rows.X
    gates, total = found.gate(Z), np.full(len(Z), machine.bias)
    for q, m in enumerate(owners):
        coef = machine.dual_coef * found.gates[:, q]
        total += gates[:, q] * (setup.kernels[m](Z, X) @ coef)
    return setup.rows.task.units.unscaled(total)


# --- one component is a support vector machine -------------------------------------------------


@EACH_SUM_TO_ONE
@pytest.mark.parametrize("C", [0.3, 10.0])
@pytest.mark.parametrize(
    "kernel",
    [Gaussian(0.7), Polynomial(2, gamma=0.5), Linear()],
    ids=["gaussian", "poly", "linear"],
)
def test_one_component_gives_the_support_vector_machine(moons, gate, kernel, C):
    X, y = moons
    model = make(kernels=kernel, n_copies=1, gate=gate, C=C, tol=1e-6).fit(X, y)
    svc = SVC(kernel=lambda A, B: kernel(A, B), C=C, tol=1e-6).fit(X, y)
    # a gap of 1e-6 of the objective leaves the scores this free
    np.testing.assert_allclose(score(model, X), svc.decision_function(X), atol=0.02)
    np.testing.assert_array_equal(model.gate_values(X), 1.0)


@EACH_SUM_TO_ONE
@pytest.mark.parametrize("kernel", [Gaussian(0.7), Linear()], ids=["gaussian", "linear"])
def test_one_component_gives_support_vector_regression(wave, gate, kernel):
    X, y = wave
    settings = {"C": 2.0, "epsilon": 0.05, "tol": 1e-6}
    model = make("Regressor", kernel, n_copies=1, gate=gate, **settings).fit(X, y)
    own = settings | {name: settings[name] * y.std() for name in ("C", "epsilon")}
    svr = SVR(kernel=lambda A, B: kernel(A, B), **own).fit(X, y)
    np.testing.assert_allclose(model.predict(X), svr.predict(X), atol=0.01)


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Linear()], ids=["gaussian", "linear"])
def test_one_component_from_columns_gives_the_machine_of_squared_slacks(moons, kernel):
    X, y = moons
    model = make(kernels=kernel, n_copies=1, solver="mwu").fit(X, y)
    gram = kernel(X)
    svc = SVC(kernel="precomputed", C=1e6, tol=1e-6).fit(gram + np.eye(200) / 2.0, y)
    expected = gram[:, svc.support_] @ svc.dual_coef_[0] + svc.intercept_[0]
    # machines of columns stop at a gap of 1e-3
    np.testing.assert_allclose(score(model, X), expected, atol=0.1)


def test_one_component_by_mini_batches_gives_about_the_linear_machine(moons):
    X, y = moons
    model = make(n_copies=1, solver="adam", max_epochs=2000).fit(X, y)
    svc = SVC(kernel="linear", C=2.0, tol=1e-6).fit(X, y)
    best = 0.5 * (svc.coef_**2).sum()
    best += 2.0 * np.maximum(0.0, 1.0 - (2 * y - 1) * svc.decision_function(X)).sum()
    assert best * (1 - 1e-6) <= model.objective_ <= 1.02 * best
    np.testing.assert_allclose(score(model, X), svc.decision_function(X), atol=0.2)


def test_one_component_by_mini_batches_gives_about_linear_regression(wave):
    X, y = wave
    model = make("Regressor", n_copies=1, solver="adam", max_epochs=2000)
    model.set_params(epsilon=0.05).fit(X, 100.0 + y)
    svr = SVR(kernel="linear", C=2.0 * y.std(), epsilon=0.05 * y.std()).fit(X, 100.0 + y)
    np.testing.assert_allclose(model.predict(X), svr.predict(X), atol=0.1)


@EACH_TASK
@pytest.mark.parametrize("solver", ["smo", "adam"])
def test_a_gate_held_at_zero_gives_the_machine_of_the_mean(data, task, solver):
    X, y = data[0], data[1][task]
    extra = {"max_epochs": 3000} if solver == "adam" else {}
    model = make(
        task, gate_penalty=1e6, max_iter=50, tol=1e-5, solver=solver, **extra
    ).fit(X, y)  # fmt: skip
    np.testing.assert_allclose(model.gate_values(X), 1 / 3, atol=0.01)
    # three components with a third each are one kernel, a third as large
    plain = {"Classifier": SVC, "Regressor": SVR}[task](
        kernel=lambda A, B: AFFINE(A, B) / 3, C=2.0, tol=1e-6
    ).fit(X, y)
    np.testing.assert_allclose(score(model, X), score(plain, X), atol=0.1)


# --- linear kernels collapse -------------------------------------------------------------------

COLLAPSING = {
    "affine": AFFINE,
    "linear": Linear(),
    "named": "affine",
    "mixed": ["affine", "linear"],
    "columns": [OnColumns(Linear(), (0, 2)), OnColumns(AFFINE, (1,))],
}


@EACH_TASK
@pytest.mark.parametrize("normalization", [None, "variance", "trace"])
@pytest.mark.parametrize("case", COLLAPSING)
def test_linear_models_score_as_the_kernels_they_stand_for(
    data, machines, task, case, normalization
):
    X, y = data[0][:70], data[1][task][:70]
    model = make(task, COLLAPSING[case], normalization=normalization).fit(X, y)
    (found, setup, owners, _) = machines[0]
    assert isinstance(model.predictor_, LocallyLinear)
    np.testing.assert_allclose(
        score(model, data[0]), by_hand(found, setup, owners, data[0]), rtol=1e-8, atol=1e-8
    )


@EACH_TASK
@EACH_GATE
def test_other_kernels_keep_their_support_rows(data, machines, task, gate):
    X, y = data[0][:70], data[1][task][:70]
    model = make(task, [Gaussian(0.5), Linear()], n_copies=2, gate=gate).fit(X, y)
    (found, setup, owners, _) = machines[0]
    assert isinstance(model.predictor_, GatedExpansion)
    np.testing.assert_allclose(
        score(model, data[0]), by_hand(found, setup, owners, data[0]), rtol=1e-8, atol=1e-8
    )


def test_prediction_with_linear_models_costs_as_much_as_its_components(moons):
    three, one = (make(n_copies=n).fit(*moons).cost_.times_linear for n in (3, 1))
    assert three < 15.0  # two models and gates of three components, two features and a constant
    assert one < three
    assert make(kernels=Gaussian()).fit(*moons).cost_.times_linear > 5 * three


def test_unit_diagonals_do_not_collapse(moons):
    model = make(kernels="affine", normalization="diagonal").fit(*moons)
    assert isinstance(model.predictor_, GatedExpansion)


# --- what is minimized -------------------------------------------------------------------------


@EACH_GATE
@EACH_TASK
def test_the_objective_never_rises_from_step_to_step(data, task, gate):
    model = make(task, gate=gate, max_iter=20, tol=1e-6).fit(data[0], data[1][task])
    assert len(model.objective_path_) >= 3
    assert all(after <= before for before, after in pairwise(model.objective_path_))


@EACH_GATE
@EACH_TASK
def test_learning_the_gate_lowers_the_objective(data, task, gate):
    X, y = data[0], data[1][task]
    settings = {"gate": gate, "gate_penalty": 0.0, "C": 10.0}
    short, long = (make(task, max_iter=n, **settings).fit(X, y).objective_ for n in (1, 30))
    assert long < 0.95 * short


@EACH_TASK
@pytest.mark.parametrize("solver", ["smo", "adam"])
@pytest.mark.parametrize("gate_penalty", [0.0, 0.4])
@EACH_GATE
def test_the_objective_is_that_of_the_model(data, task, solver, gate, gate_penalty):
    X, y = data[0], data[1][task]
    model = make(task, solver=solver, gate=gate, gate_penalty=gate_penalty).fit(X, y)
    predictor = model.predictor_
    norm = 0.5 * ((predictor.weights**2).sum() + (predictor.biases**2).sum())
    if task == "Classifier":
        loss = np.maximum(0.0, 1.0 - (2 * y - 1) * score(model, X)).sum()
        units = 2.0  # C
    else:
        loss = np.maximum(0.0, np.abs(y - score(model, X)) - 0.1).sum()
        units = 2.0 * y.std()
    norm += 0.5 * gate_penalty * units * (model.gate_.gate.parameters**2).sum()
    assert model.objective_ == pytest.approx(norm + 2.0 * loss, rel=1e-6)


@EACH_TASK
def test_the_gap_certifies_the_machine_of_the_learned_gate(data, task):
    X, y = data[0], data[1][task]
    model = make(task, tol=1e-4).fit(X, y)
    assert 0.0 <= model.duality_gap_ <= 1e-4 * model.objective_
    assert np.isnan(make(task, solver="adam").fit(X, y).duality_gap_)


@EACH_TASK
def test_several_starts_keep_the_best(data, task):
    X, y = data[0], data[1][task]
    settings = {"C": 10.0, "gate_penalty": 0.0}
    found = np.array([
        [make(task, n_init=n, random_state=seed, **settings).fit(X, y).objective_ for n in (1, 4)]
        for seed in range(4)
    ])  # fmt: skip
    one, several = found.T
    assert (several <= one).all() and (several < one).any()


@pytest.mark.parametrize("solver", ["smo", "adam"])
def test_values_in_other_units_give_the_same_model_in_these_units(data, solver):
    X, y = data[0], data[1]["Regressor"]
    # a power of two leaves all digits
    plain, scaled = (make("Regressor", solver=solver).fit(X, unit * y) for unit in (1.0, 64.0))
    np.testing.assert_allclose(scaled.predict(X), 64 * plain.predict(X), rtol=1e-6, atol=1e-6)
    assert scaled.objective_ == pytest.approx(plain.objective_)


@EACH_TASK
@EACH_GATE
def test_a_piecewise_linear_truth_is_learned_better_than_by_a_line(rng, task, gate):
    X = rng.uniform(-2.0, 2.0, (100, 2))
    values = np.abs(X[:, 0]) + 0.3 * X[:, 1]
    if task == "Classifier":
        y = (values > 1.0).astype(int)
        line = LinearSVC().fit(X, y).score(X, y)
    else:
        y, line = values, LinearRegression().fit(X, values).score(X, values)
    model = make(task, gate=gate, n_copies=2, C=10.0, max_iter=40).fit(X, y)
    assert model.score(X, y) > line + 0.15


# --- gates -------------------------------------------------------------------------------------


@EACH_TASK
@EACH_SUM_TO_ONE
@pytest.mark.parametrize("solver", ["smo", "adam"])
def test_what_components_answer_for_a_row_sums_to_one(data, task, gate, solver):
    X, y = data[0], data[1][task]
    values = make(task, gate=gate, solver=solver, gate_penalty=0.0).fit(X, y).gate_values(X)
    assert values.min() >= 0.0
    np.testing.assert_allclose(values.sum(axis=1), 1.0, atol=3e-3)  # rounded at 0.001


@EACH_TASK
@EACH_GATE
def test_values_near_zero_and_one_are_rounded(data, task, gate):
    X, y = data[0], data[1][task]
    model = make(task, gate=gate, gate_penalty=0.0, C=30.0, max_iter=30).fit(X, y)
    values, far = model.gate_values(X), model.gate_values(30.0 * X)
    assert np.all((values == 0.0) | (values == 1.0) | ((values >= 1e-3) & (values <= 1 - 1e-3)))
    assert np.mean((far == 0.0) | (far == 1.0)) > 0.8


@EACH_TASK
def test_components_are_as_many_as_kernels_times_copies(data, task):
    X, y = data[0], data[1][task]
    model = make(task, [Gaussian(0.5), AFFINE], n_copies=3).fit(X, y)
    assert model.gate_values(X).shape == (90, 6)
    assert len(model.kernels_) == 2
    assert model.component_share_.shape == model.n_support_per_component_.shape == (6,)


@EACH_TASK
@pytest.mark.parametrize("kernels", [AFFINE, Gaussian(0.5)], ids=["linear", "gaussian"])
def test_components_are_reported_with_their_rows(data, machines, task, kernels):
    X, y = data[0], data[1][task]
    model = make(task, kernels, gate_penalty=0.0, C=30.0, max_iter=30).fit(X, y)
    is_open = model.gate_values(X) > 0.0
    assert 0.0 < is_open.mean() < 1.0
    np.testing.assert_allclose(model.component_share_, is_open.mean(axis=0))
    (found, setup, *_) = machines[0]
    used = found.machine.dual_coef != 0.0
    kept = model.gate_values(setup.rows.X[used]) > 0.0
    np.testing.assert_array_equal(model.n_support_per_component_, kept.sum(axis=0))
    assert model.n_support_ == used.sum()
    assert model.support_share_ == used.mean()
    if kernels is not AFFINE:
        assert model.predictor_.components.n_support == model.n_support_


@EACH_TASK
def test_by_mini_batches_support_rows_are_those_on_or_inside_the_margin(data, task):
    X, y = data[0], data[1][task]
    model = make(task, solver="adam", max_epochs=50).fit(X, y)
    if task == "Classifier":
        used = (2 * y - 1) * score(model, X) <= 1.0
    else:
        used = np.abs(y - score(model, X)) >= 0.1
    assert model.n_support_ == used.sum()
    kept = model.gate_values(X[used]) > 0.0
    np.testing.assert_array_equal(model.n_support_per_component_, kept.sum(axis=0))


@EACH_TASK
def test_rows_given_twice_count_once_in_the_report(data, task):
    X, y = data[0], data[1][task]
    model = make(task).fit(np.vstack([X, X[:40]]), np.r_[y, y[:40]])
    np.testing.assert_allclose(
        model.component_share_, (model.gate_values(X) > 0.0).mean(axis=0)
    )  # fmt: skip


@EACH_TASK
@pytest.mark.parametrize("solver", ["smo", "adam"])
def test_a_gate_of_the_user_is_used_and_learned(data, task, solver):
    X, y = data[0], data[1][task]
    model = make(task, gate=Step(), n_copies=2, gate_penalty=0.0, solver=solver).fit(X, y)
    learned = model.gate_.gate
    assert isinstance(learned, Step)
    assert abs(learned.place - 0.3) > 0.01
    np.testing.assert_allclose(model.gate_values(X), learned(X), atol=1e-3)


@EACH_TASK
@pytest.mark.parametrize("solver", ["smo", "adam"])
@pytest.mark.parametrize("gate", [Step(), Halves()], ids=["step", "halves"])
def test_a_gate_of_the_user_survives_pickling_and_cloning(data, task, solver, gate):
    X, y = data[0], data[1][task]
    model = make(task, gate=gate, n_copies=2, solver=solver).fit(X, y)
    np.testing.assert_array_equal(score(pickle.loads(pickle.dumps(model)), X), score(model, X))
    copy = clone(model)
    assert not hasattr(copy, "predictor_")
    assert copy.gate == gate
    np.testing.assert_array_equal(score(copy.fit(X, y), X), score(model, X))


@EACH_TASK
def test_a_gate_with_nothing_to_learn_gives_the_machine_of_its_kernel(data, task):
    X, y = data[0], data[1][task]
    model = make(task, Gaussian(0.5), gate=Halves(), n_copies=2, tol=1e-6).fit(X, y)

    def kernel(A, B):
        return Halves()(A) @ Halves()(B).T * Gaussian(0.5)(A, B)

    plain = {"Classifier": SVC, "Regressor": SVR}[task](kernel=kernel, C=2.0, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(score(model, X), score(plain, X), atol=0.02)
    assert len(model.objective_path_) == 0


def test_gate_values_of_a_model_that_was_not_fitted_are_refused(moons):
    with pytest.raises(NotFittedError, match="not fitted"):
        make().gate_values(moons[0])


# --- several classes ---------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["smo", "adam"])
def test_three_classes_have_gates_of_their_own(blobs, solver):
    X, y = blobs
    model = make(solver=solver, C=1.0).fit(X, y)
    assert score(model, X).shape == (len(X), 3)
    assert len(model.gate_) == len(model.gate_values(X)) == 3
    assert len(model.component_share_) == len(model.n_support_per_component_) == 3
    assert len(model.objective_path_) == 3
    for gate, values in zip(model.gate_, model.gate_values(X), strict=True):
        np.testing.assert_array_equal(values, gate(X))
    assert model.score(X, y) > 0.7


def test_three_classes_are_machines_against_the_rest(blobs):
    X, y = blobs
    settings = {"kernels": Gaussian(0.3), "gate": Halves(), "n_copies": 2, "tol": 1e-6}
    model = make(**settings).fit(X, y)
    for c in range(3):
        alone = make(**settings).fit(X, y == c)
        np.testing.assert_allclose(score(model, X)[:, c], score(alone, X), atol=1e-8)


def test_the_objective_of_three_classes_is_their_sum(blobs):
    X, y = blobs
    settings = {"kernels": Gaussian(0.3), "gate": Halves(), "n_copies": 2, "tol": 1e-6}
    model = make(**settings).fit(X, y)
    alone = [make(**settings).fit(X, y == c) for c in range(3)]
    assert model.objective_ == pytest.approx(sum(part.objective_ for part in alone))


# --- as published ------------------------------------------------------------------------------


@pytest.mark.parametrize("gate", ["softmax", "sigmoid", "gaussian"])
def test_the_published_algorithm_learns_in_any_unit(data, gate):
    X, y = data[0], data[1]["Classifier"]
    settings = {"solver": "alternating", "gate": gate, "gate_penalty": 0.0, "random_state": 0}
    model = make(**settings).fit(X, y)
    assert np.all(np.diff(model.objective_path_) < 0.0)
    assert model.duality_gap_ <= model.tol * model.objective_
    line = make(n_copies=1).fit(X, y)
    assert model.objective_ < line.objective_
    assert model.score(X, y) > line.score(X, y)
    same = make(n_jobs=2, **settings).fit(X, y)
    np.testing.assert_array_equal(score(same, X), score(model, X))


def test_one_component_of_the_published_algorithm_is_the_machine(data):
    X, y = data[0], data[1]["Regressor"]
    found, expected = (
        make("Regressor", Gaussian(0.5), n_copies=1, solver=solver, tol=1e-6).fit(X, y)
        for solver in ("alternating", "smo")
    )
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-5)


# --- weights -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "kernels"),
    [
        ("smo", AFFINE),
        ("smo", [Gaussian(0.5), AFFINE]),
        ("mwu", [Gaussian(0.5), AFFINE]),
        ("adam", AFFINE),
        ("adam", [Linear(), AFFINE]),
        ("alternating", [Gaussian(0.5), AFFINE]),
    ],
    ids=["smo", "smo-mixed", "mwu-mixed", "adam", "adam-mixed", "alternating"],
)
def test_weight_k_equals_k_copies(data, rng, solver, kernels):
    X, y = data[0], data[1]["Classifier"]
    weight = rng.integers(0, 4, len(y))
    weighted = make(kernels=kernels, solver=solver).fit(X, y, sample_weight=weight)
    copied = make(kernels=kernels, solver=solver)
    copied.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(score(weighted, X), score(copied, X))


@pytest.mark.parametrize("solver", ["smo", "adam"])
def test_weight_k_equals_k_copies_in_regression(data, rng, solver):
    X, y = data[0], data[1]["Regressor"]
    weight = rng.integers(0, 4, len(y))
    weighted = make("Regressor", solver=solver).fit(X, y, sample_weight=weight)
    copied = make("Regressor", solver=solver)
    copied.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(score(weighted, X), score(copied, X))


def test_weights_are_those_of_the_support_vector_machine(moons, rng):
    X, y = moons
    weight = rng.uniform(0.1, 3.0, len(y))
    settings = {"C": 2.0, "tol": 1e-6, "class_weight": {1: 3.0}}
    model = make(kernels=Gaussian(0.7), n_copies=1, **settings).fit(X, y, sample_weight=weight)
    svc = SVC(gamma=0.7, **settings).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(score(model, X), svc.decision_function(X), atol=0.02)


@pytest.mark.parametrize("solver", ["smo", "adam"])
def test_a_heavy_class_is_predicted_more_often(moons, rng, solver):
    X, y = moons[0] + rng.standard_normal(moons[0].shape), moons[1]  # much overlap
    light, heavy = (
        make(solver=solver, class_weight={1: factor}).fit(X, y).predict(X).mean()
        for factor in (0.1, 10.0)
    )
    assert heavy > light + 0.2


# --- kinds of rows -----------------------------------------------------------------------------


@EACH_TASK
@pytest.mark.parametrize("solver", ["smo", "adam"])
@EACH_GATE
def test_sparse_rows_learn_as_dense_ones(data, task, solver, gate):
    X, y = np.where(np.abs(data[0]) < 0.5, 0.0, data[0]), data[1][task]
    # few steps: the problem is not convex, and steps lead apart whatever differs by rounding
    settings = {"solver": solver, "gate": gate, "max_iter": 1, "tol": 1e-6, "max_epochs": 5}
    dense, sparse = (make(task, **settings).fit(rows, y) for rows in (X, csr_matrix(X)))
    # machines on the way stop at a gap of 1e-3, dense and sparse each in a place of its own
    np.testing.assert_allclose(score(sparse, csr_matrix(X)), score(dense, X), atol=0.2)
    np.testing.assert_allclose(score(sparse, X), score(sparse, csr_matrix(X)), atol=1e-10)
    np.testing.assert_allclose(sparse.gate_values(csr_matrix(X)), dense.gate_values(X), atol=0.05)


@EACH_TASK
@pytest.mark.parametrize("solver", ["smo", "adam"])
@pytest.mark.parametrize("kernels", [[AFFINE], [Linear(), AFFINE]], ids=["affine", "both"])
def test_sparse_rows_give_the_machine_of_dense_ones(data, task, solver, kernels):
    X, y = np.where(np.abs(data[0]) < 0.5, 0.0, data[0]), data[1][task]
    settings = {"solver": solver, "gate": Halves(), "n_copies": 2 // len(kernels), "tol": 1e-7}
    dense, sparse = (make(task, kernels, **settings).fit(rows, y) for rows in (X, csr_matrix(X)))
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-5)
    np.testing.assert_allclose(score(sparse, csr_matrix(X)), score(dense, X), atol=0.01)


@EACH_SOLVER
@pytest.mark.parametrize("kernels", [AFFINE, Gaussian(0.5)], ids=["linear", "gaussian"])
def test_sparse_rows_are_never_made_dense_but_for_a_few(data, monkeypatch, solver, kernels):
    if solver == "adam" and kernels is not AFFINE:
        kernels = Linear()
    X = csr_matrix(np.hstack([data[0], np.zeros((90, 500))]))
    y, plain = data[1]["Classifier"], csr_matrix.toarray

    def refuse(matrix, *args, **kwargs):
        assert matrix.shape[0] <= 10 or matrix.shape[1] < 500, "sparse rows were made dense"
        return plain(matrix, *args, **kwargs)

    monkeypatch.setattr(csr_matrix, "toarray", refuse)
    monkeypatch.setattr(csr_matrix, "todense", refuse)
    # tiles of eight rows: what is dense for a while must not grow with the rows
    monkeypatch.setattr("nearlinear.kernels.grams._TILE", 64)
    monkeypatch.setattr("nearlinear.predictors.kernel_expansion.STRIP", 8)
    model = make(kernels=kernels, solver=solver, max_iter=2).fit(X, y)
    assert model.predict(X).shape == model.gate_values(X)[:, 0].shape == (90,)


@EACH_TASK
@pytest.mark.parametrize("solver", ["smo", "adam"])
@pytest.mark.parametrize(
    "gate",
    ["softmax", "sigmoid", "gaussian", Step()],
    ids=["softmax", "sigmoid", "gaussian", "step"],
)
def test_single_precision_rows_stay_so(data, task, solver, gate):
    X, y = data[0].astype(np.float32), data[1][task]
    model = make(task, gate=gate, n_copies=2, solver=solver).fit(X, y)
    assert model.predictor_.weights.dtype == model.predictor_.biases.dtype == np.float32
    assert score(model, X).dtype == score(model, data[0]).dtype == np.float32


def test_single_precision_rows_of_an_expansion_stay_so(data):
    X, y = data[0].astype(np.float32), data[1]["Classifier"]
    model = make(kernels=Gaussian(0.5)).fit(X, y)
    components = model.predictor_.components
    assert components.support.dtype == components.coefficients.dtype == np.float32
    assert score(model, data[0]).dtype == np.float32


@EACH_TASK
def test_a_kernel_of_the_user_is_one_of_the_kernels(data, task):
    X, y = data[0], data[1][task]
    settings = {"gate": Halves(), "n_copies": 2, "tol": 1e-7}
    named = make(task, Linear(), **settings).fit(X, y)
    own = make(task, Custom(lambda A, B: np.asarray(A @ B.T)), **settings).fit(X, y)
    np.testing.assert_allclose(score(own, X), score(named, X), atol=1e-3)


# --- ways to a model ---------------------------------------------------------------------------


def test_machines_from_columns_make_no_matrix(moons, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a whole Gram matrix")

    for name in ("weighted", "modulated", "rows"):
        monkeypatch.setattr(Grams, name, refuse)
    model = make(solver="mwu", kernels=[Gaussian(0.5), AFFINE]).fit(*moons)
    assert model.score(*moons) > 0.9
    assert 0.0 <= model.duality_gap_ <= 1e-3 * model.objective_


def test_mini_batches_make_no_matrix(moons, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a Gram matrix")

    for name in ("weighted", "modulated", "columns", "keep", "products_of_many"):
        monkeypatch.setattr(Grams, name, refuse)
    assert make(solver="adam", max_epochs=200, C=10.0).fit(*moons).score(*moons) > 0.88


def test_mini_batches_reach_about_the_objective_of_machines(data):
    X, y = data[0], data[1]["Classifier"]
    settings = {"gate": Halves(), "n_copies": 2}
    exact = make(tol=1e-5, **settings).fit(X, y)
    batches = make(solver="adam", max_epochs=3000, **settings).fit(X, y)
    assert exact.objective_ * (1 - 1e-5) <= batches.objective_ <= 1.02 * exact.objective_


@EACH_TASK
def test_many_rows_and_linear_kernels_go_by_mini_batches(data, task, monkeypatch):
    X, y = data[0], data[1][task]
    assert make(task, solver="auto").fit(X, y).duality_gap_ >= 0.0
    monkeypatch.setattr(lmkl, "_MOST_DUAL_ROWS", 50)
    assert np.isnan(make(task, solver="auto").fit(X, y).duality_gap_)
    # other kernels have no linear models
    assert make(task, Gaussian(0.5), solver="auto").fit(X, y).duality_gap_ >= 0.0


@pytest.mark.parametrize(
    "settings",
    [
        {"kernels": Gaussian()},
        {"kernels": ["affine", "poly"]},
        {"kernels": "affine", "normalization": "diagonal"},
    ],
    ids=["gaussian", "poly", "diagonal"],
)
@EACH_TASK
def test_mini_batches_refuse_kernels_without_linear_models(data, task, settings):
    with pytest.raises(ValueError, match=rf"LMKL{task}\(solver='adam'\) learns linear models"):
        make(task, solver="adam", **settings).fit(data[0], data[1][task])


def test_a_regression_is_not_solved_by_exchanges_of_two_classes(data):
    with pytest.raises(ValueError, match="solver"):
        make("Regressor", solver="mwu").fit(data[0], 2.0 * data[1]["Classifier"] - 1.0)


@pytest.mark.parametrize(
    ("task", "solver"),
    [("Classifier", "smo"), ("Classifier", "mwu"), ("Classifier", "adam"), ("Regressor", "smo")],
)
def test_threads_do_not_change_a_bit(data, task, solver):
    X, y = np.vstack([data[0]] * 4) + 0.01 * np.arange(360)[:, None], np.tile(data[1][task], 4)
    kernels = AFFINE if solver == "adam" else [Gaussian(0.5), AFFINE]
    one, two = (
        make(task, kernels, solver=solver, max_iter=2, max_epochs=3, n_jobs=n).fit(X, y)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(score(one, X), score(two, X))
    np.testing.assert_array_equal(one.gate_values(X), two.gate_values(X))


@EACH_TASK
@pytest.mark.parametrize("solver", ["smo", "adam"])
def test_one_seed_gives_one_model_and_another_seed_another(data, task, solver):
    X, y = data[0], data[1][task]
    one, same, other = (
        score(make(task, solver=solver, random_state=seed, C=10.0).fit(X, y), X)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-6


def test_a_random_state_object_gives_a_new_model_each_time(data):
    X, y = data[0], data[1]["Classifier"]
    state = np.random.RandomState(0)
    first, second = (score(make(random_state=state, C=10.0).fit(X, y), X) for _ in range(2))
    assert np.abs(first - second).max() > 1e-6


@EACH_TASK
@EACH_GATE
@pytest.mark.parametrize("solver", ["smo", "adam"])
def test_a_model_survives_pickling(data, task, gate, solver):
    X, y = data[0], data[1][task]
    model = make(task, gate=gate, solver=solver).fit(X, y)
    np.testing.assert_array_equal(score(pickle.loads(pickle.dumps(model)), X), score(model, X))


def test_too_little_memory_is_refused_with_the_parameter_to_raise(moons):
    words = "give fewer rows, or raise the limit"
    with config_context(max_memory=1e5), pytest.raises(MemoryError, match=words):
        make().fit(*moons)


@EACH_TASK
def test_little_memory_gives_the_model_of_much(data, task):
    X, y = data[0], data[1][task]
    settings = {"gate": Halves(), "n_copies": 2, "tol": 1e-4}
    with config_context(max_memory=8e5):
        little = make(task, [Gaussian(0.5)], **settings).fit(X, y)
    with config_context(max_memory=1e9):
        much = make(task, [Gaussian(0.5)], **settings).fit(X, y)
    assert little.objective_ == pytest.approx(much.objective_, rel=2e-4)
    np.testing.assert_allclose(score(little, X), score(much, X), atol=0.05)


@EACH_TASK
def test_rows_on_demand_give_the_model_of_the_matrix(data, task, monkeypatch):
    X, y = data[0], data[1][task]
    settings = {"gate": Halves(), "n_copies": 2, "tol": 1e-4}
    matrix = make(task, [Gaussian(0.5)], **settings).fit(X, y)
    computed, plain = [], GatedGrams.rows

    def note(grams, weights, which, max_bytes):
        source = plain(grams, weights, which, max_bytes)
        computed.append(type(source).__name__)
        return source

    monkeypatch.setattr(GatedGrams, "rows", note)
    # room for a few rows of the matrix
    monkeypatch.setattr("nearlinear.estimators._base.kernels._GRAM_BYTES", 20_000)
    on_demand = make(task, [Gaussian(0.5)], **settings).fit(X, y)
    assert set(computed) == {"ComputedRows"}
    assert on_demand.objective_ == pytest.approx(matrix.objective_, rel=1e-3)
    np.testing.assert_allclose(score(on_demand, X), score(matrix, X), atol=0.05)


def test_precomputed_kernels_are_refused(data):
    X, y = data[0], data[1]["Classifier"]
    with pytest.raises(ValueError, match="LMKLClassifier needs rows, not kernels='precomputed'"):
        make(kernels="precomputed").fit(np.stack([X @ X.T] * 2, axis=2), y)


# --- what is said ------------------------------------------------------------------------------


@EACH_TASK
@pytest.mark.parametrize("solver", ["smo", "adam"])
def test_verbose_prints_a_line_for_every_step(data, task, solver, capsys):
    X, y = data[0], data[1][task]
    make(task, solver=solver).fit(X, y)
    assert capsys.readouterr().out == ""
    model = make(task, solver=solver, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(model.objective_path_) >= 2
    for step, (line, value) in enumerate(zip(lines, model.objective_path_, strict=True), start=1):
        assert re.fullmatch(rf"LMKL{task}: step {step}, \d+\.\d s, objective {value:.6g}", line)


@pytest.fixture
def impatient(monkeypatch):
    """Interrupts the search for a gate after so many machines; counts them."""

    def arrange(n_machines):
        evaluate, calls = GateObjective.__call__, []

        def interrupted(self, gate, tol):
            if len(calls) == n_machines:
                calls.append(None)
                raise KeyboardInterrupt
            found = evaluate(self, gate, tol)
            calls.append((found[0], gate))
            return found

        monkeypatch.setattr(GateObjective, "__call__", interrupted)
        return calls

    return arrange


@EACH_TASK
def test_an_interrupted_fit_keeps_the_best_gate(data, task, impatient):
    X, y = data[0], data[1][task]
    calls = impatient(4)
    model = make(task, gate_penalty=0.0, C=10.0)
    with pytest.raises(KeyboardInterrupt, match="the best gate so far is kept"):
        model.fit(X, y)
    assert len(calls) == 5
    best = min(calls[:4], key=lambda call: call[0])[1]
    np.testing.assert_array_equal(model.gate_.gate.parameters, best.parameters)
    assert model.duality_gap_ <= 1e-3 * model.objective_
    assert model.score(X, y) > 0.5


def test_an_interruption_ends_all_starts(data, impatient):
    calls = impatient(4)
    with pytest.raises(KeyboardInterrupt):
        make(n_init=5).fit(data[0], data[1]["Classifier"])
    assert len(calls) == 5


def test_an_interrupted_second_start_keeps_the_first(data, impatient):
    X, y = data[0], data[1]["Classifier"]
    calls = impatient(np.inf)
    first = make().fit(X, y)
    impatient(len(calls))
    model = make(n_init=2)
    with pytest.raises(KeyboardInterrupt, match="the best gate so far is kept"):
        model.fit(X, y)
    np.testing.assert_array_equal(score(model, X), score(first, X))


def test_an_interruption_before_anything_is_found_is_passed_on(data, impatient):
    impatient(0)
    with pytest.raises(KeyboardInterrupt):
        make().fit(data[0], data[1]["Classifier"])
