"""Tables 2 and 3 of the paper beside what was measured, and the paper's claims tested.

    python -m reproduce.llc_sapl.tables

reads results/rows.csv and writes table2, table3 and claims, each as .csv and as .md.
"""

import sys
from math import isnan
from pathlib import Path

from reproduce.comparison import mean_and_spread
from reproduce.llc_sapl.methods import STUDY, TITLES
from reproduce.report import (
    NOTHING,
    accuracy_line,
    claim_lines,
    current_rows,
    not_run,
    overview,
    printed,
    save,
    shown_datasets,
    time_verdict,
    verdict_counts,
)


def accuracy_lines(cells):
    """Table 2, one line per cell."""
    paper = printed(STUDY)
    for dataset, method in _shown(cells):
        value, spread = paper.get(("accuracy", method, dataset), NOTHING)
        rows = cells.get((method, dataset))
        line = accuracy_line(rows, value, spread, STUDY.is_drawn(dataset))
        yield {"dataset": dataset, "method": method} | line


def time_lines(cells):
    """Table 3, one line per cell: prediction time as a multiple of the linear SVM's."""
    paper = printed(STUDY)
    for dataset, method in _shown(cells):
        seconds, _ = paper.get(("test_seconds", method, dataset), NOTHING)
        linear, _ = paper.get(("test_seconds", "linear", dataset), NOTHING)
        multiple = seconds / linear
        line = {"dataset": dataset, "method": method, "paper_seconds": seconds, "paper": multiple}
        if rows := cells.get((method, dataset)):
            mean, deviation = mean_and_spread([row["times_linear"] for row in rows])
            us_per_row, _ = mean_and_spread([row["predict_us_per_row"] for row in rows])
            line |= {"measured": mean, "measured_spread": deviation, "seeds": len(rows)}
            line |= {"us_per_row": us_per_row, "model_bytes": rows[0]["model_bytes"]}
            if not isnan(multiple) and method != "linear":
                line["verdict"] = time_verdict(mean, multiple)
        yield line


def _shown(cells):
    return [(dataset, method) for dataset in shown_datasets(STUDY, cells) for method in TITLES]


def write(folder=STUDY.results):
    """Write the three tables from the rows in ``folder``."""
    folder = Path(folder)
    cells = current_rows(STUDY, folder / "rows.csv")
    for name, title, lines, digits in (
        ("table2", "Table 2: accuracy (%)", list(accuracy_lines(cells)), 2),
        ("table3", "Table 3: prediction time, linear SVM = 1", list(time_lines(cells)), 1),
    ):
        summary = overview(lines, TITLES, digits) + "\n" + verdict_counts(lines, TITLES)
        save(folder, name, title, lines, summary + not_run(STUDY) + "\n")
    save(folder, "claims", "Claims of the paper", list(claim_lines(STUDY, cells)))


if __name__ == "__main__":
    sys.exit(write())
