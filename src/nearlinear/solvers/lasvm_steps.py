"""The steps of LaSVM: a_i of one row grows and a_j of another shrinks by as much.

PROCESS does so for a new row and the stored row that violates optimality most with it, REPROCESS
for two stored rows: the one that gains most by growing, and the one whose step with it promises
most to second order (the paper takes the most violating one). ``box`` is C y: a row's a lies
between 0 and its box. ``gradient`` is y − Ka. ``gram`` may be larger than the rows in use.
"""

from .._compile import compiled

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
