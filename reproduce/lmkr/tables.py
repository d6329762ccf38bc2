"""Table 1 of the paper beside what was measured, and its claim.

    python -m reproduce.lmkr.tables

reads results/rows.csv and results/validation.csv and writes table1 and claims, each as .csv and as
.md.
"""

import sys
from collections import defaultdict
from math import isnan, nan
from pathlib import Path

from reproduce.comparison import (
    SIGNIFICANT,
    compare_rows,
    markdown_table,
    mean_and_spread,
)
from reproduce.lmkr import choice
from reproduce.lmkr.methods import STUDY, TITLES
from reproduce.protocol import RowStore
from reproduce.report import NOTHING, beside_print, overview, printed, save, shown_datasets

# What is printed for a method stands beside all of its kinds.
PRINTED_AS = {
    "lmkl_alternating": "lmkl",
    "lmkl_published": "lmkl",
    "lmkl_affine": "lmkl",
    "svr_unit": "svr",
    "svr_range": "svr",
}
LOCAL = ("lmkl_published", "lmkl", "lmkl_affine")
REFERENCES = ("svr", "svr_unit")
# What a claim is about: columns of the rows, and words for significantly below and above.
CLAIMED = {
    "mse": ("lower", "higher"),
    "support": ("fewer", "more"),
    "local_support": ("fewer", "more"),
}
# Test rows for each training row: a third of all rows tests, and a half of the rest trains.
TEST_SHARE = 1.0
COLUMNS = ("validation", "kernels_per_row", "times_linear", "fit_seconds")


def current_rows(folder):
    """Rows by (method, dataset), those with the chosen parameters; of other sets all."""
    cells, validation = defaultdict(list), choice.store_in(folder).rows()
    for row in RowStore(folder / "rows.csv", STUDY.measured).rows():
        cells[row["method"], row["dataset"]].append(row | _shares(row))
    for (method, dataset), rows in cells.items():
        if dataset in STUDY.config["datasets"]:
            chosen, error = choice.chosen(validation, method, dataset)
            known = {"validation": error}
            rows[:] = [row | known for row in rows if row["parameters"] == chosen]
    return cells


def _shares(row):
    """Support vectors of a machine and, on average, of one of its kernels, in %."""
    all_of_it = 100 * row["n_support"] / row["n_train"]
    local = 100 * row["support_per_kernel"] / row["n_train"]
    return {"support": all_of_it, "local_support": all_of_it if isnan(local) else local}


def quantity_lines(cells, quantity, printed_quantity):
    """One line per method and set: a column of the rows beside what is printed."""
    paper = printed(STUDY)
    for dataset in shown_datasets(STUDY, cells):
        for method in TITLES:
            rows = cells.get((method, dataset), [])
            key = (printed_quantity, PRINTED_AS.get(method, method), dataset)
            line = beside_print([row[quantity] for row in rows], *paper.get(key, NOTHING))
            if rows and not isnan(line["paper"]):
                line["times_paper"] = line["measured"] / line["paper"]
            if rows:
                line |= {name: _mean(rows, name) for name in COLUMNS}
                line |= {name: rows[0][name] for name in ("n_train", "n_test")}
                line |= rows[0]["parameters"]
            yield {"dataset": dataset, "method": method} | line


def _mean(rows, name):
    return mean_and_spread([row.get(name, nan) for row in rows])[0]


def claim_lines(cells, reference):
    """The paper's claim: LMKL's error is comparable with SVR's, and its support vectors are fewer.

    Paired over halves; the tests are corrected for their overlap.
    """
    for dataset in shown_datasets(STUDY, cells):
        for method in LOCAL:
            rows, others = (cells.get((name, dataset), []) for name in (method, reference))
            if not (rows and others):
                continue
            line = {"dataset": dataset, "claim": method, "beside": reference}
            for name, words in CLAIMED.items():
                test = compare_rows(rows, others, name, TEST_SHARE)
                line |= {name: _word(test, *words), f"{name}_difference": test.difference}
                line[f"{name}_p"] = test.t_p
            yield line


def _word(test, below, above):
    if not test.t_p < SIGNIFICANT:
        return "comparable"
    return below if test.difference < 0 else above


def claim_overview(lines, reference):
    """Methods by data sets: error, support vectors, support vectors of one kernel."""
    found = {(line["claim"], line["dataset"]): line for line in lines}
    names = list(dict.fromkeys(line["dataset"] for line in lines))
    body = [
        [TITLES[method]] + [_claim_cell(found[method, name]) for name in names]
        for method in dict.fromkeys(line["claim"] for line in lines)
    ]
    return markdown_table([f"less {TITLES[reference]}", *names], body)


def _claim_cell(line):
    error = f"{line['mse_difference']:+.3g} **{line['mse']}**"
    support = f"{line['support_difference']:+.1f} **{line['support']}**"
    local = f"{line['local_support_difference']:+.1f} **{line['local_support']}**"
    return f"{error}<br>{support}<br>{local}"


def write(folder=STUDY.results):
    """Write all tables from the rows in ``folder``."""
    folder = Path(folder)
    cells = current_rows(folder)
    table, summary = [], ""
    for quantity, title, printed_quantity, digits in (
        ("mse", "Mean squared error on the test part", "mse", 3),
        ("support", "Support vectors (% of the training rows)", "support", 1),
        ("local_support", "Support vectors of one kernel (% of the training rows)", "support", 1),
    ):
        lines = list(quantity_lines(cells, quantity, printed_quantity))
        table += [{"quantity": quantity} | line for line in lines]
        summary += f"{title}:\n\n{overview(lines, TITLES, digits)}\n"
    save(folder, "table1", "Table 1: error and support vectors", table, summary)
    claims, summary = [], "Mean squared error; support vectors in %; those of one kernel in %.\n"
    for reference in REFERENCES:
        lines = list(claim_lines(cells, reference))
        claims += lines
        summary += "\n" + claim_overview(lines, reference)
    save(folder, "claims", "LMKL beside SVR", claims, summary + "\n")


if __name__ == "__main__":
    sys.exit(write())
