"""Run the paper's comparison.

python -m reproduce.lmkr.run               everything that is not there yet
python -m reproduce.lmkr.run --dataset concrete --method lmkl svr
python -m reproduce.lmkr.run --smoke       a few hundred rows, in a temporary folder

Parameters are chosen on the halves of the training part that validate (results/validation.csv).
With them every half trains a machine that the test part tries (results/rows.csv). Rows that are
there are kept. The tables are written again at the end.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from reproduce import datasets, protocol
from reproduce.lmkr import choice, figures, tables
from reproduce.lmkr.choice import Halves
from reproduce.lmkr.methods import STUDY
from reproduce.protocol import RowStore, linear_yardstick
from reproduce.running import is_weak, refuse_weak, run_method


def measure(model, split, yardstick=None):
    """All columns of a row; of local machines also how much of them a row meets."""
    row = protocol.measure(model, split, yardstick)
    if hasattr(model, "component_share_"):
        row["support_per_kernel"] = float(np.mean(model.n_support_per_component_))
        row["kernels_per_row"] = float(np.sum(model.component_share_))
    return row


def run_method_on(folder, halves, method, base, grid, rules):
    """Choose, then measure every half; the rows."""
    chosen = choice.choose(choice.store_in(folder), halves, method, base, grid, rules)
    store = RowStore(folder / "rows.csv", STUDY.measured)
    rows = []
    for number in range(len(halves)):
        split = halves.testing(number)
        yardstick = linear_yardstick(split)
        rows.append(
            run_method(STUDY, store, method, chosen, split, number, yardstick, measure=measure)
        )
    return rows


def run_dataset(folder, dataset, methods):
    halves = Halves(STUDY.load_split(dataset, seed=0), STUDY.config["halvings"])
    for method in methods:
        base, grid = STUDY.base_for(method, dataset), choice.grid_for(method, dataset)
        run_method_on(folder, halves, method, base, grid, choice.rules_for(dataset))


def smoke(folder):
    """All methods with small grids, tables and figures."""
    small = STUDY.config["smoke"]
    split = datasets.friedman(160, 100)
    halves = Halves(split, small["halvings"])
    weak = []
    for method in STUDY.methods:
        grid = {
            name: values[:2] for name, values in STUDY.config["methods"][method]["grid"].items()
        }
        grid |= {name: small[name] for name in ("epsilon", "C")}
        base = STUDY.config["methods"][method]["common"]
        for row in run_method_on(folder, halves, method, base, grid, small["choice"]):
            if is_weak(row, halves.testing(0)):
                weak.append(f"{method} on {split.name}: MSE {row['mse']:.4g}")
    tables.write(folder)
    figures.smoke(folder)
    refuse_weak(weak)


def main(arguments=None):
    known = STUDY.config["datasets"]
    parser = argparse.ArgumentParser(
        prog="python -m reproduce.lmkr.run",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--dataset", nargs="+", choices=known, default=list(known))
    parser.add_argument("--method", nargs="+", choices=STUDY.methods, default=STUDY.methods)
    parser.add_argument("--results", type=Path, default=STUDY.results, help="folder to write to")
    parser.add_argument("--smoke", action="store_true", help="small data, a temporary folder")
    options = parser.parse_args(arguments)
    if options.smoke:
        with tempfile.TemporaryDirectory() as name:
            smoke(Path(name))
        return 0
    try:
        for dataset in options.dataset:
            run_dataset(options.results, dataset, options.method)
            tables.write(options.results)
    except datasets.DatasetError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
