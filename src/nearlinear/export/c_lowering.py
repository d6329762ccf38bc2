"""Which C belongs to which kind of model."""

from ..predictors.component_scores import ComponentScores
from ..predictors.conformal_linear import ConformalLinear
from ..predictors.gated import (
    ExpansionOfGatedRows,
    GatedExpansion,
    GatedLinear,
    GatedVote,
    SelectedSum,
    Stacked,
)
from ..predictors.kernel_expansion import KernelExpansion
from ..predictors.locally_linear import LocallyLinear
from ..predictors.tree_forest import TreeForest
from ..predictors.tree_path import TreePath
from .c_anchors import lower_locally_linear
from .c_conformal import lower_conformal
from .c_expansions import lower_expansion
from .c_gated import (
    lower_gated_expansion,
    lower_gated_linear,
    lower_gated_rows,
    lower_gated_vote,
    lower_selected,
    stack,
)
from .c_literals import CSourceError
from .c_trees import lower_forest, lower_tree

_KINDS = {
    LocallyLinear: lower_locally_linear,
    TreePath: lower_tree,
    TreeForest: lower_forest,
    ConformalLinear: lower_conformal,
    KernelExpansion: lower_expansion,
    ComponentScores: lower_expansion,
    GatedExpansion: lower_gated_expansion,
    GatedVote: lower_gated_vote,
    SelectedSum: lower_selected,
    ExpansionOfGatedRows: lower_gated_rows,
    GatedLinear: lower_gated_linear,
}


def lower(predictor, program):
    """The part that scores rows as the predictor does."""
    if isinstance(predictor, Stacked):
        return stack([lower(output, program) for output in predictor.outputs], program)
    if type(predictor) not in _KINDS:
        kind = type(predictor).__name__
        if kind == "NeighbourhoodSVM":
            kind = "model that solves a new problem around every query"
        raise CSourceError(f"A {kind} has no C source: fit another method.")
    return _KINDS[type(predictor)](predictor, program)
