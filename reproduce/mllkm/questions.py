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
from reproduce.inner_search import chosen_by_folds
from reproduce.mllkm import questions_table, streams
from reproduce.mllkm.methods import STUDY
from reproduce.mllkm.questions_table import COLUMNS, GAMMAS, ROWS, at_gamma
from reproduce.mllkm.tasks import TASKS
from reproduce.protocol import RowStore, measure, measure_once
from reproduce.written_out import ldkl_classifier

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
    model = ldkl_classifier(max_iter=200, validation_fraction=0, random_state=0)
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
    questions_table.write(folder)


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
    questions_table.write(options.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
