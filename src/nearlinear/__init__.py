"""Non-linear accuracy at near-linear prediction cost, as scikit-learn estimators.

Automatic selection
    NearLinearClassifier, NearLinearRegressor, TableEncoder, distill

Main estimators
    LocalForestClassifier, LocalForestRegressor, LDKLClassifier, LDKLRegressor,
    LLCSAPLClassifier

Kernel mixtures
    UniformMKLClassifier, UniformMKLRegressor, SimpleMKLClassifier, SimpleMKLRegressor,
    SPGGMKLClassifier, SPGGMKLRegressor, MWUMKLClassifier, SequentialMKLClassifier,
    SequentialMKLRegressor, LMKLClassifier, LMKLRegressor, MLLKMClassifier, MLLKMRegressor,
    ConvexLMKLClassifier, SwMKLClassifier, LDMKLClassifier, SAMKLClassifier

Baselines
    LLSVMClassifier, LCCSVMClassifier, ClusteredSVMClassifier, SVMKNNClassifier,
    DCPredClassifier, DCPredRegressor, LaSVMClassifier, CPSPClassifier

Tools
    from_forest, save, load, row_scorer, to_onnx, to_c, to_js, to_sql, set_config, get_config,
    config_context, gates, kernels, streams
"""

from importlib import import_module

from ._version import __version__ as __version__

# Type checkers and editors read these imports; they never run, and ``typing`` itself is not loaded.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import gates, kernels, streams
    from ._config import config_context, get_config, set_config
    from .estimators.clustered_svm import ClusteredSVMClassifier
    from .estimators.convex_lmkl import ConvexLMKLClassifier
    from .estimators.cpsp import CPSPClassifier
    from .estimators.dcpred import DCPredClassifier, DCPredRegressor
    from .estimators.forests.from_forest import from_forest
    from .estimators.forests.local_forest import LocalForestClassifier, LocalForestRegressor
    from .estimators.lasvm import LaSVMClassifier
    from .estimators.ldkl import LDKLClassifier, LDKLRegressor
    from .estimators.ldmkl import LDMKLClassifier
    from .estimators.llc_sapl import LLCSAPLClassifier
    from .estimators.llsvm import LCCSVMClassifier, LLSVMClassifier
    from .estimators.lmkl import LMKLClassifier, LMKLRegressor
    from .estimators.mllkm import MLLKMClassifier, MLLKMRegressor
    from .estimators.mwu_mkl import MWUMKLClassifier
    from .estimators.samkl import SAMKLClassifier
    from .estimators.sequential_mkl import SequentialMKLClassifier, SequentialMKLRegressor
    from .estimators.simple_mkl import SimpleMKLClassifier, SimpleMKLRegressor
    from .estimators.spg_gmkl import SPGGMKLClassifier, SPGGMKLRegressor
    from .estimators.svm_knn import SVMKNNClassifier
    from .estimators.swmkl import SwMKLClassifier
    from .estimators.uniform_mkl import UniformMKLClassifier, UniformMKLRegressor
    from .export.c.source import to_c
    from .export.file import load, save
    from .export.js import to_js
    from .export.onnx.graph import to_onnx
    from .export.row_scorers import row_scorer
    from .export.sql.statement import to_sql
    from .search.near_linear import NearLinearClassifier, NearLinearRegressor
    from .search.students.distill import distill
    from .tables.encoder import TableEncoder

