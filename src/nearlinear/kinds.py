"""The one list of kinds: all that a model file may be made of, and where each class lives."""

from importlib import import_module

# Names alone: nothing is imported before a file asks for it.
KINDS = {
    "LocallyLinear": "predictors.locally_linear",
    "TreePath": "predictors.tree_path",
    "TreeForest": "predictors.tree_forest",
    "ConformalLinear": "predictors.conformal_linear",
    "KernelExpansion": "predictors.kernel_expansion",
    "ComponentScores": "predictors.component_scores",
    "GatedExpansion": "predictors.gated",
    "GatedVote": "predictors.gated",
    "SelectedSum": "predictors.gated",
    "ExpansionOfGatedRows": "predictors.gated",
    "GatedLinear": "predictors.gated",
    "Stacked": "predictors.gated",
    "SoftAssignment": "gates.anchors",
    "InverseDistance": "gates.anchors",
    "ReconstructionCodes": "gates.anchors",
    "TanhNode": "gates.trees.node_gates",
    "CompositionalNode": "gates.trees.node_gates",
    "IndicatorNode": "gates.trees.node_gates",
    "Softmax": "gates.learned",
    "Sigmoid": "gates.learned",
    "GaussianGate": "gates.learned",
    "Viewing": "gates.learned",
    "Columns": "gates.learned",
    "Rounded": "gates.learned",
    "SoftmaxOf": "gates.scores",
    "Clipped": "gates.scores",
    "UnitLength": "gates.scores",
    "Switches": "gates.scores",
    "Repeated": "gates.scores",
    "Linear": "kernels.standard",
    "Polynomial": "kernels.standard",
    "Gaussian": "kernels.standard",
    "OnColumns": "kernels.standard",
    "Precomputed": "kernels.standard",
    "Scaled": "kernels.composite",
    "UnitDiagonal": "kernels.composite",
    "WeightedSum": "kernels.composite",
    "PairwiseNormalizedSum": "kernels.composite",
    "Conformal": "kernels.conformal",
    "Family": "kernels.family",
    "LogLoss": "runtime.outcome",
    "Sigmoids": "runtime.outcome",
    "Temperature": "runtime.outcome",
    "Tables": "runtime.outcome",
    "Threshold": "runtime.outcome",
    "Outcome": "runtime.outcome",
}


def class_of(kind):
    return getattr(import_module(f".{KINDS[kind]}", __package__), kind)
