"""One form for the duals of support vector classification and regression.

    max_a  yᵀa − ε‖a‖₁ − ½ aᵀKa,     lower ≤ a ≤ upper   (and Σa = 0 with a free bias)

Classification has y of ±1, ε = 0 and a_i between 0 and C_i y_i; regression has −C_i ≤ a_i ≤ C_i.
The primal is ½ aᵀKa + Σ_i loss_i(y_i − f_i) with loss(t) = upper (t − ε)₊ − lower (−t − ε)₊. In
both, ``slack`` stands for y − Ka: it is the gradient of the dual but for ε, and the residual of
the primal but for the bias.
"""

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class DualProblem:
    """Linear term, box and ε of the dual, one entry per row."""

    targets: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    epsilon: float = 0.0

    @classmethod
    def of_signs(cls, signs, C):
        """Classification: ``signs`` of ±1, ``C`` one per row."""
        signs = signs.astype(np.float64)
        return cls(signs, np.minimum(0.0, C * signs), np.maximum(0.0, C * signs))

    @classmethod
    def of_values(cls, values, C, epsilon):
        """Regression with the ε-insensitive loss."""
        C = np.asarray(C, dtype=np.float64)
        return cls(values.astype(np.float64), -C, C.copy(), float(epsilon))

    def take(self, rows):
        return DualProblem(
            self.targets[rows], self.lower[rows], self.upper[rows], self.epsilon
        )  # fmt: skip

    def scaled(self, factors):
        """The same with the weight of every row times its factor."""
        return replace(self, lower=self.lower * factors, upper=self.upper * factors)

    def joined(self, other):
        """The rows of both."""
        pairs = (
            (self.targets, other.targets), (self.lower, other.lower), (self.upper, other.upper)
        )  # fmt: skip
        return DualProblem(*[np.concatenate(pair) for pair in pairs], self.epsilon)

    def replaced(self, rows, other):
        """The same with the rows of ``other`` in place of ``rows``."""
        kept = np.setdiff1d(np.arange(len(self)), rows)
        order = np.argsort(np.concatenate([kept, rows]), kind="stable")
        return self.take(kept).joined(other).take(order)

    def __len__(self):
        return len(self.targets)

    def dual_value(self, dual_coef, quadratic):
        """Dual objective, given aᵀKa."""
        linear = self.targets @ dual_coef - self.epsilon * np.abs(dual_coef).sum()
        return float(linear - 0.5 * quadratic)

    def loss(self, residual):
        """Σ_i loss_i for residuals y − f − b."""
        above = np.maximum(0.0, residual - self.epsilon)
        below = np.maximum(0.0, -residual - self.epsilon)
        return float(self.upper @ above - self.lower @ below)

    def best_bias(self, slack):
        """The b that minimizes Σ_i loss_i(slack_i − b): a weighted quantile."""
        breaks = np.concatenate([slack - self.epsilon, slack + self.epsilon])
        weights = np.concatenate([self.upper, -self.lower])
        order = np.argsort(breaks, kind="stable")
        passed = np.cumsum(weights[order])
        wanted = self.upper.sum()
        first = np.searchsorted(passed, wanted * (1.0 - 1e-12))
        # where the loss is flat, the middle of the flat part
        last = np.searchsorted(passed, wanted * (1.0 + 1e-12), side="right")
        low, high = breaks[order[[min(first, len(order) - 1), min(last, len(order) - 1)]]]
        return float(0.5 * (low + high))

    def ascents(self, dual_coef, slack):
        """Slopes for raising and for lowering each coordinate; ∓∞ where the box forbids it."""
        raising = slack - np.where(dual_coef >= 0.0, self.epsilon, -self.epsilon)
        lowering = slack + np.where(dual_coef <= 0.0, self.epsilon, -self.epsilon)
        raising[dual_coef >= self.upper] = -np.inf
        lowering[dual_coef <= self.lower] = np.inf
        return raising, lowering


@dataclass(frozen=True)
class MachineSolution:
    """A kernel machine f(x) = Σ_i a_i k(x_i, x) + bias with its certificate.

    ``objective`` is the primal value, ``gap`` its distance to the dual value; ``slack`` is y − Ka
    of all rows.
    """

    dual_coef: np.ndarray
    bias: float
    objective: float
    gap: float
    n_iter: int
    slack: np.ndarray

    @property
    def dual_objective(self):
        return self.objective - self.gap


def certificate(problem, bias, dual_coef, slack):
    """Bias, primal objective and duality gap of a dual vector whose slack is y − (K + shift) a."""
    value = bias.value(problem, dual_coef, slack)
    quadratic = float(dual_coef @ (problem.targets - slack))
    primal = 0.5 * quadratic + problem.loss(bias.residual(slack, value))
    return value, primal, primal - problem.dual_value(dual_coef, quadratic)


def feasible(start, problem, bias):
    """A dual vector inside the box, and with Σa = 0 where pair steps could not repair it."""
    coef = np.clip(start, problem.lower, problem.upper)
    if bias.is_free:
        above, below = coef[coef > 0].sum(), -coef[coef < 0].sum()
        coef[coef > 0] *= min(1.0, below / above) if above > 0 else 0.0
        coef[coef < 0] *= min(1.0, above / below) if below > 0 else 0.0
    return coef
