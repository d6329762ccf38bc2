"""One machine that learns from rows as they come, against sums over all of its rows."""

import numpy as np
import pytest

from nearlinear.kernels.candidates import ConformalScales
from nearlinear.kernels.conformal import PROFILES
from nearlinear.kernels.rows import GramRows
from nearlinear.solvers.conformal import online as conformal_online
from nearlinear.solvers.conformal.online import OnlineMachine
from nearlinear.solvers.machine.bias import FixedBias, FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.machine.working_sets import solve_kernel_machine
from reference.conformal import bank_features, bank_gram

N_ROWS = 80
BIASES = [FreeBias(), FixedBias(1.0), FixedBias()]
EACH_BIAS = pytest.mark.parametrize("steps", BIASES, ids=["free", "penalized", "none"])
EACH_TASK = pytest.mark.parametrize("task", ["classes", "values"])
EACH_PROFILE = pytest.mark.parametrize("profile", PROFILES)
EACH_REACH = pytest.mark.parametrize("per_feature", [False, True], ids=["whole", "per feature"])


class Stored:
    """A machine with all the rows it has heard of and their coefficients."""

    def __init__(
        self, X, problem, steps, profile="gaussian", per_feature=False, n_first=40, max_kernels=None
    ):
        self.X, self.problem, self.steps = X, problem, steps
        self.scales = ConformalScales.of_rows(
            X, np.ones(len(X)), PROFILES[profile], per_feature, (0.3, 1.0, 3.0), 0.5
        )  # fmt: skip
        self.machine = OnlineMachine(self.candidates(slice(1)), steps)
        self.coef = np.zeros(len(X))
        first = np.arange(n_first)
        self.coef[first] = self.machine.begin(
            X[first], problem.take(first), self.candidates(slice(0, n_first, 4)), max_kernels
        )

    def candidates(self, rows):
        return self.scales.bank(self.X[rows])

    def ascend(self, rows):
        rows = np.asarray(rows)
        self.coef[rows] = self.machine.ascend(
            self.X[rows], self.problem.take(rows), self.coef[rows]
        )

    def reconsider(self, rows=slice(None, None, 3), max_kernels=None):
        self.coef = self.machine.reconsider(
            self.X, self.problem, self.coef, self.candidates(rows), max_kernels
        )

    @property
    def gram(self):
        return bank_gram(self.machine.bank, self.X, self.machine.weights) + self.steps.shift

    def dual_value(self):
        return self.problem.dual_value(self.coef, self.coef @ self.gram @ self.coef)

    def check(self):
        """All that must hold whatever has happened."""
        machine, coef = self.machine, self.coef
        feature_sums = np.einsum("i,mid->md", coef, bank_features(machine.bank, self.X))
        np.testing.assert_allclose(machine.feature_sums, feature_sums, atol=1e-9)
        assert machine.total == pytest.approx(coef.sum(), abs=1e-9)
        assert np.all(coef >= self.problem.lower)
        assert np.all(coef <= self.problem.upper)
        assert machine.weights.shape == (len(machine.bank),)
        assert machine.weights.min() >= 0.0
        assert machine.weights.sum() == pytest.approx(1.0)
        if self.steps.is_free:
            assert coef.sum() == pytest.approx(0.0, abs=1e-9)
        else:
            assert machine.bias == pytest.approx(self.steps.shift * coef.sum(), abs=1e-9)


@pytest.fixture
def X(moons):
    return moons[0][:N_ROWS]


@pytest.fixture
def problem(moons):
    X, y = moons
    C = np.random.default_rng(0).uniform(0.5, 5.0, N_ROWS)

    def make(task="classes"):
        if task == "classes":
            return DualProblem.of_signs(2 * y[:N_ROWS] - 1, C)
        return DualProblem.of_values(np.sin(2 * X[:N_ROWS, 0]), C, 0.1)

    return make


def test_at_first_there_are_no_kernels(X, problem):
    scales = ConformalScales.of_rows(X, np.ones(N_ROWS), PROFILES["linear"], False, (1.0,), 0.5)
    machine = OnlineMachine(scales.bank(X), FreeBias())
    assert len(machine.bank) == 0
    assert machine.feature_sums.shape == (0, 2)
    assert machine.bias == machine.total == 0.0
    np.testing.assert_array_equal(machine.scores(X), np.zeros(N_ROWS))


@EACH_TASK
@EACH_BIAS
@EACH_PROFILE
@EACH_REACH
def test_the_first_rows_are_solved_for(X, problem, task, steps, profile, per_feature):
    stored = Stored(X[:40], problem(task).take(np.arange(40)), steps, profile, per_feature)
    stored.check()
    gram = stored.gram - steps.shift
    best = solve_kernel_machine(GramRows(gram), stored.problem, steps, tol=1e-6).objective
    assert stored.dual_value() >= 0.94 * best  # a first machine is a rough one


