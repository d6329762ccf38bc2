"""Machines on features computed on the fly are those of the matrix."""

import numpy as np
import pytest

from nearlinear.kernels import Conformal, Scaled
from nearlinear.kernels import candidates as conformal_bank
from nearlinear.kernels.candidates import ConformalBank
from nearlinear.kernels.conformal import PROFILES
from nearlinear.kernels.conformal_grams import ConformalGrams, FeatureRows
from nearlinear.kernels.grams import Grams
from nearlinear.kernels.rows import GramRows
from nearlinear.solvers.machine.bias import FixedBias, FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.machine.working_sets import solve_kernel_machine
from nearlinear.solvers.mixture.active_set import solve_sequential
from nearlinear.solvers.mixture.objective import Descent, KernelObjective
from nearlinear.solvers.mixture.simplex import solve_newton

N_ROWS = 120
EVERYONE = np.arange(N_ROWS)
WHICH, WEIGHTS = np.array([0, 5, 6, 12, 19]), np.array([0.1, 0.3, 0.2, 0.15, 0.25])
BIASES = [FreeBias(), FixedBias(1.0), FixedBias()]
EACH_BIAS = pytest.mark.parametrize("steps", BIASES, ids=["free", "penalized", "none"])
EACH_WAY = pytest.mark.parametrize("way", ["features", "features in a matrix"])
EACH_TASK = pytest.mark.parametrize("task", ["classes", "values"])
EACH_PROFILE = pytest.mark.parametrize("profile", PROFILES)
EACH_REACH = pytest.mark.parametrize("per_feature", [False, True], ids=["whole", "per feature"])


@pytest.fixture
def X(moons):
    return moons[0][:N_ROWS]


@pytest.fixture
def problem(moons):
    """Makes the dual of one of the two tasks; rows have a C of their own."""
    X, y = moons
    C = np.random.default_rng(0).uniform(0.5, 3.0, N_ROWS)

    def make(task):
        if task == "classes":
            return DualProblem.of_signs(2 * y[:N_ROWS] - 1, C)
        return DualProblem.of_values(np.sin(2 * X[:N_ROWS, 0]), C, 0.05)

    return make


def make_bank(X, profile="gaussian", per_feature=False):
    """Ten anchors, two γ, divided by their lengths."""
    gammas = PROFILES[profile].gamma(np.array([0.5, 3.0]), 4.0)
    bank = ConformalBank.of_all(X[::12], gammas, PROFILES[profile], per_feature)
    bank.normalize(bank.traces(X, np.ones(len(X))), 0.5, 4.0)
    return bank


def kernels_of(bank):
    parts = zip(bank.places, bank.gammas, bank.divisors, strict=True)
    return [
        Scaled(
            Conformal(bank.anchors[place], float(gamma), bank.profile.name, bank.per_feature),
            float(1.0 / divisor),
        )
        for place, gamma, divisor in parts
    ]


def exact_gram(bank, X, which=WHICH, weights=WEIGHTS):
    kernels = kernels_of(bank)
    return sum(weight * kernels[m](X) for m, weight in zip(which, weights, strict=True))


def feature_rows(bank, X, size=1024, n_jobs=None):
    """A source that works on ``size`` rows at a time."""
    source = FeatureRows(bank, X, WEIGHTS, WHICH, n_jobs)
    source.working_set = source.whole_set = size
    return source


@EACH_PROFILE
@EACH_REACH
@pytest.mark.parametrize("rows", [[7], [5, 2, 40], EVERYONE[::-1]], ids=["one", "three", "all"])
def test_a_block_is_that_of_the_matrix_in_the_order_of_its_rows(X, profile, per_feature, rows):
    bank = make_bank(X, profile, per_feature)
    found = feature_rows(bank, X).block(np.array(rows))
    np.testing.assert_allclose(found, exact_gram(bank, X)[np.ix_(rows, rows)], atol=1e-12)


