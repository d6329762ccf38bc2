"""What kernels of a file must be."""

from .fields import checked, columns, count, number, require
from .tree_rules import TREES


def _polynomial(part, n_features):
    count(int(part.degree), "degree", 1, 1000)
    require(part.degree == int(part.degree), "Polynomial", "its degree is not whole")
    number(part.degree, "degree")
    number(part.gamma, "gamma", 1e-300)
    number(part.coef0, "coef0", 0.0)


def _gaussian(part, n_features):
    number(part.gamma, "gamma", 1e-300)
    number(part.width, "width", 1e-300)


def _on_columns(part, n_features):
    columns(part.columns, n_features, "OnColumns")
    checked(part.kernel, "kernel", len(part.columns))


def _scaled(part, n_features):
    number(part.factor, "factor", 0.0)
    checked(part.kernel, "kernel", n_features)


def _unit_diagonal(part, n_features):
    checked(part.kernel, "kernel", n_features)


def _weighted_sum(part, n_features):
    require(len(part.kernels) == len(part.weights), "WeightedSum", "weights are missing")
    for weight in part.weights:
        number(weight, "weight", 0.0)
    check_kernels(part.kernels, n_features)


def _product(part, n_features):
    check_kernels(part.kernels, n_features)


def _ldkl_kernel(part, n_features):
    checked(part.tree, "predictor", n_features, only=(*TREES, "Mapped", "Averaged"))
    parts = getattr(part.tree, "members", (part.tree,))
    are_trees = all(one.kind in (*TREES, "Mapped") for one in parts)
    require(are_trees, "LDKLKernel", "its trees are none")
    maps = {one.map.kind for one in parts if one.kind == "Mapped"}
    require(maps <= {"Affine", "Quadratic"}, "LDKLKernel", "its rows carry gates")


def _pairwise(part, n_features):
    count(part.n_features, "n_features", 1, n_features)
    require(
        part.n_features + len(part.kernels) == n_features, "PairwiseNormalizedSum",
        "its rows have another length",
    )  # fmt: skip
    check_kernels(part.kernels, part.n_features)


def check_kernels(kernels, n_features):
    require(isinstance(kernels, tuple) and kernels, "kernel sum", "it has no kernels")
    for kernel in kernels:
        checked(kernel, "kernel", n_features)


KERNELS = {
    "Linear": ((), lambda part, n_features: None),
    "Polynomial": (("degree", "gamma", "coef0"), _polynomial),
    "Gaussian": (("gamma", "width"), _gaussian),
    "OnColumns": (("kernel", "columns"), _on_columns),
    "Scaled": (("kernel", "factor"), _scaled),
    "UnitDiagonal": (("kernel",), _unit_diagonal),
    "WeightedSum": (("kernels", "weights"), _weighted_sum),
    "Product": (("kernels",), _product),
    "LDKLKernel": (("tree",), _ldkl_kernel),
    "PairwiseNormalizedSum": (("kernels", "n_features"), _pairwise),
}
