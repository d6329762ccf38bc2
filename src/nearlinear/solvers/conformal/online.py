"""One machine of conformal kernels that learns from rows as they come."""

import numpy as np

from ...kernels.conformal_grams import ConformalGrams
from ..machine.problem import feasible
from ..mixture.active_set import keep_largest, solve_sequential
from ..mixture.objective import Descent, KernelObjective
from ..mixture.simplex import solve_newton
from .local_kernels import LocalKernels

# New kernels share this much of the weight.
_ENTRY_SHARE = 0.1
_MOST_ENTERING = 10
# How exactly a row's step, a first machine and a change of weights are solved.
_STEP_TOL, _START_TOL, _WEIGHT_TOL = 1e-3, 0.05, 0.02
_NEWTON_STEPS = 3


class OnlineMachine:
    """Kernels in use with their weights, and ``feature_sums`` Σ_i a_i φ_m(x_i) of the stored rows.

    Sums do not depend on the weights, so these may change without another pass over rows. The
    coefficients a belong to the caller.
    """

    def __init__(self, bank, bias_steps):
        self.bank, self.bias_steps = bank.take(np.arange(0)), bias_steps
        self.weights = np.zeros(0)
        self.feature_sums = np.zeros((0, bank.anchors.shape[1]))
        self.total = self.bias = 0.0

    @property
    def all_kernels(self):
        return np.arange(len(self.bank))

    def scores(self, X):
        """f without the bias."""
        return self.bank.total_scores(X, self.feature_sums, self.all_kernels, self.weights)

    def slack(self, X, problem):
        """y − f, as far as the machine's steps count the bias in."""
        return problem.targets - self.scores(X) - self.bias_steps.shift * self.total

    def begin(self, X, problem, candidates, max_kernels=None):
        """Choose the first kernels for the first rows; returns their coefficients."""
        objective = KernelObjective(ConformalGrams(candidates, X), problem, self.bias_steps)
        found = solve_sequential(Descent(objective), tol=_START_TOL, max_rounds=20)
        now, kept = keep_largest(objective, found, max_kernels, _START_TOL)
        self.resume(X, candidates.take(kept), now)
        return now.machine.dual_coef

    def ascend(self, X, problem, dual_coef):
        """Steps on the coefficients of some rows, all others fixed; returns the new ones."""
        new = dual_coef.copy()
        gram = self.bank.gram(X, self.all_kernels, self.weights)
        self.bias_steps.solve(gram, problem, new, self.slack(X, problem), _STEP_TOL)
        self.add_change(X, new - dual_coef)
        return new

    def balance(self, X, problem, dual_coef):
        """Coefficients of all stored rows that a free bias allows: Σa = 0."""
        balanced = feasible(dual_coef, problem, self.bias_steps)
        self.add_change(X, balanced - dual_coef)
        return balanced

    def set_bias(self, X, problem, dual_coef):
        """The bias that suits all stored rows."""
        if self.bias_steps.is_free:
            self.bias = self.bias_steps.value(problem, dual_coef, self.slack(X, problem))

    def add_change(self, X, change):
        """The coefficients of these rows have changed."""
        moved = np.flatnonzero(change)
        if len(moved):
            self.feature_sums += self.bank.collect(X[moved], change[moved], self.all_kernels)
            self.total += float(change.sum())
            if self.bias_steps.shift:
                self.bias = self.bias_steps.shift * self.total

    def reconsider(self, X, problem, dual_coef, candidates, max_kernels):
        """Let in candidates that ask for it, weigh all anew, drop those without weight.

        ``X`` are all stored rows. Returns their new coefficients.
        """
        used = np.flatnonzero(dual_coef)
        every = np.arange(len(candidates))
        quadratics = candidates.quadratics(X[used], dual_coef[used], every)
        own = np.einsum("md,md->m", self.feature_sums, self.feature_sums) / self.bank.divisors
        is_new = ~self.bank.holds(candidates)
        entering = every[is_new & (quadratics > (1.0 + _WEIGHT_TOL) * (self.weights @ own))]
        entering = entering[np.argsort(-quadratics[entering], kind="stable")][:_MOST_ENTERING]
        bank, weights = self.bank.joined(candidates.take(entering)), self.weights
        if len(entering):
            shared = np.full(len(entering), _ENTRY_SHARE / len(entering))
            weights = np.concatenate([(1.0 - _ENTRY_SHARE) * weights, shared])
        objective = KernelObjective(ConformalGrams(bank, X), problem, self.bias_steps)
        descent = Descent(objective, dual_coef)
        now = solve_newton(descent, weights, tol=_WEIGHT_TOL, max_iter=_NEWTON_STEPS)
        kept = np.argsort(-now.weights, kind="stable")[:max_kernels]
        kept = np.sort(kept[now.weights[kept] > 0.0])
        self.resume(X, bank.take(kept), now.take(kept))
        return now.machine.dual_coef

    def resume(self, X, bank, evaluation, dual_coef=None):
        """Take over kernels and a machine; ``X`` are its rows, all those of a ≠ 0 at least."""
        if dual_coef is None:
            dual_coef = evaluation.machine.dual_coef
        self.bank = bank
        self.weights = evaluation.weights / evaluation.weights.sum()
        used = np.flatnonzero(dual_coef)
        self.feature_sums = bank.collect(X[used], dual_coef[used], self.all_kernels)
        self.total, self.bias = float(dual_coef.sum()), evaluation.machine.bias

    def local_kernels(self):
        """Explicit local models w_m = β_m Σ_i a_i φ_m(x_i)."""
        return LocalKernels.collapse(self.bank, self.weights, self.feature_sums, self.bias)