@EACH_PROFILE
@EACH_REACH
def test_what_is_subtracted_is_what_the_matrix_says(X, rng, profile, per_feature):
    bank = make_bank(X, profile, per_feature)
    source, gram = feature_rows(bank, X), exact_gram(bank, X)
    for rows in (np.array([3]), np.array([50, 4, 99]), rng.permutation(N_ROWS)):
        change, slack = rng.standard_normal(len(rows)), rng.standard_normal(N_ROWS)
        expected = slack - change @ gram[rows]
        source.subtract(rows, change, slack)
        np.testing.assert_allclose(slack, expected, atol=1e-11)


def test_while_restricted_only_some_columns_are_served(X, rng):
    bank = make_bank(X)
    source, gram = feature_rows(bank, X), exact_gram(bank, X)
    rows, change = np.array([3, 60, 9]), rng.standard_normal(3)
    for columns in (EVERYONE[10:30], EVERYONE[::2], EVERYONE[:1], EVERYONE[:0], EVERYONE, None):
        source.restrict(columns)
        served = EVERYONE if columns is None else columns
        slack = np.zeros(len(served))
        source.subtract(rows, change, slack)
        np.testing.assert_allclose(slack, -change @ gram[np.ix_(rows, served)], atol=1e-12)


def test_rows_left_out_catch_up_and_the_others_stay(X, rng):
    bank = make_bank(X)
    source, gram = feature_rows(bank, X), exact_gram(bank, X)
    others, rows = EVERYONE[::3], np.array([7, 9, 33])
    change, slack = rng.standard_normal(3), rng.standard_normal(N_ROWS)
    before = slack.copy()
    source.restrict(np.setdiff1d(EVERYONE, others))
    source.subtract_at(others, rows, change, slack)
    expected = before[others] - change @ gram[np.ix_(rows, others)]
    np.testing.assert_allclose(slack[others], expected, atol=1e-12)
    kept = np.setdiff1d(EVERYONE, others)
    np.testing.assert_array_equal(slack[kept], before[kept])


@pytest.mark.parametrize(
    ("others", "rows"), [(EVERYONE[:0], EVERYONE[:2]), (EVERYONE[:2], EVERYONE[:0])]
)
def test_nobody_catches_up_with_nothing(X, others, rows):
    source, slack = feature_rows(make_bank(X), X), np.ones(N_ROWS)
    source.subtract_at(others, rows, np.ones(len(rows)), slack)
    np.testing.assert_array_equal(slack, np.ones(N_ROWS))


@EACH_TASK
@EACH_BIAS
@EACH_REACH
@pytest.mark.parametrize("size", [8, 40, 1024])
def test_the_machine_is_that_of_the_matrix(X, problem, task, steps, per_feature, size):
    bank, dual = make_bank(X, per_feature=per_feature), problem(task)
    gram = exact_gram(bank, X)
    found = solve_kernel_machine(feature_rows(bank, X, size), dual, steps, tol=1e-6)
    expected = solve_kernel_machine(GramRows(gram), dual, steps, tol=1e-6)
    assert found.objective == pytest.approx(expected.objective, rel=2e-6)
    assert found.gap <= 1e-6 * found.objective
    np.testing.assert_allclose(
        gram @ found.dual_coef + found.bias, gram @ expected.dual_coef + expected.bias, atol=0.02
    )  # both stop at a gap
    slack = dual.targets - gram @ found.dual_coef - steps.shift * found.dual_coef.sum()
    np.testing.assert_allclose(found.slack, slack, atol=1e-9)


@EACH_BIAS
def test_a_machine_goes_on_from_a_solution(X, problem, steps):
    bank, dual = make_bank(X), problem("classes")
    first = solve_kernel_machine(feature_rows(bank, X, 16), dual, steps, tol=1e-5)
    again = solve_kernel_machine(
        feature_rows(bank, X, 16), dual, steps, tol=1e-5, start=first.dual_coef
    )  # fmt: skip
    assert again.n_iter <= 1
    assert again.objective == pytest.approx(first.objective, rel=1e-9)


def test_float32_rows_give_the_machine_of_double_ones(X, problem):
    bank, dual = make_bank(X), problem("classes")
    found, expected = (
        solve_kernel_machine(feature_rows(bank, rows, 16), dual, FixedBias(1.0), tol=1e-4)
        for rows in (X.astype(np.float32), X)
    )
    assert found.objective == pytest.approx(expected.objective, rel=2e-4)


