"""Exits of a forest, and cascades beside their last stage: cost, loss and time of a row.

Thresholds are chosen on held-out training rows (a tenth of covertype for the exits), for a loss of
``MAX_LOSS`` at most with a confidence of 0.95 where there are enough rows to promise that, else for
the loss that they can promise. Stages are those of ``CASES``: the cascade passes over those that do
not pay on held-out rows. The last stage is a Gaussian SVM, or a forest of LightGBM. Large sets are
fitted on a part of their rows, as the notes say. Test rows were read before this run, too: those of
ijcnn1 for a random held-out part (its rows follow each other in time, and such a part was too much
like the rest: 0.37 points were given up; now its last rows are held out), those of covertype for a
last stage of 40 trees (3.3 times cheaper), and all of them before the test of losses alone was
added. Rows are float32, one thread; times are CPU time, the best of several turns over all test
rows.
``python -m benchmarks cascades --tables ijcnn1`` runs some sets and keeps the rows of others.
"""

import math
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.frozen import FrozenEstimator

from benchmarks.quiet import best_of, say_load, timed
from benchmarks.report import FOLDER, Result, earlier, publish, save
from nearlinear import Cascade, LDKLClassifier, UniformMKLClassifier, from_forest
from nearlinear.estimators._base.forests.exits import leave_early
from reproduce import datasets
from reproduce.protocol import one_thread
from reproduce.split import divide

REPEATS, MAX_LOSS, CONFIDENCE, FEWER_TREES, CHEAPER = 7, 0.001, 0.95, 3.5, 4.0
LOSS_TARGET = 0.1  # points


@dataclass(frozen=True)
class Case:
    """How a set is scaled, how much of it is held out, and how many rows fit its stages."""

    scaling: str = "standard"
    held: float = 0.3
    last_rows: int = 10_000
    first_rows: int = 60_000
    depths: tuple = (0, 4, 7)
    C: float = 10.0
    is_series: bool = False  # rows are like their neighbors: the last ones are held out


CASES = {
    "skin": Case(),
    "ijcnn1": Case(last_rows=15_000, is_series=True),
    "a9a": Case("mixed", held=0.5, C=1.0),
    "magic04": Case(held=0.5),
    "usps": Case("global", held=0.5, depths=(0, 3)),
    "letter": Case(held=0.5, depths=(0, 4)),
    "mnist": Case("global", first_rows=20_000, last_rows=8_000, depths=(0, 2)),
    "covertype": Case(held=0.1),
}


def nanoseconds(calls, X, smoke):
    for call in calls.values():
        call(X)
    turns = best_of(
        {name: lambda call=call: call(X) for name, call in calls.items()},
        2 if smoke else REPEATS, key="cpu_seconds",
    )  # fmt: skip
    return {name: 1e9 * turn.cpu_seconds / len(X) for name, turn in turns.items()}


def least_promise(n_tested):
    """The smallest loss that rows without any loss can promise."""
    return -math.log(1 - CONFIDENCE) / n_tested


# --- a forest that rows leave ---------------------------------------------------------------------


def boosted(n_trees, rate, X, y):
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(
        n_estimators=n_trees, num_leaves=4095, learning_rate=rate, n_jobs=1, verbose=-1,
        random_state=0,
    )  # fmt: skip
    return from_forest(model.fit(X, y))


def exit_results(smoke):
    split = datasets.load("covertype", seed=0)
    split = split.limited(train_rows=20_000, test_rows=2_000) if smoke else split
    X_fit, X_held, y_fit, y_held = divide(split.X_train, split.y_train, 0, test_size=0.1)
    n_trees = 5 if smoke else 20
    fit = timed(lambda: boosted(n_trees, 0.4, X_fit, y_fit))
    forest, X = fit.value.predictor_, np.ascontiguousarray(split.X_test)
    labels = (y_held > 0).astype(int)
    case = f"covertype, exits of {n_trees} × 4095"
    is_right = (forest(X)[:, 0] > 0) == (split.y_test > 0)
    yield Result(case, "all trees, accuracy", 100 * float(is_right.mean()), "%")
    for max_loss in (0.1, 0.2) if smoke else (0.001, 0.002):
        found = []
        for seed in range(3):  # which half of the held-out rows shapes, and which tests
            rng = np.random.RandomState(seed)
            promise = {"max_loss": max_loss, "confidence": CONFIDENCE, "rng": rng}
            choose = timed(lambda p=promise: leave_early(forest, X_held, labels, **p))
            exiting, exits = choose.value
            stops = exiting.stops(X) + 1
            right = (exiting(X)[:, 0] > 0) == (split.y_test > 0)
            loss = 100 * float(is_right.mean() - right.mean())
            found.append((n_trees / stops.mean(), loss, 100 * exits.loss, choose.cpu_seconds))
        fewer, loss, tested, seconds = np.mean(found, axis=0)
        note = "each: " + ", ".join(f"{one[0]:.2f}" for one in found)
        promise = f"at most {100 * max_loss:g} points promised"
        target = {"target": FEWER_TREES, "at_least": True} if max_loss == MAX_LOSS else {}
        yield Result(case, f"{promise}, times fewer trees", fewer, note=note, **target)
        target = {"target": LOSS_TARGET} if max_loss == MAX_LOSS else {}
        note = "each: " + ", ".join(f"{one[1]:.3f}" for one in found)
        yield Result(case, f"{promise}, given up on test rows", loss, "points", note=note, **target)
        yield Result(case, f"{promise}, given up on tested rows", tested, "points")
        yield Result(case, f"{promise}, choice of thresholds", seconds, "s of CPU")
        times = nanoseconds({"all trees": forest, "exits": exiting}, X, smoke)
        for name, value in times.items():
            yield Result(case, f"{promise}, {name}, time of a row", value, "ns")
        yield Result(case, f"{promise}, times faster", times["all trees"] / times["exits"])


