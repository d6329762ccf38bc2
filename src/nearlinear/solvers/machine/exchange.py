"""Multiple kernel learning from Gram columns alone, in O(n_kernels × n_rows) memory.

The squared-hinge soft margin in geometric form (Moeller et al., AISTATS 2014): weighted means of
the two classes, as close as they get under the kernel that holds them furthest apart,

    min_α max_m α'G_m α,   G_m = Y K_m Y + diag(ridge),   α ≥ 0,   Σ_{y=+1} α = Σ_{y=−1} α = ½.

With ridge_i = 1/C_i > 0 and kernel weights μ held, the least α'G_μ α is one over the least
‖f‖² + Σ_i C_i max(0, 1 − y_i f(x_i))² of a machine with the kernel Σ_m μ_m k_m and a free bias.

All that is returned belongs to one pair (α, μ). ``upper`` = max_m α'G_m α is what α reaches under
any weights; ``lower`` is one over the objective of the returned f, which no α undercuts under μ.
The saddle value lies between, and neither α nor μ can gain more than ``upper − lower``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..._compile import compiled
from .problem import MachineSolution


def fit_scale_and_bias(features, norm, ridge, starts, n_steps=4):
    """Minimize t² norm + Σ_i max(0, 1 − features_i'(t, b))² / ridge_i by Newton steps, halved.

    ``features`` has a row (y_i g(x_i), y_i) for the function t g + b, and ``norm`` is ‖g‖². Returns
    (t, b) and its objective, never worse than the best of ``starts``.
    """

    def evaluate(machine):
        slack = np.maximum(1.0 - features @ machine, 0.0)
        return float(machine[0] ** 2 * norm + slack @ (slack / ridge)), machine, slack > 0.0

    def minimize_on(active):
        rows, costs = features[active], 1.0 / ridge[active]
        hessian = (rows.T * costs) @ rows + np.diag([norm, 0.0])
        return np.linalg.lstsq(hessian, costs @ rows, rcond=None)[0]

    best = min(map(evaluate, starts), key=lambda found: found[0])
    target = minimize_on(best[2])
    for _ in range(n_steps):
        found = evaluate(target)
        if found[0] < best[0]:
            best, target = found, minimize_on(found[2])
        else:
            target = 0.5 * (target + best[1])
    return best[1], best[0]


_CERTIFY_EVERY = 10  # rounds of the published scheme, which are short
_STEEPNESS = 60.0  # of the smooth maximum, in the relative difference of two norms
_LEAST_PRIOR = 1e-9  # a kernel given up by mistake comes back in a few steps
_SMALLEST_C = 1e-9  # of a row of weight zero: its slack is as good as free
_MOST_EXCHANGES = 100_000  # of a machine's rounds


@dataclass(frozen=True)
class KernelMixture:
    """f(x) = Σ_j dual_coef_j Σ_m kernel_weights_m k_m(x_j, x) + bias, and its certificate."""

    dual_coef: np.ndarray
    kernel_weights: np.ndarray
    bias: float
    upper: float
    lower: float
    n_iter: int
    n_columns: int
    history: list  # of (n_columns, upper, lower)


def solve_by_averaging(columns, diagonals, y, ridge, *, eps, tol, max_iter=np.inf):
    """The published scheme: α is the plain average of the oracle's answers, one row per class.

    ``columns(indices)`` gives columns of all Gram matrices, (n_kernels, n_rows, len(indices));
    ``diagonals`` is (n_kernels, n_rows), ``y`` is ±1. ``eps`` is relative to the width and sets
    the number of rounds, fewer where ``upper − lower`` falls to ``tol`` × ``upper`` before.
    """
    state = _State(y, ridge, len(diagonals))
    rate = -np.log1p(-eps) / np.sqrt((diagonals + ridge).max())
    n_rounds = int(min(np.ceil(2.0 * np.log(len(y)) / eps**2), max_iter))
    for n_iter in range(1, n_rounds + 1):
        state.average(columns, state.least(1), n_iter)
        state.weigh(rate * n_iter)
        if n_iter % _CERTIFY_EVERY == 0 or n_iter == n_rounds:
            state.certify()
            if state.gap <= tol:
                break
    return state.solution(n_iter)


def solve_by_exchange(columns, diagonals, y, ridge, *, tol, max_iter=_MOST_EXCHANGES, block=8):
    """Averages as above until the gap is moderate; then pairs of rows exchange α to the optimum.

    Arguments as above; ``block`` columns, four or more, are asked for at once. An exchange takes
    the rows of each class with the least gradient and, of those with α > 0, the greatest.
    """
    state = _State(y, ridge, len(diagonals))
    averages = True
    for n_iter in range(1, max_iter + 1):
        # Averaging brings in a row per column, but is slow to take α back from rows that have it.
        averages = averages and state.gap > 0.3 and state.n_columns < 5 * len(y)
        if averages:
            state.average(columns, state.least(block // 2), n_iter)
        else:
            state.exchange(columns, state.least(block // 4) + state.greatest(block // 4))
        state.weigh(_STEEPNESS / np.sqrt(state.values.max()))
        state.certify()
        if state.gap <= tol:
            break
        state.shift_prior()
    return state.solution(n_iter)


def certify_mixture(found, scores, quadratics, y, ridge):
    """A mixture with its bounds taken anew, and with the best scale and bias for them.

    ``scores`` are Σ_j dual_coef_j k_μ(x_j, x_i) for all rows and ``quadratics`` aᵀK_m a for all
    kernels, in more precision than the columns that ``found`` was learned from.
    """
    half = np.abs(found.dual_coef[y > 0]).sum()
    if not half > 0.0:  # f is constant: no kernel has a part in it
        return found
    scale = 2.0 * half  # dual_coef = scale × α y
    alpha, weights = np.abs(found.dual_coef) / scale, found.kernel_weights
    features = np.column_stack([y * scores / scale, y])
    norm = max(float(weights @ quadratics) / scale**2, 0.0)
    machine, cost = fit_scale_and_bias(
        features, norm, ridge, [np.zeros(2), np.array([scale, found.bias])]
    )
    upper = float(quadratics.max()) / scale**2 + float(ridge @ alpha**2)
    return replace(
        found, dual_coef=machine[0] * alpha * y, bias=float(machine[1]), upper=upper,
        lower=1.0 / cost,
    )  # fmt: skip


@dataclass(frozen=True)
class Exchange:
    """Machines of a ``KernelObjective`` from Gram columns alone, in place of WorkingSets.

    For ½‖f‖² + ½ Σ_i C_i max(0, 1 − y_i f(x_i))². Memory is a few columns of every kernel's matrix.
    As there, S_m = aᵀK_m a and J's gradient in the weights is −½ S: the slack adds a diagonal that
    no weight touches. What is looser than ``finest`` stays so for long: the end is slow. ``scheme``
    finds a machine.
    """

    finest: float = 1e-3
    scheme: Callable = solve_by_exchange
    reads_matrices = False

    def solve(self, objective, weights, which, tol, start):
        grams, problem, ridge = objective.grams, objective.problem, _ridge(objective.problem)
        weights = np.asarray(weights, dtype=grams.dtype)

        def columns(rows):
            return np.tensordot(weights, grams.columns(rows)[which], axes=1)[None]

        found = self.scheme(
            columns, np.ones((1, len(ridge))), problem.targets, ridge, tol=max(tol, self.finest)
        )
        primal, dual = 0.5 / found.lower, 0.5 / found.upper
        coef = found.dual_coef
        slack = problem.targets - weights @ grams.products(coef, which, np.arange(len(coef)))
        return MachineSolution(coef, found.bias, primal, primal - dual, found.n_iter, slack)

    def certificate(self, problem, bias, dual_coef, slack):
        """The dual Σ|a| − ½ aᵀ(K + ridge) a is taken at the best multiple of a."""
        bias, loss = self.fit_bias(problem, slack)
        quadratic = float(dual_coef @ (problem.targets - slack))
        primal = 0.5 * quadratic + loss
        curvature = quadratic + float(_ridge(problem) @ dual_coef**2)
        dual = 0.5 * float(problem.targets @ dual_coef) ** 2 / max(curvature, 1e-300)
        return bias, primal, primal - dual

    def fit_bias(self, problem, slack):
        """By bisection: the loss is convex and smooth in the bias."""
        C, signs = problem.upper - problem.lower, problem.targets
        low, high = float(slack.min()), float(slack.max())
        for _ in range(60):
            bias = 0.5 * (low + high)
            short = np.maximum(0.0, signs * (slack - bias))
            low, high = (bias, high) if C @ (signs * short) > 0.0 else (low, bias)
        return bias, 0.5 * float(C @ short**2)

    def is_free(self, problem, dual_coef):
        return dual_coef != 0.0  # squared slacks set no bound

    def free_matrix(self, objective, weights, which, free):
        grams = objective.grams
        kernel = grams.mixture(weights, which)
        ridge = _ridge(objective.problem)[free]
        return kernel(grams.X[free]).astype(np.float64) + np.diag(ridge)


# As in Moeller et al. (SDM 2016), section 5.2: single-kernel MWUMKL with ε = 0.01.
AVERAGING = Exchange(finest=1e-2, scheme=partial(solve_by_averaging, eps=0.01))


def _ridge(problem):
    return 1.0 / np.maximum(problem.upper - problem.lower, _SMALLEST_C)


class _State:
    """α, the gradients G_m α, the kernel weights μ, and the machine that they make."""

    def __init__(self, y, ridge, n_kernels):
        self.y, self.ridge = y, ridge
        self.classes = [np.flatnonzero(y > 0), np.flatnonzero(y < 0)]
        self.alpha, self.mixed = np.zeros((2, len(y)))  # mixed is G_μ α
        self.gradients = np.zeros((n_kernels, len(y)))
        self.prior, self.weights = np.ones(n_kernels), np.empty(n_kernels)
        self.machine, self.gap = np.zeros(2), 1.0
        self.n_columns, self.history = 0, []

    def least(self, count):
        return [_smallest(rows, self.mixed, count) for rows in self.classes]

    def greatest(self, count):
        return [_smallest(rows[self.alpha[rows] > 0], -self.mixed, count) for rows in self.classes]

    def average(self, columns, parts, n_iter):
        self.alpha *= 1.0 - 1.0 / n_iter
        self.gradients *= 1.0 - 1.0 / n_iter
        change = np.concatenate([np.full(len(rows), 0.5 / n_iter / len(rows)) for rows in parts])
        rows = np.concatenate(parts)
        self._move(rows, change, columns(rows))

    def exchange(self, columns, parts):
        rows = np.unique(np.concatenate(parts))
        new, signs, alpha = columns(rows), self.y[rows], self.alpha[rows]
        gram = new[:, rows] * np.outer(signs, signs) + np.diag(self.ridge[rows])
        gradients = np.ascontiguousarray(self.gradients[:, rows])
        _exchange(gram, gradients, self.values, alpha, signs, self.prior, self.sharpness)
        self._move(rows, alpha - self.alpha[rows], new)

    def _move(self, rows, change, new):
        for m, gradient in enumerate(self.gradients):
            gradient += self.y * (new[m] @ (change * self.y[rows]))
        self.gradients[:, rows] += self.ridge[rows] * change
        self.alpha[rows] += change
        self.values = np.maximum(self.gradients @ self.alpha, 1e-300)  # afresh: sums drift
        self.n_columns += len(rows)

    def weigh(self, sharpness):
        self.sharpness = sharpness
        _weigh(self.values, self.prior, sharpness, self.weights)
        self.mixed = self.weights @ self.gradients

    def shift_prior(self):
        """A proximal step on μ, if more of the gap is the kernels' than the rows'."""
        # so that the smooth maximum need not be sharp: along a sharp one, pairs hardly move
        _, upper, lower = self.history[-1]
        if upper - self.weights @ self.values > 0.5 * (upper - lower):
            self.prior = np.maximum(self.weights, _LEAST_PRIOR)

    def certify(self):
        """Fit scale and bias of the machine; one over its objective is the lower bound."""
        norm = max(self.weights @ self.values - self.ridge @ self.alpha**2, 0.0)
        features = np.column_stack([self.mixed - self.ridge * self.alpha, self.y])
        positive, negative = (self.mixed[rows].min() for rows in self.classes)
        starts = [np.zeros(2), self.machine]
        if positive + negative > 0.0:  # slack ridge_i α_i: gives the bound of the literature
            starts.append(np.array([2.0, negative - positive]) / (positive + negative))
        self.machine, cost = fit_scale_and_bias(features, norm, self.ridge, starts)
        upper = float(self.values.max())
        self.gap = 1.0 - 1.0 / (cost * upper)
        self.history.append((self.n_columns, upper, 1.0 / cost))

    def solution(self, n_iter):
        (scale, bias), (n_columns, *bounds) = map(float, self.machine), self.history[-1]
        found = scale * self.alpha * self.y, self.weights, bias, *bounds
        return KernelMixture(*found, n_iter, n_columns, self.history)


def _smallest(rows, keys, count):
    return rows if len(rows) <= count else rows[np.argpartition(keys[rows], count)[:count]]


@compiled
def _weigh(values, prior, sharpness, weights):
    """π sinh(s u)/u, u² = values, to sum one: so log Σ_m π_m cosh(s u_m) descends along −G_μ α."""
    roots = np.sqrt(values)
    weights[:] = prior * np.exp(sharpness * (roots - roots.max())) / roots
    weights *= -np.expm1(-2.0 * sharpness * roots)
    weights /= weights.sum()


@compiled
def _exchange(gram, gradients, values, alpha, signs, prior, sharpness):
    """The pair that disagrees most exchanges α to the least log Σ_m π_m cosh(s u_m); and again."""
    n_rows, weights, enough = len(alpha), np.empty(len(values)), 0.0
    for step in range(10 * n_rows):  # or until the disagreement has fallen tenfold
        _weigh(values, prior, sharpness, weights)
        mixed = weights @ gradients
        worst, up, down = enough, -1, -1
        for i in range(n_rows):
            for j in range(n_rows):
                if signs[i] == signs[j] and alpha[j] > 0.0 and mixed[j] - mixed[i] > worst:
                    worst, up, down = mixed[j] - mixed[i], i, j
        if up < 0:
            break
        enough = 0.1 * worst if step == 0 else enough
        slope = gradients[:, up] - gradients[:, down]
        bend = gram[:, up, up] + gram[:, down, down] - 2.0 * gram[:, up, down]
        low, high, size = 0.0, alpha[down], alpha[down]
        for _ in range(30):  # bisect the derivative of a convex function, from its far end
            trial = np.maximum(values + size * (2.0 * slope + size * bend), 1e-300)
            _weigh(trial, prior, sharpness, weights)
            rises = weights @ (slope + size * bend) > 0.0
            if size == high and not rises:
                break
            low, high = (low, size) if rises else (size, high)
            size = 0.5 * (low + high)
        values[:] = np.maximum(values + size * (2.0 * slope + size * bend), 1e-300)
        alpha[up] += size
        alpha[down] -= size
        gradients += size * (gram[:, :, up] - gram[:, :, down])
