"""LaSVM: a kernel SVM that meets its rows one by one and stores those that may support it.

Minimizes ½‖f‖² + Σ_i C_i max(0, 1 − y_i (f(x_i) + b)), with a free bias, through the dual

    max Σ_i y_i a_i − ½ aᵀKa   over   Σ_i a_i = 0,   min(0, C_i y_i) ≤ a_i ≤ max(0, C_i y_i).

A. Bordes, S. Ertekin, J. Weston, L. Bottou, "Fast Kernel Classifiers with Online and Active
Learning", JMLR 6, 2005. Rows are dropped after a block of new ones here, not after each.

PROCESS lets a_i of a new row grow and a_j of the stored row that violates optimality most with it
shrink by as much, REPROCESS does so for two stored rows: the one that gains most by growing, and
the one whose step with it promises most to second order (the paper takes the most violating one).
``box`` is C y: a row's a lies between 0 and its box. ``gradient`` is y − Ka. ``gram`` may be larger
than the rows in use.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse, vstack

from ..._compile import compiled
from .problem import DualProblem

_FLAT = 1e-12  # curvature of a step between rows that the kernel cannot tell apart


@compiled
def _extremes(box, dual, gradient, n_rows):
    """Most violating pair: the row that gains most by growing, and by shrinking; -1 if none."""
    top, bottom = -1, -1
    for i in range(n_rows):
        if dual[i] < max(box[i], 0.0) and (top < 0 or gradient[i] > gradient[top]):
            top = i
        if dual[i] > min(box[i], 0.0) and (bottom < 0 or gradient[i] < gradient[bottom]):
            bottom = i
    return top, bottom


@compiled
def _best_partner(gram, diagonal, box, dual, gradient, i, n_rows):
    """The row whose step against i, if it met no bound, would raise the dual most."""
    best, partner = -1.0, -1
    for j in range(n_rows):
        slope = gradient[i] - gradient[j]
        if slope > 0.0 and dual[j] > min(box[j], 0.0):
            gain = slope * slope / max(diagonal[i] + diagonal[j] - 2.0 * gram[i, j], _FLAT)
            if gain > best:
                best, partner = gain, j
    return partner


@compiled
def _pair_step(gram, diagonal, box, dual, gradient, i, j, tol):
    """Raise a_i and lower a_j to the best they can do together, if i and j violate by ``tol``."""
    if i < 0 or j < 0 or gradient[i] - gradient[j] <= tol:
        return
    room, stock = max(box[i], 0.0) - dual[i], dual[j] - min(box[j], 0.0)
    curvature = max(diagonal[i] + diagonal[j] - 2.0 * gram[i, j], _FLAT)
    step = min((gradient[i] - gradient[j]) / curvature, room, stock)
    # a row at its bound is exactly there
    dual[i] = max(box[i], 0.0) if step == room else dual[i] + step
    dual[j] = min(box[j], 0.0) if step == stock else dual[j] - step
    for s in range(dual.shape[0]):
        gradient[s] -= step * gram[i, s] - step * gram[j, s]  # in float64, whatever the matrix


@compiled
def _reprocess(gram, diagonal, box, dual, gradient, n_rows, tol):
    """A step between two of the first ``n_rows``; False if no pair violates by ``tol``."""
    top, bottom = _extremes(box, dual, gradient, n_rows)
    if top < 0 or bottom < 0 or gradient[top] - gradient[bottom] <= tol:
        return False
    partner = _best_partner(gram, diagonal, box, dual, gradient, top, n_rows)
    _pair_step(gram, diagonal, box, dual, gradient, top, partner, 0.0)
    return True


@compiled
def process_pass(gram, diagonal, box, dual, gradient, first, n_more, tol):
    """PROCESS and REPROCESS for the rows from ``first`` on, then ``n_more`` times REPROCESS.

    Rows whose turn has not come have their gradients kept, and take no other part.
    """
    for k in range(first, dual.shape[0]):
        top, bottom = _extremes(box, dual, gradient, k)
        if box[k] > 0.0:
            _pair_step(gram, diagonal, box, dual, gradient, k, bottom, tol)
        else:
            _pair_step(gram, diagonal, box, dual, gradient, top, k, tol)
        _reprocess(gram, diagonal, box, dual, gradient, k + 1, tol)
    for _ in range(n_more):
        if not _reprocess(gram, diagonal, box, dual, gradient, dual.shape[0], tol):
            break


_BLOCK = 64  # new rows whose kernel values are computed together
_SCORE_BLOCK = 256
_GROWTH = 1.5  # of the Gram matrix's side
_SEEDS_PER_CLASS = 5


class OnlineSVM:
    """The stored rows and their machine.

    For each row ``X``, ``box`` = C y, ``dual_coef`` = a, ``gradient`` = y − Ka and ``ids`` (from 0
    up, each for one row; -1 where none was given), and their Gram matrix in the precision of the
    kernel's values. A pair that violates optimality by no more than ``tol`` is left alone. Until
    both classes have been met, all rows are stored. ``check_size(n_stored)`` is asked before the
    matrix grows, and may raise.
    """

    def __init__(self, kernel, tol=1e-3, check_size=None):
        self.kernel, self.tol, self.check_size = kernel, tol, check_size
        self.X = None
        self.box = self.dual_coef = self.gradient = np.empty(0)
        self.ids = np.empty(0, dtype=np.int64)
        self._gram = np.empty((0, 0))

    @classmethod
    def resume(cls, kernel, X, box, dual_coef, ids, check_size=None):
        """A machine that was fitted elsewhere."""
        machine = cls(kernel, check_size=check_size)
        machine._append(X, box, ids)
        machine.dual_coef = dual_coef.astype(np.float64)
        machine.gradient = machine.y - machine._gram[: len(box), : len(box)] @ machine.dual_coef
        return machine

    @staticmethod
    def memory(n_stored, n_features, itemsize=8):
        """Bytes at the worst moment: the Gram matrix outgrown and the next one, the rows twice.

        A block of scores comes on top. For sparse rows ``n_features`` is what a row has on average.
        """
        n_rows = n_stored + _BLOCK
        matrices = (1.0 + _GROWTH**2) * n_rows + 3 * _SCORE_BLOCK
        return int(itemsize * n_rows * (matrices + 4 * n_features))

    @property
    def n_stored(self):
        return len(self.box)

    @property
    def y(self):
        return np.sign(self.box)

    @property
    def bias(self):
        """Middle of the extreme gradients; the class itself while there is only one."""
        ends = [end for end in self._extreme_gradients() if np.isfinite(end)]
        return sum(ends) / max(len(ends), 1)

    def objective(self):
        """Value of the dual."""
        return 0.5 * self.dual_coef @ (self.y + self.gradient)

    def scores(self, X):
        """f(x), without the bias; in double precision, since certificates rest on it."""
        scores, support = np.zeros(X.shape[0]), np.flatnonzero(self.dual_coef)
        if len(support):
            rows = self.X[support].astype(np.float64, copy=False)
            dual_coef = self.dual_coef[support]
            for start in range(0, len(scores), _SCORE_BLOCK):
                part = X[start : start + _SCORE_BLOCK].astype(np.float64, copy=False)
                scores[start : start + _SCORE_BLOCK] = self.kernel(part, rows) @ dual_coef
        return scores

    def decision(self, X):
        return self.scores(X) + self.bias

    def process(self, X, y, upper, ids=None):
        """PROCESS and REPROCESS for every row; only the latter for a row stored under its id."""
        ids = np.full(len(y), -1) if ids is None else ids
        for start in range(0, len(y), _BLOCK):
            part = slice(start, start + _BLOCK)
            box, names = upper[part] * y[part], ids[part]
            fresh = (box != 0.0) & ((names < 0) | ~np.isin(names, self.ids))
            first = self._append(X[part][fresh], box[fresh], names[fresh])
            process_pass(*self._state(), first, np.count_nonzero(~fresh), self.tol)
            self._drop()

    def finish(self, max_steps):
        """REPROCESS until no pair of stored rows violates by more than ``tol``."""
        n = self.n_stored
        # thousands of updates have left their rounding errors; einsum copies no float32 matrix
        self.gradient = self.y - np.einsum("ij,j->i", self._gram[:n, :n], self.dual_coef)
        process_pass(*self._state(), n, max_steps, self.tol)
        self._drop()

    def _state(self):
        diagonal = self._gram.diagonal()[: self.n_stored].astype(np.float64)
        return self._gram, diagonal, self.box, self.dual_coef, self.gradient

    def _extreme_gradients(self):
        """Largest gradient of the a that can grow, smallest of those that can shrink."""
        grows = self.dual_coef < np.maximum(self.box, 0.0)
        shrinks = self.dual_coef > np.minimum(self.box, 0.0)
        return self.gradient[grows].max(initial=-np.inf), self.gradient[shrinks].min(initial=np.inf)

    def _append(self, X, box, ids):
        """Store rows with a = 0; returns the place of the first."""
        old, n = self.n_stored, self.n_stored + len(box)
        if n == old:
            return old
        if n > len(self._gram) and self.check_size is not None:
            self.check_size(n)
        self.X = X if self.X is None else _stack(self.X, X)
        values = self.kernel(X, self.X)
        if n > len(self._gram):
            gram = np.empty((max(n, int(_GROWTH * old)),) * 2, dtype=values.dtype)
            gram[:old, :old] = self._gram[:old, :old]
            self._gram = gram
        self._gram[old:n, :n] = values
        self._gram[:old, old:n] = values[:, :old].T
        self.gradient = np.r_[self.gradient, np.sign(box) - values[:, :old] @ self.dual_coef]
        self.dual_coef = np.r_[self.dual_coef, np.zeros(n - old)]
        self.box, self.ids = np.r_[self.box, box], np.r_[self.ids, ids]
        return old

    def _drop(self):
        """Forget the rows with a = 0 that no pair of stored rows wants to move."""
        top, bottom = self._extreme_gradients()
        if not (np.isfinite(top) and np.isfinite(bottom)):
            return  # one class so far: every row may yet matter
        beyond = np.where(self.box > 0, self.gradient <= bottom, self.gradient >= top)
        dropped = (self.dual_coef == 0.0) & beyond
        n, n_kept = self.n_stored, np.count_nonzero(~dropped)
        # the last rows move into the holes, so that the Gram matrix moves little
        holes = np.flatnonzero(dropped[:n_kept])
        movers = n_kept + np.flatnonzero(~dropped[n_kept:])
        self._gram[holes, :n] = self._gram[movers, :n]
        self._gram[:n, holes] = self._gram[:n, movers]
        order = np.arange(n_kept)
        order[holes] = movers
        for name in ("X", "box", "dual_coef", "gradient", "ids"):
            setattr(self, name, getattr(self, name)[order])


def _stack(stored, new):
    """Stored rows and new ones, of the kind that the stored ones are."""
    if issparse(stored):
        return vstack([stored, new], format="csr")
    return np.concatenate([stored, new.toarray() if issparse(new) else new])


@dataclass(frozen=True)
class LaSVMSolution:
    """Support rows, their signed coefficients, and the certificate over all rows."""

    support: np.ndarray
    dual_coef: np.ndarray
    bias: float
    objective: float
    gap: float
    n_iter: int
    history: tuple  # of gaps


def fit_lasvm(X, y, upper, kernel, *, n_passes, tol, max_iter, rng, check_size=None):
    """Pass over the rows in random order, then add violating rows until gap ≤ ``tol`` × primal."""
    machine, problem = OnlineSVM(kernel, check_size=check_size), DualProblem.of_signs(y, upper)

    def process(rows):
        for start in range(0, len(rows), _SCORE_BLOCK):
            part = rows[start : start + _SCORE_BLOCK]
            machine.process(X[part], y[part], upper[part], part)

    order = rng.permutation(len(y))
    process(np.concatenate([order[y[order] == sign][:_SEEDS_PER_CLASS] for sign in (1, -1)]))
    for _ in range(n_passes):
        process(rng.permutation(len(y)))
    gaps = []
    for _ in range(max_iter):
        machine.finish(max_steps=100 * machine.n_stored + 10_000)
        scores = machine.scores(X)
        dual = np.zeros(len(y))
        dual[machine.ids] = machine.dual_coef
        bias = problem.best_bias(y - scores)
        shortfall = 1.0 - y * (scores + bias)
        slack = np.maximum(0.0, shortfall)
        primal = float(0.5 * dual @ scores + upper @ slack)
        shares = upper * slack - dual * (y - scores - bias)  # of the rows in the gap, all ≥ 0
        gaps.append(float(shares.sum()))
        if gaps[-1] <= tol * primal:
            break
        stored = np.isin(np.arange(len(y)), machine.ids)
        # what the machine, at its own tolerance, leaves as it is
        if shares[stored | (slack <= machine.tol)].sum() > 0.5 * tol * primal:
            machine.tol *= 0.25
        # rows on the margin, too: Σa = 0 may need them against rows beyond it
        process(rng.permutation(np.flatnonzero(~stored & (shortfall > -machine.tol))))
    support = np.flatnonzero(dual)
    return LaSVMSolution(support, dual[support], bias, primal, gaps[-1], len(gaps), tuple(gaps))
