"""MLLKM from streams of kernels and of rows, with and without budgets, beside the batch fit.

python -m reproduce.mllkm.streams            everything that is not there yet
python -m reproduce.mllkm.streams --smoke    two hundred rows, in a temporary folder

Every fit has a process of its own and one thread; its memory is the most that it held beyond the
data. Rows go to results/streams_rows.csv, the table to streams.csv and streams.md.
"""

import argparse
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import nearlinear
from nearlinear import MLLKMClassifier
from reproduce import datasets
from reproduce.comparison import markdown_table, mean_and_spread
from reproduce.memory import forget_peak, peak_bytes, present_bytes
from reproduce.mllkm.methods import STUDY
from reproduce.protocol import RowStore, one_thread, score_of
from reproduce.report import save

ROWS = "streams_rows.csv"
COLUMNS = (
    "accuracy", "n_kernels", "n_support", "gap", "fit_seconds", "fit_bytes", "n_train", "version",
)  # fmt: skip
N_ANCHORS, N_STEPS = 1000, 50  # anchors; parts in which the rows of a stream come
SMALL = ("ionosphere", "sonar", "heart", "diabetes")
# name: scaling, training rows (None: as usual), test rows at most, seeds
SETS = dict.fromkeys(SMALL, ("standard", None, None, 3)) | {
    "ijcnn1": ("standard", None, 30_000, 1),
    "covertype": ("mixed", 60_000, 30_000, 1),
}
BUDGET = {"max_support": 1000, "max_kernels": 60}
EXPLANATION = f"""
C = 10 and length exponent 0.5 everywhere; nothing is tuned. Kernels may stand on the same at most
{N_ANCHORS:,} rows, in six bandwidths. Kernels streamed: anchors come from an iterator, a hundred
at a time, and what was refused is tried again in the end; or at most 60 refused kernels are
remembered. Rows and kernels streamed: rows come once, in {N_STEPS} parts, kernels stand around
them, and `finish` is not called; budgets are 1,000 stored rows and 60 kernels. Support rows are
those with a coefficient, which prediction does not need. ijcnn1 has 49,990 training rows,
covertype (2 against all others) 60,000 of 581,012, where it is shown; 30,000 rows test each. A
dash has not been run. The gap is over all candidates that are remembered; a stream of rows has
none before `finish`. Small sets: three splits, 70/30, double precision; the others one, single
precision. Other work ran on the machine.

"""


def batch(X, y, anchors, seed):
    return MLLKMClassifier(anchors=anchors, random_state=seed).fit(X, y)


def kernels_streamed(X, y, anchors, seed, **budget):
    """Anchors come from an iterator, a hundred at a time; all rows are there."""
    return MLLKMClassifier(anchors=iter(anchors), random_state=seed, **budget).fit(X, y)


def kernels_forgotten(X, y, anchors, seed):
    return kernels_streamed(X, y, anchors, seed, max_refused=60)


def rows_streamed(X, y, anchors, seed, **budget):
    """Rows come in parts, once; kernels stand around them, and no batch is solved in the end."""
    model, classes = MLLKMClassifier(random_state=seed, **budget), np.unique(y)
    for part in np.array_split(np.random.default_rng(seed).permutation(len(y)), N_STEPS):
        model.partial_fit(X[part], y[part], classes=classes)
    return model


def rows_on_a_budget(X, y, anchors, seed):
    return rows_streamed(X, y, anchors, seed, **BUDGET)


WAYS = {
    "batch": batch,
    "kernels streamed": kernels_streamed,
    "kernels streamed, refused ones forgotten": kernels_forgotten,
    "rows and kernels streamed": rows_streamed,
    "rows and kernels streamed, on budgets": rows_on_a_budget,
}


