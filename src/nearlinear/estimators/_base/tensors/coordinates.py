"""The coordinates in which tensors are learned, and the way there and back.

Bytes are learned as fractions of 255, and the model that is left takes bytes. Steps read rows in
float32, which would round others far from the origin: those are measured from their mean, in the
copy that is made of them anyway.
"""

from dataclasses import dataclass, replace

import numpy as np

BLOCK = 1 << 17  # rows that are turned into others at once


@dataclass(frozen=True)
class AnchorCoordinates:
    """unit · (x − center); without a center rows are learned where they lie."""

    unit: float
    center: np.ndarray | None
    dtype: np.dtype  # of a new model

    @classmethod
    def of(cls, rows):
        from ....gpu.feed import is_kept, unit_of

        center = None if is_kept(rows.X) else mean_of(rows).cpu().numpy()
        return cls(unit_of(rows.X), center, precision_of(rows.X))

    def rows(self, X):
        """Rows as steps take them, which multiply bytes by their unit themselves."""
        import torch

        from ....gpu.feed import is_kept, unit_of

        if self.center is not None:
            center = torch.as_tensor(self.center, device=X.device)
            there = torch.empty(X.shape, dtype=torch.float32, device=X.device)
            for one, part in zip(there.split(BLOCK), X.split(BLOCK)):
                one.copy_(part.double() - center)
            return there
        X = X if is_kept(X) else X.float()
        # anchors of a user are not stored as bytes where rows are
        return X if unit_of(X) == self.unit else X.float() * self.unit

    def models(self, found):
        """Models that were found there as those of the user's rows."""
        models = _in_units(found, self.unit)
        return models if self.center is None else models.moved(self.center)


def _in_units(models, unit):
    """Local models of unit · x as those of x."""
    if unit == 1.0:
        return models
    scaled = models.anchors / unit, models.sharpness * unit**2, models.weights * unit
    dtype = models.anchors.dtype
    return replace(
        models, anchors=scaled[0].astype(dtype), sharpness=scaled[1],
        weights=scaled[2].astype(dtype),
    )  # fmt: skip


def precision_of(X):
    """The precision of a model: as of arrays, but float32 of rows that are learned as they are."""
    from ....gpu.feed import is_kept

    return np.dtype(np.float32 if is_kept(X) else np.float64)


def copied_bytes(X):
    """Bytes of the copy that is made of rows unless they are learned where they lie."""
    from ....gpu.feed import is_kept

    return 0 if is_kept(X) else 4 * X.numel()


def mean_of(rows):
    """Weighted mean of rows in double precision, a block at a time."""
    import torch

    weight = rows.weight.double()
    center = torch.zeros(rows.X.shape[1], dtype=torch.float64, device=rows.X.device)
    for part, share in zip(rows.X.split(BLOCK), weight.split(BLOCK)):
        center += share @ part.double()
    return center / weight.sum()
