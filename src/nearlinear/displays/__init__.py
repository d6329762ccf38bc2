"""Pictures, in the style of scikit-learn's Display objects; matplotlib is imported on demand.

Modules
-------
cost_front      Accuracy against prediction cost: which models are worth their price.
explanation     Why one row got its score: parts of the score, and the region that the row fell in.
fitted          The gate or tree inside a fitted model, and the plane of its two features.
gate_maps       Where each component of a localized classifier answers.
kernel_labels   Kernels in words.
kernel_weights  Which kernels a model has chosen, and how much each of them counts.
palette         Colors, marks, axes, headings, scales and legends that pictures share.
tree_diagram    A tree as a river: how many rows pass each node, and how well they are served.
tree_layout     Where the nodes of a tree stand in its diagram, and how much room their labels have.
"""

from .cost_front import CostFrontDisplay as CostFrontDisplay
from .explanation import ExplanationDisplay as ExplanationDisplay
from .gate_maps import GateDisplay as GateDisplay
from .kernel_weights import KernelWeightsDisplay as KernelWeightsDisplay
from .tree_diagram import TreeDiagramDisplay as TreeDiagramDisplay
