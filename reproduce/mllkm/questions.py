"""What the paper's reviewers asked: does the map matter, which γ are chosen, why do component maps
cost more, is a harder task learned, what of large sets?

python -m reproduce.mllkm.questions            everything that is not there yet
python -m reproduce.mllkm.questions --smoke    a hundred rows, in a temporary folder

C, and all else that a method chooses, comes from three folds of the training part; drawn tasks give
MLLKM one C. Rows go to results/questions_rows.csv, tables to questions.csv and questions.md; the
picture is figure 3.
"""

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

from nearlinear import MLLKMClassifier
from nearlinear.kernels.conformal import PROFILES
from nearlinear.kernels.row_scales import RowScales
from reproduce import datasets
from reproduce.comparison import formatted, markdown_table, mean_and_spread
from reproduce.inner_search import chosen_by_folds
from reproduce.mllkm import streams
from reproduce.mllkm.methods import STUDY
from reproduce.protocol import RowStore, measure, measure_once
from reproduce.report import save
from reproduce.split import scaled
from reproduce.written_out import ldkl_classifier

N_TEST = 5000
# The line between the classes of the paper's task, from left to right.
CORNERS = np.array([(-1.0, -0.2), (-0.5, 0.6), (0.05, -0.6), (0.45, 0.35), (1.0, -0.1)])


def bent_line(n_rows=400, seed=0):
    """Points of a square, uniform on both sides of a piecewise linear boundary."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n_rows, 2))
    return X, np.where(X[:, 1] > np.interp(X[:, 0], *CORNERS.T), 1, -1)


def checkerboard(n_rows, seed, cells=6):
    """Points of a square in ``cells`` × ``cells`` fields of two colors."""
    X = np.random.default_rng(seed).uniform(0, cells, (n_rows, 2))
    return X, np.where(np.floor(X).sum(axis=1) % 2 == 0, 1, -1)


def spirals(n_rows, seed, turns=2.5, noise=0.02):
    """Two spirals, one within the other."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n_rows) < 0.5, 1, -1)
    radius = np.sqrt(rng.uniform(0.02, 1, n_rows))
    angle = 2 * np.pi * turns * radius + np.pi * (y > 0)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + noise * rng.standard_normal(X.shape), y


def parity(n_rows, seed, n_bits=3, n_features=6):
    """The sign of a product of a few features; the others say nothing."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n_rows, n_features))
    return X, np.where(X[:, :n_bits].prod(axis=1) > 0, 1, -1)


def task(name, draw, n_usual):
    """A function of rows and seed that makes a split; test rows have a seed of their own."""

    def make(n_rows=n_usual, seed=0, **parameters):
        X_train, y_train = draw(n_rows, seed, **parameters)
        X_test, y_test = draw(N_TEST, 1000 + seed, **parameters)
        return scaled(name, X_train, X_test, y_train, y_test, "standard")

    return make


TASKS = {
    draw.__name__: task(draw.__name__, draw, n_usual)
    for draw, n_usual in ((bent_line, 400), (checkerboard, 1000), (spirals, 600), (parity, 1000))
}


ROWS = "questions_rows.csv"
# Relative bandwidths: the six default ones, and two narrower ones that drawn tasks have, too.
GAMMAS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


def at_gamma(what, gamma):
    return f"{what}_{gamma:g}"


COLUMNS = (
    "accuracy", "n_kernels", "n_support", "multiply_adds", "exponentials", "predict_us_per_row",
    *(at_gamma("kernels", gamma) for gamma in GAMMAS),
    *(at_gamma("weight", gamma) for gamma in GAMMAS),
    "fit_seconds", "fit_bytes", "n_train", "n_test", "version",
)  # fmt: skip
MAPS = ("Gaussian map", "square map", "Gaussian map by component", "square map by component")
EXPLANATION = """
Three splits of the four sets, 70/30, and three draws of each task, of which 5,000 rows test. C
comes from three folds of the training part; so do the width of the RBF-SVM, LDKL's depth and
jitter. On the tasks MLLKM has C = 30, eight bandwidths and 300 rows to stand on. h = 1 is the
Gaussian map with γ = 1e-9 in units of 1 / median squared distance. A linear model and an RBF-SVM
are one kernel.

