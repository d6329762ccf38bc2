"""The larger comparison as a table: accuracy, what a fit took, what a prediction costs."""

import json

from reproduce.comparison import formatted, markdown_table, mean_and_spread
from reproduce.mllkm.large_methods import STUDY, TITLES
from reproduce.protocol import RowStore
from reproduce.report import limited_rows, save, shown_datasets

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
