"""Kernels in words."""

from dataclasses import dataclass, replace

from ..gates.scores import Repeated
from ..kinds import kind_of, known
from ..predictors.averaged import Averaged
from ..predictors.combined import Mapped, Stacked


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
    kind = kind_of(kernel)
    found = None if kind is None else known("label", kind)
    if found is None:
        return Description("Custom", shortened(type(kernel).__name__))
    return found(kernel)


def short_label(kernel, feature_names):
    """A kernel without its scale, and without its columns where these are all."""
    found = describe(kernel.kernel if kind_of(kernel) == "Scaled" else kernel)
    return found.label(feature_names) if found.columns else replace(found, columns=()).label(None)


def _polynomial(kernel):
    settings = () if kernel.gamma is None else (f"gamma {kernel.gamma:.3g}",)
    settings += () if kernel.coef0 == 1.0 else (f"coef0 {kernel.coef0:.3g}",)
    return Description("Polynomial", f"Polynomial {kernel.degree}", settings)


def _gaussian(kernel):
    setting = f"width {kernel.width:.3g}" if kernel.gamma is None else f"gamma {kernel.gamma:.3g}"
    return Description("Gaussian", "Gaussian", (setting,))


def _on_columns(kernel):
    inner, columns = describe(kernel.kernel), kernel.columns
    if inner.columns is not None:
        columns = tuple(columns[d] for d in inner.columns)
    return replace(inner, columns=tuple(columns))


def _custom(kernel):
    name = getattr(kernel.function, "__name__", type(kernel.function).__name__)
    return Description("Custom", shortened(name))


RULES = {
    "Linear": lambda kernel: Description("Linear", "Linear"),
    "Polynomial": _polynomial,
    "Gaussian": _gaussian,
    "OnColumns": _on_columns,
    "Scaled": lambda kernel: _with_setting(kernel.kernel, f"× {kernel.factor:.3g}"),
    "UnitDiagonal": lambda kernel: _with_setting(kernel.kernel, "unit diagonal"),
    "WeightedSum": lambda kernel: Description("Sum", f"Sum of {len(kernel.kernels)} kernels"),
    "Product": lambda kernel: Description("Product", f"Product of {len(kernel.kernels)} kernels"),
    "LDKLKernel": lambda kernel: Description("LDKLKernel", "Paths down a tree"),
    "Custom": _custom,
    "Precomputed": lambda kernel: Description(
        "Precomputed", f"Precomputed kernel {kernel.layer}", columns=()
    ),
}


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


def shortened(name, length=24):
    return name if len(name) <= length else name[: length - 1] + "…"


def labels_of_shares(predictor, output, names):
    """Of an average: kernels of its machines, then what the other members add."""
    if isinstance(predictor, Stacked):
        return _kernel_labels(predictor.outputs[output], names)
    if not isinstance(predictor, Averaged):
        return _kernel_labels(predictor, names)
    kernels, others = [], []
    for number, member in enumerate(predictor.members):
        if _is_machine(member):
            labels = labels_of_shares(member, output, names)
            kernels += [f"member {number}, {label}" for label in labels]
        else:
            others.append(f"member {number}")
    return kernels + others


def _is_machine(predictor):
    predictor = predictor.outputs[0] if isinstance(predictor, Stacked) else predictor
    predictor = predictor.predictor if isinstance(predictor, Mapped) else predictor
    return hasattr(predictor, "kernels") or hasattr(predictor, "components")


def _kernel_labels(predictor, names):
    """What to call the parts of ``kernel_shares``."""
    if isinstance(predictor, Mapped):
        return [
            short_label(part, names)
            for kernel in predictor.predictor.kernels
            for part in kernel.kernels
        ]
    if not hasattr(predictor, "components"):
        return [short_label(kernel, names) for kernel in predictor.kernels]
    components = predictor.components
    labels = [short_label(components.kernels[m], names) for m in components.owners]
    gate = getattr(predictor, "gate", None)
    if isinstance(gate, Repeated):
        return [f"cluster {q // gate.count}: {label}" for q, label in enumerate(labels)]
    return [f"{q}: {label}" for q, label in enumerate(labels)]
