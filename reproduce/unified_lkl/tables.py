"""Accuracy, seconds and support points beside Tables 2 to 4 of the paper.

    python -m reproduce.unified_lkl.tables

reads results/rows.csv and writes table2, table3 and table4, each as .csv and as .md.
"""

import sys
from collections import Counter
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path

import numpy as np

from reproduce.comparison import SIGNIFICANT, compare_rows, markdown_table, mean_and_spread
from reproduce.report import (
    NOTHING,
    beside_print,
    current_rows,
    limited_rows,
    overview,
    printed,
    save,
    shown_datasets,
)
from reproduce.unified_lkl.methods import AFFINE, GLOBAL, LOCAL, STUDY, TITLES, choice, printed_as

# What a localized method has to be worth.
RIVAL = "uniform_cv"
# Test rows for each training row: the splits of a set overlap.
TEST_SHARE = 1 / 3


@dataclass(frozen=True)
class Table:
    """Some methods and what is told of each beside ``quantity`` in print."""

    name: str
    title: str
    quantity: str
    methods: tuple[str, ...]

    @property
    def titles(self):
        return {method: TITLES[method] for method in self.methods}


_MWU = tuple(method for method in TITLES if method.endswith("_mwu"))
_LIBSVM = tuple(method for method in TITLES if method not in _MWU)
TABLE2 = Table("table2", "Table 2: accuracy (%) and seconds", "accuracy", _LIBSVM)
TABLE3 = Table("table3", "Table 3: accuracy (%) and seconds, MWU", "accuracy_mwu", _MWU)
TABLE4 = Table("table4", "Table 4: support points (%)", "support_percent", _LIBSVM)


def accuracy_lines(cells, table):
    """One line per method and set: accuracy, seconds, and what Uniform would have given."""
    paper = printed(STUDY)
    times = table.quantity.replace("accuracy", "fit_seconds")
    for dataset in shown_datasets(STUDY, cells):
        for method in table.methods:
            rows, name = cells.get((method, dataset), []), printed_as(method)
            accuracies = [row["accuracy"] for row in rows]
            line = _beside(accuracies, *paper.get((table.quantity, name, dataset), NOTHING))
            if rows and not isnan(line["paper"]):
                reached = line["measured"] >= line["paper"] - line["paper_spread"]
                line["verdict"] = "met" if reached else "missed"
            seconds = [row["fit_seconds"] for row in rows]
            line["seconds"] = mean_and_spread(seconds)[0] if rows else nan
            line["paper_seconds"] = paper.get((times, name, dataset), NOTHING)[0]
            line |= _over_uniform(cells, method, dataset) | _fit_columns(rows)
            yield {"dataset": dataset, "method": method} | line


def support_lines(cells, table):
    """One line per method and set: support points in % of the training rows."""
    paper = printed(STUDY)
    for dataset in shown_datasets(STUDY, cells):
        for method in table.methods:
            rows = cells.get((method, dataset), [])
            key = (table.quantity, printed_as(method), dataset)
            shares = [100 * row["n_support"] / row["n_train"] for row in rows]
            line = _beside(shares, *paper.get(key, NOTHING))
            if rows and not isnan(line["paper"]):
                few = line["measured"] <= line["paper"] + line["paper_spread"]
                line["verdict"] = "met" if few else "missed"
            yield {"dataset": dataset, "method": method} | line | _fit_columns(rows)


def _beside(values, value, spread):
    line = beside_print(values, value, spread)
    if values and not isnan(value):
        line["difference"] = line["measured"] - value
    return line


def _over_uniform(cells, method, dataset):
    """By how much the same splits are better than with equal weights, and the p-value."""
    if method == RIVAL:
        return {}
    rows, others = (cells.get((name, dataset), []) for name in (method, RIVAL))
    if (test := compare_rows(rows, others, test_share=TEST_SHARE)) is None:
        return {}
    # less than a row is rounding, and zero has no sign
    return {"over_uniform": round(test.difference, 9) + 0.0, "over_uniform_p": test.t_p}


