"""Run the paper's comparison: every method on every data set, one row per seed.

    python -m reproduce.llc_sapl.run               everything that is not there yet
    python -m reproduce.llc_sapl.run --dataset letter --method llc_sapl llsvm --seeds 3
    python -m reproduce.llc_sapl.run --smoke       a few hundred rows, in a temporary folder

Rows go to results/rows.csv; rows already there for the same parameters are kept. The tables are
written again at the end.
"""

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from reproduce import datasets
from reproduce.llc_sapl import figures, tables
from reproduce.llc_sapl.methods import (
    MAKERS,
    RESULTS,
    build,
    config,
    load_split,
    parameters_for,
    reason_to_skip,
    seeds_for,
    test_rows_for,
)
from reproduce.protocol import RowStore, linear_yardstick, measure


def run_method(store, method, parameters, split, seed, yardstick):
    """Measure one method on one split unless that was done before."""
    key = {"dataset": split.name, "method": method, "seed": seed, "parameters": parameters}
    model = build(method, parameters, seed)
    row, is_new = store.get_or_add(key, partial(measure, model, split, yardstick))
    print(
        f"{split.name:8} {method:13} seed {seed}  {row['accuracy']:6.2f} %  "
        f"fit {row['fit_seconds']:8.2f} s  {row['predict_us_per_row']:9.3f} µs/row  "
        f"{row['times_linear']:8.1f} × linear{'' if is_new else '  (kept)'}",
        flush=True,
    )
    return row


def run_dataset(store, dataset, methods, n_seeds):
    for method in methods:
        if reason := reason_to_skip(method, dataset):
            print(f"{dataset:8} {method:13} not run: {reason}", flush=True)
    methods = [method for method in methods if not reason_to_skip(method, dataset)]
    for seed in range(n_seeds):
        split = load_split(dataset, seed)
        yardstick = linear_yardstick(split.X_train, split.y_train)
        for method in methods:
            if seed in seeds_for(method, dataset, n_seeds):
                part = split.limited(test_rows=test_rows_for(method, dataset))
                parameters = parameters_for(method, dataset)
                run_method(store, method, parameters, part, seed, yardstick)


def smoke(folder):
    """All methods, tables and figures on small data; an error where a method has learnt nothing."""
    store = RowStore(folder / "rows.csv")
    weak = []
    for split in (datasets.sines(100, 50), datasets.digits(200, 100)):
        yardstick = linear_yardstick(split.X_train, split.y_train)
        chance = 100 * np.unique(split.y_test, return_counts=True)[1].max() / len(split.y_test)
        for method in MAKERS:
            for seed in range(2):
                parameters = config()["smoke"][method]
                row = run_method(store, method, parameters, split, seed, yardstick)
                # A third of the way from guessing to perfection: as far as a line gets on sines.
                if row["accuracy"] < (2 * chance + 100) / 3:
                    weak.append(f"{method} on {split.name}: {row['accuracy']:.1f} %")
    tables.write(folder)
    figures.smoke(folder)
    if weak:
        raise SystemExit("Too close to guessing: " + "; ".join(weak))


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m reproduce.llc_sapl.run", description=__doc__)
    parser.add_argument("--dataset", nargs="+", choices=config()["datasets"])
    parser.add_argument("--method", nargs="+", choices=MAKERS)
    parser.add_argument("--seeds", type=int, default=config()["seeds"])
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder to write to")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args(arguments)
    if options.smoke:
        with tempfile.TemporaryDirectory() as folder:
            smoke(Path(folder))
        return 0
    store = RowStore(options.results / "rows.csv")
    try:
        for dataset in options.dataset or config()["datasets"]:
            run_dataset(store, dataset, options.method or MAKERS, options.seeds)
    except datasets.DatasetError as error:
        print(error, file=sys.stderr)
        return 2
    tables.write(options.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
