"""Choose parameters on a held-out fifth of the training part; the test part is never used.

    python -m reproduce.llc_sapl.tune --dataset letter --method llc_sapl

Every candidate becomes a row of results/tuning.csv, so a run that was stopped goes on where it was.
At the end it prints the lines for the ``chosen`` tables of config.toml.
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
from sklearn.model_selection import train_test_split

import nearlinear
from reproduce.datasets import DatasetError, Split
from reproduce.llc_sapl.methods import (
    MAKERS,
    RESULTS,
    build,
    config,
    grid_for,
    load_split,
)
from reproduce.protocol import KEY, RowStore, one_thread

COLUMNS = ("n_test", "accuracy", "fit_seconds", "version")


def held_out(split, repeat, max_rows=None):
    """Four fifths of the training part to fit on, one fifth to choose by; the test part is gone."""
    part = split.limited(train_rows=max_rows, seed=repeat)
    X_fit, X_choose, y_fit, y_choose = train_test_split(
        part.X_train, part.y_train, test_size=0.2, stratify=part.y_train, random_state=repeat
    )
    return Split(split.name, X_fit, y_fit, X_choose, y_choose)


def candidates(grid):
    """Every combination of the values of a grid."""
    return [dict(zip(grid, values)) for values in itertools.product(*grid.values())]


def try_candidate(method, parameters, part, seed):
    model = build(method, parameters, seed)
    with one_thread():
        start = time.perf_counter()
        model.fit(part.X_train, part.y_train)
        seconds = time.perf_counter() - start
        accuracy = 100 * model.score(part.X_test, part.y_test)
    return {
        "accuracy": accuracy,
        "fit_seconds": seconds,
        "n_test": len(part.y_test),
        "version": nearlinear.__version__,
    }


def tune(split, method, grid, base, store, repeats=1, max_rows=None):
    """Try ``base`` with every candidate; the best one, earlier of equals, and its accuracy."""
    accuracies = defaultdict(list)
    for repeat in range(repeats):
        part = held_out(split, repeat, max_rows)
        for number, values in enumerate(candidates(grid)):
            parameters = base | values
            key = dict(dataset=split.name, method=method, seed=repeat, parameters=parameters)
            key["n_train"] = len(part.y_train)
            row, is_new = store.get_or_add(
                key, partial(try_candidate, method, parameters, part, repeat)
            )
            accuracies[number].append(row["accuracy"])
            if is_new:
                print(
                    f"{split.name} {method} {json.dumps(values)} {row['accuracy']:.2f}", flush=True
                )
    means = [np.mean(accuracies[number]) for number in range(len(accuracies))]
    best = int(np.argmax(means))
    return candidates(grid)[best], float(means[best])


def rows_for(dataset, method, asked):
    """What was asked for, else the smaller limit of data set and method, or None for all rows."""
    entries = (config()["datasets"][dataset], config()["methods"][method])
    limits = [entry["tune_rows"] for entry in entries if "tune_rows" in entry]
    return asked or min(limits, default=None)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m reproduce.llc_sapl.tune", description=__doc__)
    parser.add_argument("--dataset", nargs="+", choices=config()["datasets"], required=True)
    parser.add_argument("--method", nargs="+", choices=MAKERS, required=True)
    parser.add_argument("--repeats", type=int, help="held-out parts to average over")
    parser.add_argument("--rows", type=int, help="use at most this many training rows")
    parser.add_argument(
        "--grid",
        type=json.loads,
        default={},
        help='other values, \'{"C": [1, 10], "jitter": [0]}\'',
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder to write to")
    options = parser.parse_args(arguments)
    store = RowStore(options.results / "tuning.csv", COLUMNS, key=(*KEY, "n_train"))
    lines = []
    for dataset, method in itertools.product(options.dataset, options.method):
        try:
            split = load_split(dataset, seed=0)
        except DatasetError as error:
            print(error, file=sys.stderr)
            return 2
        repeats = options.repeats or config()["datasets"][dataset].get("tune_repeats", 1)
        max_rows = rows_for(dataset, method, options.rows)
        grid, base = grid_for(method, dataset), config()["methods"][method]["common"]
        grid |= options.grid
        values, accuracy = tune(split, method, grid, base, store, repeats, max_rows)
        pairs = ", ".join(f"{name} = {json.dumps(value)}" for name, value in values.items())
        lines.append(f"[methods.{method}.chosen]  # {accuracy:.2f}\n{dataset} = {{ {pairs} }}")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
