"""Means of y, made anew from some of the rows: the others' own answers have no say in them."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from .assembly import TARGET, fitted, target_part
from .target import Target, target_of


@dataclass(frozen=True)
class TargetMeans:
    """Cells of the columns of many values, and which encoded ``columns`` hold their means."""

    cells: np.ndarray
    columns: slice
    target: Target
    seed: int

    @classmethod
    def of(cls, encoder, X, y, table=None):
        """Those of a fitted ``TableEncoder`` and its rows; None if it has no such columns.

        ``table`` is X as the encoder has read it, if that is known.
        """
        places = {name: chosen for name, _, chosen in encoder.transformer_.transformers_}
        if TARGET not in places:
            return None
        table = encoder._read(X) if table is None else table
        return cls(
            table[:, places[TARGET]], encoder.transformer_.output_indices_[TARGET],
            target_of(y, encoder.target_type, table),
            check_random_state(encoder.random_state).randint(2**31 - 1),
        )  # fmt: skip

    def split(self, Z, kept, held):
        """Encoded rows of two parts, with means of the first one, which are cross-fitted there."""
        part, target = Z[kept], self.target.take(kept)
        other, means = Z[held], target_part(target, self.seed)
        part[:, self.columns] = fitted(means, self.cells[kept], target.values)
        other[:, self.columns] = means.transform(self.cells[held])
        return part, other
