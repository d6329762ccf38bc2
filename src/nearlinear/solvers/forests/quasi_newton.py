"""Where all leaf models go from the sums of a pass: steps of all trees at once.

Limited-memory BFGS (Liu and Nocedal 1989). The Hessian that it starts from is that within leaves,
Σ h z zᵀ + λ I, which the pass gives: all that is left to learn from the last steps is how trees act
on each other. The first step is divided by the number of trees of an output: by as much all of them
together may go too far. A trial is taken if it is better by enough; else the next one is nearer, by
the slopes at both ends. So a pass over the rows is one trial, and most are taken.

As in ``refit.py`` the optimum is at most ‖slope‖² / (2 λ) below.
"""

from dataclasses import dataclass, replace

import numpy as np

_MOST_PAIRS = 6
_ENOUGH = 1e-4  # of the fall that the slope promises
_NEAREST, _FARTHEST = 0.1, 0.6  # a trial that failed is followed by one at such a part of it


@dataclass(frozen=True)
class LeafSearch:
    """How far a refit has come. The next pass is over ``trial``; ``models`` are the best so far.

    ``trial`` = ``models`` + ``part`` · ``direction``. ``steps`` and ``changes`` are those of models
    and of slopes, latest last. Arrays have the shape of the leaf models, if nothing else is said.
    """

    grown: np.ndarray
    lam: float
    most_trees: int  # of an output
    models: np.ndarray
    trial: np.ndarray
    direction: np.ndarray
    slope: np.ndarray
    curves: np.ndarray  # of ``LeafSums``
    steps: tuple = ()
    changes: tuple = ()
    part: float = 0.0
    objective: float = np.inf
    n_passes: int = 0

    @property
    def gap(self):
        """The optimum is at most so far below ``objective``."""
        return float((self.slope**2).sum() / (2.0 * self.lam)) if self.n_passes else np.inf

    @property
    def relative_gap(self):
        return self.gap / max(abs(self.objective), np.finfo(np.float64).tiny)

    @property
    def values(self):
        return self.models[:, :, 0]

    @property
    def slopes(self):
        return self.models[:, :, 1:]


def begin(grown, lam, most_trees, models=None):
    """A search from ``models``, or from where leaves were grown; the first pass is over those."""
    models = np.array(grown if models is None else models, dtype=np.float64)
    nothing = np.zeros_like(models)
    return LeafSearch(
        np.asarray(grown, dtype=np.float64), float(lam), most_trees, models, models, nothing,
        nothing, np.zeros((*models.shape, models.shape[-1])),
    )  # fmt: skip


def with_penalty(search, lam):
    """The search for another λ, from the same models: no pass over the rows is needed for it."""
    more, away = lam - search.lam, search.models - search.grown
    pairs = zip(search.steps, search.changes, strict=True)
    search = replace(
        search, lam=float(lam), slope=search.slope + more * away,
        objective=search.objective + 0.5 * more * float((away**2).sum()),
        changes=tuple(change + more * step for step, change in pairs),
    )  # fmt: skip
    return _aimed(search)


def from_models(search, lam, models):
    """A search from other models; what was learned of the curvature is kept."""
    found = with_penalty(search, lam)
    return replace(found, models=models, trial=models, objective=np.inf, part=0.0, n_passes=0)


def advance(search, sums):
    """The search after a pass over all rows at ``search.trial``, whose ``LeafSums`` these are."""
    away = search.trial - search.grown
    objective = sums.loss + 0.5 * search.lam * float((away**2).sum())
    slope = sums.slopes + search.lam * away
    passed = replace(search, n_passes=search.n_passes + 1)
    if search.n_passes:
        before = float((search.slope * search.direction).sum())
        if not objective <= search.objective + _ENOUGH * search.part * before:
            now = float((slope * search.direction).sum())
            fall = before / (before - now) if np.isfinite(now) and now > before else 0.0
            part = search.part * float(np.clip(fall, _NEAREST, _FARTHEST))
            return replace(passed, part=part, trial=search.models + part * search.direction)
        step, change = search.trial - search.models, slope - search.slope
        if (step * change).sum() > 0.0:
            passed = replace(
                passed, steps=(*search.steps, step)[-_MOST_PAIRS:],
                changes=(*search.changes, change)[-_MOST_PAIRS:],
            )  # fmt: skip
    return _aimed(
        replace(
            passed, models=search.trial, slope=slope, curves=sums.curves, objective=objective
        )
    )  # fmt: skip


def _aimed(search):
    """The same search with its next trial."""
    direction = _direction(search)
    part = 1.0 if search.steps else 1.0 / search.most_trees
    trial = search.models + part * direction
    return replace(search, direction=direction, part=part, trial=trial)


def _direction(search):
    """−H⁻¹ slope by the two loops of L-BFGS."""
    within = _WithinLeaves(search.curves, search.lam)
    left, pairs, factors = (
        search.slope.copy(),
        list(zip(search.steps, search.changes, strict=True)),
        [],
    )
    for step, change in reversed(pairs):
        factors.append((step * left).sum() / (step * change).sum())
        left -= factors[-1] * change
    found = within.solve(left)
    if pairs:
        step, change = pairs[-1]
        found *= (step * change).sum() / (change * within.solve(change)).sum()
    for (step, change), factor in zip(pairs, reversed(factors), strict=True):
        found += (factor - (change * found).sum() / (step * change).sum()) * step
    return -found


class _WithinLeaves:
    """Σ h z zᵀ + λ I of every leaf."""

    def __init__(self, curves, lam):
        self._size = curves.shape[-1]
        if self._size == 1:
            self._matrix = curves[..., 0] + lam
            return
        lower = np.tril(curves)
        full = lower + np.swapaxes(np.tril(curves, -1), -1, -2) + lam * np.eye(self._size)
        self._matrix = full

    def solve(self, right):
        if self._size == 1:
            return right / self._matrix
        return np.linalg.solve(self._matrix, right[..., None])[..., 0]
