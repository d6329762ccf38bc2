"""Training MLLKM: few rows in a second, tens of thousands in minutes and little memory."""

import argparse
import json
import sys
import time
import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.bench_fit import GIGABYTE, in_child
from benchmarks.kernel_fit_child import measured
from benchmarks.quiet import best_of, disturbance, say_load, timed
from benchmarks.report import FOLDER, Result, publish
from benchmarks.shapes import drawn
from nearlinear import MLLKMClassifier
from nearlinear.kernels.row_scales import RowScales
from reproduce import datasets
from reproduce.protocol import one_thread
from reproduce.split import Split

# Training rows, test rows, features.
SHAPES = {
    "ionosphere": (246, 105, 34),
    "ijcnn1": (49990, 91701, 22),
    "covertype": (100_000, 100_000, 54),
}
SMOKE_ROWS = 150


def mllkm_split(name, smoke=False):
    """Two classes, standardized by the training part; seed 0 draws what has no split of its own."""
    n_train, n_test, n_features = SHAPES[name]
    if smoke:
        n_train = n_test = SMOKE_ROWS
    if not datasets.is_available(name):
        X, y = drawn(n_train + n_test, n_features, n_classes=2)
        return Split(name, X[:n_train], y[:n_train], X[n_train:], y[n_train:])
    in_whole = None if datasets.has_own_split(name) else n_train
    split = datasets.load(name, seed=0, scaling="standard", train_rows=in_whole)
    return split.limited(n_train, n_test)


def origin(name):
    """A word on the rows, if they are not the real ones."""
    return "" if datasets.is_available(name) else ", drawn rows of this shape"


def warm_up(n_jobs, dtype="float32"):
    """Compile what fits of few rows, of more and of a sample need."""
    for n_rows, selection_rows in ((300, None), (5000, 2500)):
        model = MLLKMClassifier(n_anchors=20, selection_rows=selection_rows, n_jobs=n_jobs)
        X, y = drawn(n_rows, 4, n_classes=2)
        model.fit(X.astype(dtype), y).predict(X.astype(dtype))


def fit_case(arguments):
    """Fit one case in this process and print seconds and memory as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_mllkm_fit")
    parser.add_argument("name", choices=SHAPES)
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    parser.add_argument("--smoke", action="store_true", help="a few rows")
    options = parser.parse_args(arguments)
    split = mllkm_split(options.name, options.smoke)
    warm_up(options.jobs)
    model = MLLKMClassifier(n_jobs=options.jobs, random_state=0)
    start = time.process_time()
    took = measured(lambda: model.fit(split.X_train, split.y_train))[1]
    took["cpu_seconds"] = time.process_time() - start
    took |= {
        "accuracy": 100 * model.score(split.X_test, split.y_test),
        "train_accuracy": 100 * model.score(split.X_train, split.y_train),
        "n_rows": len(split.y_train),
        "n_kernels": model.n_kernels_,
        "n_priced": model.n_priced_,
        "gap": model.duality_gap_ / model.objective_,
        "rounds": model.n_iter_,
    }
    print(json.dumps(took))


THREADS = 2
SMALL_SECONDS = 1.0


@dataclass(frozen=True)
class Case:
    """A set to train on with default parameters, and what is asked for."""

    name: str
    most_seconds: float
    most_gigabytes: float | None = None
    least_accuracy: float | None = None


CASES = (
    Case("ijcnn1", most_seconds=300, most_gigabytes=2, least_accuracy=97.5),
    Case("covertype", most_seconds=900),
)


def small_models(X):
    """C of the kernels as we scale them, and the paper's: neither scaled nor helped by a bias."""
    unit = RowScales(X).squared_distance
    return {
        "C 100": MLLKMClassifier(C=100.0),
        "C 100 as published": MLLKMClassifier(C=100.0 * unit, length_exponent=0.0, bias="none"),
    }


def on_few_rows(smoke):
    """Seconds of the processor: a fit of hundredths of a second has no use for a second thread."""
    split = mllkm_split("ionosphere", smoke)
    for dtype in ("float32", "float64"):
        part = split.cast(dtype)
        X, y = part.X_train, part.y_train
        models = small_models(X)
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warm_up(n_jobs=1, dtype=dtype)
            fits = {name: partial(model.fit, X, y) for name, model in models.items()}
            took = best_of(fits, repeats=1 if smoke else 5, key="cpu_seconds")
        for name, model in models.items():
            title = f"ionosphere {dtype}, {len(y)} rows, {model.n_priced_} candidates, {name}"
            accuracy = 100 * model.score(part.X_test, part.y_test)
            note = f"{took[name].seconds:.2f} s by the clock, " + _fitted(
                model.n_kernels_, model.duality_gap_ / model.objective_, model.n_iter_
            )
            note += f", test accuracy {accuracy:.1f} %{origin('ionosphere')}"
            seconds = took[name].cpu_seconds
            yield Result(title, "MLLKM.fit, CPU", seconds, "s", target=SMALL_SECONDS, note=note)


def on_many_rows(case, smoke):
    """One fit in a process of its own, on two threads."""
    print(f"  {case.name} ...", flush=True)
    arguments = [case.name, "--jobs", str(THREADS)] + ["--smoke"] * smoke
    run = timed(
        lambda: in_child(*arguments, n_threads=THREADS, module="benchmarks.bench_mllkm_fit")
    )
    took = run.value
    title = f"{case.name}, {took['n_rows']} rows, threads: {THREADS}"
    note = _fitted(took["n_kernels"], took["gap"], took["rounds"]) + origin(case.name)
    note += disturbance(run.others)
    yield Result(title, "MLLKM.fit", took["seconds"], "s", target=case.most_seconds, note=note)
    yield Result(title, "MLLKM.fit, CPU", took["cpu_seconds"], "s")
    beyond = took["beyond_data"] / GIGABYTE
    note = f"peak of the process {took['peak'] / GIGABYTE:.2f} GB"
    yield Result(
        title, "memory beyond the data", beyond, "GB", target=case.most_gigabytes, note=note
    )
    is_asked = datasets.is_available(case.name) and not smoke
    yield Result(
        title,
        "test accuracy",
        took["accuracy"],
        "%",
        target=case.least_accuracy if is_asked else None,
        at_least=True,
        note=f"training rows {took['train_accuracy']:.2f} %",
    )


def _fitted(n_kernels, gap, rounds):
    return f"{n_kernels} kernels, {rounds} rounds, gap {np.format_float_scientific(gap, 1)}"


def run(smoke=False, folder=FOLDER):
    say_load()
    results = list(on_few_rows(smoke))
    for case in CASES:
        results += on_many_rows(case, smoke)
    return results


if __name__ == "__main__":
    if sys.argv[1:]:  # one fit in a process of its own, to measure its memory
        fit_case(sys.argv[1:])
    else:
        publish("mllkm_fit", run())
