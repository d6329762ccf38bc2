"""What ``benchmarks front`` sets side by side: families of models in several sizes.

An entry with several settings is chosen among them on held-out training rows. The learning rate of
boosting is min(1, 1.9 / √trees, 10 / trees), which LocalForest has by itself; with several classes
0.15 is tried too, since long steps diverge there. Our other models have the parameters that
``reproduce`` chose, or defaults where it has none. Peers "+ pairs" get the columns that LocalForest
found, ready-made: the time of making them is not counted against them.
"""

import importlib.util
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import sqrt

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import nearlinear
from benchmarks.front_sets import NOISY, REGRESSIONS, SHAPES
from reproduce.ldkl.methods import STUDY as LDKL_STUDY
from reproduce.llc_sapl.methods import STUDY as LLC_STUDY
from reproduce.written_out import ldkl_classifier, ldkl_regressor, llc_sapl_classifier

BLOCK = 1024  # rows: what is between two layers stays in the cache


class _Float32:
    def fit(self, X, y):
        super().fit(X, y)
        self._layers = [
            (weights.astype(np.float32), bias.astype(np.float32))
            for weights, bias in zip(self.coefs_, self.intercepts_)
        ]
        return self

    def scores(self, X):
        """Of the last layer (n_rows, n_outputs)."""
        found = np.empty((len(X), self._layers[-1][1].size), dtype=np.float32)
        for start in range(0, len(X), BLOCK):
            values = X[start : start + BLOCK]
            for weights, bias in self._layers[:-1]:
                values = values @ weights
                values += bias
                np.maximum(values, 0, out=values)
            weights, bias = self._layers[-1]
            np.matmul(values, weights, out=found[start : start + BLOCK])
            found[start : start + BLOCK] += bias
        return found


class Float32Classifier(_Float32, MLPClassifier):
    def predict(self, X):
        scores = self.scores(X)
        chosen = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[chosen.astype(np.intp)]


class Float32Regressor(_Float32, MLPRegressor):
    def predict(self, X):
        return self.scores(X)[:, 0]


FOREST = "LocalForest"
OURS = (FOREST, "LDKL", "LLC-SAPL", "DC-Pred", "MLLKM")
FEW_DEEP = tuple((rounds, leaves) for leaves in (4095, 255) for rounds in (2, 5, 10, 20))
PAIRS = {"covertype": 24}
# Training rows up to which slow fits are made.
FEW_ROWS, SMALL_TABLE, MANY_ROWS = 5000, 20_000, 100_000
_WIDTHS = (0.03, 0.1)
_LIGHT = {"n_jobs": 1, "verbose": -1, "random_state": 0}


@dataclass(frozen=True)
class Entry:
    """``make(**setting)`` is a model; of several ``settings`` held-out rows choose."""

    family: str
    size: str
    make: object
    settings: tuple = ({},)
    takes: str = "raw"  # or "even", or "pairs"
    is_judged: bool = False  # its held-out score is kept, also if there is nothing to choose

    @property
    def is_linear(self):
        """Whether its leaves hold linear models, which oneDAL does not take."""
        return "linear" in self.size

    @property
    def title(self):
        return f"{self.family} {self.size}".strip()


def entries(name):
    """All models of a set, those first that the question is about."""
    if name in NOISY and name != "a9a":
        return [*forests(name), *linear(name), *default_boosted(name)]
    return [
        *forests(name), *linear(name), *few_deep(name), *plain_trees(name), *default_boosted(name),
        *tuned_lightgbm(name), *our_others(name), *networks(name), *catboost(name),
        *kernel_machines(name), *dcpred(name), *mllkm(name),
    ]  # fmt: skip


def step(rounds):
    return min(1.0, 1.9 / sqrt(rounds), 10.0 / rounds)


def pick(name, classifier, regressor):
    return regressor if name in REGRESSIONS else classifier


