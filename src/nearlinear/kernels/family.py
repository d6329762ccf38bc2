"""Many kernels in one call, and kernels by name."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from .._warn import warn_user
from .composite import Scaled, UnitDiagonal
from .pairs import Pairs, as_floats
from .row_scales import Absolute, RowScales
from .standard import Custom, Gaussian, Linear, OnColumns, Polynomial

# A kernel whose mean diagonal is below this share of the largest one carries nothing.
_SMALLEST_TRACE = 1e-12


_MOST_KERNELS = 200_000


@dataclass(frozen=True)
class Family:
    """Kernels, each on all columns, on every single one, or both.

    Parameters
    ----------
    kernels : tuple of Kernel
        The kernels.
    columns : {"all", "each", "both"}, default="all"
        Where each kernel lives.
    """

    kernels: tuple[Any, ...]
    columns: str = "all"

    def __post_init__(self) -> None:
        if self.columns not in ("all", "each", "both"):
            raise ValueError(
                f"A family of kernels lives on 'all', 'each' or 'both' columns, "
                f"not {self.columns!r}."
            )

    def members(self, n_features: int) -> list[Any]:
        """The kernels for rows of that many columns."""
        size = len(self.kernels) * n_features
        if self.columns != "all" and size > _MOST_KERNELS:
            raise ValueError(
                f"A family on each of {n_features} columns has {size} kernels, more than "
                f"{_MOST_KERNELS}: take one on all columns, or fewer columns."
            )
        found = list(self.kernels) if self.columns != "each" else []
        if self.columns != "all":
            found += [OnColumns(k, (d,)) for d in range(n_features) for k in self.kernels]
        return found


class _ForRows(Protocol):
    """What tells a kernel from a function."""

    def for_rows(self, X: Any) -> Any: ...


# What ``kernels=`` of an estimator may be: a name, a kernel, a function, a family, or several.
KernelsLike: TypeAlias = str | _ForRows | Callable[..., Any] | Family | Iterable[Any]


def bank(
    widths: int | Iterable[float] | Absolute = 10,
    degrees: Iterable[int] = (1, 2, 3),
    columns: Literal["all", "each", "both"] = "both",
) -> Family:
    """Gaussians of several widths and polynomials, on all columns and on every single one.

    Parameters
    ----------
    widths : int, sequence of float or Absolute, default=10
        Widths of the Gaussians, as multiples of the median distance between distinct rows (of
        more than 500, about 500 stand for all); a number stands for that many between a tenth and
        ten. ``Absolute([0.5, 2.0])`` are widths in the unit of the features.
    degrees : sequence of int, default=(1, 2, 3)
        Degrees of the polynomials.
    columns : {"all", "each", "both"}, default="both"
        Where each kernel lives.

    Returns
    -------
    Family
    """
    if isinstance(widths, Integral):
        if not 0 <= widths <= _MAX_WIDTHS:
            raise ValueError(f"bank: widths must be from 0 to {_MAX_WIDTHS}, got {widths}.")
        widths = np.geomspace(0.1, 10.0, widths).tolist() if widths > 1 else [1.0] * widths
    if isinstance(widths, Absolute):
        gaussians = [Gaussian(gamma=1.0 / width**2) for width in np.ravel(widths.value).tolist()]
    else:
        gaussians = [Gaussian(width=width) for width in widths]
    return Family((*gaussians, *(Polynomial(degree) for degree in degrees)), columns)


_MAX_WIDTHS = 1000  # each is a kernel with a matrix of its own
_NAMES = {
    "linear": Linear,
    "affine": lambda: Polynomial(1),
    "poly": Polynomial,
    "gaussian": Gaussian,
    "rbf": Gaussian,
    "gaussians": lambda: bank(degrees=(), columns="all"),
    "bank": bank,
}


def parse_kernels(kernels, n_features, parameter="kernels"):
    """Kernel objects from what users write: names, kernels, families, functions, lists of them."""
    if isinstance(kernels, str):
        if kernels not in _NAMES:
            known = ", ".join(repr(name) for name in sorted(_NAMES))
            raise ValueError(f"There is no kernel named {kernels!r}; there are {known}.")
        return parse_kernels(_NAMES[kernels](), n_features, parameter)
    is_class = isinstance(kernels, type)
    if hasattr(kernels, "from_pairs") and not is_class:
        return [kernels]
    if isinstance(kernels, Callable) and not is_class:
        return [Custom(kernels)]
    if isinstance(kernels, Family | Iterable) and not is_class:
        if isinstance(kernels, Family):
            found = kernels.members(n_features)
        else:
            parts = [parse_kernels(part, n_features, parameter) for part in kernels]
            found = [kernel for part in parts for kernel in part]
        if found:
            return found
        raise ValueError(f"{parameter} is empty; give at least one kernel.")
    raise ValueError(
        f"{parameter} holds {kernels!r}, which is no kernel: give a name, a kernel object, a "
        "function of two sets of rows, or a list of these."
    )


def fix_kernels(kernels, X, normalization):
    """Kernels with their scales taken from the training rows; those that vanish there are left out.

    ``normalization`` is "variance" (the rows' images have variance one: mean diagonal minus mean
    entry), "trace" (mean diagonal one), "diagonal" (unit diagonal) or None. Means are over distinct
    rows; the mean entry of a kernel on more than 500 rows is taken from about 500 that stand for
    all (``RowScales``).
    """
    scales = RowScales(X)
    fixed = [kernel.for_rows(scales) for kernel in kernels]
    if normalization == "diagonal":
        fixed = [UnitDiagonal(kernel) for kernel in fixed]
    means = np.array([kernel.diagonal(scales.X).mean(dtype=np.float64) for kernel in fixed])
    if not np.all(np.isfinite(means)):
        raise ValueError("A kernel has a diagonal of NaN or infinity; scale the features.")
    # a kernel that will be rescaled may be as small as it likes
    least = 1e-300 if normalization else _SMALLEST_TRACE * max(means.max(), 1e-300)
    kept = np.flatnonzero(means > least)
    if len(kept) == 0:
        raise ValueError("Every kernel is zero on the training rows; nothing can be learned.")
    if len(kept) < len(fixed):
        warn_user(
            f"{len(fixed) - len(kept)} of {len(fixed)} kernels are zero on the training rows and "
            "are left out with weight zero (constant features are a usual cause)."
        )
    if normalization == "variance":
        spread = _variances([fixed[m] for m in kept], scales, means[kept])
        return [Scaled(fixed[m], 1.0 / v) for m, v in zip(kept, spread, strict=True)], kept
    if normalization == "trace":
        return [Scaled(fixed[m], 1.0 / means[m]) for m in kept], kept
    return [fixed[m] for m in kept], kept


def _variances(kernels, scales, means):
    """Mean squared distance of the images from their center."""
    X = scales.X
    if X.ndim == 3:  # all entries are there already
        entries = X.mean(axis=(0, 1), dtype=np.float64)[[kernel.layer for kernel in kernels]]
        inside = (means - entries) * len(X) / max(1, len(X) - 1)
    else:
        inside, groups = np.empty(len(kernels)), {}
        for m, kernel in enumerate(kernels):
            groups.setdefault(kernel.columns if isinstance(kernel, OnColumns) else None, []).append(
                m
            )
        for columns, group in groups.items():  # one set of columns in memory at a time
            rows, weight = (scales if columns is None else scales.on(columns)).chosen
            pairs, share = Pairs(X[rows]), weight / weight.sum()
            for m in group:
                gram = kernels[m].from_pairs(pairs).astype(np.float64)
                inside[m] = share @ gram.diagonal() - share @ gram @ share
                inside[m] /= max(1.0 - share @ share, 1e-300)
    # constant but for rounding: it says nothing and is left small
    rounding = 100.0 * np.finfo(as_floats(X[:1]).dtype).eps
    return np.where(inside > rounding * means, inside, means)
