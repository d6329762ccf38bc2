"""w(x) and b(x) of linear models that fade around the landmarks of a row's cell."""

import numpy as np

from .._compile import run_blocks
from .linear import LinearParts

_BLOCK = 1024


def explain_cells(predictor, X, n_support, n_jobs):
    """Active are the landmarks of the row's cell; −1 where others have more of them."""
    most = int(np.diff(predictor.starts).max())
    found = LinearParts(X, predictor.n_outputs, most)
    # cells in the model's own precision: rounded otherwise, another one might be nearest
    cell = predictor.cells(X)
    tables = (predictor.landmarks, predictor.slopes, predictor.offsets, predictor.biases)
    landmarks, slopes, offsets, biases = (table.astype(np.float64) for table in tables)
    found.active[...], found.gates[...] = -1, 0.0
    found.coefficients[...] = 0.0

    def work(start, stop):
        numbers = np.arange(start, stop)
        found.intercepts[start:stop] = biases[cell[start:stop]]
        for c in np.unique(cell[start:stop]):
            rows = numbers[cell[start:stop] == c]
            mine = np.arange(predictor.starts[c], predictor.starts[c + 1])
            away = found.rows[rows, None] - landmarks[mine]
            h = np.exp(-predictor.gamma * (away**2).sum(axis=2))
            constants = offsets[mine] - np.einsum("jod,jd->jo", slopes[mine], landmarks[mine])
            found.active[rows, : len(mine)], found.gates[rows, : len(mine)] = mine, h
            found.coefficients[rows] = np.einsum("ij,jod->iod", h, slopes[mine])
            found.intercepts[rows] += h @ constants

    run_blocks(work, len(X), _BLOCK, n_jobs)
    return found.explanation("landmark")
