"""Tables 2 and 3 of the paper beside what was measured, and the paper's claims tested.

    python -m reproduce.llc_sapl.tables

reads results/rows.csv and writes table2, table3 and claims, each as .csv and as .md.
"""

import csv
import sys
from collections import Counter, defaultdict
from math import isnan, nan
from pathlib import Path

from reproduce.comparison import (
    claim_verdict,
    compare,
    compare_rows,
    formatted,
    markdown_table,
    mean_and_spread,
    verdict,
)
from reproduce.llc_sapl.methods import (
    FOLDER,
    RESULTS,
    TITLES,
    config,
    parameters_for,
    reason_to_skip,
)
from reproduce.protocol import RowStore

# Printed times carry two or three digits and the paper's machine is not ours.
TIME_MARGIN = 0.1


def printed():
    """The paper's numbers: {(quantity, method, dataset): (value, spread or NaN)}."""
    with open(FOLDER / "expected.csv", newline="") as file:
        return {
            (row["quantity"], row["method"], row["dataset"]): (
                float(row["value"]),
                float(row["spread"] or nan),
            )
            for row in csv.DictReader(file)
        }


def current_rows(path):
    """Rows by (method, dataset), without those whose parameters are no longer the chosen ones."""
    cells = defaultdict(list)
    for row in RowStore(path).rows():
        method, dataset = row["method"], row["dataset"]
        is_paper_set = dataset in config()["datasets"]
        if not is_paper_set or row["parameters"] == parameters_for(method, dataset):
            cells[method, dataset].append(row)
    return cells


def accuracy_lines(cells):
    """Table 2, one line per cell."""
    paper = printed()
    for dataset, method in _shown(cells):
        value, spread = paper.get(("accuracy", method, dataset), (nan, nan))
        line = {"dataset": dataset, "method": method, "paper": value, "paper_spread": spread}
        if rows := cells.get((method, dataset)):
            accuracies = [row["accuracy"] for row in rows]
            line["measured"], line["measured_spread"] = mean_and_spread(accuracies)
            line["seeds"] = len(rows)
            if not isnan(value):
                test = compare(accuracies, value)
                line |= {
                    "difference": test.difference,
                    "t_p": test.t_p,
                    "wilcoxon_p": test.wilcoxon_p,
                    "verdict": verdict(test, spread),
                }
        yield line


def time_lines(cells):
    """Table 3, one line per cell: prediction time as a multiple of the linear SVM's."""
    paper = printed()
    for dataset, method in _shown(cells):
        seconds, _ = paper.get(("test_seconds", method, dataset), (nan, nan))
        linear, _ = paper.get(("test_seconds", "linear", dataset), (nan, nan))
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


def time_verdict(measured, multiple):
    if measured > (1 + TIME_MARGIN) * multiple:
        return "missed"
    return "beaten" if measured < (1 - TIME_MARGIN) * multiple else "met"


def claim_lines(cells):
    """The paper's claims "first above second on every set", paired over seeds."""
    for claim in config()["claims"]:
        for dataset in dict.fromkeys(dataset for _, dataset in cells):
            first, second = (cells.get((claim[side], dataset), []) for side in ("first", "second"))
            if test := compare_rows(first, second):
                yield {
                    "claim": f"{TITLES[claim['first']]} > {TITLES[claim['second']]}",
                    "dataset": dataset,
                    "seeds": test.n,
                    "difference": test.difference,
                    "t_p": test.t_p,
                    "wilcoxon_p": test.wilcoxon_p,
                    "verdict": claim_verdict(test),
                }


def _shown(cells):
    """Data sets that were run, in the order of the configuration, each with every method."""
    run = {dataset for _, dataset in cells}
    known = [dataset for dataset in config()["datasets"] if dataset in run]
    for dataset in known + sorted(run - set(known)):
        for method in TITLES:
            yield dataset, method


def _overview(lines, digits):
    """Methods by data sets; a cell is what was measured, with the paper's number in brackets."""
    lines = list(lines)
    found = {(line["method"], line["dataset"]): line for line in lines}
    names = list(dict.fromkeys(line["dataset"] for line in lines))

    def cell(line):
        measured = formatted(line.get("measured", nan), line.get("measured_spread", nan), digits)
        paper = formatted(line["paper"], line.get("paper_spread", nan), digits)
        word = f" **{line['verdict']}**" if "verdict" in line else ""
        return f"{measured}{word}<br>({paper})"

    body = [[title] + [cell(found[m, name]) for name in names] for m, title in TITLES.items()]
    return markdown_table(["measured (paper)", *names], body)


def _counts(lines):
    """``LLC-SAPL: 1 missed, 2 met, 4 beaten`` for every method with a printed number."""
    counts = defaultdict(Counter)
    for line in lines:
        if "verdict" in line:
            counts[line["method"]][line["verdict"]] += 1
    body = [
        [TITLES[method], *(count[word] for word in ("missed", "met", "beaten"))]
        for method, count in counts.items()
    ]
    return markdown_table(["method", "missed", "met", "beaten"], body)


def _details(lines):
    lines = [line for line in lines if "measured" in line or "claim" in line]
    columns = list(dict.fromkeys(name for line in lines for name in line))
    body = [[_shortened(line.get(name, "")) for name in columns] for line in lines]
    return columns, body


def _shortened(value):
    if isinstance(value, float):
        return "" if isnan(value) else f"{value:.4g}"
    return str(value)


def _not_run():
    reasons = [
        f"* {TITLES[method]} on {dataset}: {reason}"
        for method in config()["methods"]
        for dataset in config()["datasets"]
        if (reason := reason_to_skip(method, dataset))
    ]
    return "\nNot run:\n\n" + "\n".join(reasons) + "\n" if reasons else ""


def _save(folder, name, title, lines, overview=""):
    columns, body = _details(lines)
    with open(folder / f"{name}.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *body])
    details = markdown_table(columns, body)
    (folder / f"{name}.md").write_text(f"# {title}\n\n{overview}{details}", encoding="utf-8")


def write(folder=RESULTS):
    """Write the three tables from the rows in ``folder``."""
    folder = Path(folder)
    cells = current_rows(folder / "rows.csv")
    for name, title, lines, digits in (
        ("table2", "Table 2: accuracy (%)", list(accuracy_lines(cells)), 2),
        ("table3", "Table 3: prediction time, linear SVM = 1", list(time_lines(cells)), 1),
    ):
        overview = _overview(lines, digits) + "\n" + _counts(lines) + _not_run() + "\n"
        _save(folder, name, title, lines, overview)
    _save(folder, "claims", "Claims of the paper", list(claim_lines(cells)))


if __name__ == "__main__":
    sys.exit(write())
