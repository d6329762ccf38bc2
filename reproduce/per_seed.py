"""Parameters chosen anew on every seed's own training part, where the seed draws the split.

The choices of config.toml were made on the training part of seed 0, which holds rows that the other
seeds test on. Here every seed chooses on held-out fifths of its own training part and never reads
its test part. Candidates go to results/tuning_per_seed.csv (``tuned_on`` is the seed). Both choices
are fitted and tested by the same code, and stand side by side in results/per_seed.md.
"""

import argparse
import sys
from collections import Counter
from math import isnan, nan
from pathlib import Path

from reproduce.comparison import compare_rows, formatted, markdown_table, mean_and_spread
from reproduce.datasets import DatasetError, has_own_split
from reproduce.protocol import RowStore, linear_yardstick, measure, measure_once
from reproduce.report import NOTHING, accuracy_line, printed, save, shown_datasets
from reproduce.running import run_method
from reproduce.tuning import chosen_parameters, per_seed_store, tune

TUNING = "tuning_per_seed.csv"
ONCE, ANEW = "rows_tuned_on_seed_0.csv", "rows_tuned_per_seed.csv"
TABLE = "per_seed"


def drawn_datasets(study):
    """Sets whose test part is another one for every seed."""
    return [name for name in study.config["datasets"] if not has_own_split(name)]


def run_dataset(study, folder, dataset, methods, n_seeds):
    """Both choices of every method that has one, on every seed."""
    once, anew = (RowStore(folder / name, study.measured) for name in (ONCE, ANEW))
    store = per_seed_store(study, folder / TUNING)
    methods = [method for method in methods if method in study.methods_for(dataset)]
    for method in methods:
        if not study.is_tuned(method, dataset) or study.reason_to_skip(method, dataset):
            continue
        for seed in study.seeds_for(method, dataset, n_seeds):
            split = study.load_split(dataset, seed)
            part, yardstick = study.limited(split, method), linear_yardstick(split)
            choices = [
                (once, study.parameters_for(method, dataset)),
                (anew, chosen_parameters(study, split, method, store)),
            ]
            fit_both(study, choices, method, part, seed, yardstick)


def fit_both(study, choices, method, part, seed, yardstick=None, measure=measure):
    """A row for each choice; one fit is enough where they are the same."""
    (once, first), (anew, second) = choices
    row = run_method(study, once, method, first, part, seed, yardstick, measure)
    if first == second:
        anew.get_or_add(row, dict)
    run_method(study, anew, method, second, part, seed, yardstick, measure)


def latest_rows(study, path):
    """{(method, dataset): {seed: row}}; of several rows for one seed the last counts."""
    cells = {}
    for row in RowStore(path, study.measured).rows():
        cells.setdefault((row["method"], row["dataset"]), {})[row["seed"]] = row
    return cells


def once_rows(study, path):
    """As ``latest_rows``, without rows whose parameters are no longer the chosen ones."""
    return {
        (method, dataset): {
            seed: row
            for seed, row in rows.items()
            if dataset not in study.config["datasets"]
            or row["parameters"] == study.parameters_for(method, dataset)
        }
        for (method, dataset), rows in latest_rows(study, path).items()
    }


def lines_of(study, folder):
    """Scores with both choices on the same seeds, the printed number, and what was chosen."""
    once, anew = once_rows(study, folder / ONCE), latest_rows(study, folder / ANEW)
    paper = printed(study)
    for dataset in shown_datasets(study, anew):
        for method in study.methods:
            before, after = once.get((method, dataset), {}), anew.get((method, dataset), {})
            if seeds := sorted(before.keys() & after.keys()):
                print_ = paper.get(("accuracy", method, dataset), NOTHING)
                yield {"dataset": dataset, "method": method} | _line(
                    [before[seed] for seed in seeds], [after[seed] for seed in seeds], print_
                )


def _line(before, after, printed_):
    column = "mse" if isnan(after[0].get("accuracy", nan)) else "accuracy"
    test = compare_rows(after, before, column)
    line = {"measure": column, "seeds": len(after)}
    for name, rows in (("once", before), ("measured", after)):
        line[name], line[f"{name}_spread"] = mean_and_spread([row[column] for row in rows])
    line |= {"difference": test.difference, "t_p": test.t_p}
    if column == "accuracy":
        for name, rows in (("once_verdict", before), ("verdict", after)):
            line[name] = accuracy_line(rows, *printed_, is_drawn=True).get("verdict", "")
        line["paper"], line["paper_spread"] = printed_
    return line | {"choices": _choices(after)}


def _choices(rows):
    """What differs between the seeds' choices: ``C 10 (3), 100 (2)``."""
    names = dict.fromkeys(name for row in rows for name in row["parameters"])
    words = []
    for name in names:
        counts = Counter(str(row["parameters"].get(name)) for row in rows)
        if len(counts) > 1:
            found = ", ".join(f"{value} ({count})" for value, count in counts.most_common())
            words.append(f"{name} {found}")
    return "; ".join(words) or "the same"


def overview(study, lines):
    body = [
        [
            line["dataset"],
            study.titles[line["method"]],
            line["seeds"],
            formatted(line.get("paper", nan), line.get("paper_spread", nan)),
            _cell(line, "once", "once_verdict"),
            _cell(line, "measured", "verdict"),
            f"{line['difference']:+.2f}",
        ]
        for line in lines
    ]
    header = ["set", "method", "seeds", "paper", "tuned on seed 0", "tuned per seed", "difference"]
    return markdown_table(header, body)


def _cell(line, name, verdict):
    word = f" **{line[verdict]}**" if line.get(verdict) else ""
    return formatted(line[name], line[f"{name}_spread"]) + word


def write_table(study, folder):
    lines = list(lines_of(study, folder))
    title = "Parameters chosen on seed 0, and anew on every seed's own training part"
    note = "Accuracy (%), or the mean squared error of a regression.\n\n"
    save(folder, TABLE, title, lines, note + overview(study, lines) + "\n")


def smoke(study, method, grid, make_split, folder):
    """One method on two small splits, each with a choice of its own."""
    base = study.config["smoke"][method]
    once, anew = (RowStore(folder / name, study.measured) for name in (ONCE, ANEW))
    store = per_seed_store(study, folder / TUNING)
    for seed in range(2):
        split = make_split(seed)
        values, _ = tune(study, split, method, grid, store)
        choices = [(once, base), (anew, base | values)]
        fit_both(study, choices, method, split, seed, measure=measure_once)
    write_table(study, folder)


def main(study, arguments=None):
    """The command ``python -m reproduce per_seed PAPER``."""
    drawn = drawn_datasets(study)
    parser = argparse.ArgumentParser(
        prog=f"python -m reproduce per_seed {study.folder.name}", description=__doc__
    )
    parser.add_argument("--dataset", nargs="+", choices=drawn, default=drawn)
    parser.add_argument("--method", nargs="+", choices=study.methods, default=study.methods)
    parser.add_argument("--seeds", type=int, default=study.config["seeds"])
    parser.add_argument("--results", type=Path, default=study.results, help="folder to write to")
    options = parser.parse_args(arguments)
    try:
        for dataset in options.dataset:
            run_dataset(study, options.results, dataset, options.method, options.seeds)
            write_table(study, options.results)
    except DatasetError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
