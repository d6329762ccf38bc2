"""Kernel weights with one ball per group, against one ball and a generic optimizer."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import make_moons

from nearlinear.kernels import Gaussian, Linear, Polynomial
from nearlinear.kernels.gated_grams import GatedGrams
from nearlinear.kernels.grams import Grams
from nearlinear.solvers.machine.bias import FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.mixture.groups import _onto_simplices, group_gap, solve_groups
from nearlinear.solvers.mixture.objective import Descent, Evaluation, KernelObjective
from nearlinear.solvers.mixture.simplex import (
    ball_gap,
    solve_closed_form,
    solve_newton,
    start_weights,
)

KERNELS = [Gaussian(0.3), Gaussian(3.0), Gaussian(30.0), Linear(), Polynomial(2, gamma=0.5)]
N_KERNELS = len(KERNELS)
EACH_P = pytest.mark.parametrize("p", [1.0, 1.2, 4 / 3, 2.0, 5.0])


@pytest.fixture(scope="module")
def rows():
    return make_moons(40, noise=0.25, random_state=0)


@pytest.fixture
def learn(rows):
    """Makes a KernelObjective of kernels that are gated by soft halves of the plane."""
    X, y = rows

    def make(n_groups=2, kernels=KERNELS, C=2.0):
        grams = Grams(kernels, X, max_bytes=1e9)
        grams.keep(np.arange(len(kernels)))
        problem = DualProblem.of_signs(2 * y - 1, np.full(len(y), C))
        if n_groups > 1:
            owners = np.tile(np.arange(len(kernels)), n_groups)
            grams = GatedGrams(grams, owners, np.repeat(shares(X, n_groups), len(kernels), axis=1))
        return KernelObjective(grams, problem, FreeBias())

    return make


def shares(X, n_groups):
    """Which group answers for a row: a softmax along the first column."""
    scores = np.exp(-3.0 * (X[:, :1] - np.linspace(-1.0, 2.0, n_groups)) ** 2)
    return scores / scores.sum(axis=1, keepdims=True)


def matrices(X, n_groups, kernels=KERNELS):
    """(c_l c_lᵀ) ∘ K_m, group by group."""
    return [
        np.outer(share, share) * kernel(X) for share in shares(X, n_groups).T for kernel in kernels
    ]


def best_value(grams, problem, n_groups, p):
    """max_a yᵀa − ½ Σ_l max_β βᵀS_l(a) over the groups' balls, by a generic optimizer.

    For p = 1 a variable t_l ≥ S_lm stands for a group's maximum.
    """
    n, signs, most = len(problem), problem.targets, np.abs(problem.upper - problem.lower)
    signed = [gram * np.outer(signs, signs) for gram in grams]
    groups = np.repeat(np.arange(n_groups), len(grams) // n_groups)

    def parts(alpha):
        return np.array([alpha @ gram @ alpha for gram in signed])

    def slopes(alpha):
        return np.array([2.0 * gram @ alpha for gram in signed])

    def value(v):
        alpha = v[:n]
        if p == 1.0:
            return 0.5 * v[n:].sum() - alpha.sum(), np.r_[-np.ones(n), np.full(n_groups, 0.5)]
        power = p / (p - 1.0)
        sizes = np.maximum(parts(alpha), 1e-14).reshape(n_groups, -1)
        norms = (sizes**power).sum(axis=1) ** (1.0 / power)
        factors = ((sizes / norms[:, None]) ** (power - 1.0)).ravel()
        return 0.5 * norms.sum() - alpha.sum(), 0.5 * factors @ slopes(alpha) - 1.0

    start = 0.1 * most
    bounds = [(0.0, high) for high in most]
    constraints = []
    if p == 1.0:
        tops = parts(start).reshape(n_groups, -1).max(axis=1)
        start, bounds = np.r_[start, tops], bounds + [(0.0, None)] * n_groups
        constraints.append(
            {
                "type": "ineq",
                "fun": lambda v: v[n:][groups] - parts(v[:n]),
                "jac": lambda v: np.hstack([-slopes(v[:n]), np.eye(n_groups)[groups]]),
            }
        )
    normal = np.r_[signs, np.zeros(len(start) - n)]
    constraints.append({"type": "eq", "fun": lambda v: normal @ v, "jac": lambda v: normal})
    found = minimize(
        value, start, jac=True, method="SLSQP", bounds=bounds, constraints=constraints,
        options={"maxiter": 1000, "ftol": 1e-10},
    )  # fmt: skip
    assert found.status in (0, 8), found.message  # 8: no step in double precision descends further
    return -found.fun


# --- the optimum -------------------------------------------------------------------------------


@EACH_P
@pytest.mark.parametrize("n_groups", [2, 3])
def test_weights_of_every_group_lie_on_its_ball(learn, n_groups, p):
    found, _ = solve_groups(Descent(learn(n_groups)), n_groups, p=p, tol=1e-3, max_iter=200)
    weights = found.weights.reshape(n_groups, N_KERNELS)
    assert weights.min() >= 0.0
    np.testing.assert_allclose((weights**p).sum(axis=1), 1.0)


@EACH_P
@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_the_gap_is_below_the_tolerance(learn, p, tol):
    found, gap = solve_groups(Descent(learn()), 2, p=p, tol=tol, max_iter=1000)
    assert 0.0 <= found.machine.gap <= gap <= tol * found.objective
    assert gap == group_gap(found, 2, p)


@pytest.mark.parametrize("p", [1.0, 4 / 3, 2.0])
@pytest.mark.parametrize("n_groups", [2, 3])
def test_the_value_is_that_of_an_independent_optimum(learn, rows, n_groups, p):
    learning = learn(n_groups)
    found, gap = solve_groups(Descent(learning), n_groups, p=p, tol=1e-4, max_iter=500)
    best = best_value(matrices(rows[0], n_groups), learning.problem, n_groups, p)
    assert found.objective == pytest.approx(best, rel=2e-4)
    assert found.objective - best <= gap + 1e-6 * best  # what the optimizer leaves


@pytest.mark.parametrize("p", [1.0, 4 / 3])
def test_the_gap_bounds_the_distance_to_the_optimum_wherever_the_solver_stops(learn, rows, p):
    learning, steps = learn(), []
    best = best_value(matrices(rows[0], 2), learning.problem, 2, p)
    solve_groups(Descent(learning), 2, p=p, tol=1e-4, max_iter=200, watch=steps.append)
    assert len(steps) >= 3
    for step in steps:
        assert step.objective - best <= step.gap + 1e-6 * best


@pytest.mark.parametrize("n_groups", [2, 3])
def test_p_of_one_gives_useless_kernels_exactly_no_weight(learn, n_groups):
    found, _ = solve_groups(Descent(learn(n_groups)), n_groups, p=1.0, tol=1e-4, max_iter=200)
    quadratics = found.quadratics.reshape(n_groups, N_KERNELS)
    unused = quadratics < 0.9 * quadratics.max(axis=1, keepdims=True)
    assert unused.any(axis=1).all()
    np.testing.assert_array_equal(found.weights.reshape(n_groups, N_KERNELS)[unused], 0.0)


def test_p_of_one_leaves_kernels_at_work_with_the_largest_price_of_their_group(learn):
    found, _ = solve_groups(Descent(learn()), 2, p=1.0, tol=1e-5, max_iter=200)
    for weights, prices in zip(
        found.weights.reshape(2, -1), found.quadratics.reshape(2, -1), strict=True
    ):
        np.testing.assert_allclose(prices[weights > 1e-2], prices.max(), rtol=1e-2)


@pytest.mark.parametrize("p", [1.2, 2.0])
def test_p_above_one_uses_every_kernel(learn, p):
    found, _ = solve_groups(Descent(learn()), 2, p=p, tol=1e-3, max_iter=200)
    assert found.weights.min() > 0.0


@EACH_P
def test_values_never_rise_by_more_than_the_machines_gaps(learn, p):
    steps = []
    solve_groups(
        Descent(learn()),
        2,
        p=p,
        tol=1e-4,
        max_iter=300,
        watch=lambda progress: steps.append(progress.state[0]),
    )
    assert len(steps) >= 2
    for before, after in pairwise(steps):
        assert after.objective <= before.objective + after.machine.gap + before.machine.gap


def test_groups_with_the_same_gates_get_the_same_weights(rows):
    X, y = rows
    grams = Grams(KERNELS, X, max_bytes=1e9)
    gated = GatedGrams(grams, np.tile(np.arange(N_KERNELS), 2), np.full((40, 2 * N_KERNELS), 0.5))
    learning = KernelObjective(gated, DualProblem.of_signs(2 * y - 1, np.full(40, 2.0)), FreeBias())
    found, _ = solve_groups(Descent(learning), 2, p=4 / 3, tol=1e-4, max_iter=200)
    np.testing.assert_allclose(found.weights[:N_KERNELS], found.weights[N_KERNELS:])


def test_a_group_that_answers_for_no_row_keeps_its_weights(rows):
    X, y = rows
    grams = Grams(KERNELS, X, max_bytes=1e9)
    gates = np.repeat(np.column_stack([np.ones(40), np.zeros(40)]), N_KERNELS, axis=1)
    gated = GatedGrams(grams, np.tile(np.arange(N_KERNELS), 2), gates)
    problem = DualProblem.of_signs(2 * y - 1, np.full(40, 2.0))
    found, _ = solve_groups(
        Descent(KernelObjective(gated, problem, FreeBias())), 2, p=4 / 3, tol=1e-4, max_iter=200
    )
    alone, _ = solve_groups(
        Descent(KernelObjective(grams, problem, FreeBias())), 1, p=4 / 3, tol=1e-4, max_iter=200
    )
    assert found.objective == pytest.approx(alone.objective, rel=2e-4)
    np.testing.assert_allclose(found.weights[N_KERNELS:], N_KERNELS**-0.75)


def test_a_solver_that_may_not_go_on_says_how_far_it_is(learn, rows):
    learning = learn()
    found, gap = solve_groups(Descent(learning), 2, p=4 / 3, tol=1e-6, max_iter=1)
    assert gap > 1e-6 * found.objective
    best = best_value(matrices(rows[0], 2), learning.problem, 2, 4 / 3)
    assert found.objective - best <= gap * (1 + 1e-6)


# --- one group ---------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1.2, 4 / 3, 3.0])
def test_one_group_is_learning_on_one_ball(learn, p):
    grouped, gap = solve_groups(Descent(learn(1)), 1, p=p, tol=1e-5, max_iter=1000)
    single = solve_closed_form(Descent(learn(1)), start_weights(N_KERNELS), p=p, tol=1e-5)
    assert grouped.objective == pytest.approx(single.objective, rel=2e-5)
    np.testing.assert_allclose(grouped.weights, single.weights, atol=0.01)
    assert gap == pytest.approx(ball_gap(grouped, p))


def test_one_group_with_p_of_one_is_learning_on_the_simplex(learn):
    grouped, gap = solve_groups(Descent(learn(1)), 1, p=1.0, tol=1e-5, max_iter=200)
    single = solve_newton(Descent(learn(1)), start_weights(N_KERNELS), tol=1e-5)
    assert grouped.objective == pytest.approx(single.objective, rel=2e-5)
    np.testing.assert_allclose(grouped.weights, single.weights, atol=0.01)
    assert gap == pytest.approx(grouped.gap)


@EACH_P
def test_one_kernel_in_one_group_is_one_machine(learn, p):
    found, _ = solve_groups(Descent(learn(1, [Gaussian(3.0)])), 1, p=p, tol=1e-6, max_iter=50)
    plain = learn(1, [Gaussian(3.0)]).solve(np.ones(1), tol=1e-6)
    np.testing.assert_allclose(found.weights, [1.0])
    assert found.objective == pytest.approx(plain.objective, rel=2e-6)


@pytest.mark.parametrize("p", [1.0, 1.3, 2.0, 10.0])
def test_the_gap_is_never_negative(learn, rng, p):
    machine = learn().solve(np.full(2 * N_KERNELS, 0.2), tol=1e-3)
    for _ in range(20):
        weights = rng.random((2, N_KERNELS))
        weights /= (weights**p).sum(axis=1, keepdims=True) ** (1.0 / p)
        found = Evaluation(weights.ravel(), machine, 10.0 * rng.random(2 * N_KERNELS))
        assert group_gap(found, 2, p) >= machine.gap >= 0.0


# --- projections -------------------------------------------------------------------------------


def nearest_by_faces(point):
    """The nearest point of the simplex: the best of the projections on all its faces."""
    best, nearest = np.inf, None
    for face in product([False, True], repeat=len(point)):
        face = np.array(face)
        if not face.any():
            continue
        candidate = np.where(face, point + (1.0 - point[face].sum()) / face.sum(), 0.0)
        distance = np.sum((candidate - point) ** 2)
        if candidate.min() >= 0.0 and distance < best:
            best, nearest = distance, candidate
    return nearest


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_projections_are_the_nearest_points_of_the_simplices(rng, scale):
    for _ in range(20):
        points = scale * rng.standard_normal((3, 5))
        found = _onto_simplices(points.ravel(), 3).reshape(3, 5)
        np.testing.assert_allclose(found, [nearest_by_faces(p) for p in points], atol=1e-12)


def test_points_of_the_simplices_are_their_own_projections(rng):
    points = rng.dirichlet(np.ones(4), size=3).ravel()
    np.testing.assert_allclose(_onto_simplices(points, 3), points, atol=1e-15)


def test_a_far_point_is_projected_on_a_corner_exactly():
    found = _onto_simplices(np.array([9.0, 1.0, -3.0, 0.0, 0.0, 7.0]), 2)
    np.testing.assert_array_equal(found, [1.0, 0.0, 0.0, 0.0, 0.0, 1.0])
