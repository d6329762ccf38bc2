"""The models that ``benchmarks tree_front`` sets side by side, several sizes of each family."""

import importlib.util

from sklearn.ensemble import ExtraTreesClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks.tree_sets import tree_parameters
from nearlinear import LDKLClassifier
from reproduce.ldkl.methods import STUDY

OURS, LINEAR = "LDKL", "linear"
LIGHTGBM, KERNEL = "LightGBM", "SVC"
DEPTHS = {
    "ijcnn1": (1, 3, 5, 7),
    "letter_halves": (2, 4, 6, 8),
    "magic04": (1, 2, 4),
    "covertype": (4, 6, 8, 9),
}
# The largest set: enough epochs to see the order of the families in minutes.
EPOCHS = {"covertype": 15}
# Rounds, depth of a tree (XGBoost, CatBoost), leaves of a tree (LightGBM).
SMALL_SETS = ((20, 4, 15), (100, 6, 31), (400, 8, 127))
BOOSTED = {"covertype": ((20, 6, 31), (100, 8, 127), (400, 10, 511))}
# A few deep trees cost a prediction little: rounds, leaves.
FEW_DEEP = tuple((rounds, leaves) for leaves in (255, 4095) for rounds in (2, 5, 10, 20))
# So few trees must take long steps.
LONG_STEP = 0.5
# CatBoost's trees of depth 10 on half a million rows would take half an hour.
CATBOOST_MAX_DEPTH = 8
HIDDEN = {
    "ijcnn1": ((8,), (32,), (128,), (64, 64)),
    "letter_halves": ((8,), (32,), (128,), (128, 128)),
    "magic04": ((8,), (32,), (128,)),
    "covertype": ((16,), (64,), (128,)),
}
MLP_EPOCHS = {"ijcnn1": 60, "letter_halves": 200, "magic04": 100, "covertype": 10}
# A kernel machine on half a million rows would take days.
KERNEL_SETS = ("ijcnn1", "letter_halves", "magic04")


def candidates(name, smoke):
    """(family, size, model) of everything that is fitted in this process on a set."""
    yield LINEAR, "", LinearSVC(C=0.1, dual=False, tol=1e-2)
    yield from own_trees(name, smoke)
    yield from plain_trees()
    boosted = BOOSTED.get(name, SMALL_SETS)
    for rounds, depth, leaves in boosted[: 1 if smoke else None]:
        yield from lightgbm(rounds, leaves)
        yield from xgboost(rounds, depth)
        yield from catboost(rounds, depth)
    for rounds, leaves in FEW_DEEP[: 1 if smoke else None]:
        yield from lightgbm(rounds, leaves, learning_rate=LONG_STEP)
    for hidden in HIDDEN[name][: 2 if smoke else None]:
        epochs = 3 if smoke else MLP_EPOCHS[name]
        size = " + ".join(map(str, hidden))
        yield "MLP", size, MLPClassifier(hidden, max_iter=epochs, random_state=0)
    if name in KERNEL_SETS:
        yield KERNEL, "", SVC(**kernel_parameters(name))


def kernel_parameters(name):
    """As the reproduction of the paper chose them on a part of the training rows."""
    return STUDY.parameters_for("kernel", name)


def own_trees(name, smoke):
    epochs = 3 if smoke else EPOCHS.get(name, 60)
    shared = tree_parameters(name) | {"max_iter": epochs, "n_jobs": 1, "random_state": 0}
    for depth in DEPTHS[name][: 2 if smoke else None]:
        yield OURS, f"depth {depth}", LDKLClassifier(**shared | {"depth": depth})


def plain_trees():
    """scikit-learn's own: one tree until its leaves are pure, and a few random ones."""
    entropy = {"criterion": "entropy", "random_state": 0}
    yield "decision tree", "depth 10", DecisionTreeClassifier(max_depth=10, **entropy)
    yield "decision tree", "full", DecisionTreeClassifier(**entropy)
    for n_trees in (5, 20):
        yield "extra trees", str(n_trees), ExtraTreesClassifier(n_trees, n_jobs=1, **entropy)


def lightgbm(rounds, leaves, **settings):
    if not _is_there("lightgbm"):
        return
    from lightgbm import LGBMClassifier

    settings |= {"n_jobs": 1, "verbose": -1, "random_state": 0}
    model = LGBMClassifier(n_estimators=rounds, num_leaves=leaves, **settings)
    yield LIGHTGBM, f"{rounds} × {leaves} leaves", model


def xgboost(rounds, depth):
    if not _is_there("xgboost"):
        return
    from xgboost import XGBClassifier

    model = XGBClassifier(n_estimators=rounds, max_depth=depth, n_jobs=1, random_state=0)
    yield "XGBoost", f"{rounds} × depth {depth}", model


def catboost(rounds, depth):
    if not _is_there("catboost"):
        return
    from catboost import CatBoostClassifier

    depth = min(depth, CATBOOST_MAX_DEPTH)
    settings = {"thread_count": 1, "verbose": False, "allow_writing_files": False}
    model = CatBoostClassifier(iterations=rounds, depth=depth, random_seed=0, **settings)
    yield "CatBoost", f"{rounds} × depth {depth}", model


def _is_there(package):
    return importlib.util.find_spec(package) is not None