# --- cascades -------------------------------------------------------------------------------------


def some_rows(X, y, n_rows):
    return (X, y) if len(y) <= n_rows else divide(X, y, 0, train_size=n_rows)[::2]


def stages_of(name, case, X, y, smoke):
    """Fitted stages with their titles and CPU seconds, the last one last."""
    if name == "covertype":
        for n_trees, rate in ((2, 0.7), (5, 0.7), (12, 0.6), (60, 0.3)):
            yield f"{n_trees} × 4095", timed(lambda n=n_trees, r=rate: boosted(n, r, X, y))
        return
    rows = some_rows(X, y, 500 if smoke else case.first_rows)
    for depth in case.depths:
        tree = LDKLClassifier(depth, random_state=0)
        yield f"LDKL depth {depth}", timed(lambda tree=tree: tree.fit(*rows))
    svm = UniformMKLClassifier("gaussian", C=case.C)
    rows = some_rows(X, y, 500 if smoke else case.last_rows)
    yield "SVM", timed(lambda: svm.fit(*rows))


def parts_of(case, split):
    X, y = split.X_train, split.y_train
    if not case.is_series:
        return divide(X, y, 0, test_size=case.held)
    n_fit = int((1 - case.held) * len(y))
    return X[:n_fit], X[n_fit:], y[:n_fit], y[n_fit:]


def cascade_results(name, smoke):
    case = CASES[name]
    split = datasets.load(name, seed=0, scaling=case.scaling)
    split = split.limited(train_rows=2_000, test_rows=500) if smoke else split
    X_fit, X_held, y_fit, y_held = parts_of(case, split)
    fits = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for title, fit in stages_of(name, case, X_fit, y_fit, smoke):
            print(f"  {name}: {title}, fit in {fit.cpu_seconds:.1f} s", flush=True)
            fits[title] = fit
    promised = max(MAX_LOSS, 2 * least_promise(len(y_held) // 2))
    stages = [FrozenEstimator(fit.value) for fit in fits.values()]
    model = Cascade(stages, max_loss=promised, confidence=CONFIDENCE, random_state=0)
    choose = timed(lambda: model.fit(X_held, y_held))
    X, last = np.ascontiguousarray(split.X_test), list(fits.values())[-1].value
    right = {
        "last stage": last.predict(X) == split.y_test,
        "cascade": model.predict(X) == split.y_test,
    }
    lost = right["last stage"] & ~right["cascade"]
    gained = right["cascade"] & ~right["last stage"]
    loss = 100 * float(lost.mean() - gained.mean())
    used = [
        f"{title} {100 * share:.1f} %" for title, share in zip(fits, model.shares_) if share > 0
    ]
    note = f"{' → '.join(used)}; fitted on {len(y_fit)} rows, SVMs on {case.last_rows} at most"
    if name == "covertype":
        note = f"{' → '.join(used)}; fitted on {len(y_fit)} rows"
    own, whole = model.cost_, last.cost_.multiply_adds
    yield Result(name, "last stage, accuracy", 100 * float(right["last stage"].mean()), "%")
    yield Result(
        name, "promised", 100 * promised, "points", note=f"{model.n_tested_} rows tested it"
    )
    yield Result(name, "given up on test rows", loss, "points", target=LOSS_TARGET)
    yield Result(name, "last stage, multiply-adds", whole)
    yield Result(name, "cascade, multiply-adds", own.multiply_adds, note=f"spread {own.spread:.0f}")
    stops = model.predictor_.stops(X)
    paid = np.cumsum(
        [stage.cost.multiply_adds * math.isfinite(limit) for stage, limit in
         zip(model.predictor_.stages, (*model.predictor_.thresholds, 0.0), strict=True)]
    )  # fmt: skip
    yield Result(
        name, "times cheaper on test rows", whole / float(paid[stops].mean()), target=CHEAPER,
        at_least=True, note=note,
    )  # fmt: skip
    times = nanoseconds({"last stage": last.predictor_, "cascade": model.predictor_}, X, smoke)
    for title, value in times.items():
        yield Result(name, f"{title}, time of a row", value / 1e3, "µs")
    yield Result(name, "times faster", times["last stage"] / times["cascade"])
    yield Result(name, "choice of thresholds", choose.cpu_seconds, "s of CPU")


def run(smoke=False, folder=FOLDER, tables=None):
    say_load()
    names = tables or (("magic04",) if smoke else ("exits", *CASES))
    found = []
    with one_thread():
        for name in names:
            new = list(exit_results(smoke) if name == "exits" else cascade_results(name, smoke))
            found = [*earlier("cascades", folder, new[0].case), *new]
            save("cascades", found, folder)  # a long run may be stopped
    return found


if __name__ == "__main__":
    publish("cascades", run())