def forests(name):
    kind = pick(name, nearlinear.LocalForestClassifier, nearlinear.LocalForestRegressor)
    make = partial(kind, random_state=0, n_jobs=1)
    if name == "covertype":
        yield from _forests_of_covertype(partial(make, pairs=24, linear_root=False))
        return
    yield Entry(FOREST, "defaults", make)
    if name in NOISY:
        return
    if SHAPES[name][3] > 2:
        for n_trees in (5, 10, 20, 30):
            shared = partial(make, grower="extra_trees", n_trees=n_trees, leaf_model="constant")
            yield Entry(FOREST, f"extra trees {n_trees}", shared, is_judged=True)
        shared = partial(make, grower="extra_trees", n_trees=10, leaf_model="linear")
        sizes = ({"max_leaves": 256}, {"max_leaves": 1024})
        if name == "letter":
            yield Entry(FOREST, "extra trees 10, linear leaves", shared, sizes, is_judged=True)
            yield from _extra_trees_on_differences(name, make)
        return
    for n_trees in (5, 10, 20, 50):
        sizes = ({"max_leaves": 31}, {"max_leaves": 255}, {"max_leaves": 8})
        shared = partial(make, n_trees=n_trees)
        yield Entry(FOREST, f"{n_trees} trees", shared, sizes, is_judged=True)


def _extra_trees_on_differences(name, make):
    """Random splits want many columns that are alike, not the few best: x_i − x_j of all pairs."""
    pairs = [(i, j, 1.0, -1.0) for i, j in combinations(range(SHAPES[name][2]), 2)]
    shared = partial(make, grower="extra_trees", leaf_model="constant", leaf_penalty=None)
    shares = ({"max_features": 0.25}, {"max_features": 0.5})
    for n_trees in (10, 20, 30, 36):
        grown = partial(shared, n_trees=n_trees, pairs=pairs)
        size = f"extra trees {n_trees} on differences"
        yield Entry(FOREST, size, grown, shares, is_judged=True)


def _forests_of_covertype(make):
    """Sizes alone: steps and λ are as held-out rows of earlier trials had them."""
    constant = partial(make, leaf_model="constant")
    grown = partial(constant, leaf_penalty=1.0)
    for n_trees in (10, 4, 13, 30, 3, 2, 20, 40, 5):
        size = partial(grown, n_trees=n_trees, max_leaves=4095)
        yield Entry(FOREST, f"{n_trees} × 4095", size, is_judged=True)
    for n_trees in (3, 2, 10, 20):
        size = partial(grown, n_trees=n_trees, max_leaves=16383, min_samples_leaf=5)
        yield Entry(FOREST, f"{n_trees} × 16383", size, is_judged=True)
    tree = partial(constant, grower="tree", leaf_penalty=None)
    yield Entry(FOREST, "1 tree", tree, is_judged=True)
    size = partial(grown, n_trees=10, max_leaves=4095, grower="lightgbm")
    yield Entry(FOREST, "10 × 4095 of LightGBM", size)


def linear(name):
    if name in REGRESSIONS:
        strengths = tuple({"alpha": alpha} for alpha in (0.1, 1.0, 10.0, 100.0))
        yield Entry("linear", "", Ridge, strengths, "even")
        return
    strengths = tuple({"C": C} for C in ((0.1,) if name == "covertype" else (0.01, 0.1, 1.0)))
    yield Entry("linear", "", partial(LogisticRegression, max_iter=200), strengths, "even")


def few_deep(name):
    if not _is_there("lightgbm"):
        return
    from lightgbm import LGBMClassifier, LGBMRegressor

    make = partial(pick(name, LGBMClassifier, LGBMRegressor), **_LIGHT)
    takes = ("pairs", "raw") if SHAPES[name][3] in (0, 2) and SHAPES[name][2] <= 60 else ("raw",)
    for kind in takes:
        family = "LightGBM + pairs" if kind == "pairs" else "LightGBM"
        for rounds, leaves in FEW_DEEP:
            if leaves > 255 and SHAPES[name][0] < FEW_ROWS:
                continue  # there are no such trees of few rows
            size = partial(make, n_estimators=rounds, num_leaves=leaves)
            yield Entry(family, f"{rounds} × {leaves}", size, _steps(name, rounds), kind)
    yield Entry("LightGBM", "100 × 31", partial(make, n_estimators=100))
    if "pairs" in takes:
        yield Entry("LightGBM + pairs", "100 × 31", partial(make, n_estimators=100), ({},), "pairs")
    lines = partial(make, n_estimators=100, linear_tree=True)
    yield Entry("LightGBM", "100 × 31, linear leaves", lines, ({"reg_lambda": 1.0},), "even")


