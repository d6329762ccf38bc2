"""The online SVM and its batch fit, against a plain stream and scikit-learn."""

import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse
from sklearn.svm import SVC

from nearlinear.solvers.machine.lasvm import OnlineSVM, fit_lasvm
from reference import lasvm as reference


@dataclass(frozen=True)
class Stub:
    """A kernel that is a function of the inner products and squared norms."""

    name: str

    def __call__(self, X, Z=None):
        Z = X if Z is None else Z
        products = X @ Z.T
        products = products.toarray() if issparse(products) else products
        if self.name == "linear":
            return products
        if self.name == "quadratic":
            return (products + 1.0) ** 2
        squares = self.norms(X)[:, None] + self.norms(Z) - 2.0 * products
        return np.exp(-np.maximum(squares, 0.0))

    def norms(self, X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel() if issparse(X) else (X**2).sum(axis=1)


GAUSSIAN, LINEAR, QUADRATIC = Stub("gaussian"), Stub("linear"), Stub("quadratic")
KERNELS = [GAUSSIAN, LINEAR, QUADRATIC]


class Problem:
    """Noisy rows of two classes, each with a C of its own."""

    def __init__(self, n_rows=150, kernel=GAUSSIAN, noise=0.5):
        rng = np.random.default_rng(5)
        self.kernel = kernel
        self.X = rng.standard_normal((n_rows, 3))
        self.y = np.where(
            self.X[:, 0] * self.X[:, 1] + noise * rng.standard_normal(n_rows) > 0, 1.0, -1.0
        )
        self.C = rng.uniform(0.2, 2.0, n_rows)

    @property
    def gram(self):
        return self.kernel(self.X)

    def stream(self, *, n_passes=1, as_rows=np.asarray, tol=1e-3):
        machine = OnlineSVM(self.kernel, tol)
        for _ in range(n_passes):
            machine.process(as_rows(self.X), self.y, self.C, np.arange(len(self.y)))
        return machine

    def fit(self, *, tol=1e-4, n_passes=1, max_iter=50, as_rows=np.asarray, seed=0):
        return fit_lasvm(
            as_rows(self.X), self.y, self.C, self.kernel, n_passes=n_passes, tol=tol,
            max_iter=max_iter, rng=np.random.RandomState(seed),
        )  # fmt: skip

    def optimum(self):
        """Value of scikit-learn's dual."""
        gram = self.gram
        machine = SVC(C=1.0, kernel="precomputed", tol=1e-6)
        machine.fit(gram, self.y, sample_weight=self.C)
        a = machine.dual_coef_[0]
        return np.abs(a).sum() - 0.5 * a @ gram[np.ix_(machine.support_, machine.support_)] @ a


@pytest.fixture
def problem():
    return Problem()


def full_dual(problem, found):
    """Dual vector of all rows from a machine or a solution."""
    dual = np.zeros(len(problem.y))
    dual[found.ids if isinstance(found, OnlineSVM) else found.support] = found.dual_coef
    return dual


def assert_consistent(machine):
    """Bounds, the sum of a, and gradients that belong to the rows stored."""
    assert np.all(machine.dual_coef * machine.y >= 0)
    assert np.all(np.abs(machine.dual_coef) <= np.abs(machine.box))
    assert machine.dual_coef.sum() == pytest.approx(0.0, abs=1e-12)
    gram = machine.kernel(machine.X)
    n = machine.n_stored
    np.testing.assert_allclose(machine._gram[:n, :n], gram, atol=1e-12)
    np.testing.assert_allclose(machine.gradient, machine.y - gram @ machine.dual_coef, atol=1e-10)


@pytest.mark.passes
def test_a_stream_makes_the_steps_of_the_reference(problem):
    gram, y, C = problem.gram, problem.y, problem.C
    machine, known, dual = OnlineSVM(problem.kernel), [], np.zeros(150)
    for start in range(0, 60, 3):
        new = np.arange(start, start + 3)
        outcomes = reference.take_rows(gram, y, C, dual, known, new, machine.tol)
        machine.process(problem.X[new], y[new], C[new], new)
        dual = full_dual(problem, machine)
        assert min(np.abs(dual - outcome).max() for outcome in outcomes) < 1e-10
        known = reference.drop(gram, y, C, dual, [*known, *new])
        assert set(machine.ids) == set(known)
    assert 20 < len(known) < 55


@pytest.mark.passes
def test_state_is_consistent_after_every_block(problem):
    machine = OnlineSVM(problem.kernel)
    for start in range(0, 150, 25):
        part = slice(start, start + 25)
        machine.process(problem.X[part], problem.y[part], problem.C[part])
        assert_consistent(machine)
    machine.finish(max_steps=10_000)
    assert_consistent(machine)


def test_no_pair_of_stored_rows_violates_after_finish(problem):
    machine = problem.stream(tol=1e-5)
    machine.finish(max_steps=100_000)
    top, bottom = machine._extreme_gradients()
    assert top - bottom <= 1e-5 * (1 + 1e-6)
    assert machine.bias == pytest.approx(0.5 * (top + bottom))


def test_finish_forgets_the_rounding_errors_of_earlier_steps(problem):
    machine = problem.stream()
    machine.gradient += 1e-3 * np.random.default_rng(0).standard_normal(machine.n_stored)
    machine.finish(max_steps=10_000)
    assert_consistent(machine)


def test_finish_takes_no_more_steps_than_allowed(problem):
    machine = problem.stream(tol=1e-9)
    before = machine.objective()
    machine.finish(max_steps=1)
    once = machine.objective()
    machine.finish(max_steps=100_000)
    assert before < once < machine.objective() - 1e-6


@pytest.mark.parametrize("kernel", KERNELS)
def test_streamed_passes_reach_the_objective_of_scikit_learn(kernel):
    problem = Problem(kernel=kernel)
    machine = problem.stream(n_passes=2)
    machine.finish(max_steps=1_000_000)
    assert machine.objective() == pytest.approx(problem.optimum(), rel=1e-3)
    assert machine.objective() == pytest.approx(problem.fit().objective, rel=1e-3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_fit_reaches_the_objective_of_scikit_learn(kernel):
    problem = Problem(kernel=kernel)
    solution = problem.fit(tol=1e-6, max_iter=100)
    assert solution.objective == pytest.approx(problem.optimum(), rel=3e-6)


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_the_certificate_is_that_of_the_model(problem, tol):
    solution = problem.fit(tol=tol)
    dual = full_dual(problem, solution)
    norm = dual @ problem.gram @ dual
    loss = reference.hinge_loss(problem.gram @ dual, solution.bias, problem.y, problem.C)
    assert solution.objective == pytest.approx(0.5 * norm + loss)
    assert solution.gap == pytest.approx(0.5 * norm + loss - (np.abs(dual).sum() - 0.5 * norm))
    assert 0 <= solution.gap <= tol * solution.objective
    assert solution.objective - solution.gap <= problem.optimum() * (1 + 1e-9)
    assert solution.history[-1] == solution.gap
    assert len(solution.history) == solution.n_iter


def test_fit_stops_after_max_iter_with_the_gap_reached(problem):
    solution = problem.fit(tol=1e-12, n_passes=0, max_iter=2)
    assert solution.n_iter == 2
    assert solution.gap > 1e-12 * solution.objective


def test_solution_satisfies_the_optimality_conditions(problem):
    solution = problem.fit(tol=1e-9, max_iter=200)
    dual = full_dual(problem, solution)
    margins = problem.y * (problem.gram @ dual + solution.bias)
    at_zero, at_bound = dual == 0, np.abs(dual) == problem.C
    inside = ~at_zero & ~at_bound
    assert min(at_zero.sum(), at_bound.sum(), inside.sum()) > 5
    # margins are known to about √(2 gap)
    assert margins[at_zero].min() > 1 - 1e-3
    assert margins[at_bound].max() < 1 + 1e-3
    np.testing.assert_allclose(margins[inside], 1.0, atol=1e-3)


def test_decision_values_are_those_of_scikit_learn(problem):
    solution = problem.fit(tol=1e-9, max_iter=200)
    machine = SVC(C=1.0, kernel="precomputed", tol=1e-8)
    machine.fit(problem.gram, problem.y, sample_weight=problem.C)
    scores = problem.gram @ full_dual(problem, solution) + solution.bias
    np.testing.assert_allclose(scores, machine.decision_function(problem.gram), atol=1e-3)


def test_decision_is_the_expansion_over_stored_rows(problem):
    machine = problem.stream()
    expected = problem.gram @ full_dual(problem, machine) + machine.bias
    many = np.tile(problem.X, (4, 1))  # more than a block of scores
    np.testing.assert_allclose(machine.decision(many), np.tile(expected, 4))


def test_objective_is_the_dual_value(problem):
    machine = problem.stream()
    dual = full_dual(problem, machine)
    expected = np.abs(dual).sum() - 0.5 * dual @ problem.gram @ dual
    assert machine.objective() == pytest.approx(expected)


def test_a_second_pass_reuses_the_stored_copies(problem):
    machine = problem.stream(n_passes=4)
    assert len(set(machine.ids)) == machine.n_stored
    assert_consistent(machine)
    machine.finish(max_steps=100_000)
    assert machine.objective() == pytest.approx(problem.optimum(), rel=1e-3)


def test_rows_that_are_stored_are_still_reprocessed(problem):
    machine = problem.stream(tol=1e-6)
    before, ids = machine.objective(), np.sort(machine.ids)
    machine.process(problem.X[ids], problem.y[ids], problem.C[ids], ids)
    assert machine.objective() > before
    assert set(machine.ids) <= set(ids)


def test_rows_without_ids_are_always_new(problem):
    machine = OnlineSVM(problem.kernel)
    for _ in range(2):
        machine.process(problem.X[:2], np.ones(2), problem.C[:2])
    assert machine.n_stored == 4
    assert np.all(machine.ids == -1)


def test_sparse_rows_are_stored_as_such(problem):
    problem.X[np.abs(problem.X) < 0.4] = 0.0
    machine = problem.stream(as_rows=csr_matrix)
    assert issparse(machine.X)
    np.testing.assert_array_equal(machine.X.toarray(), problem.X[machine.ids])
    assert_consistent(machine)


def test_dense_and_sparse_rows_make_the_same_machine(problem):
    problem.X[np.abs(problem.X) < 0.4] = 0.0
    sparse, dense = problem.fit(as_rows=csr_matrix, tol=1e-9), problem.fit(tol=1e-9)
    assert sparse.objective == pytest.approx(dense.objective, rel=1e-8)
    assert sparse.bias == pytest.approx(dense.bias, abs=1e-3)  # √(2 gap)
    np.testing.assert_allclose(
        problem.gram @ full_dual(problem, sparse),
        problem.gram @ full_dual(problem, dense),
        atol=1e-3,
    )


def test_float32_rows_keep_a_float32_matrix_and_reach_the_optimum(problem):
    optimum = problem.optimum()
    problem.X = problem.X.astype(np.float32)
    assert problem.stream()._gram.dtype == np.float32
    assert problem.fit(tol=1e-4).objective == pytest.approx(optimum, rel=1e-3)


def test_storage_grows_with_the_rows():
    problem = Problem(200, noise=20.0)  # labels by chance: nearly every row supports
    machine = OnlineSVM(problem.kernel)
    sides = []
    for start in range(0, 200, 10):
        part = slice(start, start + 10)
        machine.process(problem.X[part], problem.y[part], problem.C[part], np.arange(200)[part])
        sides.append(len(machine._gram))
        assert_consistent(machine)
    assert machine.n_stored > 150
    assert sides[-1] >= machine.n_stored
    assert 3 < len(set(sides)) < 12
    np.testing.assert_array_equal(machine.X, problem.X[machine.ids])


def test_memory_bounds_what_is_used(problem):
    X = np.random.default_rng(0).standard_normal((198, 3))
    machine = OnlineSVM(LINEAR)
    machine.process(X[:2], np.ones(2), np.ones(2))  # whatever the first call loads
    tracemalloc.start()
    machine.process(X, np.ones(198), np.ones(198))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert machine.n_stored == 200
    assert peak < OnlineSVM.memory(200, 3) < 5 * peak


def test_all_rows_are_stored_until_both_classes_are_known(problem):
    order = np.argsort(-problem.y, kind="stable")
    n_positive = np.count_nonzero(problem.y > 0)
    machine = OnlineSVM(problem.kernel)
    first = order[:n_positive]
    machine.process(problem.X[first], problem.y[first], problem.C[first], first)
    assert machine.n_stored == n_positive
    assert machine.bias == 1.0
    rest = order[n_positive:]
    machine.process(problem.X[rest], problem.y[rest], problem.C[rest], rest)
    assert machine.n_stored < 150
    assert_consistent(machine)


def test_a_machine_without_rows_says_nothing(problem):
    machine = OnlineSVM(problem.kernel)
    machine.finish(max_steps=10)
    assert machine.n_stored == 0
    assert machine.objective() == 0.0
    np.testing.assert_array_equal(machine.decision(problem.X), np.zeros(150))


def test_rows_of_weight_zero_are_never_stored(problem):
    problem.C[::3] = 0.0
    assert not np.any(np.isin(problem.stream().ids, np.arange(0, 150, 3)))
    weighted = problem.fit(tol=1e-6)
    kept = problem.C > 0
    problem.X, problem.y, problem.C = problem.X[kept], problem.y[kept], problem.C[kept]
    assert weighted.objective == pytest.approx(problem.optimum(), rel=3e-6)


def test_one_row_of_each_class_has_the_solution_on_paper(problem):
    problem.X, problem.y = np.array([[3.0], [-1.0]]), np.array([1.0, -1.0])
    problem.kernel, problem.C = LINEAR, np.full(2, 10.0)
    solution = problem.fit()
    np.testing.assert_allclose(solution.dual_coef, [1 / 8, -1 / 8])  # margin ±1 at 3 and −1
    assert solution.bias == pytest.approx(-0.5)
    assert solution.gap == pytest.approx(0.0, abs=1e-12)


def test_a_row_of_weight_two_counts_as_two_rows(problem):
    problem.C = np.ones(150)
    problem.C[:40] = 2.0
    weighted = problem.fit(tol=1e-6)
    twice = np.r_[np.arange(150), np.arange(40)]
    problem.X, problem.y, problem.C = problem.X[twice], problem.y[twice], np.ones(190)
    assert problem.fit(tol=1e-6).objective == pytest.approx(weighted.objective, rel=3e-6)


def test_equal_rows_of_different_classes_are_allowed(problem):
    problem.X[75:] = problem.X[:75]
    problem.y[75:] = -problem.y[:75]
    assert problem.fit(tol=1e-6).objective == pytest.approx(problem.optimum(), rel=3e-6)


def test_rows_that_the_kernel_does_not_see_cost_their_share(problem):
    problem.kernel = LINEAR
    problem.X[::4] = 0.0  # K_ii = 0
    assert problem.fit(tol=1e-6).objective == pytest.approx(problem.optimum(), rel=3e-6)


def test_a_kernel_of_zeros_leaves_the_bias(problem):
    problem.kernel, problem.X = LINEAR, np.zeros((150, 2))
    solution = problem.fit()
    smaller = min(problem.C[problem.y > 0].sum(), problem.C[problem.y < 0].sum())
    assert solution.objective == pytest.approx(2.0 * smaller)
    assert solution.gap == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("n_passes", [0, 1, 3])
def test_the_optimum_does_not_depend_on_the_passes(problem, n_passes):
    solution = problem.fit(n_passes=n_passes, tol=1e-6, seed=n_passes)
    assert solution.objective == pytest.approx(problem.optimum(), rel=3e-6)
