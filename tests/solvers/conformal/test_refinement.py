"""Chosen kernels improved by gradient: gradients, rounded losses, and where it all ends."""

from dataclasses import replace

import numpy as np
import pytest

from nearlinear.kernels.conformal import PROFILES
from nearlinear.kernels.rows import GramRows
from nearlinear.losses import LOSSES, EpsilonInsensitive
from nearlinear.solvers.conformal import local_kernels
from nearlinear.solvers.conformal.local_kernels import LocalKernels
from nearlinear.solvers.conformal.refinement import refine, rounded_loss
from nearlinear.solvers.machine.bias import FixedBias, FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.machine.working_sets import solve_kernel_machine
from reference import rounded_machine
from reference.conformal import features

LAST_WIDTH = 0.1  # of the last stage, in margins
BIASES = [FreeBias(), FixedBias(1.0), FixedBias(4.0), FixedBias()]
EACH_BIAS = pytest.mark.parametrize("steps", BIASES, ids=["free", "penalized", "cheap", "none"])
EACH_TASK = pytest.mark.parametrize("task", ["classes", "values"])
EACH_MOVE = pytest.mark.parametrize("moves", ["models", "kernels"])
EACH_PROFILE = pytest.mark.parametrize("profile", PROFILES)
EACH_REACH = pytest.mark.parametrize("per_feature", [False, True], ids=["whole", "per feature"])


@pytest.fixture
def X(moons):
    return moons[0][:60]


@pytest.fixture
def problem(moons):
    """Makes the dual of one of the two tasks; rows have a C of their own."""
    X, y = moons

    def make(task, scale=1.0):
        C = scale * np.random.default_rng(0).uniform(0.5, 2.0, 60)
        if task == "classes":
            return DualProblem.of_signs(2 * y[:60] - 1, C)
        return DualProblem.of_values(np.sin(2 * X[:60, 0]) + X[:60, 1], C, 0.05)

    return make


def make_kernels(profile="gaussian", per_feature=False, seed=0, n_kernels=4, bias=0.3):
    """Kernels between the rows, of several widths, with models that fit nothing."""
    rng = np.random.default_rng(seed)
    gammas = PROFILES[profile].gamma(rng.uniform(0.3, 2.0, n_kernels), 4.0)
    shape = (n_kernels, 2)
    anchors, models = rng.standard_normal(shape), rng.standard_normal(shape)
    return LocalKernels(PROFILES[profile], per_feature, anchors, gammas, models, bias)


def make_ridge(n_kernels=4):
    return np.random.default_rng(1).uniform(0.3, 3.0, n_kernels)


def all_features(kernels, X):
    """φ_m(x_i), shape (n_kernels, n_rows, n_features), by their formula."""
    return np.array(
        [
            features(X, anchor, gamma, kernels.profile.name, kernels.per_feature)
            for anchor, gamma in zip(kernels.anchors, kernels.gammas, strict=True)
        ]
    )


def objective(kernels, X, problem, ridge, steps, width):
    """What is minimized, by hand; width 0 stands for the true loss."""
    scores = np.einsum("mid,md->i", all_features(kernels, X), kernels.models) + kernels.bias
    residual = problem.targets - scores
    total = 0.5 * ridge @ (kernels.models**2).sum(axis=1)
    if not steps.is_free and steps.shift:
        total += 0.5 * kernels.bias**2 / steps.shift
    if width == 0.0:
        return total + problem.loss(residual)
    return total + rounded_machine.loss(problem, residual, width)


def best_models(kernels, X, problem, ridge, steps, width):
    """The optimum over models and bias for kernels that stay, as one linear problem."""
    Z, penalties = np.hstack(all_features(kernels, X)), np.repeat(ridge, 2)
    if steps.is_free or steps.shift:
        Z = np.column_stack([Z, np.ones(len(X))])
        penalties = np.append(penalties, 0.0 if steps.is_free else 1.0 / steps.shift)
    return rounded_machine.best_linear(Z, problem, penalties, width)


@EACH_PROFILE
@EACH_REACH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_are_those_of_the_formula(X, profile, per_feature, dtype):
    kernels = make_kernels(profile, per_feature)
    found = kernels.scores(X.astype(dtype))
    exact = np.einsum("mid,md->i", all_features(kernels, X), kernels.models) + 0.3
    np.testing.assert_allclose(found, exact, atol=200 * np.finfo(dtype).eps)
    assert found.dtype == np.float64


