"""MLLKM on tens of thousands of rows, beside what one would take instead.

python -m reproduce.mllkm.large             everything that is not there yet
python -m reproduce.mllkm.large --dataset magic04 --method mllkm lightgbm
python -m reproduce.mllkm.large --smoke     a few hundred rows, in a temporary folder

Parameters are chosen on a held-out fifth of every seed's own training part, where the configuration
has a grid; candidates go to results/large_tuning.csv (``tuned_on`` is the seed). Every fit has a
process of its own, so that its memory can be told from everything else's. Rows go to
results/large_rows.csv; of several for one method, set and seed the last counts.
"""

import argparse
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from reproduce import datasets
from reproduce.mllkm import large_table
from reproduce.mllkm.large_methods import STUDY
from reproduce.protocol import RowStore, measure, measure_once
from reproduce.running import refuse_weak, run_method, run_smoke
from reproduce.tuning import chosen_parameters, per_seed_store, tune

ROWS, TUNING = large_table.ROWS, "large_tuning.csv"


def in_fresh_process(model, split, yardstick=None):
    """``measure``, with nothing in memory but the data and what the fit adds."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, model, split, yardstick).result()


def run_dataset(folder, dataset, methods, n_seeds):
    store = RowStore(folder / ROWS, STUDY.measured)
    tuning = per_seed_store(STUDY, folder / TUNING)
    for method in methods:
        for seed in STUDY.seeds_for(method, dataset, n_seeds):
            split = STUDY.load_split(dataset, seed)
            parameters = chosen_parameters(STUDY, split, method, tuning)
            part = STUDY.limited(split, method)
            run_method(STUDY, store, method, parameters, part, seed, measure=in_fresh_process)


def smoke(folder):
    """All methods on small data, one of them tuned."""
    split = datasets.digits(200, 100, halves=True)
    weak = run_smoke(STUDY, [split], folder, ROWS)
    store = RowStore(folder / ROWS, STUDY.measured)
    small = STUDY.config["smoke"]["mllkm"]
    grid = {"C": [3.0, 10.0]}
    values, _ = tune(STUDY, split, "mllkm", grid, per_seed_store(STUDY, folder / TUNING))
    run_method(STUDY, store, "mllkm", small | values, split, seed=2, measure=measure_once)
    large_table.write(folder)
    refuse_weak(weak)


def main(arguments=None):
    config = STUDY.config
    parser = argparse.ArgumentParser(
        prog="python -m reproduce.mllkm.large",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--dataset", nargs="+", choices=config["datasets"])
    parser.add_argument("--method", nargs="+", choices=STUDY.methods, default=STUDY.methods)
    parser.add_argument("--seeds", type=int, default=config["seeds"])
    parser.add_argument("--results", type=Path, default=STUDY.results, help="folder to write to")
    parser.add_argument("--smoke", action="store_true", help="small data, a temporary folder")
    options = parser.parse_args(arguments)
    if options.smoke:
        with tempfile.TemporaryDirectory() as name:
            smoke(Path(name))
        return 0
    try:
        for dataset in options.dataset or config["datasets"]:
            run_dataset(options.results, dataset, options.method, options.seeds)
            large_table.write(options.results)
    except datasets.DatasetError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
