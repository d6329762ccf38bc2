"""Newton directions of a machine's dual on a device: some rows are free, the others jump.

Among the free rows F, and with s for how far from its place each is held,

    (K_FF + 1/s) du_F + db = wanted_F,     Σ du = missing

is solved by one Cholesky factor. All is in float64.
"""

import torch


def products_with(gram, dual):
    """The function (K + shift) columns."""

    def times(columns):
        return gram @ columns + dual.shift * columns.sum(0)

    return times


def direction(gram, dual, is_free, scale, wanted, jumps, missing):
    """Moves of all rows, those that are not free by ``jumps``, and of the bias."""
    solved = _solve_free(gram, dual, is_free, scale, torch.where(is_free, wanted, 0.0))
    change = dual.zero
    if dual.has_free_bias:
        change = solved[:, 0].sum() - (missing - jumps.sum())
        change = change / solved[:, 1].sum().clamp_min(1e-300)
    return solved[:, 0] - change * solved[:, 1] + jumps, change


def _solve_free(gram, dual, is_free, scale, wanted):
    """(K + 1/s)⁻¹ of (wanted, 1) among the free rows; zero elsewhere."""
    free = is_free.nonzero()[:, 0]
    found = torch.zeros(len(gram), 2, dtype=gram.dtype, device=gram.device)
    if len(free):
        matrix = gram[free[:, None], free]
        if dual.shift:  # else it is a pass over the matrix for nothing
            matrix += dual.shift
        right = torch.stack([wanted[free], torch.ones_like(wanted[free])], 1)
        found[free] = solve_ridged(matrix, 1.0 / scale[free], right)
    return found


def solve_ridged(matrix, ridge, right):
    """(matrix + ridge)⁻¹ right; the matrix is written to."""
    more = 1e-12 * matrix.diagonal().mean()
    matrix.diagonal().add_(ridge)
    while True:
        factor, info = torch.linalg.cholesky_ex(matrix)
        if int(info) == 0:
            # one by one: a single column has a routine that is three times faster
            return torch.cat([torch.cholesky_solve(one, factor) for one in right.split(1, 1)], 1)
        matrix.diagonal().add_(more)  # singular to rounding
        more = 100.0 * more
