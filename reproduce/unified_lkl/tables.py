"""Support points (Table 4 of the paper) and accuracy beside what was measured.

    python -m reproduce.unified_lkl.tables

reads results/rows.csv and writes table4 and accuracy, each as .csv and as .md.
"""

import sys
from math import isnan
from pathlib import Path

import numpy as np

from reproduce.comparison import mean_and_spread
from reproduce.report import (
    NOTHING,
    beside_print,
    current_rows,
    overview,
    printed,
    save,
    shown_datasets,
)
from reproduce.unified_lkl.methods import STUDY, TITLES


def quantity_lines(cells, quantity, measure):
    """One line per method and set: ``measure`` of every row beside the printed quantity.

    What is printed for a method stands beside it with a fixed and with a chosen width.
    """
    paper = printed(STUDY)
    for dataset in shown_datasets(STUDY, cells):
        for method in TITLES:
            rows = cells.get((method, dataset), [])
            print_key = (quantity, method.removesuffix("_cv"), dataset)
            line = beside_print([measure(row) for row in rows], *paper.get(print_key, NOTHING))
            if rows and not isnan(line["paper"]):
                line["difference"] = line["measured"] - line["paper"]
            if rows:
                line |= _fit_columns(rows)
            yield {"dataset": dataset, "method": method} | line


def _fit_columns(rows):
    """Mean number of kernels in use and of seconds, and the middle one of the chosen widths."""
    columns = {
        name: mean_and_spread([row[name] for row in rows])[0]
        for name in ("n_kernels", "fit_seconds")
    }
    if not isnan(rows[0]["chosen"]):
        gammas = [row["parameters"]["gamma"][int(row["chosen"])] for row in rows]
        columns["gamma_times_features"] = float(np.median(gammas))
    return columns | {"n_train": rows[0]["n_train"], "n_test": rows[0]["n_test"]}


def support_percent(row):
    return 100 * row["n_support"] / row["n_train"]


def write(folder=STUDY.results):
    """Write both tables from the rows in ``folder``."""
    folder = Path(folder)
    cells = current_rows(STUDY, folder / "rows.csv")
    for name, title, quantity, measure in (
        ("table4", "Table 4: support points (%)", "support_percent", support_percent),
        ("accuracy", "Accuracy (%)", "accuracy", lambda row: row["accuracy"]),
    ):
        lines = list(quantity_lines(cells, quantity, measure))
        save(folder, name, title, lines, overview(lines, TITLES, 1) + "\n")


if __name__ == "__main__":
    sys.exit(write())
