"""Non-linear accuracy at near-linear prediction cost, as scikit-learn estimators."""

from importlib import import_module

from ._version import __version__ as __version__

# Public names and their modules: loaded on first use, so that importing the package is instant.
_MODULES = {
    "LLSVMClassifier": "estimators.fixed_anchors",
    "LCCSVMClassifier": "estimators.fixed_anchors",
    "LLCSAPLClassifier": "estimators.learned_anchors",
    "LDKLClassifier": "estimators.ldkl",
    "LDKLRegressor": "estimators.ldkl",
    "ClusteredSVMClassifier": "estimators.clustered_svm",
    "SVMKNNClassifier": "estimators.svm_knn",
}

__all__ = [
    "ClusteredSVMClassifier",
    "LCCSVMClassifier",
    "LDKLClassifier",
    "LDKLRegressor",
    "LLCSAPLClassifier",
    "LLSVMClassifier",
    "SVMKNNClassifier",
]


def __getattr__(name):
    if name in _MODULES:
        value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
