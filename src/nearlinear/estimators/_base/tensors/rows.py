"""Rows that are torch tensors, checked where they lie.

Equal rows are not merged, and the order of the rows is theirs: a weight of k is k copies in what is
minimized, and the batches are others.
"""

from dataclasses import dataclass

import numpy as np

from ....gpu.device import as_array, is_tensor, require_dense
from ..task import check_labels, class_factors, task_of_classes

_CALM = 1e15  # numbers whose squares are finite in single precision, summed over features


@dataclass(frozen=True)
class TensorRows:
    """Rows on a device; ``labels`` are positions among the classes."""

    n_all = None  # they are no sample

    X: object
    labels: object
    weight: object
    task: object
    names: dict

    @property
    def n_rows(self):
        return len(self.X)

    @property
    def attributes(self):
        return {**self.names, **self.task.attributes}

    def take(self, rows):
        chosen = (part[rows] for part in (self.X, self.labels, self.weight))
        return TensorRows(*chosen, self.task, self.names)

    def split(self, fraction, generator):
        """Random parts (training, held out); the second is None if it would be tiny."""
        import torch

        n_held = round(fraction * len(self.X))
        if n_held < 10:
            return self, None
        order = torch.randperm(len(self.X), generator=generator, device=self.X.device)
        return self.take(order[n_held:]), self.take(order[:n_held])


def tensor_rows(model, X, y, sample_weight=None):
    """Rows of ``fit``, checked where they lie."""
    _require_pairs(X, y)
    classes, labels = _numbered(y, X.device)
    weight, mass = _weighed(model, X, labels, classes, sample_weight)
    task = task_of_classes(model, classes, np.flatnonzero(mass > 0))
    return TensorRows(X.detach(), labels.int(), weight, task, {"n_features_in_": X.shape[1]})


def _require_pairs(X, y):
    require_dense(X)
    if X.ndim != 2 or not X.numel():
        raise ValueError(f"X must have rows and columns; it has the shape {tuple(X.shape)}.")
    require_calm(X)
    if tuple(np.shape(y)) != (len(X),):
        raise ValueError(f"X has {len(X)} rows, and y has the shape {tuple(np.shape(y))}.")


def _weighed(model, X, labels, classes, sample_weight):
    """Weights of rows times those of their classes, and the sum of each class."""
    import torch

    weight = _weights(sample_weight, X)
    if sample_weight is None:
        mass = torch.bincount(labels, minlength=len(classes)).double().cpu().numpy()
    else:  # on the host: sums of floats on a device have no order of their own
        mass = np.bincount(labels.cpu(), weights=weight.cpu(), minlength=len(classes))
    factors = class_factors(model.class_weight, classes, mass)
    weight = (weight * torch.as_tensor(factors, device=X.device)[labels]).float()
    return weight, mass * factors


def _numbered(y, device):
    """Classes as an array, and the position of each row's among them, on the device."""
    import torch

    if is_tensor(y) and y.dtype in (torch.int64, torch.int32, torch.uint8):
        classes, labels = torch.unique(y.detach().to(device), return_inverse=True)
        return classes.cpu().numpy(), labels
    y = np.asarray(as_array(y))
    check_labels(y)
    classes, labels = np.unique(y, return_inverse=True)
    return classes, torch.as_tensor(labels, device=device)


def _weights(sample_weight, X):
    """Weights of rows in float64, on the device."""
    import torch

    if sample_weight is None:
        return torch.ones(len(X), dtype=torch.float64, device=X.device)
    weight = sample_weight.detach().cpu() if is_tensor(sample_weight) else sample_weight
    weight = np.asarray(weight, dtype=np.float64)
    if weight.shape != (len(X),) or not np.isfinite(weight).all() or weight.min() < 0:
        raise ValueError("sample_weight must have a number of 0 or more for each row of X.")
    return torch.as_tensor(weight, device=X.device)


def require_calm(X):
    """Refuse what is not finite, or whose squares are not; one pass, since both ends keep NaN."""
    import torch

    if not X.dtype.is_floating_point:
        return
    low, high = (float(end) for end in torch.aminmax(X.detach()))
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError("Input X contains NaN or infinity: drop or fill these rows.")
    if max(-low, high) > _CALM:
        raise ValueError(
            f"X has numbers as large as {max(-low, high):.1g}, whose squares are too large "
            "for float32: scale them."
        )
