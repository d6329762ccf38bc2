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
import json
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC

from nearlinear import MLLKMClassifier
from reproduce import datasets
from reproduce.comparison import formatted, markdown_table, mean_and_spread
from reproduce.ldkl import methods as ldkl
from reproduce.ldkl.baselines import boosted_trees
from reproduce.protocol import RowStore, measure, measure_once
from reproduce.report import limited_rows, save, shown_datasets
from reproduce.running import refuse_weak, run_method, run_smoke
from reproduce.study import Study
from reproduce.tuning import chosen_parameters, per_seed_store, tune
from reproduce.written_out import ldkl_classifier, llc_sapl_classifier

BORROWED_FROM = {"ldkl": ldkl.STUDY}
MAKERS = {
    "mllkm": MLLKMClassifier,
    "ldkl": ldkl_classifier,
    "llc_sapl": llc_sapl_classifier,
    "linear": LinearSVC,
    "kernel": SVC,
    "mlp": MLPClassifier,
    **{name: maker for name, maker in boosted_trees()[0].items() if name == "lightgbm"},
}
TITLES = {
    "mllkm": "MLLKM, Gaussian",
    "ldkl": "LDKL",
    "llc_sapl": "LLC-SAPL",
    "linear": "Linear SVM",
    "kernel": "RBF-SVM",
    "mlp": "MLP",
    "lightgbm": "LightGBM",
}
MEASURED = (
    "accuracy",
    "fit_seconds",
    "fit_bytes",
    "predict_us_per_row",
    "times_linear",
    "n_kernels",
    "n_support",
    "model_bytes",
    "n_train",
    "n_test",
    "version",
)


def borrow(method, parameters, dataset):
    """What the study named by ``as_in`` chose for this set, overruled by all else."""
    own = {name: value for name, value in parameters.items() if name != "as_in"}
    if "as_in" not in parameters:
        return own
    return BORROWED_FROM[parameters["as_in"]].parameters_for(method, dataset) | own


STUDY = Study(
    folder=Path(__file__).parent,
    section="large",
    makers=MAKERS,
    titles=TITLES,
    deterministic=frozenset({"linear", "kernel", "lightgbm"}),
    complete=borrow,
    measured=MEASURED,
)


ROWS = "large_rows.csv"
MEGABYTE = 1e6


def latest_rows(path):
    """Rows by (method, dataset), the last of each seed."""
    latest = {}
    for row in RowStore(path, STUDY.measured).rows():
        latest[row["method"], row["dataset"], row["seed"]] = row
    cells = {}
    for (method, dataset, _), row in latest.items():
        cells.setdefault((method, dataset), []).append(row)
    return cells


def lines_of(cells):
    """One line per method and set, means over seeds."""
    for dataset in shown_datasets(STUDY, cells):
        for method in TITLES:
            if rows := cells.get((method, dataset)):
                yield {"dataset": dataset, "method": method} | _columns(rows)


def _columns(rows):
    def mean(name, unit=1.0):
        return mean_and_spread([row[name] for row in rows])[0] / unit

    accuracy, spread = mean_and_spread([row["accuracy"] for row in rows])
    return {
        "measured": accuracy,
        "measured_spread": spread,
        "seeds": len(rows),
        "fit_seconds": mean("fit_seconds"),
        "fit_megabytes": mean("fit_bytes", MEGABYTE),
        "us_per_row": mean("predict_us_per_row"),
        "times_linear": mean("times_linear"),
        "model_bytes": mean("model_bytes"),
        "n_kernels": mean("n_kernels"),
        "n_support": mean("n_support"),
        "n_train": rows[0]["n_train"],
        "n_test": rows[0]["n_test"],
        "parameters": json.dumps(rows[-1]["parameters"], sort_keys=True),
    }


def overview(lines):
    """Methods by data sets: accuracy, and below it what prediction and fit cost."""
    found = {(line["method"], line["dataset"]): line for line in lines}
    names = list(dict.fromkeys(line["dataset"] for line in lines))
    body = [
        [title] + [_cell(found.get((method, name))) for name in names]
        for method, title in TITLES.items()
    ]
    heading = "accuracy (%)<br>prediction, × linear SVM; fit, s; memory of the fit, MB"
    return markdown_table([heading, *names], body)


def _cell(line):
    if line is None:
        return "–"
    accuracy = formatted(line["measured"], line["measured_spread"])
    costs = (f"{line['times_linear']:.1f} ×", f"{line['fit_seconds']:.3g} s")
    return f"{accuracy}<br>{'; '.join(costs)}; {line['fit_megabytes']:.0f} MB"


def write(folder):
    """Write large.csv and large.md from the rows in ``folder``."""
    lines = list(lines_of(latest_rows(folder / ROWS)))
    summary = overview(lines) + limited_rows(STUDY) + "\n"
    save(folder, "large", "Larger sets: accuracy, training and prediction", lines, summary)


TUNING = "large_tuning.csv"


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
    write(folder)
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
            write(options.results)
    except datasets.DatasetError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