@EACH_PROFILE
@EACH_REACH
@pytest.mark.parametrize("name", ["anchors", "gammas", "models"])
def test_gradients_are_those_of_the_scores(X, rng, profile, per_feature, name):
    kernels, r, step = make_kernels(profile, per_feature), rng.standard_normal(60), 1e-6
    number = ["anchors", "gammas", "models"].index(name)
    found = kernels.gradient(X, r)[number]
    start = getattr(kernels, name)
    slopes = np.empty(start.shape)
    for at in np.ndindex(start.shape):
        ends = []
        for sign in (1.0, -1.0):
            moved = start.copy()
            moved[at] = moved[at] * np.exp(sign * step) if name == "gammas" else (
                moved[at] + sign * step
            )  # fmt: skip
            ends.append(r @ replace(kernels, **{name: moved}).scores(X))
        slopes[at] = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(found, slopes, atol=1e-6 * (1.0 + np.abs(slopes).max()))
    assert np.abs(slopes).max() > 0.1


@EACH_PROFILE
@EACH_REACH
def test_a_row_at_an_anchor_has_a_gradient(X, profile, per_feature):
    kernels = make_kernels(profile, per_feature)
    by_anchors, by_logs, by_models = kernels.gradient(kernels.anchors[2:3], np.array([3.0]))
    # there h = 1 and φ = 0, and moving the anchor is moving the row the other way
    np.testing.assert_allclose(by_anchors[2], -3.0 * kernels.models[2], atol=1e-6)
    np.testing.assert_allclose(by_logs[2], 0.0, atol=1e-6)
    np.testing.assert_allclose(by_models[2], np.zeros(2), atol=1e-6)


@EACH_PROFILE
@EACH_REACH
def test_gradients_of_float32_rows_are_those_of_double_ones(X, rng, profile, per_feature):
    kernels, r = make_kernels(profile, per_feature), rng.standard_normal(60)
    found, exact = (kernels.gradient(rows, r) for rows in (X.astype(np.float32), X))
    for ours, expected in zip(found, exact, strict=True):
        np.testing.assert_allclose(ours, expected, atol=1e-3 * np.abs(expected).max())
        assert ours.dtype == np.float64


