"""All benchmarks, one table: ``python -m benchmarks [predict fit scaling import]``."""

import argparse
from importlib import import_module

from benchmarks.report import save, show

NAMES = ("import", "predict", "fit", "scaling")

parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
parser.add_argument("names", nargs="*", choices=NAMES, default=NAMES)
results = []
for name in parser.parse_args().names:
    print(f"running {name} ...", flush=True)
    found = import_module(f"benchmarks.bench_{name}").run()
    save(name, found)
    results += found
show(results)
