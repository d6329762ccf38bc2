"""Non-linear accuracy at near-linear prediction cost, as scikit-learn estimators."""

from importlib import import_module

from ._version import __version__ as __version__

# Public names and their modules: loaded on first use, so that importing the package is instant.
_MODULES = {
    "LLSVMClassifier": "estimators.llsvm",
    "LCCSVMClassifier": "estimators.llsvm",
    "LLCSAPLClassifier": "estimators.llc_sapl",
    "LDKLClassifier": "estimators.ldkl",
    "LDKLRegressor": "estimators.ldkl",
    "ClusteredSVMClassifier": "estimators.clustered_svm",
    "SVMKNNClassifier": "estimators.svm_knn",
    "UniformMKLClassifier": "estimators.uniform_mkl",
    "UniformMKLRegressor": "estimators.uniform_mkl",
    "SimpleMKLClassifier": "estimators.simple_mkl",
    "SimpleMKLRegressor": "estimators.simple_mkl",
    "SPGGMKLClassifier": "estimators.spg_gmkl",
    "SPGGMKLRegressor": "estimators.spg_gmkl",
    "ProductMKLClassifier": "estimators.product_mkl",
    "ProductMKLRegressor": "estimators.product_mkl",
    "SequentialMKLClassifier": "estimators.sequential_mkl",
    "SequentialMKLRegressor": "estimators.sequential_mkl",
    "MWUMKLClassifier": "estimators.mwu_mkl",
    "MLLKMClassifier": "estimators.mllkm",
    "MLLKMRegressor": "estimators.mllkm",
    "LMKLClassifier": "estimators.lmkl",
    "LMKLRegressor": "estimators.lmkl",
    "ConvexLMKLClassifier": "estimators.convex_lmkl",
    "SwMKLClassifier": "estimators.swmkl",
    "LDMKLClassifier": "estimators.ldmkl",
    "SAMKLClassifier": "estimators.samkl",
    "LaSVMClassifier": "estimators.lasvm",
    "CPSPClassifier": "estimators.cpsp",
    "DCPredClassifier": "estimators.dcpred",
    "DCPredRegressor": "estimators.dcpred",
    "LocalForestClassifier": "estimators.forests.local_forest",
    "LocalForestRegressor": "estimators.forests.local_forest",
    "Cascade": "estimators.forests.cascade",
    "PairFeatures": "estimators.forests.pair_features",
    "from_forest": "estimators.forests.from_forest",
    "NearLinearClassifier": "search.near_linear",
    "NearLinearRegressor": "search.near_linear",
    "TableEncoder": "tables.encoder",
    "distill": "search.students.distill",
    "load": "export.file",
    "row_scorer": "export.row_scorers",
    "save": "export.file",
    "to_c": "export.c.source",
    "to_js": "export.js",
    "to_onnx": "export.onnx.graph",
    "to_sql": "export.sql.statement",
}

__all__ = [
    "CPSPClassifier",
    "Cascade",
    "ClusteredSVMClassifier",
    "ConvexLMKLClassifier",
    "DCPredClassifier",
    "DCPredRegressor",
    "LCCSVMClassifier",
    "LDKLClassifier",
    "LDKLRegressor",
    "LDMKLClassifier",
    "LLCSAPLClassifier",
    "LLSVMClassifier",
    "LMKLClassifier",
    "LMKLRegressor",
    "LaSVMClassifier",
    "LocalForestClassifier",
    "LocalForestRegressor",
    "MLLKMClassifier",
    "MLLKMRegressor",
    "MWUMKLClassifier",
    "NearLinearClassifier",
    "NearLinearRegressor",
    "PairFeatures",
    "ProductMKLClassifier",
    "ProductMKLRegressor",
    "SAMKLClassifier",
    "SPGGMKLClassifier",
    "SPGGMKLRegressor",
    "SVMKNNClassifier",
    "SequentialMKLClassifier",
    "SequentialMKLRegressor",
    "SimpleMKLClassifier",
    "SimpleMKLRegressor",
    "SwMKLClassifier",
    "TableEncoder",
    "UniformMKLClassifier",
    "UniformMKLRegressor",
    "distill",
    "from_forest",
    "gates",
    "kernels",
    "load",
    "row_scorer",
    "save",
    "streams",
    "to_c",
    "to_js",
    "to_onnx",
    "to_sql",
]


def __getattr__(name):
    if name in ("gates", "kernels", "streams"):
        return import_module(f".{name}", __name__)
    if name in _MODULES:
        value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
