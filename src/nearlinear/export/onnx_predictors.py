"""Scores of every kind of predictor as ONNX nodes."""

from .onnx_anchors import locally_linear
from .onnx_builder import chosen
from .onnx_conformal import conformal_linear
from .onnx_gates import (
    expansion_of_gated_rows,
    gated_expansion,
    gated_linear,
    gated_vote,
    selected_sum,
)
from .onnx_kernels import expansion
from .onnx_trees import forest, tree_path


def predictor_scores(graph, predictor, X):
    """Name of the scores of ``X``, shape (n_rows, n_outputs)."""
    return chosen(_PREDICTORS, predictor, "predictor")(graph, predictor, X)


def _stacked(graph, part, X):
    found = [predictor_scores(graph, output, X) for output in part.outputs]
    return graph.op("Concat", *found, axis=1)


_PREDICTORS = {
    "LocallyLinear": locally_linear,
    "TreePath": tree_path,
    "TreeForest": forest,
    "ConformalLinear": conformal_linear,
    "KernelExpansion": expansion,
    "GatedExpansion": gated_expansion,
    "GatedVote": gated_vote,
    "SelectedSum": selected_sum,
    "ExpansionOfGatedRows": expansion_of_gated_rows,
    "GatedLinear": gated_linear,
    "Stacked": _stacked,
}
