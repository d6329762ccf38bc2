"""Names that the signatures of the public functions and classes share."""

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias

from numpy.random import RandomState
from numpy.typing import ArrayLike


class _Sparse(Protocol):
    """A matrix of scipy.sparse, of the old or the new kind."""

    def tocsr(self, copy: bool = False) -> Any: ...


Auto: TypeAlias = Literal["auto"]
ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"] | None
FilePath: TypeAlias = str | PathLike[str]
Seed: TypeAlias = int | RandomState | None

# Arrays, CSR matrices, tables of any library, tensors, and sources of blocks.
Rows: TypeAlias = ArrayLike | _Sparse | Iterable[Any]
# Labels or values; of several answers to a row, a column each.
Targets: TypeAlias = ArrayLike | Iterable[Any]
# Blocks (X, y) or (X, y, weight), the same ones whenever it is iterated.
Source: TypeAlias = Iterable[Any]
