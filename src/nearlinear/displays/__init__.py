"""Pictures, in the style of scikit-learn's Display objects; matplotlib is imported on demand."""

from .conformal_maps import ConformalMapsDisplay as ConformalMapsDisplay
from .cost_front import CostFrontDisplay as CostFrontDisplay
from .explanation import ExplanationDisplay as ExplanationDisplay
from .gate_maps import GateDisplay as GateDisplay
from .kernel_weights import KernelWeightsDisplay as KernelWeightsDisplay
from .local_fits import LocalFitsDisplay as LocalFitsDisplay
from .local_kernels import LocalKernelsDisplay as LocalKernelsDisplay
from .tree_cells import TreeCellsDisplay as TreeCellsDisplay
from .tree_diagram import TreeDiagramDisplay as TreeDiagramDisplay
