"""Pictures, in the style of scikit-learn's Display objects; matplotlib is imported on demand."""

from .cost_front import CostFrontDisplay as CostFrontDisplay
from .kernel_weights import KernelWeightsDisplay as KernelWeightsDisplay
from .tree_cells import TreeCellsDisplay as TreeCellsDisplay
from .tree_diagram import TreeDiagramDisplay as TreeDiagramDisplay
