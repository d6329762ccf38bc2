"""DC-Pred++ beside LDKL, CPSP, Nyström and a linear SVM: accuracy, time of a row, bytes, fit.

Sets and splits are those of reproduce/ldkl; ``python -m benchmarks cells --tables ijcnn1`` runs
some of them and keeps the rows of the others. Sizes of DC-Pred++ are those of a study that chose
them on held-out training rows, settings of LDKL are the reproduction's.
CPSP and Nyström get as many basis vectors as cost the multiply-adds of the first DC-Pred++;
Nyström is CPSP with k-means centers that do not move, its gamma and C chosen on a fifth of the
training rows. All rows are float32, one thread; times of a row are the best of several turns over
all test rows, in CPU seconds, of the numbers alone and without checks of the input.
"""

import warnings
from dataclasses import dataclass
from itertools import product

import numpy as np
from sklearn.svm import LinearSVC

from benchmarks.quiet import best_of, say_load, timed
from benchmarks.report import FOLDER, Result, earlier, publish, save
from nearlinear import CPSPClassifier, DCPredClassifier
from reproduce import datasets
from reproduce.ldkl.methods import STUDY
from reproduce.protocol import one_thread
from reproduce.written_out import ldkl_classifier

REPEATS, NYSTROEM_ROWS = 9, 12_000


@dataclass(frozen=True)
class Case:
    """A set, the sizes of DC-Pred++ on it, and the part of the set that is taken."""

    data: str
    sizes: tuple  # of pairs: cells, landmarks of each
    train_rows: int | None = None
    tree: dict | None = None  # LDKL's settings that are not the reproduction's
    scaling: str | None = None
    has_rivals: bool = True
    part: str = ""

    @property
    def title(self):
        return self.data + self.part

    def split(self, smoke):
        if self.scaling == "span":
            split = _spanned(datasets.load(self.data, seed=0))
        else:
            split = STUDY.load_split(self.data, seed=0)
        if smoke:
            return split.limited(train_rows=600, test_rows=300)
        return split if self.train_rows is None else split.limited(train_rows=self.train_rows)


def _spanned(split):
    """Every column in [0, 1] on the training rows."""
    low = split.X_train.min(axis=0)
    span = split.X_train.max(axis=0) - low
    span[span == 0] = 1.0
    X_train, X_test = (split.X_train - low) / span, (split.X_test - low) / span
    return type(split)(split.name, X_train, split.y_train, X_test, split.y_test)


CASES = {
    "magic04": Case("magic04", ((1, 8), (1, 16))),
    "ijcnn1": Case("ijcnn1", ((8, 16), (16, 16))),
    "letter_halves": Case("letter_halves", ((16, 32), (32, 64))),
    "usps_halves": Case("usps_halves", ((1, 7), (32, 3))),
    "covertype_60k": Case(
        "covertype", ((256, 8),), 60_000, {"depth": 7, "max_iter": 60}, part=", 60,000 rows"
    ),
    "mnist_halves": Case("mnist_halves", ((1, 2),)),
    "covertype": Case(
        "covertype", ((1024, 16),), scaling="span", has_rivals=False, part=", all rows in [0, 1]"
    ),
}


def fitted(case, split, smoke):
    """Every model with its name and CPU seconds."""
    X, y = split.X_train, split.y_train
    budget = None
    for n_clusters, n_landmarks in case.sizes:
        title = f"DC-Pred++ {n_clusters} × {n_landmarks}"
        model = DCPredClassifier(n_clusters, n_landmarks=n_landmarks, random_state=0)
        fit = timed(lambda model=model: model.fit(X, y))
        budget = budget or fit.value.cost_.multiply_adds
        yield title, fit
    if case.has_rivals:
        if X.shape[1] < 300:
            yield "DC-Pred++ by default", timed(lambda: DCPredClassifier(random_state=0).fit(X, y))
        n_basis = min(len(y), max(2, budget // (X.shape[1] + 2)))
        gamma, C = chosen_nystroem(split, n_basis)
        moved = CPSPClassifier(n_basis, C=10.0, random_state=0)
        still = CPSPClassifier(n_basis, gamma=gamma, C=C, max_iter=0, random_state=0)
        yield f"CPSP {n_basis}", timed(lambda: moved.fit(X, y))
        yield f"Nyström {n_basis}", timed(lambda: still.fit(X, y))
        settings = {**STUDY.parameters_for("ldkl", split.name), **(case.tree or {})}
        tree = ldkl_classifier(**settings, random_state=0)
        if smoke:
            tree.set_params(depth=2, max_iter=3)
        yield f"LDKL depth {tree.depth}", timed(lambda: tree.fit(X, y))
    yield "LinearSVC", timed(lambda: LinearSVC(random_state=0).fit(X, y))


def chosen_nystroem(split, n_basis):
    """Gamma, relative as everywhere, and C by a fifth of the training rows."""
    part = split.held_out(0, max_rows=NYSTROEM_ROWS)

    def score(setting):
        gamma, C = setting
        model = CPSPClassifier(n_basis, gamma=gamma, C=C, max_iter=0, random_state=0)
        return model.fit(part.X_train, part.y_train).score(part.X_test, part.y_test)

    return max(product((0.5, 2.0, 8.0), (1.0, 100.0)), key=score)


def scorer(model, X):
    if hasattr(model, "predictor_"):
        return lambda: model.predictor_(X)
    weights, bias = model.coef_.T.astype(np.float32), model.intercept_.astype(np.float32)
    return lambda: X @ weights + bias


def n_bytes(model):
    if hasattr(model, "cost_"):
        return model.cost_.n_bytes
    return 4 * (model.coef_.size + model.intercept_.size)


def results_of(case, smoke):
    split = case.split(smoke)
    X = np.ascontiguousarray(split.X_test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = {}
        for title, fit in fitted(case, split, smoke):
            models[title] = fit
            print(f"  {case.title}: {title}, fit in {fit.cpu_seconds:.1f} s", flush=True)
    calls = {title: scorer(fit.value, X) for title, fit in models.items()}
    for call in calls.values():
        call()
    turns = timed(lambda: best_of(calls, 2 if smoke else REPEATS, key="cpu_seconds"))
    for title, fit in models.items():
        accuracy = 100 * float((fit.value.predict(X) == split.y_test).mean())
        microseconds = 1e6 * turns.value[title].cpu_seconds / len(X)
        note = turns.remark.removeprefix("; ")
        size = getattr(fit.value, "n_clusters_", None)
        chosen = f"{size} cells" if title.endswith("default") else ""
        yield Result(case.title, f"{title}, accuracy", accuracy, "%", note=chosen)
        yield Result(case.title, f"{title}, time of a row", microseconds, "µs", note=note)
        yield Result(case.title, f"{title}, bytes", n_bytes(fit.value), "B")
        yield Result(case.title, f"{title}, fit", fit.cpu_seconds, "s of CPU")


def run(smoke=False, folder=FOLDER, tables=None):
    say_load()
    names = tables or (("magic04",) if smoke else tuple(CASES))
    found = []
    with one_thread():
        for name in names:
            new = list(results_of(CASES[name], smoke))
            found = [*earlier("cells", folder, CASES[name].title), *new]
            save("cells", found, folder)  # a long run may be stopped
    return found


if __name__ == "__main__":
    publish("cells", run())
