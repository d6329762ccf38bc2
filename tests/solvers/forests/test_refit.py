"""The refit of leaves: independent optima, the certificate, and what must not change the result."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from nearlinear.losses import (
    AbsoluteError,
    LabelLogLoss,
    LogLoss,
    PoissonLoss,
    QuantileError,
    SquaredError,
)
from nearlinear.solvers.forests.refit import refit_leaves, refit_path, scores_of

N_ROWS, N_TREES, N_LEAVES = 150, 3, 5
SMOOTH = {
    "two classes": (LogLoss(), 1, 1),
    "a tree per class": (LogLoss(), 3, 1),
    "vector leaves": (LogLoss(), 3, 3),
    "labels": (LabelLogLoss(), 2, 2),
    "squared": (SquaredError(), 1, 1),
    "squared, two values": (SquaredError(), 2, 2),
    "poisson": (PoissonLoss(), 1, 1),
}
EACH_SMOOTH = pytest.mark.parametrize("case", SMOOTH.values(), ids=SMOOTH)
CORNERS = {"absolute": AbsoluteError(), "quantile": QuantileError(0.8)}


def make(rng, loss, n_outputs=1, n_told=1, n_slopes=0):
    """What ``LeafProblem.of`` takes: leaves at random, one of them without rows."""
    leaves = rng.integers(0, N_LEAVES - 1, (N_ROWS, N_TREES)) + N_LEAVES * np.arange(N_TREES)
    targets = rng.standard_normal((N_ROWS, n_outputs))
    if isinstance(loss, LabelLogLoss) or (isinstance(loss, LogLoss) and n_outputs == 1):
        targets = np.where(targets > 0.3, 1.0, -1.0)
    elif isinstance(loss, LogLoss):
        targets = np.where(targets == targets.max(axis=1, keepdims=True), 1.0, -1.0)
    elif isinstance(loss, PoissonLoss):
        targets = rng.poisson(2.0, targets.shape).astype(float)
    return {
        "leaves": leaves.astype(np.int32),
        "leaf_starts": N_LEAVES * np.arange(N_TREES + 1),
        "values": 0.5 * rng.standard_normal((N_TREES * N_LEAVES, n_told)),
        "outputs": np.arange(N_TREES) % n_outputs,
        "base": 0.1 * rng.standard_normal((N_ROWS, n_outputs)),
        "targets": targets,
        "weight": rng.uniform(0.5, 2.0, N_ROWS),
        "loss": loss,
        "Z": rng.standard_normal((N_ROWS, n_slopes)).astype(np.float32) if n_slopes else None,
    }


def refit(given, lam=0.5, max_passes=100, tol=1e-9, **more):
    first = ("leaves", "leaf_starts", "values", "outputs", "base", "targets", "weight")
    rest = {name: value for name, value in given.items() if name not in first}
    start = [given[name] for name in first]
    return refit_leaves(*start, lam=lam, max_passes=max_passes, tol=tol, **rest, **more)


def design(given):
    """Scores minus base as a matrix times all leaf models, in NumPy."""
    n_leaves, n_told = given["values"].shape
    n_outputs = given["base"].shape[1]
    z = np.ones((N_ROWS, 1)) if given["Z"] is None else np.c_[np.ones(N_ROWS), given["Z"]]
    found = np.zeros((N_ROWS, n_outputs, n_leaves, n_told, z.shape[1]))
    for i, row in enumerate(given["leaves"]):
        for tree, leaf in enumerate(row):
            for told in range(n_told):
                output = given["outputs"][tree] if n_told == 1 else told
                found[i, output, leaf, told] += z[i]
    return found.reshape(N_ROWS, n_outputs, -1)


def grown_models(given):
    n_slopes = 0 if given["Z"] is None else given["Z"].shape[1]
    slopes = np.zeros((*given["values"].shape, n_slopes))
    return np.concatenate([given["values"][:, :, None], slopes], axis=2).ravel()


def objective(given, A, models, lam=0.5):
    """Value and slope."""
    scores, moved = given["base"] + A @ models, models - grown_models(given)
    loss, y, weight = given["loss"], given["targets"], given["weight"]
    slopes = weight[:, None] * loss.slope(scores, y)
    value = weight @ loss.value(scores, y) + 0.5 * lam * moved @ moved
    return value, np.einsum("ik,ikp->p", slopes, A) + lam * moved


def models_of(found):
    return np.concatenate([found.values[:, :, None], found.slopes], axis=2).ravel()


@EACH_SMOOTH
@pytest.mark.parametrize("n_slopes", [0, 2])
def test_leaves_are_the_best_and_every_pass_is_certified(rng, case, n_slopes):
    given = make(rng, *case, n_slopes=n_slopes)
    A, seen = design(given), []
    best = minimize(
        lambda w: objective(given, A, w), grown_models(given), jac=True, method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000},
    )  # fmt: skip
    found = refit(given, watch=lambda progress: seen.append((progress.objective, progress.gap)))
    value, slope = objective(given, A, models_of(found))
    assert found.objective == pytest.approx(value, rel=1e-12)
    assert found.gap == pytest.approx(slope @ slope / (2 * 0.5), rel=1e-3, abs=1e-12 * value)
    assert value - best.fun <= 1e-8 * value
    np.testing.assert_allclose(found.scores, given["base"] + A @ models_of(found), atol=1e-12)
    heights, gaps = np.array(seen).T
    assert np.all(np.diff(heights) <= 1e-14 * heights[0])
    assert np.all(heights - best.fun <= gaps + 1e-9 * value)
    assert len(heights) < 30


def test_squared_errors_give_ridge_regression_on_indicators(rng):
    given = make(rng, SquaredError())
    A, grown = design(given)[:, 0], grown_models(given)
    ridge = Ridge(alpha=0.5, fit_intercept=False)
    left = given["targets"][:, 0] - given["base"][:, 0] - A @ grown
    ridge.fit(A, left, sample_weight=given["weight"])
    found = refit(given, tol=1e-13)
    np.testing.assert_allclose(found.values[:, 0], grown + ridge.coef_, atol=1e-5)


@pytest.mark.parametrize("loss", CORNERS.values(), ids=CORNERS)
@pytest.mark.parametrize("n_slopes", [0, 2])
def test_the_certificate_of_losses_with_corners_holds(rng, loss, n_slopes):
    given = make(rng, loss, n_slopes=n_slopes)
    A, grown, seen = design(given)[:, 0], grown_models(given), []
    above, below = (1.0, 1.0) if loss == AbsoluteError() else (0.8, 0.2)
    left, weight = (given["targets"] - given["base"])[:, 0] - A @ grown, given["weight"]

    def minus_dual(a, lam=0.5):
        moved = A.T @ a / lam
        return 0.5 * lam * moved @ moved - a @ left, A @ moved - left

    box = list(zip(-below * weight, above * weight, strict=True))
    dual = minimize(
        minus_dual, np.zeros(N_ROWS), jac=True, bounds=box, method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 50000},
    )  # fmt: skip
    found = refit(
        given, tol=2e-3, watch=lambda progress: seen.append((progress.objective, progress.gap))
    )
    heights, gaps = np.array(seen).T
    assert np.all(np.diff(heights) <= 0)
    assert np.all(heights + dual.fun <= gaps + 1e-6 * heights)
    assert found.gap <= 2e-3 * found.objective
    assert found.objective == pytest.approx(objective(given, A[:, None], models_of(found))[0])


@EACH_SMOOTH
@pytest.mark.parametrize("n_slopes", [0, 2])
def test_weights_are_copies_rows_have_no_order_and_threads_change_no_bit(
    rng, case, n_slopes, monkeypatch
):
    monkeypatch.setattr("nearlinear.solvers.forests.descent._BLOCK_ROWS", 32)
    monkeypatch.setattr("nearlinear.solvers.forests.descent._BLOCK_LEAVES", 2)
    given = make(rng, *case, n_slopes=n_slopes)
    given["weight"] = rng.integers(0, 4, N_ROWS).astype(float)
    found, threaded = refit(given, max_passes=3), refit(given, max_passes=3, n_jobs=2)
    np.testing.assert_array_equal(found.values, threaded.values)
    np.testing.assert_array_equal(found.slopes, threaded.slopes)
    assert (found.objective, found.gap) == (threaded.objective, threaded.gap)
    copies = rng.permutation(np.repeat(np.arange(N_ROWS), given["weight"].astype(int)))
    of_rows = ("leaves", "base", "targets", "Z")
    repeated = given | {name: given[name][copies] for name in of_rows if given[name] is not None}
    same = refit(repeated | {"weight": None}, max_passes=3)
    np.testing.assert_allclose(same.values, found.values, atol=1e-9)
    np.testing.assert_allclose(same.slopes, found.slopes, atol=1e-9)
    np.testing.assert_allclose(same.scores, found.scores[copies], atol=1e-9)


def test_a_path_starts_as_grown_and_goes_on_from_there(rng):
    given = make(rng, LogLoss())
    first = ("leaves", "leaf_starts", "values", "outputs", "base", "targets", "weight")
    path = list(refit_path(*(given[name] for name in first), loss=LogLoss(), lams=[np.inf, 1e9, 1]))
    np.testing.assert_array_equal(path[0].values, given["values"])
    assert (path[0].gap, path[0].n_iter) == (0.0, 0)
    np.testing.assert_allclose(path[1].values, given["values"], atol=1e-6)
    fit = [weight @ LogLoss().value(one.scores, given["targets"]) for one in path
           for weight in [given["weight"]]]  # fmt: skip
    assert fit[0] > fit[1] > fit[2]
    elsewhere = scores_of(
        given["leaves"][::2], given["leaf_starts"], path[2].values, path[2].slopes,
        given["outputs"], None, given["base"][::2],
    )  # fmt: skip
    np.testing.assert_allclose(elsewhere, path[2].scores[::2], atol=1e-12)
    again = refit(given, lam=1, start=path[2], tol=1e-3)
    assert again.objective <= path[2].objective and again.n_iter == 1


def test_no_penalty_and_unknown_losses_are_refused(rng):
    with pytest.raises(ValueError, match="lam must be above 0"):
        refit(make(rng, SquaredError()), lam=0.0)
    with pytest.raises(TypeError, match="not for str"):
        refit(make(rng, SquaredError()) | {"loss": "squared"})


@pytest.mark.parametrize("case", [(LogLoss(), 1, 1), (LogLoss(), 3, 3), (PoissonLoss(), 1, 1)])
@pytest.mark.parametrize("n_slopes", [0, 1])
def test_scores_that_are_far_off_come_back(rng, case, n_slopes):
    """Curvatures underflow there, slopes do not."""
    given = make(rng, *case, n_slopes=n_slopes)
    if case[0] == PoissonLoss():
        given["base"] = np.full((N_ROWS, 1), -900.0)
    else:  # the first tree could tell all classes
        given["base"] = -300.0 * given["targets"]
        given["leaves"][:, 0] = (given["targets"] @ np.arange(1, case[1] + 1)) % N_LEAVES
    heights = []
    found = refit(given, lam=1e-3, watch=lambda progress: heights.append(progress.objective))
    assert np.all(np.isfinite(heights)) and np.all(np.diff(heights) <= 1e-12 * heights[0])
    start, _ = objective(given, design(given), grown_models(given), 1e-3)
    assert found.gap <= 1e-6 * start
