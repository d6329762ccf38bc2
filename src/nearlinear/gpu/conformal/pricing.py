"""Candidates of a locally linear kernel machine, compared on a device.

A candidate is as good as ‖Σ_i a_i φ_m(x_i)‖² is large: blocks of distances between anchors and
rows, gates of them for every bandwidth, and their products with the rows. Blocks have the precision
that they have on the CPU, and products are never in TF32; sums over blocks are in float64. Of rows
and anchors there is one copy on the device, and never a matrix of all rows and all candidates.
"""

import numpy as np
import torch

from ...kernels.conformal_grams import ConformalGrams as ConformalGramsOnCpu
from ..device import free_bytes, full_precision
from ..machine.blocks import Pairs

_BLOCK_BYTES = 1 << 28  # of the gates of one bandwidth
# Gates, distances and what makes them are there at once; so much of what is free is taken at most.
_COPIES, _SHARE = 6, 0.5
_MOST_ROWS = 8192  # that are added in single precision
_FEWEST = 300  # kernels that are worth the way to a device


class ConformalGrams(ConformalGramsOnCpu):
    """The same kernels on the same rows; candidates are compared on ``device``.

    All else is the CPU's to the last digit. In single precision the choice of kernels follows such
    digits, so this keeps it the one that the CPU makes.
    """

    def __init__(self, bank, X, n_jobs=None, dtype=None, *, device):
        super().__init__(bank, X, n_jobs, dtype)
        self.device = device
        self._rows, self._anchors = self._put(self.X), self._put(self.bank.anchors)

    def _like(self, bank, X, dtype=None):
        return ConformalGrams(bank, X, self.n_jobs, dtype, device=self.device)

    def quadratics(self, dual_coef, which):
        """aᵀK_m a for the kernels ``which``; few kernels are those of the machine."""
        if len(which) < _FEWEST:
            return super().quadratics(dual_coef, which)
        bank, used = self.bank, np.flatnonzero(dual_coef)
        numbers, places = np.unique(bank.places[which], return_inverse=True)
        feature_sums = collect(
            bank.profile, bank.per_feature, self._anchors[self._index(numbers)],
            places, bank.gammas[which], self._rows[self._index(used)], self._put(dual_coef[used]),
        )  # fmt: skip
        return feature_sums.square().sum(1).cpu().numpy() / bank.divisors[which]

    def _put(self, array):
        array = np.ascontiguousarray(array, dtype=self.dtype)
        return torch.as_tensor(array, device=self.device)

    def _index(self, numbers):
        return torch.as_tensor(numbers, device=self.device)


def collect(profile, per_feature, anchors, places, gammas, X, dual_coef):
    """Σ_i a_i φ_m(x_i), in float64; kernel m has ``anchors[places[m]]`` and ``gammas[m]``.

    ``places`` and ``gammas`` are arrays, all else are tensors.
    """
    found = torch.zeros(len(places), X.shape[1], dtype=torch.float64, device=X.device)
    if len(X) == 0:
        return found
    center = X.mean(0)  # sums of rows far from the origin would be rounding
    X, anchors = X - center, anchors - center
    add = _sums_of_features if per_feature else _sums
    height, width = _block_shape(X, per_feature)
    members = [np.flatnonzero(gammas == gamma) for gamma in np.unique(gammas)]
    with full_precision():
        for top in range(0, len(anchors), height):
            some = anchors[top : top + height]
            own = [m[(places[m] >= top) & (places[m] < top + height)] for m in members]
            own = [
                (torch.as_tensor(m, device=X.device), float(gammas[m[0]]),
                 torch.as_tensor(places[m] - top, device=X.device)) for m in own if len(m)
            ]  # fmt: skip
            for left in range(0, len(X), width):
                rows, coef = X[left : left + width], dual_coef[left : left + width]
                add(profile, some, rows, coef, own, found)
    return found


def _sums(profile, anchors, X, coef, own, found):
    squares = Pairs(anchors, X).squared_distances
    for members, gamma, at in own:
        gates = values(profile, squares[at], gamma).mul_(coef)
        found[members] += gates @ X
        found[members] -= gates.sum(1)[:, None] * anchors[at]


def _sums_of_features(profile, anchors, X, coef, own, found):
    away = X - anchors[:, None, :]
    squares = away.square()
    for members, gamma, at in own:
        features = values(profile, squares[at], gamma).mul_(away[at])
        found[members] += torch.einsum("mid,i->md", features, coef)


def values(profile, squares, gamma):
    """h for squared distances, which are written over."""
    u = (squares.sqrt_() if profile.of_root else squares).mul_(gamma)
    return u.neg_().add_(1.0).clamp_min_(0.0) if profile.is_bounded else u.neg_().exp_()


def _block_shape(X, per_feature):
    """Anchors and rows of a block."""
    free = free_bytes(X.device)
    room = _BLOCK_BYTES if free is None else min(_BLOCK_BYTES, _SHARE * free / _COPIES)
    size = X.element_size() * (X.shape[1] if per_feature else 1)
    width = max(1, min(len(X), _MOST_ROWS, int(room // size)))
    return max(1, int(room // (size * width))), width
