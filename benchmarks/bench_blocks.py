"""Fits to rows in blocks: a million deformed digits in one pass, and a table in blocks and whole.

Seconds are those of the processor, of all threads.
"""

from benchmarks.bench_fit import GIGABYTE, in_child
from benchmarks.report import FOLDER, Result
from reproduce import datasets

_MODULE = "benchmarks.blocks_child"


def child(case, rows, *more):
    print(f"  {case}, {rows:,} rows ...", flush=True)
    return in_child(case, "--rows", str(rows), *more, n_threads=1, module=_MODULE)


def digits(n_rows):
    case = f"{n_rows:,} deformed MNIST digits, one pass"
    took, sgd = (child(name, n_rows) for name in ("digits", "digits_sgd"))
    alone = child("digits_alone", n_rows // 5)
    yield Result(case, "accuracy on the MNIST test set", took["accuracy"], "%", 98.2, True,
                 note=f"SGDClassifier {sgd['accuracy']:.2f} %")  # fmt: skip
    yield Result(case, "peak memory of the process", took["peak"] / GIGABYTE, "GB", 1.5)
    rate = n_rows / took["seconds"]
    note = "with the survey, which makes all rows once more"
    yield Result(case, "rows a second, LLC-SAPL with 100 anchors", rate, note=note)
    yield Result(case, "rows a second, SGDClassifier", n_rows / sgd["seconds"])
    yield Result(case, "rows a second, made and not learned", alone["rows"] / alone["seconds"])


def covertype(n_rows):
    blocks = child("covertype_blocks", n_rows, "--block-rows", str(min(50_000, n_rows // 4)))
    arrays = child("covertype_arrays", n_rows)
    case = "covertype as Parquet, LDKL, 15 epochs"
    lost, note = arrays["accuracy"] - blocks["accuracy"], f"{blocks['accuracy']:.2f} % in blocks"
    yield Result(case, "points below the fit in memory", lost, target=0.2, note=note)
    for name, found in (("in blocks", blocks), ("in memory", arrays)):
        yield Result(case, f"fit, {name}", found["seconds"], "s")


def forest(n_rows):
    rows = min(200_000, n_rows // 4)
    blocks = child("forest_blocks", n_rows, "--block-rows", str(rows))
    arrays = child("forest_arrays", n_rows)
    case = f"covertype as Parquet, local forest, 100 trees of 31 leaves, blocks of {rows:,} rows"
    lost, note = arrays["accuracy"] - blocks["accuracy"], f"{blocks['accuracy']:.2f} % in blocks"
    yield Result(case, "points below the fit in memory", lost, target=0.2, note=note)
    for name, found in (("in blocks", blocks), ("in memory", arrays)):
        yield Result(case, f"fit, {name}", found["seconds"], "s")
        yield Result(case, f"peak memory, {name}", found["peak"] / GIGABYTE, "GB")


def front(n_rows):
    rows = min(20_000, n_rows // 6)
    arrays = child("front_arrays", n_rows)
    case = "covertype as Parquet, front door of decision trees and hinge units within 20 × linear"
    found = {"in memory": arrays}
    for memory in (1, 2):
        words = "--block-rows", str(rows), "--memory", f"{memory}e9"
        blocks = found[f"in blocks, max_memory {memory} GB"] = child("front_blocks", n_rows, *words)
        lost, quantity = arrays["accuracy"] - blocks["accuracy"], "points below the fit in memory"
        note = f"{blocks['accuracy']:.2f} % in blocks of {rows:,} rows"
        target = 0.2 if memory == 2 else None
        yield Result(case, f"{quantity}, {memory} GB", lost, target=target, note=note)
    for name, one in found.items():
        yield Result(case, f"fit, {name}", one["seconds"], "s", note=one["model"])
        yield Result(case, f"peak memory, {name}", one["peak"] / GIGABYTE, "GB")


def raw(n_rows):
    took = child("raw", n_rows)
    case = f"{n_rows:,} raw rows of 10 columns as Parquet, nearlinear fit --max-memory 500MB"
    note = f"{took['file'] / 1e6:.0f} MB of Parquet"
    yield Result(case, "accuracy on new rows", took["accuracy"], "%", note=note)
    for name in ("fit", "predict"):
        yield Result(case, f"{name}, processor", took[name]["seconds"], "s")
        yield Result(case, f"{name}, peak memory", took[name]["peak"] / GIGABYTE, "GB")


def run(smoke=False, folder=FOLDER):
    found = list(raw(20_000 if smoke else 2_000_000))
    if datasets.is_available("mnist"):
        found += digits(40_000 if smoke else 1_000_000)
    if datasets.is_available("covertype"):
        found += covertype(20_000 if smoke else 1_000_000)
        found += forest(20_000 if smoke else 1_000_000)
        found += front(20_000 if smoke else 1_000_000)
    return found