def _fit_columns(rows):
    """Kernels in use, the middle one of the chosen widths, and how often what else was chosen."""
    if not rows:
        return {}
    weighs = printed_as(rows[0]["method"]) in (*GLOBAL, "clmkl")  # others use all kernels
    choices = [choice(row) for row in rows]
    gammas = [chosen["kernels"] for chosen in choices if chosen.get("kernels", AFFINE) != AFFINE]
    others = Counter(filter(None, map(_other_choices, choices)))
    return {
        "n_kernels": mean_and_spread([row["n_kernels"] for row in rows])[0] if weighs else nan,
        "gamma_times_features": float(np.median(gammas)) if gammas else nan,
        "chosen": ", ".join(f"{name} {count}" for name, count in others.most_common()),
        "n_train": rows[0]["n_train"],
        "n_test": rows[0]["n_test"],
    }


def _other_choices(chosen):
    names = [chosen[name] for name in ("gate", "vote", "success") if name in chosen]
    affine = [AFFINE] if chosen.get("kernels") == AFFINE else []
    return " ".join(affine + names)


def seconds_overview(lines, titles):
    """Seconds of a fit with its search; in brackets the paper's, of a fit alone."""
    found = {(line["method"], line["dataset"]): line for line in lines}
    names = list(dict.fromkeys(line["dataset"] for line in lines))
    body = [
        [title] + [_seconds_cell(found[method, name]) for name in names]
        for method, title in titles.items()
    ]
    return "Seconds:\n\n" + markdown_table(["measured (paper)", *names], body)


def _seconds_cell(line):
    return f"{_short(line['seconds'])}<br>({_short(line['paper_seconds'])})"


def _short(seconds):
    if isnan(seconds):
        return "–"
    return f"{seconds:.2g}" if seconds < 100 else f"{seconds:,.0f}"


def verdict_sentence(lines, titles, side="below"):
    """How many numbers are within one printed spread of print, and which are not."""
    judged = [line for line in lines if "verdict" in line]
    missed = [
        f"{titles[line['method']]} on {line['dataset']}"
        for line in judged
        if line["verdict"] == "missed"
    ]
    count = (
        f"{len(judged) - len(missed)} of {len(judged)} are at most one printed spread {side} print"
    )
    return f"{count}; not: {'; '.join(missed)}.\n" if missed else f"{count}.\n"


def uniform_overview(lines, titles):
    """Accuracy less that of Uniform on the same splits; a star where the difference is no luck."""
    found = {(line["method"], line["dataset"]): line for line in lines if "over_uniform" in line}
    names = list(dict.fromkeys(line["dataset"] for line in lines))
    localized = {method: title for method, title in titles.items() if _is_localized(method)}
    body = [
        [title] + [_gap_cell(found.get((method, name))) for name in names]
        for method, title in localized.items()
    ]
    gaps = [found[key]["over_uniform"] for key in found if key[0] in localized]
    better, worse = (sum(sign * gap > 0 for gap in gaps) for sign in (1, -1))
    return (
        f"Of {len(gaps)} localized results {better} are above Uniform with a width by CV on the "
        f"same splits and {worse} below it (*: p < {SIGNIFICANT}):\n\n"
    ) + markdown_table(["less Uniform", *names], body)


def _is_localized(method):
    return printed_as(method) in (*LOCAL, "samkl")


def _gap_cell(line):
    if line is None:
        return "–"
    return f"{line['over_uniform']:+.1f}" + ("*" if line["over_uniform_p"] < SIGNIFICANT else "")


def write(folder=STUDY.results):
    """Write the tables from the rows in ``folder``."""
    folder = Path(folder)
    cells = current_rows(STUDY, folder / "rows.csv")
    for table, notes in ((TABLE2, ""), (TABLE3, limited_rows(STUDY))):
        lines = list(accuracy_lines(cells, table))
        summary = [overview(lines, table.titles, 2), verdict_sentence(lines, table.titles)]
        summary += [uniform_overview(lines, table.titles), seconds_overview(lines, table.titles)]
        save(folder, table.name, table.title, lines, "\n".join([*summary, notes, ""]))
    lines = list(support_lines(cells, TABLE4))
    summary = [overview(lines, TABLE4.titles, 1), verdict_sentence(lines, TABLE4.titles, "above")]
    save(folder, TABLE4.name, TABLE4.title, lines, "\n".join([*summary, ""]))


if __name__ == "__main__":
    sys.exit(write())
