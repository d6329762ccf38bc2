"""Tables from rows: what was measured beside what the paper prints, as .csv and as .md."""

import csv
from collections import Counter, defaultdict
from math import isnan, nan

from reproduce.comparison import (
    claim_verdict,
    compare,
    compare_rows,
    formatted,
    markdown_table,
    mean_and_spread,
    verdict,
    verdict_of_one_draw,
)
from reproduce.protocol import RowStore

# Printed times carry two or three digits and the paper's machine is not ours.
TIME_MARGIN = 0.1
NOTHING = (nan, nan)


def printed(study):
    """The paper's numbers: {(quantity, method, dataset): (value, spread or NaN)}."""
    with open(study.folder / "expected.csv", newline="") as file:
        return {
            (row["quantity"], row["method"], row["dataset"]): (
                float(row["value"]),
                float(row["spread"] or nan),
            )
            for row in csv.DictReader(file)
        }


def current_rows(study, path):
    """Rows by (method, dataset), without those whose parameters are no longer the chosen ones."""
    cells = defaultdict(list)
    for row in RowStore(path, study.measured).rows():
        method, dataset = row["method"], row["dataset"]
        is_paper_set = dataset in study.config["datasets"]
        if not is_paper_set or row["parameters"] == study.parameters_for(method, dataset):
            cells[method, dataset].append(row)
    return cells


def shown_datasets(study, cells):
    """Data sets that were run, in the order of the configuration."""
    run = {dataset for _, dataset in cells}
    known = [dataset for dataset in study.config["datasets"] if dataset in run]
    return known + sorted(run - set(known))


def beside_print(values, value=nan, spread=nan):
    """Mean and spread of what was measured, if anything was, beside a printed number."""
    line = {"paper": value, "paper_spread": spread}
    if values:
        line["measured"], line["measured_spread"] = mean_and_spread(values)
        line["seeds"] = len(values)
    return line


def accuracy_line(rows, value=nan, spread=nan, is_drawn=False):
    """Measured accuracy beside a printed one, with tests and a verdict.

    ``is_drawn``: the seed draws the split, and a number without a spread is one draw.
    """
    accuracies = [row["accuracy"] for row in rows or ()]
    line = beside_print(accuracies, value, spread)
    if rows and not isnan(value):
        test = compare(accuracies, value)
        line |= test_columns(test)
        if is_drawn and isnan(spread):
            line["verdict"] = verdict_of_one_draw(test, line["measured_spread"])
        else:
            line["verdict"] = verdict(test, spread)
    return line


def is_reached(line):
    """``yes`` where the mean is at most one printed spread below print."""
    return "yes" if line["measured"] >= line["paper"] - line["paper_spread"] else "no"


def test_columns(test):
    return {"difference": test.difference, "t_p": test.t_p, "wilcoxon_p": test.wilcoxon_p}


def time_verdict(measured, multiple):
    if measured > (1 + TIME_MARGIN) * multiple:
        return "missed"
    return "beaten" if measured < (1 - TIME_MARGIN) * multiple else "met"


def claim_lines(study, cells):
    """The paper's claims "first above second on every set", paired over seeds."""
    for claim in study.config["claims"]:
        for dataset in dict.fromkeys(dataset for _, dataset in cells):
            if test := paired_test(study, cells, dataset, claim["first"], claim["second"]):
                yield {
                    "claim": f"{study.titles[claim['first']]} > {study.titles[claim['second']]}",
                    "dataset": dataset,
                    "seeds": test.n,
                    **test_columns(test),
                    "verdict": claim_verdict(test),
                }


def paired_test(study, cells, dataset, first, second, column="accuracy"):
    """Paired over seeds; every seed against the one run of a method that draws nothing."""
    rows, others = cells.get((first, dataset), []), cells.get((second, dataset), [])
    if rows and others and len(study.seeds_for(second, dataset, 2)) == 1:
        return compare([row[column] for row in rows], others[0][column])
    return compare_rows(rows, others, column)


def overview(lines, titles, digits):
    """Methods by data sets; a cell is what was measured, with the paper's number in brackets."""
    found = {(line["method"], line["dataset"]): line for line in lines}
    names = list(dict.fromkeys(line["dataset"] for line in lines))
    body = [
        [title] + [cell(found[method, name], digits) for name in names]
        for method, title in titles.items()
    ]
    return markdown_table(["measured (paper)", *names], body)


def cell(line, digits):
    """``97.27 ± 0.18 **met**``, and below it the paper's number."""
    measured = formatted(line.get("measured", nan), line.get("measured_spread", nan), digits)
    paper = formatted(line["paper"], line.get("paper_spread", nan), digits)
    word = f" **{line['verdict']}**" if "verdict" in line else ""
    return f"{measured}{word}<br>({paper})"


def verdict_counts(lines, titles):
    """How many numbers of each method are missed, met and beaten."""
    counts = defaultdict(Counter)
    for line in lines:
        if "verdict" in line:
            counts[line["method"]][line["verdict"]] += 1
    body = [
        [titles[method], *(count[word] for word in ("missed", "met", "beaten"))]
        for method, count in counts.items()
    ]
    return markdown_table(["method", "missed", "met", "beaten"], body)


def not_run(study):
    """Why some methods are not run on some sets."""
    reasons = [
        f"* {study.titles[method]} on {dataset}: {reason}"
        for method in study.config["methods"]
        for dataset in study.config["datasets"]
        if (reason := study.skipped(method, dataset))
    ]
    return "\nNot run:\n\n" + "\n".join(reasons) + "\n" if reasons else ""


def limited_rows(study):
    """Which methods are fitted to, or tried on, a part of a data set."""
    notes = [
        f"* {study.titles[method]} on {dataset}: at most {n_rows:,} {part} rows"
        for method, entry in study.config["methods"].items()
        for part in ("train", "test")
        for dataset, n_rows in entry.get(f"{part}_rows", {}).items()
    ]
    return "\nOn a part of the rows:\n\n" + "\n".join(notes) + "\n" if notes else ""


def save(folder, name, title, lines, summary=""):
    """Lines that hold a measurement, as .csv and, below the summary, as .md."""
    lines = [line for line in lines if "measured" in line or "claim" in line]
    columns = list(dict.fromkeys(name for line in lines for name in line))
    body = [[_shortened(line.get(name, "")) for name in columns] for line in lines]
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{name}.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *body])
    details = markdown_table(columns, body)
    (folder / f"{name}.md").write_text(f"# {title}\n\n{summary}{details}", encoding="utf-8")


def _shortened(value):
    if isinstance(value, float):
        return "" if isnan(value) else f"{value:.4g}"
    return str(value)
