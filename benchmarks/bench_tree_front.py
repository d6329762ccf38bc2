"""Accuracy against prediction time: our trees beside the strongest alternatives.

Several sizes of each family (see ``tree_front_peers``), trained on the same rows, predict all test
rows in turns on one thread. All seconds are CPU seconds, those of a prediction the best of
several. What oneDAL makes of LightGBM's trees and of a kernel SVM is measured in the same run
where NEARLINEAR_ONEDAL_PYTHON names a Python that has it (see ``onedal_peers``). Pictures go to
results/tree_front_NAME.png. One ratio of times sets each rival beside our fastest tree that is at
least as accurate, another sets each of our trees beside its fastest rival that is.
"""

import warnings
from dataclasses import dataclass

from benchmarks import onedal_peers
from benchmarks.quiet import best_of, say_load, timed
from benchmarks.report import FOLDER, Result, publish
from benchmarks.tree_front_peers import (
    KERNEL,
    KERNEL_SETS,
    LIGHTGBM,
    LINEAR,
    OURS,
    candidates,
    kernel_parameters,
)  # fmt: skip
from benchmarks.tree_front_picture import draw_front
from benchmarks.tree_sets import SHAPES, tree_split_of
from reproduce.protocol import one_thread

REPEATS = 12


@dataclass(frozen=True)
class Point:
    """One fitted model on the test rows: accuracy in percent, nanoseconds per row.

    ``fit_seconds`` is None where the model was fitted by another family.
    """

    family: str
    size: str
    accuracy: float
    nanoseconds: float
    fit_seconds: float | None

    @property
    def title(self):
        return f"{self.family} {self.size}".strip()


def measure(name, smoke):
    """The points of one set, and a remark: what others did meanwhile, whether rows are drawn."""
    split, is_real = tree_split_of(name, smoke)
    models, fit_seconds = {}, {}
    for family, size, model in candidates(name, smoke):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = timed(lambda model=model: model.fit(split.X_train, split.y_train))
        models[family, size], fit_seconds[family, size] = fit.value, fit.cpu_seconds
        print(f"  {name}: {family} {size}, fit in {fit.cpu_seconds:.1f} s", flush=True)
    for model in models.values():
        model.predict(split.X_test[:100])
    calls = {key: lambda model=model: model.predict(split.X_test) for key, model in models.items()}
    repeats = 2 if smoke else REPEATS
    turns = timed(lambda: best_of(calls, repeats=repeats, long=2.0, key="cpu_seconds"))
    taken = turns.value
    n_rows = len(split.y_test)
    points = [
        Point(
            *key,
            accuracy=100 * float((taken[key].value == split.y_test).mean()),
            nanoseconds=1e9 * taken[key].cpu_seconds / n_rows,
            fit_seconds=fit_seconds[key],
        )
        for key in models
    ]
    boosters = {
        size: model.booster_ for (family, size), model in models.items() if family == LIGHTGBM
    }
    kernel = kernel_parameters(name) if name in KERNEL_SETS else None
    for row in onedal_peers.measured(split, boosters, kernel, repeats):
        family, size = (KERNEL, "") if row["name"] == KERNEL else (LIGHTGBM, row["name"])
        nanoseconds = 1e9 * row["seconds"] / n_rows
        title = f"{family} (oneDAL)"
        points.append(Point(title, size, row["accuracy"], nanoseconds, row["fit_seconds"]))
    drawn = "" if is_real else "; drawn rows of this shape"
    return points, f"{drawn}{turns.remark}".removeprefix("; ")


def best_accuracy(family):
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
    lead = best_accuracy(ours) - best_accuracy(theirs)
    title = f"best {OURS} − best {theirs[0].family}"
    yield Result(name, title, lead, "points", target=0, at_least=True, note=note)


def fastest_rivals(name, ours, rivals, note):
    """The fastest of all rivals that is as accurate as each of ours; below 1 we lose."""
    for point in ours:
        reaching = [rival for rival in rivals if rival.accuracy >= point.accuracy]
        if reaching:
            fastest = min(reaching, key=lambda rival: rival.nanoseconds)
            yield Result(
                name, f"fastest rival / {point.title} at {point.accuracy:.2f} %",
                fastest.nanoseconds / point.nanoseconds, "×", target=1, at_least=True,
                note=f"{fastest.title}, {fastest.accuracy:.2f} %; {note}".removesuffix("; "),
            )  # fmt: skip


def results_of(name, points, note):
    for point in points:
        took = "" if point.fit_seconds is None else f"fit in {point.fit_seconds:.1f} s"
        yield Result(name, f"{point.title}, time of a row", point.nanoseconds, "ns", note=took)
        yield Result(name, f"{point.title}, accuracy", point.accuracy, "%", note=note)
    families = {}
    for point in points:
        families.setdefault(point.family, []).append(point)
    ours = families.pop(OURS)
    families.pop(LINEAR)  # shown for scale: no rival in accuracy
    rivals = [point for theirs in families.values() for point in theirs]
    yield from fastest_rivals(name, ours, rivals, note)
    for theirs in families.values():
        yield from against(name, ours, theirs, note)


def show_losses(results):
    """Where a rival is faster at equal accuracy, or more accurate at any price."""
    print(f"where {OURS} loses:")
    for result in results:
        if result.verdict == "MISSED":
            print(f"  {result.case}: {result.quantity} = {result.value:.3g} {result.unit}")


def run(smoke=False, folder=FOLDER, names=tuple(SHAPES)):
    say_load()
    results = []
    with one_thread():
        for name in names:
            points, note = measure(name, smoke)
            results += results_of(name, points, note)
            draw_front(name, points, folder / f"tree_front_{name}.png")
    show_losses(results)
    return results


if __name__ == "__main__":
    publish("tree_front", run())
