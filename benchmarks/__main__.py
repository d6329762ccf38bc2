"""All benchmarks, one table.

``python -m benchmarks predict fit`` runs some of them; ``tree`` stands for the two of the trees,
``kernels`` for the four of the kernel machines, ``mllkm`` for the three of MLLKM, ``localized`` for
the three of the localized kernel machines, ``serving`` for single rows and the first prediction;
``python -m benchmarks defaults --only SVC --tables german`` measures a part of the small tables;
``python -m benchmarks drift`` says which sizes and times have moved since they were written down.
"""

import argparse
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from benchmarks.report import FOLDER, save, show

TREES = ("tree_predict", "tree_fit")
KERNELS = ("kernel_svm", "mkl", "sequential", "mwu")
MLLKM = ("mllkm_predict", "mllkm_fit", "mllkm_scaling")
LOCALIZED = ("localized_fit", "localized_a9a", "localized_memory")
SERVING = ("single_row", "start")
GROUPS = {
    "tree": TREES, "kernels": KERNELS, "mllkm": MLLKM, "localized": LOCALIZED, "serving": SERVING
}  # fmt: skip
# those that have a smoke run
ALONE = (
    "front", "explain", "defaults", "tables", "budgets",
    "cells", "from_forest", "encoders", "distill", "js", "sql", "deploy",
    "blocks", "dask", "gpu",
)  # fmt: skip
SMALL = (*ALONE, *TREES, *KERNELS, *MLLKM, *LOCALIZED, *SERVING)
NAMES = ("import", "predict", "fit", "scaling", "bundles", *SMALL)
DRIFT = "drift"  # no benchmark: it compares with what is written down

parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
parser.add_argument(
    "names", nargs="*", metavar="NAME", help=f"of {', '.join((*NAMES, *GROUPS))} (default: all)"
)
parser.add_argument(
    "--smoke", action="store_true", help="a few rows, results to a temporary folder"
)
parser.add_argument("--only", nargs="+", metavar="MODEL", help="defaults, front, dask, gpu: these")
parser.add_argument(
    "--tables",
    nargs="+",
    metavar="TABLE",
    help="defaults, cells, front, tables: these tables",
)
parser.add_argument(
    "--again",
    action="store_true",
    help="defaults, front: also the rows that are there already; drift: write the figures down",
)
parser.add_argument(
    "--seeds", nargs="+", type=int, metavar="SEED", help="front: 0 if none is given; tables: splits"
)
parser.add_argument("--rows", type=int, help="dask: rows of each set")
parser.add_argument("--every", type=float, help="dask: seconds between two kills of a worker")
parser.add_argument(
    "--targets", action="store_true", help="front: what was asked and measured, from recorded rows"
)
options = parser.parse_args()
# Checked here: before Python 3.12 argparse takes the empty list for one of the names.
if options.names == [DRIFT]:
    from benchmarks.drift import run

    sys.exit(not run(options.again))
if unknown := set(options.names) - {*NAMES, *GROUPS}:
    parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
asked = options.names or (SMALL if options.smoke else NAMES)
names = [part for name in asked for part in GROUPS.get(name, (name,))]
if options.smoke and not set(names) <= set(SMALL):
    parser.error(f"--smoke is for {', '.join(SMALL)}")
folder = Path(tempfile.mkdtemp(prefix="nearlinear-bench-")) if options.smoke else FOLDER
results = []
for name in dict.fromkeys(names):
    print(f"running {name} ...", flush=True)
    settings = {"smoke": options.smoke, "folder": folder} if name in SMALL else {}
    if name == "defaults":
        settings |= {"only": options.only, "tables": options.tables, "again": options.again}
    if name == "front":
        settings |= {"only": options.only, "tables": options.tables, "again": options.again}
        settings |= {"seeds": options.seeds, "targets": options.targets}
    if name in ("cells", "tables", "encoders", "distill"):
        settings |= {"tables": options.tables}
    if name == "budgets":
        settings |= {"tables": options.tables, "seeds": options.seeds}
    if name in ("distill", "dask", "gpu"):
        settings |= {"only": options.only}
    if name == "dask":
        settings |= {"rows": options.rows, "every": options.every}
    if name == "tables":
        settings |= {"only": options.only, "splits": options.seeds}
    found = import_module(f"benchmarks.bench_{name}").run(**settings)
    save(name, found, folder)
    results += found
show(results)
if options.smoke:
    print(f"written to {folder}")
