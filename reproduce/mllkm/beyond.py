"""What goes beyond the paper, one option at a time beside the same machine without it.

python -m reproduce.mllkm.beyond            everything that is not there yet
python -m reproduce.mllkm.beyond --smoke    a hundred rows, in a temporary folder

Every option is fitted to two thirds of each training part and tried on the last third: that is what
an option is judged by. It is then fitted to the whole training part and tried on the test part,
which is reported and chooses nothing. Rows go to results/beyond_rows.csv, tables to beyond.csv and
beyond.md.
"""

import argparse
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import nearlinear
from nearlinear import MLLKMClassifier
from reproduce import datasets
from reproduce.mllkm import beyond_table
from reproduce.mllkm.beyond_table import BASE, COLUMNS, OPTIONS, ROWS
from reproduce.mllkm.methods import STUDY
from reproduce.protocol import RowStore, one_thread, score_of
from reproduce.running import SMOKE_SEEDS, is_weak, refuse_weak
from reproduce.split import Split, divide

HELD_OUT = 1 / 3  # of the training part


def fitted(option, split, seed):
    """A model of this option and the CPU seconds of its fit."""
    model = MLLKMClassifier(**BASE | OPTIONS[option], random_state=seed)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer rows than centers, a fit that stops early
        start = time.process_time()
        model.fit(split.X_train, split.y_train)
        return model, time.process_time() - start


def held_out(split, seed):
    """A third of the training part takes the place of the test part."""
    X_fit, X_out, y_fit, y_out = divide(split.X_train, split.y_train, seed, test_size=HELD_OUT)
    return Split(split.name, X_fit, y_fit, X_out, y_out)


def accuracy_of(model, split):
    return score_of(model.predict(split.X_test), split)["accuracy"]


def measured(option, split, seed):
    inner = held_out(split, seed)
    validation = accuracy_of(fitted(option, inner, seed)[0], inner)
    model, seconds = fitted(option, split, seed)
    return {
        "validation": validation,
        "accuracy": accuracy_of(model, split),
        "n_kernels": model.n_kernels_,
        "gap": model.duality_gap_ / model.objective_,
        "fit_seconds": seconds,
        "n_train": len(split.y_train),
        "version": nearlinear.__version__,
    }


def run_split(store, split, seed):
    """All options that are not there yet, in double precision; the rows of all of them."""
    split = split.cast(np.float64)
    rows = []
    for option, parameters in OPTIONS.items():
        key = {"dataset": split.name, "method": option, "seed": seed}
        key["parameters"] = BASE | parameters
        row, is_new = store.get_or_add(key, lambda o=option: measured(o, split, seed))
        rows.append(row)
        if is_new:
            print(f"{split.name}, {seed}, {option}: {row['validation']:.1f} %", flush=True)
    return rows


def warm_up():
    """Compile what the fits need, so that the first ones are not charged for it."""
    split = datasets.tumors(60, 10).cast(np.float64)
    for option in OPTIONS:
        fitted(option, split, seed=0)


def smoke(folder):
    """All options on small data."""
    store, weak = RowStore(folder / ROWS, COLUMNS), []
    for seed in range(SMOKE_SEEDS):
        split = datasets.tumors(seed=seed)
        for row in run_split(store, split, seed):
            if is_weak(row, split):
                weak.append(f"{row['method']}: {row['accuracy']:.1f} %")
    beyond_table.write(folder)
    refuse_weak(weak)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m reproduce.mllkm.beyond",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = STUDY.config["datasets"]
    parser.add_argument("--dataset", nargs="+", choices=known, default=list(known))
    parser.add_argument("--seeds", type=int, default=STUDY.config["seeds"])
    parser.add_argument("--results", type=Path, default=STUDY.results, help="folder to write to")
    parser.add_argument("--smoke", action="store_true", help="small data, a temporary folder")
    options = parser.parse_args(arguments)
    if options.smoke:
        with tempfile.TemporaryDirectory() as name:
            smoke(Path(name))
        return 0
    store = RowStore(options.results / ROWS, COLUMNS)
    warm_up()
    try:
        for dataset in options.dataset:
            for seed in range(options.seeds):
                run_split(store, STUDY.load_split(dataset, seed), seed)
    except datasets.DatasetError as error:
        print(error, file=sys.stderr)
        return 2
    beyond_table.write(options.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
