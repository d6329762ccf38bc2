"""What the leaves of a given forest hold, found for all trees together.

Minimizes over the leaf models w, with λ > 0 and w₀ = (grown value, grown slopes),

    Σ_i weight_i loss(y_i, f_i) + ½ λ Σ_leaves ‖w − w₀‖²,    f_i = base_i + Σ_t ⟨w_leaf(t, i), z_i⟩,

where z is 1, or 1 and some columns. The leaves of one tree share no row, so with all other trees
held, each leaf is a small problem of its own: a pass goes from tree to tree and takes a Newton step
in every leaf, which never makes the objective larger (``leaf_steps.py``). A leaf of several outputs
is that many leaves of one output, one after the other. Passes are mixed (``mixing.py``), which
about halves their number. λ = ∞ leaves the forest as it was grown.

The certificate: the penalty is strongly convex, so the optimum is at most ‖slope‖² / (2 λ) below.
That is the duality gap, too. For absolute and quantile errors, whose corner is rounded off more
narrowly from pass to pass, the gap has one more term: what the loss is above its tangents. Where
leaves must be in order (``monotone.py``), the bound is over the values that are.

Sums over rows are of blocks that do not depend on the number of threads; all are in float64.
"""

from dataclasses import dataclass

import numpy as np

from ..watch import Progress
from .descent import LeafDescent
from .leaf_steps import add_scores
from .mixing import PassMixing
from .problem import LeafProblem, columns_seen, models_of, units_of

# a pass ends at slopes below those that its steps met: from here on the certificate is worked out
_NEARLY = 10.0


@dataclass(frozen=True)
class LeafSolution:
    """Leaf models, the training rows' scores under them, and what they are worth.

    ``values`` (n_leaves, n_told), ``slopes`` (n_leaves, n_told, n_slopes), ``scores``
    (n_rows, n_outputs). The optimum is at most ``gap`` below ``objective``.
    """

    values: np.ndarray
    slopes: np.ndarray
    scores: np.ndarray
    lam: float
    objective: float
    gap: float
    n_iter: int

    @property
    def relative_gap(self):
        """As a share of the objective."""
        return self.gap / max(abs(self.objective), np.finfo(np.float64).tiny)


def refit_leaves(
    *forest, lam, start=None, max_passes=10, tol=1e-3, watch=None, n_jobs=None, **more
):
    """Leaf models for one λ; ``start`` is a ``LeafSolution`` to go on from.

    ``forest`` and ``more`` are what ``LeafProblem.of`` takes. Passes end where the gap is at most
    ``tol`` times the objective (that of counts may be below 0), or after ``max_passes``.
    """
    return solve(LeafProblem.of(*forest, **more), lam, start, max_passes, tol, watch, n_jobs)


def refit_path(*forest, lams, max_passes=5, tol=1e-3, watch=None, n_jobs=None, **more):
    """Yields a ``LeafSolution`` for each of ``lams``, each started from the one before."""
    problem, found = LeafProblem.of(*forest, **more), None
    for lam in lams:
        found = solve(problem, lam, found, max_passes, tol, watch, n_jobs)
        yield found


def refit_memory(n_rows, n_trees, n_outputs, n_slopes):
    """Bytes that a refit takes for its rows beside what it is given; leaves come on top."""
    per_row = 4 * n_trees + 8 * (9 * n_outputs + 4)
    if n_slopes:
        per_row += 8 * (n_trees + n_slopes + 4)
    return n_rows * per_row


def scores_of(leaves, leaf_starts, values, slopes, outputs, Z, base):
    """Scores of rows, shape (n_rows, n_outputs), from their leaves; without slopes Z is None."""
    scores = np.array(np.asarray(base).T, dtype=np.float64, order="C")
    models = models_of(values, np.empty((*np.shape(values), 0)) if slopes is None else slopes)
    Z = columns_seen(Z, len(leaves))
    for unit in units_of(outputs, models.shape[1]):
        first, last = leaf_starts[unit.tree], leaf_starts[unit.tree + 1]
        leaf = (leaves[:, unit.tree] - first).astype(np.int32)
        add_scores(leaf, models[first:last, unit.told], Z, scores[unit.output])
    return scores.T


def solve(problem, lam, start=None, max_passes=10, tol=1e-3, watch=None, n_jobs=None):
    """``refit_leaves`` for a problem that is at hand."""
    if not lam > 0:
        raise ValueError(f"lam must be above 0, it is {lam}.")
    is_grown = start is None or np.isinf(lam)
    models = problem.grown.copy() if is_grown else models_of(start.values, start.slopes)
    descent, mixing = LeafDescent(problem, models, lam, n_jobs), PassMixing()
    objective, n_iter = descent.objective(), 0
    if np.isinf(lam) or not problem.units:
        return _solution(descent, objective, 0.0, 0)
    least = -np.inf  # the optimum is not below
    while n_iter < max_passes:
        n_iter += 1
        kept = models.copy(), descent.scores.copy() if descent.rows.is_rounded else None
        nearly = descent.take_pass() / (2.0 * lam)
        found = descent.objective()
        if not problem.tree_orders:
            mixing.add(kept[0], models, descent.scores)
            found = mix(descent, mixing, found)
        is_last = watch is not None or n_iter == max_passes
        tells_little = descent.rows.is_rounded or problem.tree_orders
        if is_last or tells_little or nearly <= _NEARLY * tol * abs(found):
            smooth, of_corners = descent.gap()
            least = max(least, found - smooth - of_corners)
            if descent.rows.is_rounded and (of_corners > smooth or found > objective):
                descent.rows.sharpen()
                mixing.forget()
        if descent.rows.is_rounded and found > objective:
            descent.go_to(*kept)
        objective = min(found, objective)
        gap = max(objective - least, 0.0)
        if watch is not None:
            state = _solution(descent, objective, gap, n_iter)
            if watch(Progress(n_iter, objective, gap, state=state)):
                break
        if gap <= tol * abs(objective):
            break
    return _solution(descent, objective, max(objective - least, 0.0), n_iter)


def mix(descent, mixing, objective):
    """Go to the mixture of the last passes if it is better; the objective then."""
    mixed = mixing.mixed()
    if mixed is None:
        return objective
    descent.go_to(*mixed)
    found = descent.objective()
    if found < objective:
        return found
    descent.go_to(*mixing.latest)
    return objective


def _solution(descent, objective, gap, n_iter):
    scores = np.ascontiguousarray(descent.fresh_scores().T)
    if len(descent.problem.rows):
        kept, scores = scores, np.empty_like(scores)
        scores[descent.problem.rows] = kept
    values, slopes = descent.models[:, :, 0].copy(), descent.models[:, :, 1:].copy()
    return LeafSolution(values, slopes, scores, float(descent.lam), objective, gap, n_iter)
