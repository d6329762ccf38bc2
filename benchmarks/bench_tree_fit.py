"""Training trees: seconds, memory beyond the data, and how both grow with the rows."""

import argparse
import json
import sys
from dataclasses import dataclass

import numpy as np

from benchmarks.bench_fit import GIGABYTE, in_child, measured_fit
from benchmarks.bench_scaling import exponent
from benchmarks.report import FOLDER, Result, publish
from benchmarks.shapes import drawn
from reproduce import datasets
from reproduce.ldkl.methods import STUDY
from reproduce.split import Split
from reproduce.written_out import ldkl_classifier


def fit_case(arguments):
    """Fit one case in this process and print seconds and memory as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_tree_fit")
    parser.add_argument("name")
    parser.add_argument("--share", type=float, default=1.0, help="of the training rows")
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    parser.add_argument("--smoke", action="store_true", help="a few rows and epochs")
    options = parser.parse_args(arguments)
    split, _ = tree_split_of(options.name, options.smoke)
    if options.share < 1:
        split = split.limited(train_rows=int(options.share * len(split.y_train)))
    parameters = tree_parameters(options.name) | {"n_jobs": options.jobs}
    if options.smoke:
        parameters |= {"depth": 2, "max_iter": 2}
    # Compiled passes are loaded before the clock and the memory are read.
    warm = ldkl_classifier(**parameters | {"depth": 2, "max_iter": 2})
    small = drawn(600, 4, n_classes=2)
    warm.fit(*small).predict(small[0])
    model = ldkl_classifier(**parameters, random_state=0)
    parts = split.X_train, split.y_train, split.X_test, split.y_test
    measured = measured_fit(model, *parts)
    print(json.dumps(measured | {"depth": model.predictor_.depth, "epochs": model.n_iter_}))


# Training rows, test rows, features.
SHAPES = {
    "ijcnn1": (49990, 91701, 22),
    "letter_halves": (12000, 8000, 16),
    "magic04": (14226, 4794, 10),
    "covertype": (522910, 58102, 54),
}
SMOKE_ROWS = {"train_rows": 600, "test_rows": 300}


def tree_split_of(name, smoke=False):
    """Rows of this set with labels 0 and 1, and whether they are the real ones."""
    is_real = datasets.is_available(name)
    if is_real:
        split = STUDY.load_split(name, seed=0)
        labels = (split.y_train > 0).astype(int), (split.y_test > 0).astype(int)
        # Rows in one piece: no model pays for another's favorite order.
        X_train, X_test = map(np.ascontiguousarray, (split.X_train, split.X_test))
        split = Split(name, X_train, labels[0], X_test, labels[1])
    else:
        n_train, n_test, n_features = SHAPES[name]
        X, y = drawn(n_train + n_test, n_features, n_classes=2)
        split = Split(name, X[:n_train], y[:n_train], X[n_train:], y[n_train:])
    return (split.limited(**SMOKE_ROWS) if smoke else split), is_real


def tree_parameters(name):
    """As the reproduction of the paper chose them on a part of the training rows."""
    return STUDY.parameters_for("ldkl", name)


SHARES = (0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Case:
    """A set to train on; seconds and gigabytes are what is asked for at most."""

    name: str
    n_threads: int
    most_seconds: float
    most_gigabytes: float | None = None


CASES = (
    Case("ijcnn1", n_threads=1, most_seconds=30),
    Case("covertype", n_threads=2, most_seconds=360, most_gigabytes=1),
)


def fit_in_child(case, share, smoke):
    print(f"  {case.name}, {share:.0%} of the training rows ...", flush=True)
    arguments = [case.name, "--share", str(share), "--jobs", str(case.n_threads)]
    arguments += ["--smoke"] if smoke else []
    return in_child(*arguments, n_threads=case.n_threads, module="benchmarks.bench_tree_fit")


def results_for(case, smoke):
    took = [fit_in_child(case, share, smoke) for share in SHARES]
    whole = took[-1]
    title = f"{case.name}, {whole['n_rows']} rows, threads: {case.n_threads}"
    note = f"depth {whole['depth']}, {whole['epochs']} epochs, "
    if datasets.is_available(case.name):
        note += f"accuracy {whole['accuracy']:.2f} %"
    else:
        note += "drawn rows of this shape"
    yield Result(title, "LDKL.fit", whole["seconds"], "s", target=case.most_seconds, note=note)
    beyond = whole["beyond_data"] / GIGABYTE
    yield Result(title, "memory beyond the data", beyond, "GB", target=case.most_gigabytes)
    sizes = [part["n_rows"] for part in took]
    power = exponent(sizes, [part["seconds"] for part in took])
    note = ", ".join(f"{part['seconds']:.1f} s" for part in took)
    yield Result(title, "exponent of seconds in rows", power, target=1.1, note=note)
    megabytes = ", ".join(f"{part['beyond_data'] / 1e6:.0f} MB" for part in took)
    growth = (took[-1]["beyond_data"] - took[0]["beyond_data"]) / (sizes[-1] - sizes[0])
    yield Result(title, "memory for each further row", growth, "bytes", note=megabytes)


def run(smoke=False, folder=FOLDER):
    return [result for case in CASES for result in results_for(case, smoke)]


if __name__ == "__main__":
    if sys.argv[1:]:  # one fit in a process of its own, to measure its memory
        fit_case(sys.argv[1:])
    else:
        publish("tree_fit", run())