@EACH_PROFILE
@EACH_REACH
def test_the_number_of_threads_does_not_change_a_bit(X, rng, profile, per_feature, monkeypatch):
    kernels, r = make_kernels(profile, per_feature), rng.standard_normal(60)
    whole = kernels.scores(X), *kernels.gradient(X, r)
    monkeypatch.setattr(local_kernels, "_TILE", 40)  # blocks of ten rows, or of five
    one, two = ((kernels.scores(X, n), *kernels.gradient(X, r, n)) for n in (1, 2))
    for ours, theirs, expected in zip(one, two, whole, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_allclose(ours, expected, atol=1e-11)


@EACH_MOVE
def test_refinement_does_not_depend_on_threads(X, problem, moves, monkeypatch):
    monkeypatch.setattr(local_kernels, "_TILE", 40)
    one, two = (
        refine(
            make_kernels(), X, problem("classes"), make_ridge(), BIASES[1], moves=moves,
            max_iter=20, n_jobs=n_jobs,
        )
        for n_jobs in (1, 2)
    )  # fmt: skip
    for name in ("anchors", "gammas", "models", "bias"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@EACH_TASK
@pytest.mark.parametrize("width", [0.01, 0.1, 0.5, 3.0])
def test_the_rounded_loss_is_that_of_the_formula(problem, rng, task, width):
    dual, residual = problem(task), 2.0 * rng.standard_normal(60)
    value, _ = rounded_loss(dual, residual, width)
    assert value == pytest.approx(rounded_machine.loss(dual, residual, width))


@EACH_TASK
@pytest.mark.parametrize("width", [0.01, 0.1, 0.5, 3.0])
def test_slopes_of_the_rounded_loss_are_its_derivatives(problem, rng, task, width):
    dual, residual, step = problem(task), rng.standard_normal(60), 1e-7
    residual[:10] = rng.uniform(-0.2, 0.3, 10)  # in the rounded parts
    _, slopes = rounded_loss(dual, residual, width)
    for i, unit in enumerate(step * np.eye(60)):
        ends = [rounded_loss(dual, residual + sign * unit, width)[0] for sign in (1.0, -1.0)]
        assert slopes[i] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-5)


@EACH_TASK
def test_a_narrow_rounding_is_the_true_loss(problem, rng, task):
    dual, residual = problem(task), 2.0 * rng.standard_normal(60)
    exact = dual.loss(residual)
    for width in (1e-1, 1e-3, 1e-6):
        value, _ = rounded_loss(dual, residual, width)
        # a kink loses at most half its width
        assert exact - 0.5 * width * dual.upper.sum() - 0.5 * width * -dual.lower.sum() <= value
        assert value <= exact
    assert value == pytest.approx(exact, rel=1e-5)


def test_the_rounded_losses_are_those_of_classes_and_of_values(problem, rng):
    scores, width = rng.standard_normal(60), 1e-9
    classes, values = problem("classes"), problem("values")
    hinge = LOSSES["hinge"].value(scores[:, None], classes.targets[:, None])
    C = classes.upper - classes.lower
    found, _ = rounded_loss(classes, classes.targets - scores, width)
    assert found == pytest.approx(C @ hinge)
    tube = EpsilonInsensitive(0.05).value(scores[:, None], values.targets[:, None])
    found, _ = rounded_loss(values, values.targets - scores, width)
    assert found == pytest.approx(values.upper @ tube)


@EACH_TASK
def test_far_residuals_have_the_slopes_of_the_box(problem, task):
    dual = problem(task)
    for residual, bound in ((np.full(60, 50.0), dual.upper), (np.full(60, -50.0), dual.lower)):
        _, slopes = rounded_loss(dual, residual, 0.5)
        np.testing.assert_array_equal(slopes, bound)


@EACH_TASK
@EACH_BIAS
@EACH_REACH
def test_models_of_fixed_kernels_reach_an_independent_optimum(
    X, problem, task, steps, per_feature
):  # fmt: skip
    dual, ridge = problem(task), make_ridge()
    start = make_kernels(per_feature=per_feature)
    found = refine(start, X, dual, ridge, steps, moves="models", max_iter=5000)
    best, _ = best_models(start, X, dual, ridge, steps, LAST_WIDTH)
    value = objective(found, X, dual, ridge, steps, LAST_WIDTH)
    assert best * (1 - 1e-9) <= value <= best * (1 + 1e-3)  # where L-BFGS stops
    np.testing.assert_array_equal(found.anchors, start.anchors)
    np.testing.assert_array_equal(found.gammas, start.gammas)


@EACH_PROFILE
def test_models_of_any_profile_reach_an_independent_optimum(X, problem, profile):
    dual, ridge, steps = problem("classes"), make_ridge(), BIASES[1]
    start = make_kernels(profile)
    found = refine(start, X, dual, ridge, steps, moves="models", max_iter=5000)
    best, _ = best_models(start, X, dual, ridge, steps, LAST_WIDTH)
    assert objective(found, X, dual, ridge, steps, LAST_WIDTH) == pytest.approx(best, rel=1e-3)


@EACH_TASK
@EACH_BIAS
def test_models_of_fixed_kernels_are_nearly_those_of_the_machine(X, problem, task, steps):
    dual, ridge, start = problem(task), make_ridge(), make_kernels()
    found = refine(start, X, dual, ridge, steps, moves="models", max_iter=5000)
    Z = np.hstack(all_features(start, X) / np.sqrt(ridge)[:, None, None])
    machine = solve_kernel_machine(GramRows(Z @ Z.T), dual, steps, tol=1e-8)
    value = objective(found, X, dual, ridge, steps, 0.0)
    assert value >= machine.objective * (1 - 1e-7)
    # rounding hides half its width of each row's loss
    hidden = 0.5 * LAST_WIDTH * np.maximum(dual.upper, -dual.lower).sum()
    assert value <= machine.objective + hidden + 1e-3 * machine.objective


@pytest.mark.parametrize("steps", BIASES[:3], ids=["free", "penalized", "cheap"])
def test_the_bias_is_that_of_the_optimum(X, problem, steps):
    dual, ridge, start = problem("classes"), make_ridge(), make_kernels()
    found = refine(start, X, dual, ridge, steps, moves="models", max_iter=5000)
    _, w = best_models(start, X, dual, ridge, steps, LAST_WIDTH)
    assert found.bias == pytest.approx(w[-1], abs=0.02)
    np.testing.assert_allclose(found.models.ravel(), w[:-1], atol=0.05)


@EACH_MOVE
def test_without_a_bias_there_is_none(X, problem, moves):
    found = refine(
        make_kernels(bias=5.0), X, problem("classes"), make_ridge(), FixedBias(), moves=moves
    )  # fmt: skip
    assert found.bias == 0.0


@EACH_MOVE
@EACH_BIAS
@EACH_TASK
@pytest.mark.parametrize("max_iter", [1, 5, 100])
def test_refinement_lowers_the_rounded_objective(X, problem, moves, steps, task, max_iter):
    dual, ridge = problem(task), make_ridge()
    start = make_kernels(bias=0.0)
    found = refine(start, X, dual, ridge, steps, moves=moves, max_iter=max_iter)
    before, after = (objective(k, X, dual, ridge, steps, LAST_WIDTH) for k in (start, found))
    assert after < before


@EACH_MOVE
@EACH_TASK
@pytest.mark.parametrize("max_iter", [1, 5, 50])
def test_refinement_never_ends_worse_than_it_began(X, problem, moves, task, max_iter):
    ridge, steps = make_ridge(), BIASES[1]
    for seed, scale in enumerate((1.0, 10.0, 100.0, 10.0)):
        dual, now, values = problem(task, scale), make_kernels(seed=seed), []
        for _ in range(4):  # from ever better starts
            values.append(objective(now, X, dual, ridge, steps, LAST_WIDTH))
            now = refine(now, X, dual, ridge, steps, moves=moves, max_iter=max_iter)
        assert np.all(np.diff(values) <= 1e-9 * values[0])


@EACH_TASK
@EACH_PROFILE
@EACH_REACH
def test_moving_kernels_beat_those_that_stay(X, problem, task, profile, per_feature):
    dual, ridge, steps = problem(task), make_ridge(), BIASES[1]
    setting = X, dual, ridge, steps
    start = refine(make_kernels(profile, per_feature), *setting, moves="models", max_iter=500)
    found = refine(start, *setting, moves="kernels")
    before, after = (objective(kernels, *setting, LAST_WIDTH) for kernels in (start, found))
    assert after < 0.99 * before
    assert np.all(found.gammas > 0.0)
    assert not np.allclose(found.anchors, start.anchors)


@EACH_MOVE
def test_kernels_handed_in_stay_as_they_were(X, problem, moves):
    start, same = make_kernels(), make_kernels()
    refine(start, X, problem("classes"), make_ridge(), BIASES[1], moves=moves, max_iter=5)
    for name in ("anchors", "gammas", "models", "bias"):
        np.testing.assert_array_equal(getattr(start, name), getattr(same, name))


@EACH_MOVE
def test_float32_rows_end_where_double_ones_do(X, problem, moves):
    dual, ridge, steps = problem("classes"), make_ridge(), BIASES[1]
    start = refine(make_kernels(), X, dual, ridge, steps, moves="models", max_iter=500)
    found, exact = (
        refine(start, rows, dual, ridge, steps, moves=moves) for rows in (X.astype(np.float32), X)
    )
    values = [objective(k, X, dual, ridge, steps, LAST_WIDTH) for k in (found, exact, start)]
    assert values[0] == pytest.approx(values[1], rel=0.05)
    assert values[0] <= values[2] * (1 + 1e-3)


def test_a_row_of_weight_two_is_as_good_as_two(X, problem):
    dual, ridge, steps = problem("classes"), make_ridge(), BIASES[1]
    twice = np.concatenate([np.arange(60), np.arange(60)])
    halved = DualProblem(dual.targets, 0.5 * dual.lower, 0.5 * dual.upper)
    once = refine(make_kernels(), X, dual, ridge, steps, moves="models", max_iter=5000)
    again = refine(
        make_kernels(), X[twice], halved.take(twice), ridge, steps, moves="models", max_iter=5000
    )  # fmt: skip
    np.testing.assert_allclose(again.scores(X), once.scores(X), atol=0.02)


@EACH_MOVE
@EACH_BIAS
def test_a_kernel_that_holds_nothing_does_no_harm(X, problem, moves, steps):
    dual, ridge, start, kept = problem("classes"), make_ridge(), make_kernels(), [0, 1, 3]
    ridge[2] = np.inf
    start.models[2] = 0.0
    found = refine(start, X, dual, ridge, steps, moves=moves)
    np.testing.assert_array_equal(found.models[2], np.zeros(2))
    alone = refine(_take(start, kept), X, dual, ridge[kept], steps, moves=moves)
    values = [
        objective(kernels, X, dual, ridge[kept], steps, LAST_WIDTH)
        for kernels in (_take(found, kept), alone)
    ]
    assert values[0] == pytest.approx(values[1], rel=0.02)


def _take(kernels, which):
    names = ("anchors", "gammas", "models")
    return replace(kernels, **{name: getattr(kernels, name)[which] for name in names})


@EACH_PROFILE
@EACH_REACH
@pytest.mark.parametrize("dtype, offset, atol", [(np.float32, 1e4, 1e-4), (np.float64, 1e9, 1e-11)])
def test_rows_far_from_the_origin_are_as_good_as_any(
    rng, profile, per_feature, dtype, offset, atol
):
    X, r = (rng.standard_normal((60, 2)) + offset).astype(dtype), rng.standard_normal(60)
    kernels = replace(make_kernels(profile, per_feature), anchors=X[:4].astype(np.float64))
    near = replace(kernels, anchors=kernels.anchors - offset)
    rows = X.astype(np.float64) - offset
    np.testing.assert_allclose(kernels.scores(X), near.scores(rows), atol=atol)
    for ours, expected in zip(kernels.gradient(X, r), near.gradient(rows, r), strict=True):
        np.testing.assert_allclose(ours, expected, atol=10 * atol)  # of 60 rows
