"""Rows that are torch tensors, checked where they lie.

Equal rows are not merged, and the order of the rows is theirs: a weight of k is k copies in what is
minimized, and the batches are others.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin

from ....gpu.device import as_array, is_tensor, require_dense, torch_for
from ..task import (
    Classification,
    Regression,
    check_labels,
    class_factors,
    classes_to_come,
    known_labels,
    task_of_classes,
)
from ..values.units import TargetUnits

_CALM = 1e15  # numbers whose squares are finite in single precision, summed over features


@dataclass(frozen=True)
class TensorRows:
    """Rows on a device; ``labels`` are positions among the classes, or a column of values."""

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


def stream_tensor_rows(model, X, y, sample_weight=None, classes=None):
    """Rows of ``partial_fit``, checked where they lie."""
    import torch

    _require_pairs(X, y)
    names = {"n_features_in_": X.shape[1]}
    if hasattr(model, "predictor_"):
        known = ("n_features_in_", "feature_names_in_")
        names = {name: vars(model)[name] for name in known if name in vars(model)}
        if names["n_features_in_"] != X.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(model).__name__} is expecting "
                f"{names['n_features_in_']} features as input."
            )
    if isinstance(model, ClassifierMixin):
        classes = classes_to_come(model, classes)
        task, labels = Classification(classes), _positions(classes, y, X.device)
        weight, _ = _weighed(model, X, labels, classes, sample_weight)
        labels = labels.int()
    else:
        task, weight = Regression(TargetUnits()), _weights(sample_weight, X).float()
        labels = torch.as_tensor(y, device=X.device).detach().double()[:, None]
        require_calm(labels, "y")
    return with_weight(TensorRows(X.detach(), labels, weight, task, names))


def device_of_stream(model, rows):
    """Where rows of ``partial_fit`` are learned: a device of torch, or None for our own code.

    Sparse rows, and steps that the user asks for row by row, are learned by our own code.
    """
    if isinstance(rows, TensorRows):
        return rows.X.device
    if model.device == "cpu" or issparse(rows.X) or model.solver not in ("auto", "adam"):
        return None
    return torch_for(model.device).device(model.device)


def rows_on(device, rows):
    """Rows of a stream as tensors on a device, whatever they were."""
    import torch

    if isinstance(rows, TensorRows):
        return rows
    labels = rows.targets if isinstance(rows.task, Regression) else rows.labels.astype(np.int32)
    parts = rows.X, labels, rows.weight.astype(np.float32)
    parts = (torch.as_tensor(np.ascontiguousarray(part), device=device) for part in parts)
    return with_weight(TensorRows(*parts, rows.task, rows.names))


def with_weight(rows):
    """Rows of a stream without those whose weight is zero, which are as if they were not there."""
    has_some = rows.weight > 0
    if bool(has_some.all()):
        return rows
    if not bool(has_some.any()):
        raise ValueError("The sum of sample_weight is zero; give some row a positive weight.")
    return rows.take(has_some.nonzero()[:, 0])


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


def _positions(classes, y, device):
    """Positions of labels among the classes of a stream, on the device."""
    import torch

    if not is_tensor(y):
        return torch.as_tensor(known_labels(classes, np.asarray(y)), device=device)
    if classes.dtype.kind not in "if" or y.dtype not in (torch.int64, torch.int32, torch.float32):
        return torch.as_tensor(known_labels(classes, as_array(y)), device=device)
    y, known = y.detach().to(device), torch.as_tensor(classes, device=device)
    labels = torch.searchsorted(known, y.to(known.dtype)).clamp_max(len(known) - 1)
    if not bool((known[labels] == y).all()):
        known_labels(classes, y.cpu().numpy())  # says which is unknown
    return labels


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


def require_calm(X, name="X"):
    """Refuse what is not finite, or whose squares are not; one pass, since both ends keep NaN."""
    import torch

    if not X.dtype.is_floating_point:
        return
    low, high = (float(end) for end in torch.aminmax(X.detach()))
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"Input {name} contains NaN or infinity: drop or fill these rows.")
    if max(-low, high) > _CALM:
        raise ValueError(
            f"{name} has numbers as large as {max(-low, high):.1g}, whose squares are too large "
            "for float32: scale them."
        )
