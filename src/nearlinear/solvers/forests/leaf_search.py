"""Where all leaf models go from the sums of a pass: steps of all trees at once.

The Hessian that L-BFGS starts from (``solvers/quasi_newton.py``) is that within leaves,
Σ h z zᵀ + λ I, which the pass gives: all that is left to learn is how trees act on each other. The
first step is divided by the number of trees of an output: by as much all of them together may go
too far. As in ``refit.py`` the optimum is at most ‖slope‖² / (2 λ) below.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..quasi_newton import Search, advance, aimed


@dataclass(frozen=True)
class LeafSearch:
    """How far a refit has come; the next pass is over ``trial``."""

    grown: np.ndarray
    lam: float
    most_trees: int  # of an output
    search: Search
    curves: np.ndarray  # of ``LeafSums``, at the models

    @classmethod
    def of(cls, grown, lam, most_trees):
        """A search whose first pass is over leaves as they were grown."""
        grown = np.array(grown, dtype=np.float64)
        curves = np.zeros((*grown.shape, grown.shape[-1]))
        return cls(grown, float(lam), most_trees, Search.at(grown), curves)

    @property
    def models(self):
        """The best so far."""
        return self.search.point

    @property
    def trial(self):
        return self.search.trial

    @property
    def objective(self):
        return self.search.value

    @property
    def gap(self):
        """The optimum is at most so far below ``objective``."""
        return float((self.search.slope**2).sum() / (2.0 * self.lam))

    @property
    def relative_gap(self):
        return self.gap / max(abs(self.objective), np.finfo(np.float64).tiny)

    def after(self, sums):
        """The search after a pass over all rows at ``trial``, whose ``LeafSums`` these are."""
        away = self.trial - self.grown
        value = sums.loss + 0.5 * self.lam * float((away**2).sum())
        curves = sums.curves if self.search.takes(value) else self.curves
        slope, solve = sums.slopes + self.lam * away, self._solver(curves, self.lam)
        search = advance(self.search, value, slope, solve, 1.0 / self.most_trees)
        return replace(self, search=search, curves=curves)

    def with_penalty(self, lam):
        """The search for another λ, from the same models: that needs no pass over the rows."""
        more, away, search = lam - self.lam, self.models - self.grown, self.search
        pairs = zip(search.steps, search.changes, strict=True)
        search = replace(
            search, slope=search.slope + more * away,
            value=search.value + 0.5 * more * float((away**2).sum()),
            changes=tuple(change + more * step for step, change in pairs),
        )  # fmt: skip
        search = aimed(search, self._solver(self.curves, lam), 1.0 / self.most_trees)
        return replace(self, lam=float(lam), search=search)

    def from_models(self, models):
        """A search from other models; what was learned of the curvature is kept."""
        fresh = replace(self.search, point=models, trial=models, value=np.inf, part=0.0)
        return replace(self, search=fresh)

    @staticmethod
    def _solver(curves, lam):
        """Divides by Σ h z zᵀ + λ I of every leaf."""
        size = curves.shape[-1]
        if size == 1:
            diagonal = curves[..., 0] + lam
            return lambda right: right / diagonal
        full = np.tril(curves) + np.swapaxes(np.tril(curves, -1), -1, -2) + lam * np.eye(size)
        return lambda right: np.linalg.solve(full, right[..., None])[..., 0]
