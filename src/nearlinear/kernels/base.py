"""What a kernel is."""

from typing import Protocol

import numpy as np

from .pairs import Pairs


class Kernel(Protocol):
    """A positive semi-definite function of two rows."""

    def __call__(self, X, Z=None) -> np.ndarray:
        """Gram block of shape (len(X), len(Z)); ``Z`` None stands for ``X``."""

    def from_pairs(self, pairs: Pairs) -> np.ndarray:
        """The same for pairs of rows; a new array."""

    def diagonal(self, X) -> np.ndarray:
        """k(x, x) of every row."""

    def for_rows(self, X) -> "Kernel":
        """The kernel with all that it takes from the training rows (or RowScales) filled in."""


def evaluates_pairs(cls):
    """Give a kernel class the call that all kernels share."""

    def __call__(self, X, Z=None):
        return self.from_pairs(Pairs(X, Z))

    cls.__call__ = __call__
    cls.is_cheap = property(_is_cheap)
    return cls


def _is_cheap(kernel):
    """Whether computing a block anew costs no more than reading it from memory."""
    parts = getattr(kernel, "kernels", None) or filter(None, [getattr(kernel, "kernel", None)])
    return not hasattr(kernel, "function") and all(part.is_cheap for part in parts)
