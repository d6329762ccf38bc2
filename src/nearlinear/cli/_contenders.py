"""The models that stand beside each other in a comparison, and the bytes each needs to predict.

Nothing here is tuned to a data set: every model has one setting for all of them. Bytes are those of
the arrays that ``predict`` reads, as they lie in memory.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sklearn.base import BaseEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from .. import ClusteredSVMClassifier, LDKLClassifier, LLCSAPLClassifier, LLSVMClassifier

REFERENCE = "LinearSVC"


@dataclass(frozen=True)
class Contender:
    """An unfitted model, its name in the table, and how to count its bytes once it is fitted."""

    name: str
    model: BaseEstimator
    count_bytes: Callable[[BaseEstimator], int]
    ours: bool = False


def contenders(seed: int) -> list[Contender]:
    """Our models, then the alternatives that are installed."""
    found = [
        Contender("LDKLClassifier", LDKLClassifier(random_state=seed), _stated, ours=True),
        Contender("LLSVMClassifier", LLSVMClassifier(random_state=seed), _stated, ours=True),
        Contender("LLCSAPLClassifier", LLCSAPLClassifier(random_state=seed), _stated, ours=True),
        Contender(
            "ClusteredSVMClassifier", ClusteredSVMClassifier(random_state=seed), _stated, ours=True
        ),
        Contender(REFERENCE, LinearSVC(random_state=seed), _linear),
        Contender("SVC (RBF)", SVC(), _support_vectors),
        Contender(
            "Nystroem + LinearSVC",
            make_pipeline(
                Nystroem(n_components=200, random_state=seed), LinearSVC(random_state=seed)
            ),
            _landmarks,
        ),
        Contender("MLPClassifier", MLPClassifier(max_iter=300, random_state=seed), _layers),
    ]
    # OSError: the package is there but a system library that it needs is not.
    try:
        from lightgbm import LGBMClassifier
    except (ImportError, OSError):
        return found
    boosted = LGBMClassifier(n_jobs=1, random_state=seed, verbose=-1)
    return [*found, Contender("LGBMClassifier", boosted, _trees)]


def _stated(model):
    return model.cost_.n_bytes


def _linear(model):
    return model.coef_.nbytes + model.intercept_.nbytes


def _support_vectors(model):
    # Between two classes libsvm reads all support vectors of both, so n_support_ is needed too.
    arrays = model.support_vectors_, model.dual_coef_, model.intercept_, model.n_support_
    return sum(array.nbytes for array in arrays)


def _landmarks(pipeline):
    nystroem, linear = pipeline[0], pipeline[-1]
    return nystroem.components_.nbytes + nystroem.normalization_.nbytes + _linear(linear)


def _layers(model):
    return sum(array.nbytes for array in (*model.coefs_, *model.intercepts_))


def _trees(model):
    # A split: feature (4), threshold (8), two children (8), kind (1). A leaf: its value (8).
    leaves = [tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"]]
    return sum(21 * (n_leaves - 1) + 8 * n_leaves for n_leaves in leaves)
