"""One step for every leaf of a tree, all other trees held: sums over rows, then a small system.

A leaf's model moves from w to w − a d, where d solves (Σ h z zᵀ + λ I) d = b and
b = Σ g z + λ (w − w₀) is the slope of the objective. Where curvatures may grow (``grows`` of the
loss), a is the minimum of a bound on the objective along d: with r = max |⟨d, z⟩| over the leaf's
rows and Q = Σ h ⟨d, z⟩², the loss of the moved rows is at most

    loss − a Σ g ⟨d, z⟩ + Q (exp(a r) − a r − 1) / r²

(Bach 2010, Self-concordant analysis for logistic regression). So no step needs a trial, and none
makes the objective larger.
"""

import numpy as np

from ..._compile import compiled, compiled_fast_sums

_TILE = 256  # rows of a leaf that are looked at together


@compiled
def add_by_leaf(leaf, g, h, sums):
    """``sums`` (n_leaves, 2): Σ g and Σ h over the rows of each leaf."""
    for i in range(len(leaf)):
        sums[leaf[i], 0] += g[i]
        sums[leaf[i], 1] += h[i]


@compiled
def add_slopes_by_leaf(leaf, g, Z, sums):
    """``sums`` (n_leaves, 1 + n_slopes): Σ g z over the rows of each leaf."""
    for i in range(len(leaf)):
        total = sums[leaf[i]]
        total[0] += g[i]
        for d in range(Z.shape[1]):
            total[d + 1] += g[i] * Z[i, d]


@compiled
def constant_moves(sums, models, grown, lam, grows, moves):
    """Moves of constants. Returns Σ b² over the leaves."""
    squares = 0.0
    for leaf in range(len(sums)):
        b = sums[leaf, 0] + lam * (models[leaf, 0] - grown[leaf, 0])
        curve = sums[leaf, 1]
        step = abs(b) / (curve + lam)
        if grows:
            step = least_of_bound(curve, lam, abs(b))
        moves[leaf] = -step if b > 0.0 else step
        squares += b * b
    return squares


@compiled
def part_of_moves(slope, curve, lam, grows, moves):
    """The part, at most 1, of given ``moves`` of constants at which the bound is least."""
    if not grows:
        return 1.0
    low, high = 0.0, 1.0
    for step in range(40):
        part = 0.5 * (low + high) if step else 1.0
        rise = 0.0
        for leaf in range(len(moves)):
            size = abs(moves[leaf])
            rise += slope[leaf] * moves[leaf] + lam * part * size * size
            rise += curve[leaf] * size * np.expm1(part * size)
        if rise > 0.0:
            high = part
        elif part == 1.0:
            return 1.0
        else:
            low = part
        if high - low <= 1e-3 * high:
            break
    return low


@compiled
def least_of_bound(curve, lam, slope):
    """The root s ≥ 0 of curve (exp s − 1) + lam s = slope."""
    if slope <= 0.0:
        return 0.0
    if curve <= 0.0:
        return slope / lam
    s = min(slope / (curve + lam), np.log1p(slope / curve))  # not below the root: exp s − 1 ≥ s
    for _ in range(50):
        grown = np.expm1(s)
        change = (curve * grown + lam * s - slope) / (curve * (grown + 1.0) + lam)
        s -= change
        if change <= 1e-12 * s:
            break
    return s


@compiled_fast_sums
def linear_moves(order, bounds, first, last, g, h, Z, models, grown, lam, grows, moves):
    """Moves of the rows in leaves ``first`` to ``last``; ``models`` (n_leaves, 1 + n_slopes) moves.

    Rows of leaf l are ``order[bounds[l] : bounds[l + 1]]``. Returns Σ ‖b‖² over the leaves.
    """
    size = Z.shape[1] + 1
    matrix, b, d = np.empty((size, size)), np.empty(size), np.empty(size)
    tile = np.empty((size, _TILE))
    slopes, curves, scaled = np.empty(_TILE), np.empty(_TILE), np.empty(_TILE)
    tile[0] = 1.0
    squares = 0.0
    for leaf in range(first, last):
        rows = order[bounds[leaf] : bounds[leaf + 1]]
        matrix[:] = 0.0
        for p in range(size):
            b[p] = lam * (models[leaf, p] - grown[leaf, p])
            matrix[p, p] = lam
        for start in range(0, len(rows), _TILE):
            some = rows[start : start + _TILE]
            for place in range(len(some)):
                i = some[place]
                slopes[place], curves[place] = g[i], h[i]
                for p in range(1, size):
                    tile[p, place] = Z[i, p - 1]
            add_moments(tile, len(some), slopes, curves, scaled, b, matrix)
        solve_positive(matrix, b, d)
        fall, norm = 0.0, 0.0
        for p in range(size):
            squares += b[p] * b[p]
            fall += b[p] * d[p]
            norm += d[p] * d[p]
        curve, farthest = 0.0, 0.0
        for i in rows:
            along = d[0]
            for p in range(1, size):
                along += d[p] * Z[i, p - 1]
            moves[i] = along
            curve += h[i] * along * along
            if h[i] > 0.0:
                farthest = max(farthest, abs(along))
        step = 1.0
        if grows and farthest > 0.0:
            step = least_of_bound(curve, lam * norm, farthest * fall) / farthest
        for i in rows:
            moves[i] *= -step
        for p in range(size):
            models[leaf, p] -= step * d[p]
    return squares


@compiled_fast_sums
def add_moments(tile, n, g, h, scaled, b, matrix):
    """Add Σ g z to ``b`` and Σ h z zᵀ to the lower triangle; ``tile`` has a column for each row."""
    for p in range(len(b)):
        own, total = tile[p], 0.0
        for i in range(n):
            total += g[i] * own[i]
            scaled[i] = h[i] * own[i]
        b[p] += total
        for q in range(p + 1):
            other, total = tile[q], 0.0
            for i in range(n):
                total += scaled[i] * other[i]
            matrix[p, q] += total


@compiled
def solve_positive(matrix, b, d):
    """matrix d = b by Cholesky's factors, which take the place of the lower triangle."""
    size = len(b)
    for p in range(size):
        for q in range(p + 1):
            total = matrix[p, q]
            for r in range(q):
                total -= matrix[p, r] * matrix[q, r]
            matrix[p, q] = np.sqrt(total) if p == q else total / matrix[q, q]
    for p in range(size):
        total = b[p]
        for r in range(p):
            total -= matrix[p, r] * d[r]
        d[p] = total / matrix[p, p]
    for p in range(size - 1, -1, -1):
        total = d[p]
        for r in range(p + 1, size):
            total -= matrix[r, p] * d[r]
        d[p] = total / matrix[p, p]


@compiled
def rows_by_leaf(leaf, n_leaves, order, bounds):
    """Rows sorted by their leaf, of one leaf in their own order."""
    bounds[:] = 0
    for i in range(len(leaf)):
        bounds[leaf[i] + 1] += 1
    for place in range(n_leaves):
        bounds[place + 1] += bounds[place]
    for i in range(len(leaf)):
        order[bounds[leaf[i]]] = i
        bounds[leaf[i]] += 1
    for place in range(n_leaves, 0, -1):
        bounds[place] = bounds[place - 1]
    bounds[0] = 0


@compiled
def add_scores(leaf, models, Z, scores):
    """Add ⟨w, (1, z)⟩ with the model of each row's leaf."""
    for i in range(len(leaf)):
        model = models[leaf[i]]
        total = model[0]
        for d in range(Z.shape[1]):
            total += model[d + 1] * Z[i, d]
        scores[i] += total
