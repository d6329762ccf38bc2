"""Table 1's errors once more, averaged over several draws of the test third.

    python -m reproduce.lmkr.draws             what is not there yet, then the table
    python -m reproduce.lmkr.draws --dataset boston_housing

The paper draws its test third once, and its numbers hang on that draw: a few outliers more or less
change the error of every method by a fifth. Here every draw chooses its parameters anew, on its own
training part, from the candidates of ``draws`` in config.toml: those around what the first draw's
halves chose. Writes results/draws_rows.csv and draws.md.
"""

import argparse
import sys

import numpy as np

import nearlinear
from reproduce.comparison import markdown_table, mean_and_spread
from reproduce.lmkr.choice import Halves
from reproduce.lmkr.methods import STUDY
from reproduce.lmkr.tables import PRINTED_AS
from reproduce.protocol import RowStore
from reproduce.report import NOTHING, printed
from reproduce.tuning import candidates

FILE = "draws_rows.csv"
MEASURED = ("mse", "support", "local_support", "validation", "n_train", "n_test", "version")


def errors(method, parameters, splits):
    """Means over splits: squared error, support vectors (%), those of one kernel (%)."""
    found = []
    for number, split in enumerate(splits):
        seeded = {"random_state": number} if method.startswith("lmkl") else {}
        model = STUDY.regressors[method](**parameters, **seeded)
        model.fit(split.X_train, split.y_train)
        error = np.mean((model.predict(split.X_test) - split.y_test) ** 2)
        n_support = np.sum(model.n_support_)
        of_one_kernel = np.mean(getattr(model, "n_support_per_component_", n_support))
        share = 100 / len(split.y_train)
        found.append((error, share * n_support, share * of_one_kernel))
    return np.mean(found, axis=0)


def measure_draw(dataset, method, draw, grid):
    """Choose on the halves that validate, then try the ten halves on the test third."""
    halves = Halves(STUDY.load_split(dataset, seed=draw), STUDY.config["halvings"])
    base = STUDY.base_for(method, dataset)
    rules, everyone = STUDY.config["draws"], range(len(halves))
    few = [halves.validating(number) for number in range(rules["coarse"])]
    tried = [
        (errors(method, base | values, few)[0], number, base | values)
        for number, values in enumerate(candidates(grid))
    ]
    best = sorted(tried)[: rules["most"]]
    parts = [halves.validating(number) for number in everyone]
    validation, _, chosen = min(
        (errors(method, parameters, parts)[0], number, parameters) for _, number, parameters in best
    )
    tests = [halves.testing(number) for number in everyone]
    split = tests[0]
    return chosen, dict(
        zip(("mse", "support", "local_support"), errors(method, chosen, tests), strict=True)
    ) | {
        "validation": validation,
        "n_train": len(split.y_train),
        "n_test": len(split.y_test),
        "version": nearlinear.__version__,
    }


def run(folder, datasets, methods):
    store = RowStore(folder / FILE, MEASURED)
    config = STUDY.config["draws"]
    for dataset in datasets:
        for method in methods:
            grid = config["grids"][dataset] | config["grids"][method]
            for draw in range(config["draws"]):
                key = {"dataset": dataset, "method": method, "seed": draw}
                if any(all(row[k] == v for k, v in key.items()) for row in store.rows()):
                    continue
                chosen, measured = measure_draw(dataset, method, draw, grid)
                store.get_or_add(key | {"parameters": chosen}, lambda found=measured: found)
                print(f"{dataset:15} {method:14} draw {draw}: {measured['mse']:.4f}", flush=True)
    write(folder)


def write(folder):
    """One line per set and method: the mean over draws beside print."""
    paper, lines = printed(STUDY), []
    rows = RowStore(folder / FILE, MEASURED).rows()
    for dataset in STUDY.config["datasets"]:
        for method in STUDY.config["draws"]["methods"]:
            mine = [r for r in rows if (r["dataset"], r["method"]) == (dataset, method)]
            if not mine:
                continue
            name = PRINTED_AS.get(method, method)
            wanted = paper.get(("mse", name, dataset), NOTHING)[0]
            mean, spread = mean_and_spread([row["mse"] for row in mine])
            lines.append(
                {
                    "dataset": dataset,
                    "method": STUDY.titles[method],
                    "draws": len(mine),
                    "mse": mean,
                    "spread over draws": spread,
                    "printed": wanted,
                    "times printed": mean / wanted,
                    "support %": np.mean([row["support"] for row in mine]),
                    "of one kernel %": np.mean([row["local_support"] for row in mine]),
                }
            )
    header = list(lines[0])
    shown = [[_shown(line[name]) for name in header] for line in lines]
    text = "# Mean squared error over draws of the test third\n\n" + markdown_table(header, shown)
    (folder / "draws.md").write_text(text, encoding="utf-8")


def _shown(value):
    return f"{value:.4g}" if isinstance(value, float) else value


def main(arguments=None):
    known = list(STUDY.config["datasets"])
    parser = argparse.ArgumentParser(prog="python -m reproduce.lmkr.draws")
    parser.add_argument("--dataset", nargs="+", choices=known, default=known)
    known = STUDY.config["draws"]["methods"]
    parser.add_argument("--method", nargs="+", choices=known, default=known)
    options = parser.parse_args(arguments)
    run(STUDY.results, options.dataset, options.method)
    return 0


if __name__ == "__main__":
    sys.exit(main())
