"""Cells and their landmarks, as DC-Pred++ has them before any coefficient is known."""

from dataclasses import dataclass

import numpy as np

from ..._compile import run_blocks
from ...gates.cells import Cells
from ...gates.clustering import fit_anchors
from ...predictors.gaussian_cells import GaussianCells
from ...solvers.cells.bumps import Bumps
from ...solvers.cells.division import MOST_FLAT, divide, rows_of_cells, squared_distance_inside

_LANDMARKS, _MOST_FEATURES = 16, 2000  # "auto" of a cell: as many as its system has room for
_FEW_ROWS = 1000  # below so many for each cell, rows serve two of them


@dataclass(frozen=True)
class PlacedCells:
    """Cells, the rows of each, and its Gaussians: around ``places``, from its center in ``bumps``.

    A cell whose rows all have one target has none.
    """

    cells: Cells
    gamma: float
    members: list
    places: list
    bumps: list

    def centered(self, X, cell):
        """Rows of a cell as its Gaussians see them."""
        return X - self.cells.centers[cell].astype(np.float64)

    def predictor(self, coefs, dtype):
        """One predictor of all cells; ``coefs`` (size + 1, n_outputs) of each."""
        pairs = zip(self.bumps, coefs, strict=True)
        folded = [[bumps.folded(one) for one in coef.T] for bumps, coef in pairs]
        slopes = [np.stack([one for one, _ in cell], axis=1) for cell in folded]
        offsets = [np.stack([one for _, one in cell], axis=1) for cell in folded]
        return GaussianCells(
            self.cells,
            float(self.gamma),
            np.concatenate(self.places).astype(dtype),
            np.concatenate([[0], np.cumsum([len(one) for one in self.places])]),
            np.concatenate(slopes).astype(dtype),
            np.concatenate(offsets).astype(dtype),
            np.stack([coef[-1] for coef in coefs]).astype(dtype),
        )


def place_cells(model, rows, targets, n_cells, rng):
    """Place cells and their landmarks."""
    X, dtype = rows.X, rows.X.dtype
    cells = divide(X, min(n_cells, rows.n_distinct), rng, rows.weight)
    members = rows_of_cells(cells, X)
    gamma = model.gamma / squared_distance_inside(X, members, rows.weight)
    if len(cells) > 1 and n_cells <= MOST_FLAT and X.shape[0] / n_cells < _FEW_ROWS:
        members = rows_of_cells(cells, X, 2)
    seeds = rng.randint(np.iinfo(np.int32).max, size=len(cells))
    places = [np.empty((0, X.shape[1]))] * len(cells)

    def work(cell, _):
        mine, own = members[cell], np.random.RandomState(seeds[cell])
        some = targets[mine]
        if np.all(some == some[0]):
            return
        count = count_landmarks(model, *X[mine].shape)
        places[cell] = _place_landmarks(X[mine], rows.weight[mine], count, own)

    run_blocks(work, len(cells), 1, model.n_jobs)
    # what is stored is what the coefficients are fitted to
    bumps = [
        Bumps(found.astype(dtype) - center.astype(np.float64), gamma)
        for found, center in zip(places, cells.centers, strict=True)
    ]
    return PlacedCells(cells, gamma, members, places, bumps)


def _place_landmarks(X, weight, count, rng):
    """Centers of k-means; all distinct rows if there are at most ``count``."""
    if len(X) > count:
        X = fit_anchors(X, count, rng, weight)
    return np.unique(X, axis=0)


def count_landmarks(model, n_rows, n_features):
    """Of a cell of so many rows."""
    if model.n_landmarks != "auto":
        return model.n_landmarks
    size = min(_MOST_FEATURES, 2 * n_rows)
    return int(np.clip(size // (n_features + 1), 1, _LANDMARKS))