def measured(way, split, seed):
    """All columns of a row; meant for a fresh process."""
    X, y = split.X_train, split.y_train
    rng = np.random.default_rng(seed)
    anchors = X[np.sort(rng.permutation(len(X))[:N_ANCHORS])]
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that stops early
        few = np.concatenate([np.flatnonzero(y == label)[:30] for label in np.unique(y)])
        WAYS[way](X[few], y[few], anchors[:20], seed)  # compiles
        held = present_bytes()
        forget_peak()
        start = time.process_time()
        model = WAYS[way](X, y, anchors, seed)
        seconds, most = time.process_time() - start, peak_bytes() - held
        predicted = model.predict(split.X_test)
    return score_of(predicted, split) | {
        "n_kernels": model.n_kernels_,
        "n_support": model.n_support_,
        "gap": getattr(model, "duality_gap_", np.nan) / getattr(model, "objective_", np.nan),
        "fit_seconds": seconds,
        "fit_bytes": most,
        "n_train": len(y),
        "version": nearlinear.__version__,
    }


def in_fresh_process(way, split, seed):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measured, way, split, seed).result()


def load(name, seed):
    scaling, n_train, n_test, _ = SETS[name]
    split = datasets.load(name, seed, scaling, n_train)
    split = split.cast(np.float64 if name in SMALL else np.float32)
    return split.limited(test_rows=n_test)


def run(folder, names, run_one=in_fresh_process, load=load, seeds=None):
    store = RowStore(folder / ROWS, COLUMNS)
    for name in names:
        for seed in range(seeds or SETS[name][3]):
            split = load(name, seed)
            for way in WAYS:
                key = {"dataset": name, "method": way, "seed": seed, "parameters": {}}
                row, is_new = store.get_or_add(
                    key, lambda way=way, split=split, seed=seed: run_one(way, split, seed)
                )
                if is_new:
                    print(f"{name}, {seed}, {way}: {row['accuracy']:.1f} %", flush=True)
        write(folder)


def lines_of(path):
    """One line for each set and way, means over seeds."""
    cells = {}
    for row in RowStore(path, COLUMNS).rows():
        cells.setdefault((row["dataset"], row["method"]), []).append(row)
    for (name, way), rows in cells.items():
        line = {"dataset": name, "way": way, "seeds": len(rows)}
        line["measured"], line["spread"] = mean_and_spread([row["accuracy"] for row in rows])
        for column in ("n_kernels", "n_support", "gap", "fit_seconds", "n_train"):
            line[column] = float(np.mean([row[column] for row in rows]))
        line["megabytes"] = float(np.mean([row["fit_bytes"] for row in rows])) / 2**20
        yield line


def write(folder):
    lines = list(lines_of(folder / ROWS))
    found = {(line["dataset"], line["way"]): line for line in lines}
    names = list(dict.fromkeys(line["dataset"] for line in lines))
    body = [[way, *(_cell(found.get((name, way))) for name in names)] for way in WAYS]
    header = ["accuracy (%)<br>kernels, support rows; CPU seconds, MB", *names]
    title = "Streams of kernels and rows beside the batch fit"
    save(folder, "streams", title, lines, markdown_table(header, body) + EXPLANATION)


def _cell(line):
    if line is None:
        return "–"
    spread = "" if line["seeds"] == 1 else f" ± {line['spread']:.1f}"
    return (
        f"{line['measured']:.1f}{spread}<br>{line['n_kernels']:.0f}, {line['n_support']:.0f}; "
        f"{line['fit_seconds']:.3g} s, {line['megabytes']:.0f} MB"
    )


def smoke(folder):
    """All ways on small data, in this process."""
    run(folder, ["tumors"], measured, lambda name, seed: datasets.tumors(seed=seed), seeds=1)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m reproduce.mllkm.streams",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--dataset", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--results", type=Path, default=STUDY.results, help="folder to write to")
    parser.add_argument("--smoke", action="store_true", help="small data, a temporary folder")
    options = parser.parse_args(arguments)
    if options.smoke:
        with tempfile.TemporaryDirectory() as name:
            smoke(Path(name))
        return 0
    try:
        run(options.results, options.dataset)
    except datasets.DatasetError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
