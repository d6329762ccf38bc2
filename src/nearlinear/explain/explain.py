"""Explanations: which local linear model answered for a row, or which kernels and support rows."""

from dataclasses import replace
from numbers import Integral

import numpy as np

from ..kinds import kind_of, rule_for
from .averaged import explain_averaged
from .cells import explain_cells
from .conformal import explain_conformal
from .forests import explain_forest
from .hinges import explain_hinges
from .kernels import explain_blend, explain_expansion, explain_gated_rows
from .linear import LinearParts, explain_additive, explain_locally_linear
from .record import Explanation, InfluentialRows
from .trees import explain_linked, explain_tree


def explain(predictor, X, n_support=5, n_jobs=None):
    """Scores of checked rows, taken apart.

    Parameters
    ----------
    predictor : any predictor but NeighborhoodSVM
    X : array or CSR matrix of shape (n_rows, n_features)
        Rows as the predictor takes them, in its own precision.
    n_support : int, default=5
        Support rows that are named for each row and output of a kernel machine.
    n_jobs : int or None
        Threads.

    Returns
    -------
    Explanation
    """
    if not isinstance(n_support, Integral) or isinstance(n_support, bool) or n_support < 0:
        raise ValueError(f"n_support={n_support!r} must be a whole number of 0 or more.")
    return rule_for("explain", predictor, TypeError)(predictor, X, n_support, n_jobs)


def _stacked(predictor, X, n_support, n_jobs):
    return _side_by_side([explain(one, X, n_support, n_jobs) for one in predictor.outputs])


def _mapped(predictor, X, n_support, n_jobs):
    """A linear model of A x + a is one of x."""
    if kind_of(predictor.map) in ("Quadratic", "OwnFeatures"):
        return _lifted(predictor, X, n_support, n_jobs)
    if kind_of(predictor.map) != "Affine":
        return explain_gated_rows(predictor, X, n_support, n_jobs)
    found = explain(predictor.predictor, predictor.map(X), n_support, n_jobs)
    parts = LinearParts(X, predictor.n_outputs, 0)
    matrix = predictor.map.matrix.astype(np.float64)
    np.matmul(found.coefficients, matrix[:, :-1], out=parts.coefficients)
    intercepts = found.intercepts + found.coefficients @ matrix[:, -1]
    return replace(found, intercepts=intercepts, coefficients=parts.coefficients, rows=parts.rows)


def _lifted(predictor, X, n_support, n_jobs):
    """A linear model of more columns than x has, as one of x for this row alone."""
    parts, seen = LinearParts(X, predictor.n_outputs, 0), predictor.map
    found = explain(predictor.predictor, seen(X), n_support, n_jobs)
    slopes, rest = seen.linear_parts(parts.rows, found.coefficients)
    np.divide(slopes, seen.scale, out=parts.coefficients)
    center = seen.center.astype(np.float64)
    intercepts = found.intercepts + rest - parts.coefficients @ center
    return replace(found, intercepts=intercepts, coefficients=parts.coefficients, rows=parts.rows)


def _exponential(predictor, X, n_support, n_jobs):
    """What adds up is the logarithm of a value."""
    return explain(predictor.predictor, X, n_support, n_jobs)


def _side_by_side(outputs):
    """One explanation of machines that have an output each; gates get an axis of outputs."""
    forms = {tuple(map(np.shape, (o.coefficients, o.gates, o.kernel_shares))) for o in outputs}
    if len(forms) > 1:
        raise ValueError("explain does not support a model whose outputs are of several kinds.")

    def join(arrays, axis):
        return None if arrays[0] is None else np.concatenate(arrays, axis=axis)

    def stack(arrays):
        return None if arrays[0] is None else np.stack(arrays, axis=1)

    support = outputs[0].support
    if support is not None:
        support = InfluentialRows(
            join([one.support.indices for one in outputs], 1),
            join([one.support.parts for one in outputs], 1),
        )
    return replace(
        outputs[0],
        intercepts=join([one.intercepts for one in outputs], 1),
        coefficients=join([one.coefficients for one in outputs], 1),
        active=stack([one.active for one in outputs]),
        gates=stack([one.gates for one in outputs]),
        kernel_shares=join([one.kernel_shares for one in outputs], 1),
        support=support,
    )


def _averaged(predictor, X, n_support, n_jobs):
    return explain_averaged(predictor, X, lambda part, rows: explain(part, rows, n_support, n_jobs))


RULES = {
    "LocallyLinear": explain_locally_linear,
    "TreePath": explain_tree,
    "TreeLeaves": explain_tree,
    "LinkedTree": explain_linked,
    "Forest": explain_forest,
    "ConformalLinear": explain_conformal,
    "GaussianCells": explain_cells,
    "KernelExpansion": explain_expansion,
    "GatedExpansion": explain_blend,
    "Mapped": _mapped,
    "Additive": explain_additive,
    "Averaged": _averaged,
    "Hinges": explain_hinges,
    "Stacked": _stacked,
    "Exponential": _exponential,
}
__all__ = ["Explanation", "explain"]
