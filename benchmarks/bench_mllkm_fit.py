"""Training MLLKM: few rows in a second, tens of thousands in minutes and little memory."""

import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.bench_fit import GIGABYTE, in_child
from benchmarks.mllkm_fit_child import mllkm_split, origin, warm_up
from benchmarks.quiet import best_of, disturbance, say_load, timed
from benchmarks.report import FOLDER, Result, publish
from nearlinear import MLLKMClassifier
from nearlinear.kernels.row_scales import RowScales
from reproduce import datasets
from reproduce.protocol import one_thread

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
        lambda: in_child(*arguments, n_threads=THREADS, module="benchmarks.mllkm_fit_child")
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
    publish("mllkm_fit", run())
