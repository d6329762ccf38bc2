"""One fit to rows in blocks in a process of its own, so that its memory is its own.

``python -m benchmarks.blocks_child digits --rows 1000000`` prints seconds, memory and accuracy as
JSON. Seconds are those of the processor, of all threads: others may use the machine, too.
"""

import argparse
import json
import resource
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from pandas import read_csv
from pyarrow.parquet import read_table
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nearlinear
from benchmarks.customers import TARGET, write_customers
from benchmarks.deformed_images import deformed_images
from nearlinear import (
    LDKLClassifier,
    LLCSAPLClassifier,
    LocalForestClassifier,
    NearLinearClassifier,
    cli,
)
from nearlinear.streams import fit_pipeline, from_tables
from reproduce import datasets

_TABLE_EPOCHS, TABLE_ANCHORS = 15, 60
_FRONT = {"families": ["decision tree", "hinge units"], "max_times_linear": 20}
_RAW = ["--max-memory", "500MB", "--max-times-linear", "10",
        "--families", "piecewise-linear,decision-tree"]  # fmt: skip
_RAW_NEW = 100_000
_FOREST = {"n_trees": 100, "max_leaves": 31, "pairs": 0}


def digits(options):
    """LLC-SAPL with 100 anchors in one pass over deformed MNIST."""
    source, X_test, y_test = _digits(options.rows)
    model = LLCSAPLClassifier(100, max_iter=1, random_state=0)
    spent = _measured(lambda: model.fit(source))
    return spent | {"accuracy": 100 * model.score(X_test, y_test)}


def digits_sgd(options):
    """scikit-learn's linear model in one pass over the same rows."""
    source, X_test, y_test = _digits(options.rows)
    model = SGDClassifier(random_state=0)

    def fit():
        for X, y, _ in source:
            model.partial_fit(X, y, classes=np.arange(10))

    return _measured(fit) | {"accuracy": 100 * model.score(X_test, y_test)}


def digits_alone(options):
    """The rows themselves."""
    source, *_ = _digits(options.rows)
    return _measured(lambda: [None for _ in source])


def covertype(options):
    """LDKL, the table in a Parquet file or in memory."""
    tree = LDKLClassifier(9, max_iter=options.epochs, random_state=options.seed)
    return _on_table(options, make_pipeline(StandardScaler(), tree), fit_pipeline)


def sapl(options):
    """LLC-SAPL, the table in a Parquet file."""
    anchors = LLCSAPLClassifier(TABLE_ANCHORS, max_iter=options.epochs, random_state=options.seed)
    return _on_table(options, make_pipeline(StandardScaler(), anchors), fit_pipeline)


def forest(options):
    """A local forest, the same."""
    model = LocalForestClassifier(**_FOREST, random_state=options.seed)
    return _on_table(options, model, LocalForestClassifier.fit)


def _on_table(options, model, fit_source):
    X, y, X_test, y_test = _covertype(options.rows)
    if options.case.endswith("_arrays"):
        spent = _measured(lambda: model.fit(X, y))
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "covertype.parquet"
            _write(X, y, path)
            source = from_tables(path, "label", block_rows=options.block_rows)
            del X, y
            spent = _measured(lambda: fit_source(model, source))
    return spent | {"accuracy": 100 * model.score(X_test, y_test)}


def front(options):
    """The front door, the table in a Parquet file or in memory."""
    model = NearLinearClassifier(**_FRONT, random_state=options.seed)
    if options.case == "front_arrays":
        X, y, *_ = _covertype(options.rows)
        spent = _measured(lambda: model.fit(X, y))
    else:
        nearlinear.set_config(max_memory=options.memory)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "covertype.parquet"
            # in a process of its own: the rows are not to be in the memory of this one
            _apart(_write_covertype, options.rows, path)
            source = from_tables(path, "label", block_rows=options.block_rows)
            spent = _measured(lambda: model.fit(source))
    *_, X_test, y_test = _covertype(options.rows)
    chosen = next(one for one in model.record_ if one["is_chosen"])
    told = {name: chosen[name] for name in ("model", "fitted_to", "times_linear")}
    return spent | told | {"accuracy": 100 * model.score(X_test, y_test)}


def raw(options):
    """A raw table by the command line: fitted to, then predicted; held-out rows are others."""
    with tempfile.TemporaryDirectory() as folder:
        path, new, model, answers = (
            str(Path(folder) / name) for name in ("big.parquet", "new.parquet", "m.nlm", "new.csv")
        )
        _apart(write_customers, options.rows, path)
        _apart(write_customers, _RAW_NEW, new, 1_000_000)
        told = {"file": Path(path).stat().st_size}
        for name, words in {
            "fit": ["fit", path, "--target", TARGET, "--out", model, *_RAW],
            "predict": ["predict", model, path, "--out", answers],
            "new": ["predict", model, new, "--out", answers, "--force"],
        }.items():
            told[name] = _apart(_command, words)
        wanted = read_table(new, columns=[TARGET]).to_pandas()[TARGET]
        found = read_csv(answers)
        right = found[found.columns[-1]].to_numpy() == wanted.to_numpy()
        return told | {"accuracy": 100 * right.mean()}


def _command(words):
    return _measured(lambda: cli.main(words))


def _apart(function, *arguments):
    """What a function gives in a process of its own, which has its own memory."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


CASES = {
    "raw": raw,
    "front_blocks": front,
    "front_arrays": front,
    "forest_blocks": forest,
    "forest_arrays": forest,
    "digits": digits,
    "digits_sgd": digits_sgd,
    "digits_alone": digits_alone,
    "covertype_blocks": covertype,
    "covertype_arrays": covertype,
    "sapl_blocks": sapl,
}


def _digits(n_rows, block_rows=None):
    found = datasets.read("mnist")
    images = found["X_train"].reshape(-1, 28, 28).astype(np.float32)
    images /= 255.0
    source = deformed_images(images, found["y_train"], n_rows, block_rows=block_rows)
    return source, found["X_test"].astype(np.float32) / 255.0, found["y_test"]


def _covertype(n_rows):
    split = datasets.load("covertype")
    if n_rows < len(split.y_train):
        split = split.limited(train_rows=n_rows)
    return (
        split.X_train.astype(np.float32), split.y_train,
        split.X_test.astype(np.float32), split.y_test,
    )  # fmt: skip


def _write_covertype(n_rows, path):
    X, y, *_ = _covertype(n_rows)
    _write(X, y, path)


def _write(X, y, path):
    import pandas

    frame = pandas.DataFrame(X, columns=[f"x{number}" for number in range(X.shape[1])])
    frame["label"] = y
    frame.to_parquet(path, row_group_size=10_000)


def _measured(work):
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {
        "seconds": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "peak": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.blocks_child")
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--block-rows", type=int, default=None)
    parser.add_argument("--memory", type=float, default=1e9, help="max_memory of a search")
    parser.add_argument("--epochs", type=int, default=_TABLE_EPOCHS, help="of trees and anchors")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    print(json.dumps({"rows": options.rows, **CASES[options.case](options)}))


if __name__ == "__main__":
    main()
