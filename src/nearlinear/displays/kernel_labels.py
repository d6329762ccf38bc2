"""Kernels in words."""

from dataclasses import dataclass, replace

from ..kernels import (
    Custom,
    GatedSum,
    Gaussian,
    Linear,
    OnColumns,
    Polynomial,
    Scaled,
    UnitDiagonal,
    WeightedSum,
)
from ..kernels.standard import Precomputed

_NAME_LENGTH = 24


@dataclass(frozen=True)
class Description:
    """A kernel in words; ``columns`` None stands for all, () for none at all."""

    kind: str
    name: str
    settings: tuple[str, ...] = ()
    columns: tuple[int, ...] | None = None

    def label(self, feature_names):
        if self.columns is None:
            return ", ".join([self.name, *self.settings, "all features"])
        if not self.columns:
            return ", ".join([self.name, *self.settings])
        place = _place(self.columns, feature_names)
        return ", ".join([f"{self.name} on {place}", *self.settings])


def describe(kernel):
    """The kind of a kernel, its name, settings and columns."""
    match kernel:
        case Linear():
            return Description("Linear", "Linear")
        case Polynomial():
            settings = () if kernel.gamma is None else (f"gamma {kernel.gamma:.3g}",)
            settings += () if kernel.coef0 == 1.0 else (f"coef0 {kernel.coef0:.3g}",)
            return Description("Polynomial", f"Polynomial {kernel.degree}", settings)
        case Gaussian(gamma=None):
            return Description("Gaussian", "Gaussian", (f"width {kernel.width:.3g}",))
        case Gaussian():
            return Description("Gaussian", "Gaussian", (f"gamma {kernel.gamma:.3g}",))
        case OnColumns():
            inner, columns = describe(kernel.kernel), kernel.columns
            if inner.columns is not None:
                columns = tuple(columns[d] for d in inner.columns)
            return replace(inner, columns=tuple(columns))
        case Scaled():
            return _with_setting(kernel.kernel, f"× {kernel.factor:.3g}")
        case UnitDiagonal():
            return _with_setting(kernel.kernel, "unit diagonal")
        case WeightedSum():
            return Description("Sum", f"Sum of {len(kernel.kernels)} kernels")
        case GatedSum():
            return Description("Gated sum", f"Gated sum of {len(kernel.kernels)} kernels")
        case Custom():
            name = getattr(kernel.function, "__name__", type(kernel.function).__name__)
            return Description("Custom", shortened(name))
        case Precomputed():
            return Description("Precomputed", f"Precomputed kernel {kernel.layer}", columns=())
    return Description("Custom", shortened(type(kernel).__name__))


def _with_setting(kernel, setting):
    inner = describe(kernel)
    return replace(inner, settings=(*inner.settings, setting))


def _place(columns, feature_names):
    if len(columns) > 3:
        return f"{len(columns)} features"
    if feature_names is None:
        names, noun = [str(d) for d in columns], "features " if len(columns) > 1 else "feature "
    else:
        names, noun = [shortened(feature_names[d]) for d in columns], ""
    return noun + " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def shortened(name):
    return name if len(name) <= _NAME_LENGTH else name[: _NAME_LENGTH - 1] + "…"
