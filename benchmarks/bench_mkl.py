"""Ten Gaussian kernels: SimpleMKL's seconds and memory, and beside MKLpy's EasyMKL.

EasyMKL solves another problem (the largest margin at a given weight of the mean distance), so it
is a yardstick for cost. It is measured in the same run where NEARLINEAR_MKLPY_PYTHON names a
Python that has MKLpy (see ``mklpy_baseline``), else the figures of the last such run are shown.
"""

import json
import os
import subprocess
from pathlib import Path

from benchmarks.bench_fit import GIGABYTE, THREADS, in_child
from benchmarks.quiet import disturbance, say_load, timed
from benchmarks.report import FOLDER, Result, publish

VARIABLE = "NEARLINEAR_MKLPY_PYTHON"
BASELINE = Path(__file__).with_name("mklpy_baseline.py")
RECORD = "mklpy_baseline.json"
SOLVERS = ("reduced_gradient", "newton")
ROWS, ROWS_BESIDE = 4000, 2000
SMOKE_ROWS, SMOKE_ROWS_BESIDE = 300, 200


def ours(solver, n_rows, repeats):
    """The quickest of several fits, each in a process of its own, on two threads."""
    print(f"  {solver}, {n_rows} rows ...", flush=True)
    arguments = ["mkl", "--rows", str(n_rows), "--solver", solver, "--jobs", "2"]

    def fit():
        return in_child(*arguments, n_threads=2, module="benchmarks.kernel_fit_child")

    return quickest(fit, repeats, "seconds")


def theirs(n_rows, repeats):
    """The quickest fit of EasyMKL with its Gram matrices, and the versions used."""
    print(f"  EasyMKL, {n_rows} rows ...", flush=True)
    command = [os.environ[VARIABLE], str(BASELINE), "--rows", str(n_rows), "--repeats", "1"]
    environment = os.environ | dict.fromkeys(THREADS, "2")

    def fit():
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
        return json.loads(done.stdout.splitlines()[-1])

    return quickest(fit, repeats, "seconds_total")


def quickest(fit, repeats, key):
    """The best by the seconds that the child measured, without its imports."""
    runs = [timed(fit) for _ in range(repeats)]
    best = min(runs, key=lambda run: run.value[key])
    return best.value | {"others": best.others}


def alone(n_rows, repeats):
    title = f"{n_rows} rows, 10 Gaussian kernels, two threads"
    for solver in SOLVERS:
        took = ours(solver, n_rows, repeats)
        note = (
            f"C {took['C']:g}, gap {100 * took['gap']:.2f} %, {took['machines']} machines, "
            f"{took['in_use']} kernels in use, test accuracy {took['test_accuracy']:.1f} %"
        ) + disturbance(took["others"])
        name = f"SimpleMKL ({solver})"
        yield Result(title, f"{name}.fit", took["seconds"], "s", target=10, note=note)
        note = f"{took['beyond_data'] / GIGABYTE:.2f} GB of it beyond the data"
        peak = took["peak"] / GIGABYTE
        yield Result(title, f"{name}, peak of the process", peak, "GB", target=1, note=note)


def beside(n_rows, repeats, folder):
    if os.environ.get(VARIABLE):
        other, when = theirs(n_rows, repeats), "same run"
        (folder / RECORD).write_text(json.dumps(other) + "\n", encoding="utf-8")
    elif (folder / RECORD).exists():
        other, when = json.loads((folder / RECORD).read_text(encoding="utf-8")), "recorded earlier"
    else:
        print(f"  {VARIABLE} is not set and nothing is recorded: no EasyMKL")
        other = None
    if other and other["n_rows"] != n_rows:
        print(f"  the recorded EasyMKL had {other['n_rows']} rows, not {n_rows}: left out")
        other = None
    title = f"{n_rows} rows, 10 Gaussian kernels, two threads"
    if other:
        versions = other["versions"]
        note = (
            f"MKLpy {versions['MKLpy']}, torch {versions['torch']}, {when}; "
            f"{other['seconds_gram']:.2f} s of it Gram matrices, "
            f"test accuracy {other['test_accuracy']:.1f} %"
        ) + disturbance(other["others"])
        yield Result(title, "EasyMKL.fit with its matrices", other["seconds_total"], "s", note=note)
        peak = other["peak"] / GIGABYTE
        note = (
            f"{(other['peak'] - other['before_data']) / GIGABYTE:.2f} GB of it beyond the imports"
        )
        yield Result(title, "EasyMKL, peak of the process", peak, "GB", note=note)
    for solver in SOLVERS:
        took = ours(solver, n_rows, repeats)
        name = f"SimpleMKL ({solver})"
        note = (
            f"C {took['C']:g}, gap {100 * took['gap']:.2f} %, peak of the process "
            f"{took['peak'] / GIGABYTE:.2f} GB, test accuracy {took['test_accuracy']:.1f} %"
        ) + disturbance(took["others"])
        yield Result(title, f"{name}.fit", took["seconds"], "s", note=note)
        if other:
            ratio = took["seconds"] / other["seconds_total"]
            note = when + disturbance(max(took["others"], other["others"]))
            yield Result(title, f"{name}.fit / EasyMKL.fit", ratio, "×", note=note)


def run(smoke=False, folder=FOLDER):
    say_load()
    n_rows, n_beside = (SMOKE_ROWS, SMOKE_ROWS_BESIDE) if smoke else (ROWS, ROWS_BESIDE)
    repeats = 1 if smoke else 3
    return [*alone(n_rows, repeats), *beside(n_beside, repeats, folder)]


if __name__ == "__main__":
    publish("mkl", run())