def _steps(name, rounds):
    steps = [step(rounds)] if SHAPES[name][3] <= 2 else sorted({0.15, min(step(rounds), 0.4)})
    return tuple({"learning_rate": one} for one in steps)


def plain_trees(name):
    """scikit-learn's own: one tree until its leaves are pure, and a few random ones."""
    entropy = {} if name in REGRESSIONS else {"criterion": "entropy"}
    tree = partial(pick(name, DecisionTreeClassifier, DecisionTreeRegressor), random_state=0)
    tree = partial(tree, **entropy)
    sizes = tuple({"min_samples_leaf": least} for least in (1, 5, 20))
    yield Entry("decision tree", "", tree, sizes[:1] if name == "covertype" else sizes)
    if name in PAIRS:
        yield Entry("decision tree + pairs", "", tree, sizes[:1], "pairs")
    extra = pick(name, ExtraTreesClassifier, ExtraTreesRegressor)
    for n_trees in (5, 20):
        yield Entry("extra trees", str(n_trees), partial(extra, n_trees, random_state=0, **entropy))


def default_boosted(name):
    kind = pick(name, HistGradientBoostingClassifier, HistGradientBoostingRegressor)
    yield Entry("HistGradientBoosting", "100 × 31", partial(kind, random_state=0))
    if name in NOISY and name != "a9a" and _is_there("lightgbm"):
        from lightgbm import LGBMClassifier

        yield Entry("LightGBM", "100 × 31", partial(LGBMClassifier, **_LIGHT))
    if _is_there("xgboost"):
        from xgboost import XGBClassifier, XGBRegressor

        make = partial(pick(name, XGBClassifier, XGBRegressor), n_jobs=1, random_state=0)
        yield Entry("XGBoost", "100 × depth 6", partial(make, n_estimators=100, max_depth=6))


def tuned_lightgbm(name):
    """As the targets of small regressions have it; fewer settings where a fit takes minutes."""
    if not _is_there("lightgbm"):
        return
    from lightgbm import LGBMClassifier, LGBMRegressor

    make = partial(pick(name, LGBMClassifier, LGBMRegressor), **_LIGHT)
    sizes, fewest = ((100, 31, 0.1), (300, 31, 0.1), (300, 127, 0.1)), (20,)
    if SHAPES[name][0] <= SMALL_TABLE and SHAPES[name][3] <= 2:
        sizes = ((100, 31, 0.1), (300, 31, 0.05), (300, 8, 0.05), (1000, 8, 0.05), (500, 4, 0.05))
        fewest = (5, 20)
    settings = tuple(
        {"n_estimators": n, "num_leaves": leaves, "learning_rate": rate, "min_child_samples": least}
        for n, leaves, rate in sizes
        for least in fewest
    )
    yield Entry("LightGBM", "tuned", make, settings)


def catboost(name):
    if not _is_there("catboost"):
        return
    from catboost import CatBoostClassifier, CatBoostRegressor

    quiet = {"thread_count": 1, "verbose": False, "allow_writing_files": False, "random_seed": 0}
    make = partial(pick(name, CatBoostClassifier, CatBoostRegressor), **quiet)
    yield Entry("CatBoost", "500 × depth 6", partial(make, iterations=500, depth=6))