"""


def cells_of(path):
    cells = {}
    for row in RowStore(path, COLUMNS).rows():
        cells.setdefault((row["dataset"], row["method"]), []).append(row)
    return cells


def mean(rows, column):
    return float(np.mean([row[column] for row in rows]))


def lines_of(cells):
    for (dataset, method), rows in cells.items():
        line = {"dataset": dataset, "method": method, "seeds": len(rows)}
        line["measured"], line["spread"] = mean_and_spread([row["accuracy"] for row in rows])
        for column in COLUMNS[1:-1]:
            line[column] = mean(rows, column)
        yield line


def accuracies(cells):
    """Methods by sets; below an accuracy the number of kernels, where there are several."""
    small = [name for name, method in cells if method == MAPS[0]]
    methods = dict.fromkeys(method for name, method in cells if name in small)
    body = []
    for method in methods:
        found = [cells.get((name, method)) for name in small]
        body.append([method, *("–" if rows is None else _accuracy(rows) for rows in found)])
    return markdown_table(["accuracy (%); kernels", *small], body)


def _accuracy(rows):
    text = formatted(*mean_and_spread([row["accuracy"] for row in rows]), 1)
    n_kernels = mean(rows, "n_kernels")
    return text if n_kernels == 1 else f"{text}; {n_kernels:.0f}"


def chosen_gammas(cells):
    """The share of the kernels that stand at every bandwidth, per set, Gaussian map."""
    body = []
    for (name, method), rows in cells.items():
        if method == MAPS[0]:
            shares = gamma_shares(rows, "kernels")
            body.append([name, *(f"{100 * share:.0f}" for share in shares)])
    return markdown_table(["kernels at γ (%)", *(f"{gamma:g}" for gamma in GAMMAS)], body)


def gamma_shares(rows, what):
    """Mean over rows of each γ's share in the kernels or in their ``weight``."""
    table = np.array([[row[at_gamma(what, gamma)] for gamma in GAMMAS] for row in rows])
    return (table / table.sum(axis=1, keepdims=True)).mean(axis=0)


def costs(cells):
    """What one kernel costs at one row, by map: work and time."""
    names = [name for name, method in cells if method == MAPS[0]]
    body = []
    for name in names:
        for method in MAPS:
            rows = cells.get((name, method))
            if rows:
                kernels = [row["n_kernels"] for row in rows]
                per_kernel = [
                    np.mean([row[column] / k for row, k in zip(rows, kernels)])
                    for column in ("multiply_adds", "exponentials", "predict_us_per_row")
                ]
                work, exponentials, time = per_kernel
                times = f"{1000 * time:.1f}"
                body.append([name, method, f"{work:.0f}", f"{exponentials:.0f}", times])
    header = ["set", "map", "multiply-adds per kernel", "exponentials per kernel"]
    return markdown_table([*header, "ns per row and kernel"], body)


def large(cells):
    body = []
    for (name, way), rows in cells.items():
        if not np.isnan(mean(rows, "fit_bytes")) and np.isnan(mean(rows, "predict_us_per_row")):
            numbers = [mean(rows, name) for name in ("accuracy", "n_kernels", "fit_seconds")]
            memory = mean(rows, "fit_bytes") / 2**20
            body.append(
                [
                    name,
                    way,
                    f"{rows[0]['n_train']:,}",
                    f"{numbers[0]:.1f}",
                    f"{numbers[1]:.0f}",
                    f"{numbers[2]:.0f}",
                    f"{memory:.0f}",
                ]
            )
    header = ["set", "fitted", "rows", "accuracy (%)", "kernels", "CPU seconds", "MB"]
    return markdown_table(header, body) if body else ""


def write(folder):
    """Write questions.csv and questions.md from the rows in ``folder``."""
    cells = cells_of(folder / ROWS)
    parts = [accuracies(cells) + EXPLANATION, chosen_gammas(cells), costs(cells), large(cells)]
    summary = "\n".join(part for part in parts if part) + "\n"
    save(folder, "questions", "Questions of the reviewers", list(lines_of(cells)), summary)


ON_SETS = {"C": [0.3, 1.0, 3.0, 10.0]}
ON_TASKS = {"C": [30.0], "bandwidths": [list(GAMMAS)], "n_anchors": [300]}
# so small a γ that h is 1 at every row, to eight digits
H_IS_ONE = [1e-9]


def local_kernels(profile, per_feature, grid):
    return chosen_by_folds(MLLKMClassifier(profile, per_feature, random_state=0), grid, folds=3)


def without_map(grid):
    return local_kernels("gaussian", False, grid | {"bandwidths": [H_IS_ONE]})


def linear_machine(grid):
    return chosen_by_folds(SVC(kernel="linear"), {"C": [0.1, 1.0, 10.0, 100.0]}, folds=3)


