"""Linear models that fade around the landmarks of a row's cell, as ONNX nodes.

The tables of a row's cell are fetched for it, so all cells have as many landmarks as the fullest;
those that are filled in have neither slopes nor offsets.
"""

import numpy as np

_FAR = 1e30  # more than any squared distance


def gaussian_cells(graph, part, X):
    """b_c + Σ_j exp(−γ‖x − u_j‖²) (o_j + ⟨s_j, x − u_j⟩), c the cell of x."""
    cell = _cell(graph, part.cells, X)
    scores = graph.op("Gather", part.biases, cell, axis=0)
    n_outputs, counts = part.n_outputs, np.diff(part.starts)
    most, (n_cells, width) = int(counts.max()), part.cells.centers.shape
    if most == 0:
        return scores
    centers = part.cells.centers.astype(graph.dtype)
    owner = np.repeat(np.arange(n_cells), counts)
    place = np.arange(len(owner)) - part.starts[owner]
    landmarks, slopes = (
        np.zeros((n_cells, most, width)),
        np.zeros((n_cells, most, n_outputs, width)),
    )
    offsets = np.zeros((n_cells, most, n_outputs))
    landmarks[owner, place] = part.landmarks.astype(np.float64) - centers[owner]
    slopes[owner, place] = part.slopes
    offsets[owner, place] = part.offsets
    offsets -= np.einsum("cjod,cjd->cjo", slopes, landmarks)

    moved = graph.op("Sub", X, graph.op("Gather", centers, cell, axis=0))
    rows = graph.op("Unsqueeze", moved, np.array([1]))
    away = graph.op("Sub", rows, graph.op("Gather", landmarks, cell, axis=0))
    squares = graph.sum_over(graph.op("Mul", away, away), 2, keepdims=0)
    h = graph.op("Exp", graph.times(squares, -part.gamma))
    # Σ_j h_j s_j first: one linear model for each row
    fetched = graph.op("Gather", slopes.reshape(n_cells, most, -1), cell, axis=0)
    blend = graph.row_times_matrix(h, fetched)
    blend = graph.op("Reshape", blend, np.array([0, n_outputs, width]))
    local = graph.sum_over(graph.op("Mul", blend, rows), 2, keepdims=0)
    constants = graph.row_times_matrix(h, graph.op("Gather", offsets, cell, axis=0))
    return graph.total(scores, local, constants)


def _cell(graph, cells, X):
    """The number of each row's cell."""
    squares = _half_distances(graph, X, cells.centers)
    if cells.groups is not None:
        nearest = _half_distances(graph, X, cells.groups)
        group = graph.op("ArgMin", nearest, axis=1, keepdims=0)
        number = np.arange(len(cells.centers))
        mine = (number >= cells.firsts[:-1, None]) & (number < cells.firsts[1:, None])
        others = np.where(mine, 0.0, _FAR)
        squares = graph.op("Add", squares, graph.op("Gather", others, group, axis=0))
    return graph.op("ArgMin", squares, axis=1, keepdims=0)


def _half_distances(graph, X, centers):
    """½‖x − z‖² less what all centers share; seen from their mean."""
    centers = centers.astype(np.float64)
    mean = centers.mean(axis=0).astype(graph.dtype)
    centers = centers - mean
    products = graph.op("MatMul", graph.op("Sub", X, mean), -centers.T)
    return graph.op("Add", products, 0.5 * (centers**2).sum(axis=1))
