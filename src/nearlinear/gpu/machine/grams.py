"""Gram matrices of many kernels on the training rows, on a device.

What ``kernels/grams.py`` is on the CPU. Kernels are evaluated and kept in the precision that they
have there, float32 beyond a thousand rows, and products are never in TF32. A weighted sum, which
machines read again and again, is in float64. Blocks have all columns and some rows.
"""

import numpy as np
import torch
from scipy.sparse import issparse

from ...kernels.grams import DOUBLE_ROWS
from ...kernels.rows import SumRows
from ..anchors.forms import can_compile
from ..device import full_precision, machine_bytes, on
from .blocks import Pairs, block

_BLOCK_BYTES = 1 << 28  # of one kernel's values


class Grams(SumRows):
    """The Gram matrices K_m of ``kernels`` on the rows ``X``.

    They are kept as far as ``max_bytes`` has room for them beside machines. Takes and gives arrays,
    but for weighted sums, which are tensors.
    """

    def __init__(self, kernels, X, *, device, max_bytes=0, n_jobs=None, landmarks=None, dtype=None):
        if landmarks is not None:
            raise ValueError("A device has no precomputed kernels: leave device out.")
        self.kernels, self.n_jobs = list(kernels), n_jobs
        self.n_kernels, self.n_rows = len(self.kernels), X.shape[0]
        if dtype is None:
            small = self.n_rows <= DOUBLE_ROWS
            dtype = np.float64 if small and X.dtype == np.float64 else np.float32
        self.dtype, self.device, self.X = np.dtype(dtype), device, X
        self._room, self._kept = max_bytes - machine_bytes(*X.shape), {}
        kind = getattr(torch, self.dtype.name)
        dense = X.toarray() if issparse(X) else np.ascontiguousarray(X)
        self._rows = torch.as_tensor(dense, device=device).to(kind)
        for kernel in self.kernels:
            block(kernel, Pairs(self._rows[:1], self._rows[:1]))  # unknown ones are refused here
        step = max(1, _BLOCK_BYTES // (self.dtype.itemsize * self.n_rows))
        self._blocks = [
            slice(first, min(first + step, self.n_rows)) for first in range(0, self.n_rows, step)
        ]

    def in_double(self):
        """The same matrices in double precision, of which none is kept."""
        if self.dtype == np.float64:
            return self
        return Grams(self.kernels, self.X, device=self.device, dtype=np.float64)

    def keep(self, which):
        """Hold the matrices of these kernels, as far as they fit; forget all others."""
        self.forget_sum()
        size = self.n_rows**2 * self.dtype.itemsize
        self._room += size * len(set(self._kept) - set(which))
        self._kept = {m: gram for m, gram in self._kept.items() if m in set(which)}
        new = [m for m in dict.fromkeys(which) if m not in self._kept]
        new = new[: max(0, int(self._room // size))]
        self._room -= size * len(new)
        for m in new:
            self._kept[m] = torch.empty(
                self.n_rows, self.n_rows, dtype=self._rows.dtype, device=self.device
            )
        with full_precision():
            for rows, values in self._each_block(new, are_kept=False):
                for m, block_of in values:
                    self._kept[m][rows] = block_of

    def weighted(self, weights, out=None):
        """Σ_m weights_m K_m as one tensor, in float64."""
        used = np.flatnonzero(weights)

        def add(total, rows, m, values):
            total.add_(values, alpha=float(weights[m]))

        return self._summed(used, add, out)

    def modulated(self, factors, out=None):
        """Σ_m (F_m F_mᵀ) ∘ K_m for ``factors``, a dict from kernels to (n_rows, any) arrays."""
        factors = {m: self._put(factor) for m, factor in factors.items()}

        def add(total, rows, m, values):
            _add_modulated(total, values, factors[m][rows], factors[m])

        return self._summed(list(factors), add, out)

    def quadratics(self, dual_coef, which):
        """aᵀK_m a for the kernels ``which``."""
        return self.products(dual_coef, which, np.arange(self.n_rows)) @ dual_coef

    def products(self, dual_coef, which, rows=None):
        """(K_m a) at ``rows``; None stands for the rows of a ≠ 0."""
        rows = np.flatnonzero(dual_coef) if rows is None else rows
        found = self.products_of_many([dual_coef[:, None]] * len(which), which, rows)
        return np.array([product[:, 0] for product in found]).reshape(len(which), len(rows))

    def products_of_many(self, coefs, which, rows):
        """K_m A_m at ``rows``, for one matrix A_m of shape (n_rows, any) per kernel."""
        places = {}
        for place, m in enumerate(which):
            places.setdefault(int(m), []).append(place)
        coefs = [self._put(coef) for coef in coefs]
        found = [torch.empty_like(coef) for coef in coefs]
        with full_precision():
            for part, values in self._each_block(list(places)):
                for m, block_of in values:
                    for place in places[m]:
                        found[place][part] = block_of @ coefs[place]
        return [one.double().cpu().numpy()[rows] for one in found]

    def _put(self, array):
        array = np.ascontiguousarray(array, dtype=self.dtype)
        return torch.as_tensor(array, device=self.device)

    def _summed(self, used, add, out):
        total = out
        if total is None:
            shape = self.n_rows, self.n_rows
            total = torch.empty(shape, dtype=torch.float64, device=self.device)
        with full_precision():
            for rows, values in self._each_block([int(m) for m in used]):
                shape = rows.stop - rows.start, self.n_rows
                part = torch.zeros(shape, dtype=self._rows.dtype, device=self.device)
                for m, block_of in values:
                    add(part, rows, m, block_of)
                total[rows] = part
        return total

    def _each_block(self, which, are_kept=True):
        """Yield rows and pairs (m, values), one kernel after another; values are not to be written.

        Those of kept matrices are read, the others computed.
        """
        for rows in self._blocks if which else ():
            yield rows, self._values(rows, which, are_kept)

    def _values(self, rows, which, are_kept):
        pairs = Pairs(self._rows[rows], self._rows, rows.start)
        for m in which:
            if are_kept and m in self._kept:
                yield m, self._kept[m][rows]
            else:
                yield m, block(self.kernels[m], pairs)


def _add_modulated(total, values, left, right):
    """total += (left rightᵀ) ∘ values."""
    if can_compile(total.device):
        from .triton_sums import add_modulated

        with on(total.device):  # of several GPUs, it need not be the current one
            add_modulated(total, values, left, right)
    else:
        total.addcmul_(left @ right.T, values)