def our_others(name):
    found, kind = None, pick(name, nearlinear.LDKLClassifier, nearlinear.LDKLRegressor)
    for study in (LDKL_STUDY, LLC_STUDY):
        if found is None and name in study.config["datasets"]:
            found = study.parameters_for("ldkl", name) | {"n_jobs": 1}
            kind = pick(name, ldkl_classifier, ldkl_regressor)
    make, depth = partial(kind, **(found or {}), random_state=0), (found or {}).get("depth")
    if depth is None:
        yield Entry("LDKL", "defaults", make, ({},), "even")
    else:
        for less in (0, 2, 4):
            size = partial(make, depth=depth - less)
            if depth > less and not (name == "covertype" and less == 4):
                yield Entry("LDKL", f"depth {depth - less}", size, ({},), "even")
        if SHAPES[name][0] < 60_000:
            yield Entry("LDKL", "3 trees", partial(make, n_trees=3), ({},), "even")
    if name in LLC_STUDY.config["datasets"]:
        found = LLC_STUDY.parameters_for("llc_sapl", name)
        make = partial(llc_sapl_classifier, **found, n_jobs=1, random_state=0)
        for n_anchors in (100, 30):
            size = partial(make, n_anchors=n_anchors)
            yield Entry("LLC-SAPL", f"{n_anchors} anchors", size, ({},), "even")
    elif name == "a9a":
        make = partial(nearlinear.LLCSAPLClassifier, random_state=0)
        yield Entry("LLC-SAPL", "defaults", make, ({},), "even")


def dcpred(name):
    if SHAPES[name][0] <= 60_000 and SHAPES[name][2] <= 256:
        make = pick(name, nearlinear.DCPredClassifier, nearlinear.DCPredRegressor)
        yield Entry("DC-Pred", "defaults", partial(make, random_state=0), ({},), "even")


def mllkm(name):
    if SHAPES[name][0] <= FEW_ROWS and SHAPES[name][3] <= 2:
        make = pick(name, nearlinear.MLLKMClassifier, nearlinear.MLLKMRegressor)
        yield Entry("MLLKM", "defaults", partial(make, random_state=0), ({},), "even")


def networks(name):
    make = pick(name, Float32Classifier, Float32Regressor)
    epochs = 10 if SHAPES[name][0] > 100_000 else 60 if SHAPES[name][0] > 5000 else 200
    make = partial(make, max_iter=epochs, random_state=0)
    for hidden in ((64,), (16,), (64, 64)):
        rates = (1e-3,) if SHAPES[name][0] > 100_000 else (1e-3, 1e-2)
        settings = tuple({"learning_rate_init": rate} for rate in rates)
        size = " + ".join(map(str, hidden))
        yield Entry("MLP", size, partial(make, hidden), settings, "even")


def kernel_machines(name):
    if name in REGRESSIONS:
        settings = tuple({"C": C, "gamma": gamma} for C in (3.0, 30.0, 300.0) for gamma in _WIDTHS)
        yield Entry("SVC", "", SVR, settings, "even")
        machine, widths = partial(LinearSVR, C=10.0, max_iter=3000), _WIDTHS
    else:
        study = LDKL_STUDY if name in LDKL_STUDY.config["datasets"] else LLC_STUDY
        if SHAPES[name][0] <= SMALL_TABLE or name == "ijcnn1":
            found = study.parameters_for("kernel", name)
            yield Entry("SVC", "", partial(SVC, **found), ({},), "even")
        known = name in study.config["datasets"]
        width = study.parameters_for("kernel", name)["gamma"] if known else 1 / SHAPES[name][2]
        machine, widths = partial(LinearSVC, C=10.0, dual=False, tol=1e-3), (width, width / 3)
    for n_components in (100, 500) if SHAPES[name][0] < MANY_ROWS else (100,):
        make = partial(_nystroem, machine, n_components)
        settings = tuple({"gamma": gamma} for gamma in widths)
        yield Entry("Nyström", str(n_components), make, settings, "even")


def _nystroem(machine, n_components, gamma):
    features = Nystroem(gamma=gamma, n_components=n_components, random_state=0)
    return make_pipeline(features, machine())


def _is_there(package):
    return importlib.util.find_spec(package) is not None
