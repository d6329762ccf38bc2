"""f(x) = b_c + Σ_j exp(−γ‖x − u_j‖²) (o_j + ⟨s_j, x − u_j⟩), j over the landmarks of x's cell c."""

from dataclasses import dataclass, fields

import numpy as np

from .._cached import cached_property
from .._compile import run_blocks
from ..gates.cells import Cells
from .base import Cost, check_width
from .gaussian_sums import CellSums

# Rows of a block, for each cell: a cell's table is read once for all of its rows there.
_ROWS_PER_CELL, _FEWEST, _MOST = 64, 4096, 1 << 16


@dataclass(frozen=True)
class GaussianCells:
    """Linear models that fade around landmarks; only those of a row's cell answer for it.

    Cell c has the landmarks ``starts[c]`` to ``starts[c + 1]``, with ``slopes`` (n_landmarks,
    n_outputs, n_features) and ``offsets`` (n_landmarks, n_outputs); ``biases`` are (n_cells,
    n_outputs). Scores jump where a row passes from one cell to the next.
    """

    cells: Cells
    gamma: float
    landmarks: np.ndarray
    starts: np.ndarray
    slopes: np.ndarray
    offsets: np.ndarray
    biases: np.ndarray

    @property
    def n_features(self):
        return self.landmarks.shape[1]

    @property
    def n_outputs(self):
        return self.biases.shape[1]

    @property
    def dtype(self):
        return self.slopes.dtype

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, n_outputs); dense rows."""
        check_width(X, self.n_features)
        X = np.ascontiguousarray(X, dtype=self.dtype)  # as the compiled passes take rows
        scores = np.empty((len(X), self.n_outputs), dtype=self.dtype)

        def work(start, stop):
            block = X[start:stop]
            self._sums.score(block, self.cells(block), scores[start:stop])

        block = int(np.clip(_ROWS_PER_CELL * len(self.cells), _FEWEST, _MOST))
        run_blocks(work, len(X), block, n_jobs)
        return scores

    @cached_property
    def _sums(self):
        return CellSums(
            self.cells.centers, self.gamma, self.landmarks, self.starts, self.slopes, self.offsets,
            self.biases,
        )  # fmt: skip

    def __getstate__(self):
        """Fields only: a pickle has no use for what can be packed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def plain(self, X):
        """The same scores from the formula, cell by cell, in NumPy."""
        cell = self.cells(X)
        scores = self.biases[cell]
        for c in np.unique(cell):
            rows = np.flatnonzero(cell == c)
            for j in range(self.starts[c], self.starts[c + 1]):
                away = X[rows] - self.landmarks[j]
                h = np.exp(-self.gamma * (away**2).sum(axis=1, keepdims=True))
                scores[rows] += h * (away @ self.slopes[j].T + self.offsets[j])
        return scores

    @property
    def cost(self):
        """The way to the cell, and the landmarks of the fullest one: distance, fading, slopes."""
        most, n_outputs = int(np.diff(self.starts).max()), self.n_outputs
        work = self.cells.multiply_adds + most * (1 + n_outputs) * (self.n_features + 1)
        arrays = (self.landmarks, self.starts, self.slopes, self.offsets, self.biases)
        n_bytes = self.cells.n_bytes + sum(array.nbytes for array in arrays)
        return Cost(int(work), work / (self.n_features * n_outputs), int(n_bytes))
