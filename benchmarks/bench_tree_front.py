"""Accuracy against prediction time: trees beside boosted trees and a multi-layer perceptron.

Several sizes of each family, trained on the same rows, predict all test rows in turns on one
thread. Pictures go to results/tree_front_NAME.png. A ratio of times sets each rival beside our
fastest tree that is at least as accurate.
"""

import importlib.util
import time
import warnings
from dataclasses import dataclass

from sklearn.neural_network import MLPClassifier
from sklearn.svm import LinearSVC

from benchmarks.report import FOLDER, Result, publish
from benchmarks.tree_front_picture import draw_front
from benchmarks.tree_sets import SHAPES, tree_parameters, tree_split_of
from nearlinear import LDKLClassifier
from reproduce.protocol import best_seconds, one_thread

OURS, LINEAR = "LDKL", "linear"
# The largest set: enough epochs to see the order of the families in minutes.
EPOCHS = {"covertype": 15}
DEPTHS = {"ijcnn1": (1, 3, 5, 7), "letter_halves": (2, 4, 6, 8), "covertype": (4, 6, 8, 9)}
BOOSTED = {  # rounds, depth of a tree (XGBoost), leaves of a tree (LightGBM)
    "ijcnn1": ((20, 4, 15), (100, 6, 31), (400, 8, 127)),
    "letter_halves": ((20, 4, 15), (100, 6, 31), (400, 8, 127)),
    "covertype": ((20, 6, 31), (100, 8, 127), (400, 10, 511)),
}
HIDDEN = {
    "ijcnn1": ((8,), (32,), (128,), (64, 64)),
    "letter_halves": ((8,), (32,), (128,), (128, 128)),
    "covertype": ((16,), (64,), (128,)),
}
MLP_EPOCHS = {"ijcnn1": 60, "letter_halves": 200, "covertype": 10}


@dataclass(frozen=True)
class Point:
    """One fitted model on the test rows: accuracy in percent, nanoseconds per row."""

    family: str
    size: str
    accuracy: float
    nanoseconds: float
    fit_seconds: float

    @property
    def title(self):
        return f"{self.family} {self.size}".strip()


def candidates(name, smoke):
    """(family, size, model) of everything that is compared on a set."""
    yield LINEAR, "", LinearSVC(C=0.1, dual=False)
    shared = tree_parameters(name) | {"max_iter": EPOCHS.get(name, 60)}
    if smoke:
        shared |= {"max_iter": 3}
    for depth in DEPTHS[name][: 2 if smoke else None]:
        yield OURS, f"depth {depth}", LDKLClassifier(**shared | {"depth": depth}, random_state=0)
    for rounds, depth, leaves in BOOSTED[name][: 1 if smoke else None]:
        yield from boosted(rounds, depth, leaves)
    for hidden in HIDDEN[name][: 2 if smoke else None]:
        epochs = 3 if smoke else MLP_EPOCHS[name]
        size = " + ".join(map(str, hidden))
        yield "MLP", size, MLPClassifier(hidden, max_iter=epochs, random_state=0)


def boosted(rounds, depth, leaves):
    """Whichever of the two libraries is there."""
    if importlib.util.find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        model = LGBMClassifier(
            n_estimators=rounds, num_leaves=leaves, n_jobs=1, verbose=-1, random_state=0
        )
        yield "LightGBM", f"{rounds} × {leaves} leaves", model
    if importlib.util.find_spec("xgboost"):
        from xgboost import XGBClassifier

        model = XGBClassifier(n_estimators=rounds, max_depth=depth, n_jobs=1, random_state=0)
        yield "XGBoost", f"{rounds} × depth {depth}", model


def measure(name, smoke):
    """The points of one set, and whether its rows are real."""
    split, is_real = tree_split_of(name, smoke)
    models, fit_seconds = {}, {}
    for family, size, model in candidates(name, smoke):
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            models[family, size] = model.fit(split.X_train, split.y_train)
        fit_seconds[family, size] = time.perf_counter() - start
        print(f"  {name}: {family} {size}, fit in {fit_seconds[family, size]:.1f} s", flush=True)
    for model in models.values():
        model.predict(split.X_test[:100])
    calls = {key: lambda model=model: model.predict(split.X_test) for key, model in models.items()}
    seconds = best_seconds(calls, budget=0.02 if smoke else 2.0)
    return [
        Point(
            *key,
            accuracy=100 * model.score(split.X_test, split.y_test),
            nanoseconds=1e9 * seconds[key] / len(split.y_test),
            fit_seconds=fit_seconds[key],
        )
        for key, model in models.items()
    ], is_real


def best_of(family):
    return max(point.accuracy for point in family)


def against(name, ours, theirs, note):
    """The fastest of ours that is as accurate as each of theirs; below 1 and below 0 we lose."""
    for point in theirs:
        reaching = [own for own in ours if own.accuracy >= point.accuracy]
        if reaching:
            fastest = min(reaching, key=lambda own: own.nanoseconds)
            yield Result(
                name, f"{point.title} / {OURS} at {point.accuracy:.2f} %",
                point.nanoseconds / fastest.nanoseconds, "×",
                target=1, at_least=True, note=f"{fastest.size}; {note}".removesuffix("; "),
            )  # fmt: skip
    lead = best_of(ours) - best_of(theirs)
    title = f"best {OURS} − best {theirs[0].family}"
    yield Result(name, title, lead, "points", target=0, at_least=True, note=note)


def results_of(name, points, note):
    for point in points:
        took = f"fit in {point.fit_seconds:.1f} s"
        yield Result(name, f"{point.title}, time of a row", point.nanoseconds, "ns", note=took)
        yield Result(name, f"{point.title}, accuracy", point.accuracy, "%", note=note)
    families = {}
    for point in points:
        families.setdefault(point.family, []).append(point)
    ours = families.pop(OURS)
    families.pop(LINEAR)  # shown for scale: no rival in accuracy
    for theirs in families.values():
        yield from against(name, ours, theirs, note)


def show_losses(results):
    """Where a rival is faster at equal accuracy, or more accurate at any price."""
    print(f"where {OURS} loses:")
    for result in results:
        if result.verdict == "MISSED":
            print(f"  {result.case}: {result.quantity} = {result.value:.3g} {result.unit}")


def run(smoke=False, folder=FOLDER, names=tuple(SHAPES)):
    results = []
    with one_thread():
        for name in names:
            points, is_real = measure(name, smoke)
            results += results_of(name, points, "" if is_real else "drawn rows of this shape")
            draw_front(name, points, OURS, folder / f"tree_front_{name}.png")
    show_losses(results)
    return results


if __name__ == "__main__":
    publish("tree_front", run())