def gaussian_machine(grid):
    widths = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0]
    return chosen_by_folds(SVC(), {"C": [1.0, 10.0, 100.0, 1000.0], "gamma": widths}, folds=3)


def tree(grid):
    model = ldkl_classifier(max_iter=200, random_state=0)
    return chosen_by_folds(model, {"depth": [2, 4, 6], "jitter": [0.0, 0.1]}, folds=3)


METHODS = {
    "Gaussian map": partial(local_kernels, "gaussian", False),
    "square map": partial(local_kernels, "square", False),
    "Gaussian map by component": partial(local_kernels, "gaussian", True),
    "square map by component": partial(local_kernels, "square", True),
    "h = 1": without_map,
    "linear SVM": linear_machine,
    "RBF-SVM": gaussian_machine,
}
BESIDE_TASKS = {"LDKL": tree}
# All rows, fitted at once or from a stream on budgets: scaling and training rows by set.
LARGE = {"covertype": ("mixed", 522_910), "mnist_halves": ("global", None)}
LARGE_WAYS = ("rows and kernels streamed, on budgets", "batch")


def gamma_columns(model, X):
    """How many kernels, and what share of the kernels' weights, every relative γ has."""
    relative = model.gammas_ * RowScales(X).squared_distance
    nearest = np.abs(np.log(relative[:, None] / np.array(GAMMAS))).argmin(axis=1)
    weights = model.kernel_weights_ / model.kernel_weights_.sum()
    found = {}
    for number, gamma in enumerate(GAMMAS):
        chosen = nearest == number
        found[at_gamma("kernels", gamma)] = int(chosen.sum())
        found[at_gamma("weight", gamma)] = float(weights[chosen].sum())
    return found


def n_exponentials(model):
    """For one row: one for each kernel, or one for each kernel and feature."""
    if PROFILES[model.profile].is_bounded:
        return 0
    return model.anchors_.shape[0] * (model.anchors_.shape[1] if model.per_feature else 1)


def measured(method, maker, split, grid, measure=measure):
    model = maker(grid)
    row = measure(model, split)
    fitted = getattr(model, "best_estimator_", model)
    if isinstance(fitted, MLLKMClassifier):
        row["exponentials"] = n_exponentials(fitted)
        if method == "Gaussian map":
            row |= gamma_columns(fitted, split.X_train)
    return row


def run_split(store, split, seed, is_task=False, measure=measure):
    makers, grid = (METHODS | BESIDE_TASKS, ON_TASKS) if is_task else (METHODS, ON_SETS)
    for method, maker in makers.items():
        key = {"dataset": split.name, "method": method, "seed": seed, "parameters": {}}
        row, is_new = store.get_or_add(key, partial(measured, method, maker, split, grid, measure))
        if is_new:
            print(f"{split.name}, {seed}, {method}: {row['accuracy']:.1f} %", flush=True)


def run_large(store, name):
    scaling, n_train = LARGE[name]
    split = datasets.load(name, 0, scaling, n_train)
    for way in LARGE_WAYS:
        key = {"dataset": name, "method": way, "seed": 0, "parameters": {}}
        row, is_new = store.get_or_add(key, lambda way=way: streams.in_fresh_process(way, split, 0))
        if is_new:
            print(f"{name}, {way}: {row['accuracy']:.1f} %", flush=True)


def smoke(folder):
    """All methods on small data."""
    store = RowStore(folder / ROWS, COLUMNS)
    run_split(store, datasets.tumors().cast(np.float64), 0, measure=measure_once)
    run_split(store, TASKS["checkerboard"](120, 0, cells=2), 0, True, measure_once)
    write(folder)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m reproduce.mllkm.questions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = [*STUDY.config["datasets"], *TASKS, *LARGE]
    parser.add_argument("--dataset", nargs="+", choices=known, default=known)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=STUDY.results, help="folder to write to")
    parser.add_argument("--smoke", action="store_true", help="small data, a temporary folder")
    options = parser.parse_args(arguments)
    if options.smoke:
        with tempfile.TemporaryDirectory() as name:
            smoke(Path(name))
        return 0
    store = RowStore(options.results / ROWS, COLUMNS)
    try:
        for name in options.dataset:
            if name in LARGE:
                run_large(store, name)
                continue
            for seed in range(options.seeds):
                is_task = name in TASKS
                split = TASKS[name](seed=seed) if is_task else STUDY.load_split(name, seed)
                run_split(store, split.cast(np.float64), seed, is_task)
    except datasets.DatasetError as error:
        print(error, file=sys.stderr)
        return 2
    write(options.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
