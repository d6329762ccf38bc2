"""The models that stand beside ours in a comparison, and the bytes each needs to predict.

Nothing here is tuned to a data set: every model has its defaults, but for what is said. Bytes are
those of the arrays that ``predict`` reads, or of the library's own file where these are hidden.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

REFERENCE = "linear"
_MOST_KERNEL_ROWS = 20_000


@dataclass(frozen=True)
class Contender:
    """An unfitted model, its name in the table, and how to count its bytes once it is fitted."""

    name: str
    model: BaseEstimator
    count_bytes: Callable[[BaseEstimator], int]


def contenders(is_regression, n_rows, seed):
    """The alternatives that are installed and that so many rows bear."""
    found = _regressors(seed) if is_regression else _classifiers(seed)
    if n_rows > _MOST_KERNEL_ROWS:
        found = [one for one in found if one.name != "RBF-SVM"]
    return [*found, *_boosters(is_regression, seed)]


def _classifiers(seed):
    nystroem = Nystroem(n_components=200, random_state=seed)
    return [
        Contender(REFERENCE, LogisticRegression(max_iter=1000), _linear),
        Contender("decision tree", DecisionTreeClassifier(random_state=seed), _tree),
        Contender("RBF-SVM", SVC(), _support_vectors),
        Contender("Nystroem + linear", make_pipeline(nystroem, LogisticRegression(max_iter=1000)),
                  _landmarks),
        Contender("MLP", MLPClassifier(max_iter=300, random_state=seed), _layers),
        Contender("HistGradientBoosting", HistGradientBoostingClassifier(random_state=seed),
                  _histograms),
    ]  # fmt: skip


def _regressors(seed):
    """Where a model's defaults are made for targets of unit spread, it gets such."""
    nystroem = Nystroem(n_components=200, random_state=seed)
    svm, network = SVR(), MLPRegressor(max_iter=300, random_state=seed)
    return [
        Contender(REFERENCE, Ridge(), _linear),
        Contender("decision tree", DecisionTreeRegressor(random_state=seed), _tree),
        Contender("RBF-SVM", _of_unit_spread(svm), lambda m: _support_vectors(m.regressor_)),
        Contender("Nystroem + linear", make_pipeline(nystroem, Ridge()), _landmarks),
        Contender("MLP", _of_unit_spread(network), lambda m: _layers(m.regressor_)),
        Contender("HistGradientBoosting", HistGradientBoostingRegressor(random_state=seed),
                  _histograms),
    ]  # fmt: skip


def _of_unit_spread(model):
    return TransformedTargetRegressor(model, transformer=StandardScaler())


def _boosters(is_regression, seed):
    found, kind = [], "Regressor" if is_regression else "Classifier"
    quiet = {"random_state": seed, "n_jobs": 1}
    # OSError: the package is there but a system library that it needs is not.
    try:
        import lightgbm

        model = getattr(lightgbm, f"LGBM{kind}")(verbose=-1, **quiet)
        found.append(Contender("LightGBM", model, _lightgbm))
    except (ImportError, OSError):
        pass
    try:
        import xgboost

        found.append(Contender("XGBoost", getattr(xgboost, f"XGB{kind}")(**quiet), _xgboost))
    except (ImportError, OSError):
        pass
    try:
        import catboost

        model = getattr(catboost, f"CatBoost{kind}")(
            verbose=0, allow_writing_files=False, random_seed=seed, thread_count=1
        )
        found.append(Contender("CatBoost", model, _catboost))
    except (ImportError, OSError):
        pass
    return found


def _nbytes(*arrays):
    return sum(array.nbytes for array in arrays)


def _linear(model):
    weights = model.coef_.reshape(-1, model.coef_.shape[-1])
    return weights.itemsize * (weights.size + len(weights))


def _tree(model):
    return _nbytes(model.tree_.__getstate__()["nodes"], model.tree_.value)


def _support_vectors(model):
    # Between two classes libsvm reads all support vectors of both, so n_support_ is needed too.
    arrays = model.support_vectors_, model.dual_coef_, model.intercept_, model.n_support_
    return _nbytes(*arrays)


def _landmarks(pipeline):
    nystroem, linear = pipeline[0], pipeline[-1]
    return _nbytes(nystroem.components_, nystroem.normalization_) + _linear(linear)


def _layers(model):
    return _nbytes(*model.coefs_, *model.intercepts_)


def _histograms(model):
    return sum(tree.nodes.nbytes for step in model._predictors for tree in step)


def _lightgbm(model):
    # A split: feature (4), threshold (8), two children (8), kind (1). A leaf: its value (8).
    leaves = [tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"]]
    return sum(21 * (n_leaves - 1) + 8 * n_leaves for n_leaves in leaves)


def _xgboost(model):
    return len(model.get_booster().save_raw("ubj"))


def _catboost(model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.cbm"
        model.save_model(str(path))
        return path.stat().st_size
