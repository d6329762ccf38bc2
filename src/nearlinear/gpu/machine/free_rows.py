"""Newton directions of a machine's dual on a device: some rows are free, the others jump.

Among the free rows F, and with s for how far from its place each is held,

    (K_FF + 1/s) du_F + db = wanted_F,     Σ du = missing

is solved by one Cholesky factor. All is in float64.
"""

import torch

from .factor import Factor

# Rows that came or went since the last factor cost less as a border around it, if its rows are at
# least so many times more.
_TIMES_MORE = 16


class FreeRows:
    """Systems among the free rows of one machine; ``held`` is 1/s in units of the margin and C."""

    def __init__(self, gram, dual):
        self._gram, self._dual, self._known = gram, dual, None

    def times(self, columns):
        """(K + shift) columns."""
        return self._gram @ columns + self._dual.shift * columns.sum(0)

    def direction(self, is_free, held, wanted, jumps, missing):
        """Moves of all rows, those that are not free by ``jumps``, and of the bias.

        Where no row is free, nothing tells how far a free bias moves: None.
        """
        right = torch.stack([wanted, torch.ones_like(wanted)], 1)
        solved, change = self._solved(is_free, held, right), self._dual.zero
        if self._dual.has_free_bias:
            if self._known is None:  # all are at a bound
                return jumps, None
            change = solved[:, 0].sum() - (missing - jumps.sum())
            change = change / solved[:, 1].sum().clamp_min(1e-300)
        return solved[:, 0] - change * solved[:, 1] + jumps, change

    def _solved(self, is_free, held, right):
        """(K + 1/s)⁻¹ ``right`` among the free rows; zero elsewhere."""
        if self._known is not None and self._known[0] == held:
            rows = self._known[1]
            is_old = torch.zeros_like(is_free)
            is_old[rows] = True
            came, gone = (is_free & ~is_old).nonzero()[:, 0], (~is_free[rows]).nonzero()[:, 0]
            if _TIMES_MORE * (len(came) + len(gone)) <= len(rows):
                return self._bordered(came, gone, right)
        self._known = None  # room for the new factor
        return self._factored(is_free, held, right)

    def _factored(self, is_free, held, right):
        found, rows = torch.zeros_like(right), is_free.nonzero()[:, 0]
        if len(rows):
            factor = Factor(self._block(rows, rows), held / self._dual.sizes[rows])
            found[rows] = factor.solved(right[rows])
            self._known = held, rows, factor
        return found

    def _bordered(self, came, gone, right):
        """By the last factor: rows that ``came`` are more, and those at its places ``gone`` stay.

        Rows stay by multipliers, so that the system has a row and a column for each of both.
        """
        held, rows, factor = self._known
        n_came, n_more = len(came), len(came) + len(gone)
        border = torch.zeros(len(rows), n_more, dtype=right.dtype, device=right.device)
        border[:, :n_came] = self._block(rows, came)
        border[gone, torch.arange(n_came, n_more, device=gone.device)] = 1.0
        inside = factor.solved(torch.cat([right[rows], border], 1))
        plain, behind = inside.split([right.shape[1], n_more], 1)
        corner = -border.T @ behind
        own = self._block(came, came)
        own.diagonal().add_(held / self._dual.sizes[came])
        corner[:n_came, :n_came] += own
        left = -border.T @ plain
        left[:n_came] += right[came]
        more = torch.linalg.solve(corner, left)
        found = torch.zeros_like(right)
        found[rows] = plain - behind @ more
        found[rows[gone]] = 0.0
        found[came] = more[:n_came]
        return found

    def _block(self, rows, columns):
        block = self._gram[rows[:, None], columns]
        if self._dual.shift:  # else it is a pass over the block for nothing
            block += self._dual.shift
        return block
