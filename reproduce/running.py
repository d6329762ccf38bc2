"""Every method of a study on every data set, one row per seed, then the tables.

Rows go to results/rows.csv; rows already there for the same parameters are kept. The tables are
written again at the end.
"""

import argparse
import sys
import tempfile
from functools import partial
from itertools import chain, repeat
from pathlib import Path

import numpy as np

from reproduce.datasets import DatasetError
from reproduce.protocol import RowStore, linear_yardstick, measure, measure_once

SMOKE_SEEDS = 2


def run_method(study, store, method, parameters, split, seed, yardstick=None, measure=measure):
    """Measure one method on one split unless that was done before."""
    key = {"dataset": split.name, "method": method, "seed": seed, "parameters": parameters}
    model = study.build(method, parameters, seed, split.is_regression)
    row, is_new = store.get_or_add(key, partial(measure, model, split, yardstick))
    print(
        f"{split.name:8} {method:13} seed {seed}  {_score(row):>10}  "
        f"fit {row['fit_seconds']:8.2f} s  {row['predict_us_per_row']:9.3f} µs/row  "
        f"{row['times_linear']:8.1f} × linear{'' if is_new else '  (kept)'}",
        flush=True,
    )
    return row


def _score(row):
    return f"{row['accuracy']:.2f} %" if "accuracy" in row else f"MSE {row['mse']:.4g}"


def run_dataset(study, store, dataset, methods, n_seeds):
    methods = [method for method in methods if method in study.methods_for(dataset)]
    for method in methods:
        if reason := study.reason_to_skip(method, dataset):
            print(f"{dataset:8} {method:13} not run: {reason}", flush=True)
    methods = [method for method in methods if not study.reason_to_skip(method, dataset)]
    for seed in range(n_seeds):
        due = [method for method in methods if seed in study.seeds_for(method, dataset, n_seeds)]
        if not due:
            continue
        split = study.load_split(dataset, seed)
        yardstick = linear_yardstick(split)
        for method in due:
            parameters = study.parameters_for(method, dataset)
            run_method(
                study, store, method, parameters, study.limited(split, method), seed, yardstick
            )


def run_smoke(study, splits, folder, name="rows.csv"):
    """All methods on small splits, twice on the first; a sentence for each that learned nothing."""
    store = RowStore(folder / name, study.measured)
    weak = []
    for n_seeds, split in zip(chain([SMOKE_SEEDS], repeat(1)), splits):
        yardstick = linear_yardstick(split)
        for method in study.regressors if split.is_regression else study.makers:
            for seed in range(n_seeds):
                parameters = study.config["smoke"][method]
                row = run_method(
                    study, store, method, parameters, split, seed, yardstick, measure_once
                )
                if is_weak(row, split):
                    weak.append(f"{method} on {split.name}: {_score(row)}")
    return weak


def is_weak(row, split):
    """Less than a third of the way from guessing to perfection: as far as a line gets on sines."""
    if split.is_regression:
        return row["mse"] > 2 / 3 * split.target_scale**2 * np.var(split.y_test)
    chance = 100 * np.unique(split.y_test, return_counts=True)[1].max() / len(split.y_test)
    return row["accuracy"] < (2 * chance + 100) / 3


def refuse_weak(weak):
    """End with the sentences of ``run_smoke``, if there are any."""
    if weak:
        raise SystemExit("Too close to guessing: " + "; ".join(weak))


def main(study, write_tables, smoke_splits, smoke_rest=None, arguments=None):
    """The command line of a study's run module.

    ``smoke_rest(folder)`` tries on small data what else a study has, such as figures.
    """
    config = study.config
    parser = argparse.ArgumentParser(prog=f"python -m {study.module}.run", description=__doc__)
    parser.add_argument("--dataset", nargs="+", choices=config["datasets"])
    parser.add_argument("--method", nargs="+", choices=study.methods)
    parser.add_argument("--seeds", type=int, default=config["seeds"])
    parser.add_argument("--results", type=Path, default=study.results, help="folder to write to")
    parser.add_argument("--smoke", action="store_true", help="small data, a temporary folder")
    options = parser.parse_args(arguments)
    if options.smoke:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            weak = run_smoke(study, smoke_splits(), folder)
            write_tables(folder)
            if smoke_rest is not None:
                smoke_rest(folder)
        refuse_weak(weak)
        return 0
    store = RowStore(options.results / "rows.csv", study.measured)
    try:
        for dataset in options.dataset or config["datasets"]:
            run_dataset(study, store, dataset, options.method or study.methods, options.seeds)
    except DatasetError as error:
        print(error, file=sys.stderr)
        return 2
    write_tables(options.results)
    return 0
