"""Table 2 of the paper beside what was measured, and which differences in it are luck.

    python -m reproduce.mllkm.tables

reads results/rows.csv and writes table2 and significance, each as .csv and as .md.
"""

import sys
from math import isnan
from pathlib import Path

from reproduce.comparison import (
    SIGNIFICANT,
    compare_rows,
    formatted,
    markdown_table,
    mean_and_spread,
)
from reproduce.mllkm.methods import STUDY, TITLES
from reproduce.report import (
    NOTHING,
    accuracy_line,
    current_rows,
    is_reached,
    overview,
    printed,
    save,
    shown_datasets,
    test_columns,
    verdict_counts,
)

REFERENCE = "mllkm_g"
# Three tenths of the rows test, seven tenths train.
TEST_SHARE = 3 / 7


def significance_lines(cells):
    """The reference less every other method, paired over splits."""
    for dataset in shown_datasets(STUDY, cells):
        for method in TITLES:
            rows, others = (cells.get((name, dataset), []) for name in (REFERENCE, method))
            test = compare_rows(rows, others, test_share=TEST_SHARE)
            if method != REFERENCE and test is not None:
                yield {
                    "dataset": dataset,
                    "method": method,
                    "measured": _mean_accuracy(rows),
                    "other": _mean_accuracy(others),
                    "splits": test.n,
                    **test_columns(test),
                    "verdict": _verdict(test),
                }


def _mean_accuracy(rows):
    return mean_and_spread([row["accuracy"] for row in rows])[0]


def _verdict(test):
    if not test.t_p < SIGNIFICANT:
        return "level"
    return "better" if test.difference > 0 else "worse"


def significance_overview(lines):
    """Methods by data sets; a cell is the difference in accuracy with both p-values."""
    found = {(line["method"], line["dataset"]): line for line in lines}
    names = list(dict.fromkeys(line["dataset"] for line in lines))
    body = [
        [title] + [_significance_cell(found.get((method, name))) for name in names]
        for method, title in TITLES.items()
        if any((method, name) in found for name in names)
    ]
    return markdown_table([f"{TITLES[REFERENCE]}, less", *names], body)


def _significance_cell(line):
    if line is None:
        return "–"
    p_values = f"p = {line['t_p']:.2g}, {line['wilcoxon_p']:.2g}"
    return f"{line['difference']:+.1f} **{line['verdict']}**<br>({p_values})"


def write_significance(folder, cells):
    lines = list(significance_lines(cells))
    note = (
        "Points of accuracy, paired over splits. In brackets: the t-test corrected for training "
        "parts that overlap (Nadeau and Bengio, 2003), by which the verdict is, and Wilcoxon's "
        "signed ranks, which nothing corrects. No p is corrected for the number of tests.\n\n"
    )
    title = f"{TITLES[REFERENCE]}, beside every other method"
    save(folder, "significance", title, lines, note + significance_overview(lines) + "\n")


# Columns of the table beside accuracy.
COSTS = ("n_kernels", "n_support", "predict_ms")


def table_lines(cells):
    """One line per method and set: accuracy with a verdict, then what a prediction costs."""
    paper = printed(STUDY)
    for dataset in shown_datasets(STUDY, cells):
        for method in TITLES:
            rows = cells.get((method, dataset))
            value, spread = paper.get(("accuracy", method, dataset), NOTHING)
            line = accuracy_line(rows, value, spread, STUDY.is_drawn(dataset))
            if rows and not isnan(line["paper"]):
                line["reached"] = is_reached(line)
            for name in COSTS:
                value, spread = paper.get((name, method, dataset), NOTHING)
                line |= _cost_columns(name, rows, value, spread)
            if rows:
                for name in ("times_linear", "fit_seconds"):
                    line[name], line[f"{name}_spread"] = _mean(rows, name)
            yield {"dataset": dataset, "method": method} | line


def _cost_columns(name, rows, value, spread):
    measured, deviation = _mean(rows, name) if rows else NOTHING
    return {
        name: measured,
        f"{name}_spread": deviation,
        f"paper_{name}": value,
        f"paper_{name}_spread": spread,
    }


def _mean(rows, name):
    return mean_and_spread([row[name] for row in rows])


def cost_overview(lines):
    """Kernels × support vectors and milliseconds for the test part, the paper's in brackets."""
    found = {(line["method"], line["dataset"]): line for line in lines}
    names = list(dict.fromkeys(line["dataset"] for line in lines))
    body = [
        [title] + [_cost_cell(found[method, name]) for name in names]
        for method, title in TITLES.items()
    ]
    table = markdown_table(["kernels × support vectors, ms", *names], body)
    return "What a prediction costs, measured (paper):\n\n" + table


def _cost_cell(line):
    ours, theirs = (_cost(line, prefix) for prefix in ("", "paper_"))
    return f"{ours}<br>({theirs})"


def _cost(line, prefix):
    if isnan(line[f"{prefix}n_kernels"]):
        return "–"
    kernels, support, ms = (formatted(line[prefix + name], digits=1) for name in COSTS)
    return f"{kernels} × {support}, {ms} ms"


def speed_overview(lines):
    """Prediction time as a multiple of a linear SVM's, and seconds of a fit with its search."""
    found = {(line["method"], line["dataset"]): line for line in lines if "measured" in line}
    names = list(dict.fromkeys(line["dataset"] for line in lines))
    body = [
        [title] + [_speed_cell(found.get((method, name))) for name in names]
        for method, title in TITLES.items()
    ]
    return "Prediction, fit:\n\n" + markdown_table(["× linear SVM, seconds", *names], body)


def _speed_cell(line):
    if line is None:
        return "–"
    return f"{formatted(line['times_linear'], digits=1)} ×, {line['fit_seconds']:.2g} s"


def shortfalls(lines):
    """How many accuracies are at most one printed spread below print, and which are not."""
    words = [line["reached"] for line in lines if "reached" in line]
    short = [
        f"{TITLES[line['method']]} on {line['dataset']}"
        for line in lines
        if line.get("reached") == "no"
    ]
    count = f"{words.count('yes')} of {len(words)} are at most one printed spread below print"
    return f"{count}; not: {'; '.join(short)}.\n" if short else f"{count}.\n"


def write(folder=STUDY.results):
    """Write the tables from the rows in ``folder``."""
    folder = Path(folder)
    cells = current_rows(STUDY, folder / "rows.csv")
    lines = list(table_lines(cells))
    summary = [overview(lines, TITLES, 1), shortfalls(lines), verdict_counts(lines, TITLES)]
    summary += [cost_overview(lines), speed_overview(lines), ""]
    save(folder, "table2", "Table 2: accuracy (%) and cost", lines, "\n".join(summary))
    write_significance(folder, cells)


if __name__ == "__main__":
    sys.exit(write())
