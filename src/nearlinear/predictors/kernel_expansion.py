"""Machines that keep their support rows: f_o(x) = Σ_m Σ_j c_mjo k_m(x_j, x) + b_o."""

from dataclasses import dataclass, fields

import numpy as np
from scipy.sparse import issparse

from .._cached import cached_property
from .._compile import run_blocks
from ..kernels.pairs import Pairs
from ..kernels.standard import Gaussian
from .base import Cost
from .gaussian_sums import GaussianSums

# Support rows that are compared at once, and entries of a tile: it stays in a core's cache.
STRIP = 512
TILE = 1 << 17
# Rows that a matrix product works on together, and the share of a block that is worth a choice.
_ROWS_AT_ONCE = 16
_MOST_OF = 0.75


@dataclass(frozen=True)
class KernelExpansion:
    """Support rows and their coefficients; a kernel that several outputs share is evaluated once.

    ``support`` holds rows as the kernels see them on their second argument, ``biases`` has shape
    (n_outputs,). Every kernel counts in every output, with ``coefficients`` (n_kernels, n_support,
    n_outputs). Or output o has one kernel, ``owners[o]``, and ``coefficients`` are (n_outputs,
    n_support).
    """

    kernels: tuple
    support: np.ndarray
    coefficients: np.ndarray
    biases: np.ndarray
    n_features: int
    owners: tuple[int, ...] | None = None

    @classmethod
    def of_machines(cls, kernels, owners, X, coefficients, biases, n_features):
        """Machines of one kernel each; only support rows and kernels that some use are kept.

        Many rows are put in the order of the machines that use them: what a strip of them does
        not serve need not be evaluated.
        """
        serves = coefficients != 0.0
        used = np.flatnonzero(serves.any(axis=0))
        if len(used) > STRIP:
            used = used[np.lexsort(serves[:, used])]
        needed, owners = np.unique(owners, return_inverse=True)
        return cls(
            tuple(kernels[m] for m in needed),
            X[used],
            np.ascontiguousarray(coefficients[:, used], dtype=X.dtype),
            np.asarray(biases, dtype=X.dtype),
            n_features,
            tuple(owners.tolist()),
        )

    @property
    def terms(self):
        """Every kernel with the outputs in which it counts, and its coefficients there.

        These have shape (n_support, number of such outputs).
        """
        if self.owners is None:
            every = np.arange(self.n_outputs)
            return [(k, every, c) for k, c in zip(self.kernels, self.coefficients, strict=True)]
        owners = np.array(self.owners)
        served = [np.flatnonzero(owners == m) for m in range(len(self.kernels))]
        return [(k, o, self.coefficients[o].T) for k, o in zip(self.kernels, served, strict=True)]

    def __call__(self, X, n_jobs=None, wanted=None):
        """Scores of rows; those where ``wanted`` (n_rows, n_outputs) is False may be anything.

        A kernel is evaluated for rows that want an output which it serves, and on strips of support
        rows that count there.
        """
        scores = np.empty((X.shape[0], self.n_outputs), dtype=self.dtype)
        sums = self._gaussian_sums if not issparse(X) and X.dtype == np.float32 else None
        terms = (
            [] if sums is not None else [(*term, _strips_in_use(term[2])) for term in self.terms]
        )

        def work(start, stop):
            if sums is None:
                asked = None if wanted is None else wanted[start:stop]
                scores[start:stop] = self._score(X[start:stop], terms, asked)
            else:
                scores[start:stop] = self.biases
                sums.add_to(scores[start:stop], np.ascontiguousarray(X[start:stop]))

        width = min(STRIP, max(1, self.n_support))
        run_blocks(work, X.shape[0], max(1, TILE // width), n_jobs)
        return scores

    @cached_property
    def _gaussian_sums(self):
        """One Gaussian on dense rows of float32 has a pass of its own; None for all else."""
        is_one = len(self.kernels) == 1 and isinstance(self.kernels[0], Gaussian)
        is_dense = not issparse(self.support) and self.n_support > 0
        if not (is_one and is_dense and self.dtype == self.support.dtype == np.float32):
            return None
        ((kernel, _, coefficients),) = self.terms
        return GaussianSums(self.support, kernel.gamma, coefficients)

    def __getstate__(self):
        """Fields only: a pickle has no use for what can be packed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _score(self, X, terms, wanted):
        scores = np.tile(self.biases, (X.shape[0], 1))
        terms = [(*term, _rows_that_want(wanted, term[1])) for term in terms]
        for strip, start in enumerate(range(0, self.n_support, STRIP)):
            pairs = Pairs(X, self.support[start : start + STRIP])
            for kernel, outputs, coefficients, in_use, rows in terms:
                if not in_use[strip] or (rows is not None and not len(rows)):
                    continue
                some = pairs if rows is None else pairs.of_rows(rows)
                values = kernel.from_pairs(some) @ coefficients[start : start + STRIP]
                if rows is not None:
                    scores[rows[:, None], outputs] += values
                elif len(outputs) == self.n_outputs:
                    scores += values
                else:
                    scores[:, outputs] += values
        return scores

    @property
    def n_support(self):
        return self.support.shape[0]

    @property
    def n_outputs(self):
        return len(self.biases)

    @property
    def dtype(self):
        return self.coefficients.dtype

    @property
    def cost(self):
        """Products with every support row on the columns that are read, then every kernel."""
        width = _read_width(self.kernels, self.n_features)
        n_kernels, n_outputs = len(self.kernels), self.n_outputs
        n_sums = n_outputs if self.owners is not None else n_kernels * n_outputs
        work = self.n_support * (width + n_kernels + n_sums)
        # those with a kernel each are the components of one output
        linear = self.n_features * (n_outputs if self.owners is None else 1)
        n_bytes = self.coefficients.nbytes + self.biases.nbytes + _bytes_of(self.support)
        return Cost(int(work), work / linear, int(n_bytes))


def _strips_in_use(coefficients):
    """Whether any of a kernel's coefficients in a strip of the support rows is not zero."""
    return [coefficients[i : i + STRIP].any() for i in range(0, len(coefficients), STRIP)]


def _rows_that_want(wanted, outputs):
    """Rows of a block that want one of the outputs; None where (nearly) all do.

    Their number is a multiple of ``_ROWS_AT_ONCE``, so that sums have the bits that they have in a
    full block; rows that do not want any are taken along.
    """
    if wanted is None:
        return None
    wants = wanted[:, outputs].any(axis=1)
    n_wanted = int(wants.sum())
    n_taken = -(-n_wanted // _ROWS_AT_ONCE) * _ROWS_AT_ONCE
    if n_taken > _MOST_OF * len(wants):
        return None
    rest = np.flatnonzero(~wants)[: n_taken - n_wanted]
    wants[rest] = True
    return np.flatnonzero(wants)


def _read_width(kernels, n_features):
    """Columns that are read of a row, each set of columns once."""
    read = {_columns(kernel) for kernel in kernels}
    return sum(n_features if columns is None else len(columns) for columns in read)


def _bytes_of(support):
    parts = [support]
    if issparse(support):
        parts = [support.data, support.indices, support.indptr]
    return sum(part.nbytes for part in parts)


def _columns(kernel):
    """The columns that a kernel reads, None for all."""
    while kernel is not None:
        if hasattr(kernel, "columns"):
            return kernel.columns
        kernel = getattr(kernel, "kernel", None)
    return None
