"""Rows of the benchmarks on a GPU: deformed digits, covertype in pieces."""

import numpy as np

from benchmarks.deformed_images import deformed_images
from reproduce import datasets

# chosen on the last 10,000 training digits
RANGES = {"rotation": 11.0, "scaling": 0.1, "shear": 0.15, "shift": 0.04, "elastic": 0.04}
_HELD = 58_101  # rows of covertype that test
_NUMBERS, _PIECES = 10, 48


def digits():
    """X_train, y_train, X_test, y_test of MNIST as bytes."""
    found = np.load(datasets.archive_path("mnist"))
    return tuple(found[name] for name in ("X_train", "y_train", "X_test", "y_test"))


def deformed(X, y, n_rows, seed, device, out=None, **ranges):
    """Deformed copies of digits as bytes, and their labels, on the device."""
    import torch

    from benchmarks.gpu_digits import deformed_tensors

    images = X.reshape(-1, 28, 28)
    source = deformed_images(images, y, n_rows, seed=seed, dtype="uint8", **(RANGES | ranges))
    rows, positions = deformed_tensors(source, device, out=out)
    return rows, torch.as_tensor(y.astype(np.int64), device=device)[positions]


def covertype(device, seed=0):
    """Training and test rows with piecewise linear columns; class 2 against the rest."""
    import torch

    found = np.load(datasets.archive_path("covertype"))
    X, y = found["X"].astype(np.float32), (found["y"] == 2).astype(np.int64)
    order = np.random.default_rng(seed).permutation(len(X))
    test, train = order[:_HELD], order[_HELD:]
    columns = pieces_of(X[train], device)
    labels = torch.as_tensor(y, device=device)
    return columns(X[train]), labels[train], columns(X[test]), labels[test]


def pieces_of(X, device):
    """A function of rows: for each number how far it is along each of its quantile pieces."""
    import torch

    levels = np.linspace(0.0, 1.0, _PIECES + 1)
    edges = [np.unique(np.quantile(X[:, j], levels)) for j in range(_NUMBERS)]
    edges = [torch.as_tensor(one, device=device, dtype=torch.float32) for one in edges]
    mean, spread = X[:, :_NUMBERS].mean(0), X[:, :_NUMBERS].std(0)
    mean, spread = (torch.as_tensor(one, device=device) for one in (mean, spread))

    def columns(rows):
        rows = torch.as_tensor(rows, device=device)
        parts = [
            ((rows[:, j : j + 1] - one[:-1]) / (one[1:] - one[:-1])).clamp(0.0, 1.0)
            for j, one in enumerate(edges)
        ]
        return torch.cat([*parts, (rows[:, :_NUMBERS] - mean) / spread, rows[:, _NUMBERS:]], 1)

    return columns