@EACH_REACH
def test_the_number_of_threads_does_not_change_a_bit(X, problem, per_feature, monkeypatch):
    monkeypatch.setattr(conformal_bank, "_TILE", 64)
    monkeypatch.setattr(conformal_bank, "_MOST_COLUMNS", 16)
    bank, dual = make_bank(X, per_feature=per_feature), problem("classes")
    one, two = (
        solve_kernel_machine(feature_rows(bank, X, 16, n_jobs), dual, FreeBias(), tol=1e-3)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.dual_coef, two.dual_coef)
    np.testing.assert_array_equal(one.slack, two.slack)


@pytest.fixture
def learn(X, problem):
    """Makes learners of the same kernels: features without room for a matrix, or a matrix."""

    def make(way, task="classes", steps=BIASES[1], profile="gaussian", per_feature=False):
        bank = make_bank(X, profile, per_feature)
        if way == "features":
            return KernelObjective(ConformalGrams(bank, X), problem(task), steps, max_bytes=1000)
        if way == "features in a matrix":
            return KernelObjective(ConformalGrams(bank, X), problem(task), steps)
        return KernelObjective(Grams(kernels_of(bank), X), problem(task), steps)

    return make


@EACH_WAY
@EACH_TASK
@EACH_BIAS
@EACH_REACH
def test_an_evaluation_is_that_of_the_kernels(
    learn, way, task, steps, per_feature, monkeypatch
):  # fmt: skip
    monkeypatch.setattr(FeatureRows, "working_set", 32)
    monkeypatch.setattr(FeatureRows, "whole_set", 32)
    ours = learn(way, task, steps, per_feature=per_feature)
    general = learn("kernels", task, steps, per_feature=per_feature)
    found = ours.at(WEIGHTS, tol=1e-7, which=WHICH)
    expected = general.at(WEIGHTS, tol=1e-7, which=WHICH)
    assert found.objective == pytest.approx(expected.objective, rel=2e-7)
    np.testing.assert_allclose(found.quadratics, expected.quadratics, rtol=0.01)  # of two vectors
    exact = general.grams.quadratics(found.machine.dual_coef, WHICH)
    np.testing.assert_allclose(found.quadratics, exact, rtol=1e-9)


@EACH_WAY
@EACH_TASK
@EACH_BIAS
def test_the_curvature_is_that_of_the_kernels(learn, way, task, steps):
    ours, general = learn(way, task, steps), learn("kernels", task, steps)
    found = general.at(WEIGHTS, tol=1e-6, which=WHICH)
    expected = general.curvature(found, WHICH)
    assert np.abs(expected).max() > 0.0
    np.testing.assert_allclose(
        ours.curvature(found, WHICH), expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max()
    )


@EACH_WAY
@EACH_PROFILE
@EACH_REACH
def test_the_best_weights_are_those_of_the_kernels(learn, way, profile, per_feature):
    setting = {"profile": profile, "per_feature": per_feature}
    found = solve_newton(Descent(learn(way, **setting)), WEIGHTS, tol=1e-5, which=WHICH)
    expected = solve_newton(Descent(learn("kernels", **setting)), WEIGHTS, tol=1e-5, which=WHICH)
    assert found.objective == pytest.approx(expected.objective, rel=2e-5)


@EACH_WAY
@EACH_TASK
@EACH_BIAS
def test_few_kernels_at_work_reach_the_optimum_of_all(learn, way, task, steps, monkeypatch):
    monkeypatch.setattr(FeatureRows, "working_set", 64)
    monkeypatch.setattr(FeatureRows, "whole_set", 64)
    found = solve_sequential(Descent(learn(way, task, steps)), tol=1e-3, max_insertions=3)
    expected = solve_sequential(Descent(learn("kernels", task, steps)), tol=1e-3, max_insertions=3)
    assert found.gap <= 1e-3 * found.objective
    assert found.objective - found.gap <= expected.objective * (1 + 1e-9)
    assert expected.objective - expected.gap <= found.objective * (1 + 1e-9)
