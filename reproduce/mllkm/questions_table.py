"""The answers to the reviewers' questions as tables."""

import numpy as np

from reproduce.comparison import formatted, markdown_table, mean_and_spread
from reproduce.protocol import RowStore
from reproduce.report import save

ROWS = "questions_rows.csv"
# Relative bandwidths: the six default ones, and two narrower ones that drawn tasks have, too.
GAMMAS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


def at_gamma(what, gamma):
    return f"{what}_{gamma:g}"


COLUMNS = (
    "accuracy", "n_kernels", "n_support", "multiply_adds", "exponentials", "predict_us_per_row",
    *(at_gamma("kernels", gamma) for gamma in GAMMAS),
    *(at_gamma("weight", gamma) for gamma in GAMMAS),
    "fit_seconds", "fit_bytes", "n_train", "n_test", "version",
)  # fmt: skip
MAPS = ("Gaussian map", "square map", "Gaussian map by component", "square map by component")
EXPLANATION = """
Three splits of the four sets, 70/30, and three draws of each task, of which 5,000 rows test. C
comes from three folds of the training part; so do the width of the RBF-SVM, LDKL's depth and
jitter. On the tasks MLLKM has C = 30, eight bandwidths and 300 rows to stand on. h = 1 is the
Gaussian map with γ = 1e-9 in units of 1 / median squared distance. A linear model and an RBF-SVM
are one kernel.

"""


def cells_of(path):
    cells = {}
    for row in RowStore(path, COLUMNS).rows():
        cells.setdefault((row["dataset"], row["method"]), []).append(row)
    return cells


def mean(rows, column):
    return float(np.mean([row[column] for row in rows]))


def lines_of(cells):
    for (dataset, method), rows in cells.items():
        line = {"dataset": dataset, "method": method, "seeds": len(rows)}
        line["measured"], line["spread"] = mean_and_spread([row["accuracy"] for row in rows])
        for column in COLUMNS[1:-1]:
            line[column] = mean(rows, column)
        yield line


def accuracies(cells):
    """Methods by sets; below an accuracy the number of kernels, where there are several."""
    small = [name for name, method in cells if method == MAPS[0]]
    methods = dict.fromkeys(method for name, method in cells if name in small)
    body = []
    for method in methods:
        found = [cells.get((name, method)) for name in small]
        body.append([method, *("–" if rows is None else _accuracy(rows) for rows in found)])
    return markdown_table(["accuracy (%); kernels", *small], body)


def _accuracy(rows):
    text = formatted(*mean_and_spread([row["accuracy"] for row in rows]), 1)
    n_kernels = mean(rows, "n_kernels")
    return text if n_kernels == 1 else f"{text}; {n_kernels:.0f}"


def chosen_gammas(cells):
    """The share of the kernels that stand at every bandwidth, per set, Gaussian map."""
    body = []
    for (name, method), rows in cells.items():
        if method == MAPS[0]:
            shares = gamma_shares(rows, "kernels")
            body.append([name, *(f"{100 * share:.0f}" for share in shares)])
    return markdown_table(["kernels at γ (%)", *(f"{gamma:g}" for gamma in GAMMAS)], body)


def gamma_shares(rows, what):
    """Mean over rows of each γ's share in the kernels or in their ``weight``."""
    table = np.array([[row[at_gamma(what, gamma)] for gamma in GAMMAS] for row in rows])
    return (table / table.sum(axis=1, keepdims=True)).mean(axis=0)


def costs(cells):
    """What one kernel costs at one row, by map: work and time."""
    names = [name for name, method in cells if method == MAPS[0]]
    body = []
    for name in names:
        for method in MAPS:
            rows = cells.get((name, method))
            if rows:
                kernels = [row["n_kernels"] for row in rows]
                per_kernel = [
                    np.mean([row[column] / k for row, k in zip(rows, kernels)])
                    for column in ("multiply_adds", "exponentials", "predict_us_per_row")
                ]
                work, exponentials, time = per_kernel
                times = f"{1000 * time:.1f}"
                body.append([name, method, f"{work:.0f}", f"{exponentials:.0f}", times])
    header = ["set", "map", "multiply-adds per kernel", "exponentials per kernel"]
    return markdown_table([*header, "ns per row and kernel"], body)


def large(cells):
    body = []
    for (name, way), rows in cells.items():
        if not np.isnan(mean(rows, "fit_bytes")) and np.isnan(mean(rows, "predict_us_per_row")):
            numbers = [mean(rows, name) for name in ("accuracy", "n_kernels", "fit_seconds")]
            memory = mean(rows, "fit_bytes") / 2**20
            body.append(
                [
                    name,
                    way,
                    f"{rows[0]['n_train']:,}",
                    f"{numbers[0]:.1f}",
                    f"{numbers[1]:.0f}",
                    f"{numbers[2]:.0f}",
                    f"{memory:.0f}",
                ]
            )
    header = ["set", "fitted", "rows", "accuracy (%)", "kernels", "CPU seconds", "MB"]
    return markdown_table(header, body) if body else ""


def write(folder):
    """Write questions.csv and questions.md from the rows in ``folder``."""
    cells = cells_of(folder / ROWS)
    parts = [accuracies(cells) + EXPLANATION, chosen_gammas(cells), costs(cells), large(cells)]
    summary = "\n".join(part for part in parts if part) + "\n"
    save(folder, "questions", "Questions of the reviewers", list(lines_of(cells)), summary)
