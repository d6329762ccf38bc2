"""All benchmarks, one table.

``python -m benchmarks predict fit`` runs some of them; ``tree`` stands for the three of the trees.
"""

import argparse
import tempfile
from importlib import import_module
from pathlib import Path

from benchmarks.report import FOLDER, save, show

TREES = ("tree_predict", "tree_fit", "tree_front")
NAMES = ("import", "predict", "fit", "scaling", *TREES)

parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
parser.add_argument("names", nargs="*", choices=(*NAMES, "tree"), help="default: all")
parser.add_argument(
    "--smoke", action="store_true", help="trees only: a few rows, results to a temporary folder"
)
options = parser.parse_args()
# No default for argparse: before Python 3.12 it would look for the whole tuple among the choices.
asked = options.names or (TREES if options.smoke else NAMES)
names = [part for name in asked for part in (TREES if name == "tree" else (name,))]
if options.smoke and not set(names) <= set(TREES):
    parser.error(f"--smoke is for {', '.join(TREES)}")
folder = Path(tempfile.mkdtemp(prefix="nearlinear-bench-")) if options.smoke else FOLDER
results = []
for name in dict.fromkeys(names):
    print(f"running {name} ...", flush=True)
    settings = {"smoke": options.smoke, "folder": folder} if name in TREES else {}
    found = import_module(f"benchmarks.bench_{name}").run(**settings)
    save(name, found, folder)
    results += found
show(results)
if options.smoke:
    print(f"written to {folder}")