# Public names and their modules: loaded on first use, so that importing the package is instant.
_MODULES = {
    "NearLinearClassifier": "search.near_linear",
    "NearLinearRegressor": "search.near_linear",
    "TableEncoder": "tables.encoder",
    "distill": "search.students.distill",
    "LocalForestClassifier": "estimators.forests.local_forest",
    "LocalForestRegressor": "estimators.forests.local_forest",
    "LDKLClassifier": "estimators.ldkl",
    "LDKLRegressor": "estimators.ldkl",
    "LLCSAPLClassifier": "estimators.llc_sapl",
    "UniformMKLClassifier": "estimators.uniform_mkl",
    "UniformMKLRegressor": "estimators.uniform_mkl",
    "SimpleMKLClassifier": "estimators.simple_mkl",
    "SimpleMKLRegressor": "estimators.simple_mkl",
    "SPGGMKLClassifier": "estimators.spg_gmkl",
    "SPGGMKLRegressor": "estimators.spg_gmkl",
    "MWUMKLClassifier": "estimators.mwu_mkl",
    "SequentialMKLClassifier": "estimators.sequential_mkl",
    "SequentialMKLRegressor": "estimators.sequential_mkl",
    "LMKLClassifier": "estimators.lmkl",
    "LMKLRegressor": "estimators.lmkl",
    "MLLKMClassifier": "estimators.mllkm",
    "MLLKMRegressor": "estimators.mllkm",
    "ConvexLMKLClassifier": "estimators.convex_lmkl",
    "SwMKLClassifier": "estimators.swmkl",
    "LDMKLClassifier": "estimators.ldmkl",
    "SAMKLClassifier": "estimators.samkl",
    "LLSVMClassifier": "estimators.llsvm",
    "LCCSVMClassifier": "estimators.llsvm",
    "ClusteredSVMClassifier": "estimators.clustered_svm",
    "SVMKNNClassifier": "estimators.svm_knn",
    "DCPredClassifier": "estimators.dcpred",
    "DCPredRegressor": "estimators.dcpred",
    "LaSVMClassifier": "estimators.lasvm",
    "CPSPClassifier": "estimators.cpsp",
    "from_forest": "estimators.forests.from_forest",
    "save": "export.file",
    "load": "export.file",
    "row_scorer": "export.row_scorers",
    "to_onnx": "export.onnx.graph",
    "to_c": "export.c.source",
    "to_js": "export.js",
    "to_sql": "export.sql.statement",
    "set_config": "_config",
    "get_config": "_config",
    "config_context": "_config",
}

__all__ = [  # noqa: RUF022  # in groups, as in the documentation
    # Automatic selection
    "NearLinearClassifier",
    "NearLinearRegressor",
    "TableEncoder",
    "distill",
    # Main estimators
    "LocalForestClassifier",
    "LocalForestRegressor",
    "LDKLClassifier",
    "LDKLRegressor",
    "LLCSAPLClassifier",
    # Kernel mixtures
    "UniformMKLClassifier",
    "UniformMKLRegressor",
    "SimpleMKLClassifier",
    "SimpleMKLRegressor",
    "SPGGMKLClassifier",
    "SPGGMKLRegressor",
    "MWUMKLClassifier",
    "SequentialMKLClassifier",
    "SequentialMKLRegressor",
    "LMKLClassifier",
    "LMKLRegressor",
    "MLLKMClassifier",
    "MLLKMRegressor",
    "ConvexLMKLClassifier",
    "SwMKLClassifier",
    "LDMKLClassifier",
    "SAMKLClassifier",
    # Baselines
    "LLSVMClassifier",
    "LCCSVMClassifier",
    "ClusteredSVMClassifier",
    "SVMKNNClassifier",
    "DCPredClassifier",
    "DCPredRegressor",
    "LaSVMClassifier",
    "CPSPClassifier",
    # Tools
    "from_forest",
    "save",
    "load",
    "row_scorer",
    "to_onnx",
    "to_c",
    "to_js",
    "to_sql",
    "set_config",
    "get_config",
    "config_context",
    "gates",
    "kernels",
    "streams",
]


if not TYPE_CHECKING:  # or every name that is misspelled would pass

    def __getattr__(name):
        module = name if name in ("gates", "kernels", "streams") else _MODULES.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            found = import_module(f".{module}", __name__)
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"{__name__}.{name} requires {error.name}, which is not installed. Without it, "
                f"{__name__}.runtime.load reads a model file and predicts with NumPy only.",
                name=error.name,
            ) from error
        if name in _MODULES:
            found = globals()[name] = getattr(found, name)
        return found


def __dir__():
    return sorted([*globals(), *__all__])
