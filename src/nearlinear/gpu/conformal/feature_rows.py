"""What rows hear of a change of the machine's coefficients, found on a device.

What ``FeatureRows`` of ``kernels/conformal_grams.py`` are on the CPU: a change is collected into
one vector per kernel, and rows take products with it. Only kernels in use take part, so all their
gates are made at once, for some rows at a time. The matrix among the rows that are solved for
together stays on the CPU, as the solver does.
"""

import torch

from ...kernels.conformal_grams import FeatureRows as FeatureRowsOnCpu
from ..machine.blocks import Pairs
from ..machine.grams import full_precision

_BLOCK_NUMBERS = 1 << 25  # gates at once


class FeatureRows(FeatureRowsOnCpu):
    """The same matrix; ``rows`` are ``X`` on the device."""

    def __init__(self, bank, X, weights, which, n_jobs=None, *, rows):
        self._rows = rows
        super().__init__(bank, X, weights, which, n_jobs)
        self._anchors, self._gammas, self._factors = (
            torch.as_tensor(array, dtype=rows.dtype, device=rows.device)
            for array in (bank.anchors_of(which), bank.gammas[which],
                          weights / bank.divisors[which])
        )  # fmt: skip

    def restrict(self, columns):
        """Serve these columns from here on, all of them for None."""
        whole = columns is None or len(columns) == self.n_rows
        self._served = self._rows if whole else self._rows[self._put(columns, torch.int64)]

    def _scores(self, rows, change, X):
        own, X = (self._put(some, self._rows.dtype) for some in (self.X[rows], X))
        how = self.bank.profile, self.bank.per_feature, self._anchors, self._gammas
        with full_precision():
            feature_sums = collect_all(*how, own, self._put(change, X.dtype))
            found = total_scores(*how, X, feature_sums * self._factors[:, None])
        return found.cpu().numpy()

    def _put(self, array, dtype):
        return torch.as_tensor(array, dtype=dtype, device=self._rows.device)


def collect_all(profile, per_feature, anchors, gammas, X, dual_coef):
    """Σ_i a_i φ_m(x_i) of few rows, for a kernel at each of ``anchors``."""
    opened = gates(profile, per_feature, X, anchors, gammas)
    if per_feature:
        return torch.einsum("imd,i->md", opened.mul_(X[:, None, :] - anchors), dual_coef)
    opened *= dual_coef[:, None]
    center = X.mean(0)  # sums of rows far from the origin would be rounding
    return opened.T @ (X - center) - opened.sum(0)[:, None] * (anchors - center)


def total_scores(profile, per_feature, anchors, gammas, X, feature_sums):
    """Σ_m ⟨φ_m(x_i), feature_sums_m⟩ of every row, in float64."""
    found = torch.empty(len(X), dtype=torch.float64, device=X.device)
    center = anchors.mean(0)
    offsets = ((anchors - center) * feature_sums).sum(1)
    step = max(1, _BLOCK_NUMBERS // (anchors.numel() if per_feature else max(1, len(anchors))))
    for start in range(0, len(X), step):
        rows = X[start : start + step]
        opened = gates(profile, per_feature, rows, anchors, gammas)
        if per_feature:
            opened *= rows[:, None, :] - anchors
            local = torch.einsum("imd,md->im", opened, feature_sums)
        else:
            local = opened.mul_((rows - center) @ feature_sums.T - offsets)
        found[start : start + step] = local.sum(1, dtype=torch.float64)
    return found


def gates(profile, per_feature, X, anchors, gammas):
    """h_m(x_i), shape (n_rows, n_kernels), with n_features in the end if ``per_feature``."""
    if per_feature:
        return values(profile, (X[:, None, :] - anchors).square_(), gammas[:, None])
    return values(profile, Pairs(X, anchors).squared_distances, gammas)


def values(profile, squares, gamma):
    """h for squared distances, which are written over."""
    u = (squares.sqrt_() if profile.of_root else squares).mul_(gamma)
    return u.neg_().add_(1.0).clamp_min_(0.0) if profile.is_bounded else u.neg_().exp_()
