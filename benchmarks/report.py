"""Results of a benchmark: kept as JSON rows, shown as one table beside their targets."""

import json
import os
import platform
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy
import sklearn

import nearlinear

FOLDER = Path(__file__).parent / "results"
SUMMARY = "summary.jsonl"  # one line for each result of each benchmark


@dataclass(frozen=True)
class Result:
    """One number. ``target`` is the most it may be, or the least where ``at_least`` is set."""

    case: str
    quantity: str
    value: float
    unit: str = ""
    target: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def verdict(self):
        if self.target is None:
            return ""
        holds = self.value >= self.target if self.at_least else self.value <= self.target
        return "ok" if holds else "MISSED"


def save(benchmark, results, folder=FOLDER):
    """Write the rows of one benchmark to the summary; an earlier run of it is replaced.

    A result that was there already keeps the machine that it was measured on.
    """
    machine = {
        "version": nearlinear.__version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scikit-learn": sklearn.__version__,
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }
    folder.mkdir(exist_ok=True)
    rows = _rows(folder)
    known = {_result_of(row): row for row in rows if row["benchmark"] == benchmark}
    new = {result: {"benchmark": benchmark, **asdict(result), **machine} for result in results}
    rows = [row for row in rows if row["benchmark"] != benchmark]
    rows += [known.get(result, row) for result, row in new.items()]
    rows.sort(key=lambda row: row["benchmark"])
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / SUMMARY).write_text(text, encoding="utf-8")


def _rows(folder):
    path = folder / SUMMARY
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def _result_of(row):
    return Result(**{field.name: row[field.name] for field in fields(Result)})


def earlier(benchmark, folder, replaced):
    """Results of earlier runs of a benchmark, without a case that is replaced."""
    rows = (row for row in _rows(folder) if row["benchmark"] == benchmark)
    return [result for result in map(_result_of, rows) if result.case != replaced]


def show(results):
    """Print results as one table."""
    lines = [("case", "quantity", "value", "target", "", "note")]
    for result in results:
        sign = "≥" if result.at_least else "≤"
        target = "" if result.target is None else f"{sign} {result.target:g} {result.unit}"
        value = f"{result.value:.3g} {result.unit}".strip()
        lines.append((result.case, result.quantity, value, target, result.verdict, result.note))
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def publish(benchmark, results):
    """Save and show, for a benchmark that is run alone."""
    save(benchmark, results)
    show(results)
