"""Choose parameters on a held-out fifth of the training part; the test part is never used.

The training part is that of seed 0. Where the seed draws the split, other seeds test on rows of it;
``reproduce.per_seed`` chooses anew for every seed. Every candidate becomes a row of
results/tuning.csv, so a run that was stopped goes on where it was. At the end it prints the lines
for the ``chosen`` tables of config.toml.
"""

import argparse
import itertools
import json
import sys
import time
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np

import nearlinear
from reproduce.datasets import DatasetError
from reproduce.protocol import KEY, RowStore, one_thread, score_of
from reproduce.study import NONE

COLUMNS = ("n_test", "accuracy", "mse", "fit_seconds", "version")


def candidates(grid):
    """Every combination of the values of a grid."""
    return [dict(zip(grid, values)) for values in itertools.product(*grid.values())]


def try_candidate(study, method, parameters, part, seed):
    model = study.build(method, parameters, seed, part.is_regression)
    with one_thread():
        start = time.perf_counter()
        model.fit(part.X_train, part.y_train)
        seconds = time.perf_counter() - start
        predicted = model.predict(part.X_test)
    return score_of(predicted, part) | {
        "fit_seconds": seconds,
        "n_test": len(part.y_test),
        "version": nearlinear.__version__,
    }


def tune(
    study, split, method, grid, store, repeats=1, max_rows=None, finalists=None, in_blocks=False
):
    """Try every candidate; the best one, earlier of equals, and its mean score.

    ``finalists``: all candidates are tried on the first held-out part, and only so many, the best
    ones there, on the others. ``in_blocks``: held-out parts are fifths of consecutive rows.
    """
    scores = defaultdict(list)
    score, sign = ("mse", 1) if split.is_regression else ("accuracy", -1)
    tried = numbered = list(enumerate(candidates(grid)))
    for repeat in range(repeats):
        part = split.held_out_block(repeat) if in_blocks else split.held_out(repeat, max_rows)
        if repeat == 1 and finalists is not None:
            ranked = sorted(numbered, key=lambda entry: sign * scores[entry[0]][0])
            tried = sorted(ranked[:finalists], key=lambda entry: entry[0])
        for number, values in tried:
            parameters = study.base_for(method, split.name) | values
            parameters = study.complete(method, parameters, split.name)
            key = dict(dataset=split.name, method=method, seed=repeat, parameters=parameters)
            key |= {"n_train": len(part.y_train), "tuned_on": split.seed}
            row, is_new = store.get_or_add(
                key, partial(try_candidate, study, method, parameters, part, repeat)
            )
            # As the file keeps it, or a row read from there would lose or win a tie.
            scores[number].append(float(f"{row[score]:.6g}"))
            if is_new:
                print(f"{split.name} {method} {json.dumps(values)} {row[score]:.4g}", flush=True)
    means = [np.mean(scores[number]) for number, _ in tried]
    best = int(np.argmin(sign * np.array(means)))
    return tried[best][1], float(means[best])


def chosen_parameters(study, split, method, store):
    """All parameters of a method, those of its grid chosen on this split's own training rows.

    Where a set has several held-out parts, the better third of the candidates see all of them.
    """
    entry = study.config["methods"][method]
    base = study.base_for(method, split.name)
    if "like" in entry:
        return chosen_parameters(study, split, entry["like"], store) | base
    if grid := study.seed_grid_for(method, split.name):
        repeats = study.config["datasets"][split.name].get("tune_repeats", 1)
        max_rows = study.tuning_rows(split.name, method)
        third = -(-len(candidates(grid)) // 3)
        base |= tune(study, split, method, grid, store, repeats, max_rows, finalists=third)[0]
    return study.complete(method, base, split.name)


def tuning_store(study, path, key=(*KEY, "n_train")):
    """Where candidates are kept; the number of rows that they were fitted to is part of the key."""
    columns = [name for name in COLUMNS if name in study.measured]
    return RowStore(path, columns, key=key)


def per_seed_store(study, path):
    """The same for several splits: ``tuned_on`` is the seed whose training part was divided."""
    return tuning_store(study, path, key=(*KEY, "n_train", "tuned_on"))


def main(study, arguments=None):
    """The command ``python -m reproduce tune PAPER``."""
    datasets = study.config["datasets"]
    parser = argparse.ArgumentParser(
        prog=f"python -m reproduce tune {study.folder.name}", description=__doc__
    )
    parser.add_argument("--dataset", nargs="+", choices=datasets, required=True)
    parser.add_argument("--method", nargs="+", choices=study.methods, required=True)
    parser.add_argument("--repeats", type=int, help="held-out parts to average over")
    parser.add_argument("--rows", type=int, help="use at most this many training rows")
    parser.add_argument(
        "--blocks",
        action="store_true",
        help="hold out five runs of consecutive rows in turn; to tuning_blocks.csv",
    )
    parser.add_argument(
        "--grid",
        type=json.loads,
        default={},
        help='other values, \'{"C": [1, 10], "jitter": [0]}\'',
    )
    parser.add_argument("--results", type=Path, default=study.results, help="folder to write to")
    options = parser.parse_args(arguments)
    file = "tuning_blocks.csv" if options.blocks else "tuning.csv"
    store = tuning_store(study, options.results / file)
    lines = []
    for dataset, method in itertools.product(options.dataset, options.method):
        if method not in study.methods_for(dataset):
            continue
        try:
            split = study.load_split(dataset, seed=0)
        except DatasetError as error:
            print(error, file=sys.stderr)
            return 2
        repeats = 5 if options.blocks else datasets[dataset].get("tune_repeats", 1)
        repeats = options.repeats or repeats
        max_rows = options.rows or study.tuning_rows(dataset, method)
        grid = study.grid_for(method, dataset) | options.grid
        values, score = tune(
            study, split, method, grid, store, repeats, max_rows, in_blocks=options.blocks
        )
        values = {name: NONE if value is None else value for name, value in values.items()}
        pairs = ", ".join(f"{name} = {json.dumps(value)}" for name, value in values.items())
        lines.append(f"[methods.{method}.chosen]  # {score:.4g}\n{dataset} = {{ {pairs} }}")
    print("\n".join(lines))
    return 0