@EACH_TASK
@EACH_BIAS
@EACH_REACH
def test_scores_and_slack_are_those_of_the_machine(X, problem, task, steps, per_feature):
    stored = Stored(X, problem(task), steps, per_feature=per_feature)
    scores = (stored.gram - steps.shift) @ stored.coef
    np.testing.assert_allclose(stored.machine.scores(X), scores, atol=1e-9)
    slack = stored.problem.targets - stored.gram @ stored.coef
    np.testing.assert_allclose(stored.machine.slack(X, stored.problem), slack, atol=1e-9)


@EACH_TASK
@EACH_BIAS
@EACH_REACH
def test_every_step_raises_the_dual_value(X, problem, rng, task, steps, per_feature):
    stored = Stored(X, problem(task), steps, per_feature=per_feature)
    values = [stored.dual_value()]
    blocks = [np.arange(40, 64), np.arange(64, 80), [3], [5, 77]]
    for rows in [*blocks, *(np.sort(rng.permutation(N_ROWS)[:30]) for _ in range(6))]:
        stored.ascend(rows)
        stored.check()
        values.append(stored.dual_value())
    assert np.all(np.diff(values) >= -1e-9 * values[-1])
    assert values[-1] > 1.1 * values[0]


@EACH_TASK
@EACH_BIAS
def test_steps_on_all_rows_solve_the_machine(X, problem, task, steps):
    stored = Stored(X, problem(task), steps)
    stored.ascend(np.arange(N_ROWS))
    gram = stored.gram - steps.shift
    best = solve_kernel_machine(GramRows(gram), stored.problem, steps, tol=1e-7).objective
    assert stored.dual_value() == pytest.approx(best, rel=1e-3)


def test_a_step_leaves_the_coefficients_handed_in_alone(X, problem):
    stored = Stored(X, problem(), FixedBias(1.0))
    before = stored.coef[:20].copy()
    given = before.copy()
    stored.machine.ascend(X[:20], stored.problem.take(np.arange(20)), given)
    np.testing.assert_array_equal(given, before)


@EACH_BIAS
@pytest.mark.parametrize("max_kernels", [1, 2, 3])
def test_no_more_kernels_begin_than_allowed(X, problem, steps, max_kernels):
    stored = Stored(X, problem(), steps, max_kernels=max_kernels)
    assert len(stored.machine.bank) <= max_kernels < len(Stored(X, problem(), steps).machine.bank)
    stored.check()


@EACH_TASK
@EACH_BIAS
def test_coefficients_of_any_sum_are_balanced_for_a_free_bias(X, problem, rng, task, steps):
    stored = Stored(X, problem(task), steps)
    change = np.where(rng.random(N_ROWS) < 0.3, -stored.coef, 0.0)  # some rows are gone
    stored.machine.add_change(X, change)
    stored.coef = stored.coef + change
    assert abs(stored.coef.sum()) > 1e-3
    before = stored.coef.copy()
    stored.coef = stored.machine.balance(X, stored.problem, stored.coef)
    stored.check()
    assert np.all(np.abs(stored.coef) <= np.abs(before))
    assert np.array_equal(stored.coef, before) == (not steps.is_free)


@EACH_TASK
def test_a_free_bias_can_be_set_to_the_best_one(X, problem, task):
    stored = Stored(X, problem(task), FreeBias())
    stored.ascend(np.arange(N_ROWS))
    stored.machine.set_bias(X, stored.problem, stored.coef)
    slack = stored.problem.targets - stored.machine.scores(X)
    best = stored.problem.loss(slack - stored.problem.best_bias(slack))
    assert stored.problem.loss(slack - stored.machine.bias) == pytest.approx(best)


@pytest.mark.parametrize("steps", BIASES[1:], ids=["penalized", "none"])
def test_a_bias_that_is_not_free_stays_what_it_is(X, problem, steps):
    stored = Stored(X, problem(), steps)
    stored.machine.set_bias(X, stored.problem, stored.coef)
    stored.check()


@EACH_BIAS
def test_coefficients_that_change_are_told(X, problem, rng, steps):
    stored = Stored(X, problem(), steps)
    bias, change = stored.machine.bias, rng.standard_normal(N_ROWS) * (rng.random(N_ROWS) < 0.3)
    stored.machine.add_change(X, change)
    coef = stored.coef + change
    feature_sums = np.einsum("i,mid->md", coef, bank_features(stored.machine.bank, X))
    np.testing.assert_allclose(stored.machine.feature_sums, feature_sums, atol=1e-9)
    assert stored.machine.total == pytest.approx(coef.sum())
    if not steps.is_free:
        assert stored.machine.bias == pytest.approx(steps.shift * coef.sum())
    stored.machine.add_change(X, -change)
    assert stored.machine.bias == pytest.approx(bias)
    stored.check()


def test_no_change_changes_nothing(X, problem):
    stored = Stored(X, problem(), FixedBias(1.0))
    feature_sums = stored.machine.feature_sums.copy()
    stored.machine.add_change(X[:0], np.zeros(0))
    stored.machine.add_change(X, np.zeros(N_ROWS))
    np.testing.assert_array_equal(stored.machine.feature_sums, feature_sums)


