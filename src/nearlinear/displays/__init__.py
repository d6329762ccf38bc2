"""Pictures, in the style of scikit-learn's Display objects; matplotlib is imported on demand.

Modules
-------
cell_borders    Where the straight borders of a tree's cells run across a picture of two features.
cost_front      Accuracy against prediction cost: which models are worth their price.
explanation     Why one row got its score: parts of the score, and the region that the row fell in.
fitted          The gate, machine or tree inside a fitted model, and the plane of its two features.
gate_maps       Where each component of a localized classifier answers.
history         How a fit went: the objective and the scores of its steps.
importances     Which columns matter to a model over many rows.
kernel_labels   Kernels in words.
kernel_weights  Which kernels a model has chosen, and how much each of them counts.
local_fits      The curve of a localized regressor on one feature.
local_kernels   The few local kernels of a machine on two features.
palette         Colors, marks, axes, headings, scales and legends that pictures share.
tree_cells      A tree on two features.
tree_diagram    A tree as a river: how many rows pass each node, and how well they are served.
tree_layout     Where the nodes of a tree stand in its diagram, and how much room their labels have.
"""

from .cost_front import CostFrontDisplay as CostFrontDisplay
from .explanation import ExplanationDisplay as ExplanationDisplay
from .gate_maps import GateDisplay as GateDisplay
from .history import HistoryDisplay as HistoryDisplay
from .importances import ImportancesDisplay as ImportancesDisplay
from .kernel_weights import KernelWeightsDisplay as KernelWeightsDisplay
from .local_fits import LocalFitsDisplay as LocalFitsDisplay
from .local_kernels import LocalKernelsDisplay as LocalKernelsDisplay
from .tree_cells import TreeCellsDisplay as TreeCellsDisplay
from .tree_diagram import TreeDiagramDisplay as TreeDiagramDisplay