@EACH_TASK
@EACH_BIAS
@EACH_PROFILE
@EACH_REACH
def test_kernels_that_are_reconsidered_are_better(X, problem, task, steps, profile, per_feature):
    stored = Stored(X, problem(task), steps, profile, per_feature)
    stored.ascend(np.arange(40, N_ROWS))

    def optimum():
        gram = stored.gram - steps.shift
        return solve_kernel_machine(GramRows(gram), stored.problem, steps, tol=1e-5).objective

    before = optimum()
    stored.reconsider()
    stored.check()
    after = optimum()
    assert after <= before * (1 + 1e-3)
    assert stored.dual_value() >= 0.95 * after  # and the machine is solved for, roughly


@EACH_BIAS
def test_kernels_may_be_reconsidered_often(X, problem, steps):
    stored = Stored(X, problem(), steps)
    for part in range(6):
        stored.ascend(np.arange(10 * part, 10 * part + 30))
        stored.reconsider(slice(part, None, 6))
        stored.check()


@EACH_BIAS
@pytest.mark.parametrize("max_kernels", [1, 2, 3])
def test_no_more_kernels_are_kept_than_allowed(X, problem, steps, max_kernels):
    stored = Stored(X, problem(), steps)
    assert len(stored.machine.bank) > max_kernels
    stored.reconsider(max_kernels=max_kernels)
    assert len(stored.machine.bank) <= max_kernels
    stored.check()


@pytest.mark.parametrize("is_above", [True, False], ids=["above", "below"])
def test_only_candidates_above_the_mixture_are_let_in(X, problem, monkeypatch, is_above):
    stored = Stored(X, problem(), FixedBias(1.0))
    stored.ascend(np.arange(N_ROWS))
    machine, candidates = stored.machine, stored.candidates(slice(1, None, 4))
    prices = (machine.feature_sums**2).sum(axis=1) / machine.bank.divisors
    theirs = candidates.quadratics(X, stored.coef, np.arange(len(candidates)))
    above = theirs > 1.02 * (machine.weights @ prices)
    assert 0 < above.sum() < len(above)
    n_entering = min(10, above.sum()) if is_above else 0
    n_weighed, solve = [len(machine.bank)], conformal_online.solve_newton

    def count(learning, weights, **options):
        n_weighed.append(len(weights))
        return solve(learning, weights, **options)

    monkeypatch.setattr(conformal_online, "solve_newton", count)
    chosen = candidates.take(above if is_above else ~above)
    machine.reconsider(X, stored.problem, stored.coef, chosen, None)
    assert np.diff(n_weighed) == [n_entering]


@EACH_BIAS
def test_a_kernel_in_use_does_not_enter_a_second_time(X, problem, steps):
    stored = Stored(X, problem(), steps)
    for _ in range(4):
        stored.ascend(np.arange(N_ROWS))
        stored.reconsider(slice(None, None, 3))
        found = _pairs(stored.machine.bank)
        assert len(found) == len(set(found))
    stored.check()


@EACH_TASK
@EACH_BIAS
@EACH_REACH
def test_local_models_score_as_the_machine_does(X, problem, task, steps, per_feature):
    stored = Stored(X, problem(task), steps, per_feature=per_feature)
    stored.reconsider()
    found = stored.machine.local_kernels().scores(X)
    expected = (stored.gram - steps.shift) @ stored.coef + stored.machine.bias
    np.testing.assert_allclose(found, expected, atol=1e-9)


@EACH_BIAS
def test_a_free_bias_is_the_best_one_after_a_solution(X, problem, steps):
    stored = Stored(X, problem(), steps)
    stored.reconsider()
    slack = stored.problem.targets - stored.machine.scores(X)
    ours = stored.problem.loss(slack - stored.machine.bias)
    best = stored.problem.loss(slack - stored.problem.best_bias(slack))
    if steps.is_free:
        assert ours == pytest.approx(best, rel=1e-6)
    else:
        assert ours >= best * (1 - 1e-9)


@EACH_BIAS
def test_a_machine_goes_on_from_a_solution(X, problem, steps):
    stored = Stored(X, problem(), steps)
    stored.reconsider()
    other = OnlineMachine(stored.machine.bank, steps)
    machine = solve_kernel_machine(
        GramRows(stored.gram - steps.shift), stored.problem, steps, tol=1e-3
    )  # fmt: skip
    evaluation = _Evaluation(3.0 * stored.machine.weights, machine)
    other.resume(X, stored.machine.bank, evaluation)
    stored.machine, stored.coef = other, machine.dual_coef
    stored.check()
    # of the rows, those with a coefficient are enough
    used = machine.dual_coef != 0.0
    other.resume(X[used], stored.machine.bank, evaluation, machine.dual_coef[used])
    stored.check()


def _pairs(bank):
    """Anchor and γ of all kernels."""
    return [(*bank.anchors[p], g) for p, g in zip(bank.places, bank.gammas, strict=True)]


class _Evaluation:
    """Weights that may have any sum, and a machine."""

    def __init__(self, weights, machine):
        self.weights, self.machine = weights, machine
