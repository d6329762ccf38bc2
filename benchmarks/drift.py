"""What has moved since it was written down: sizes of files, the import, microseconds a row.

``python -m benchmarks drift`` measures, compares with results/drift.json, and prints what moved by
more than its noise; ``--again`` writes results/drift.json anew. Machines differ, so times are
multiples of a yardstick of the same run: a linear model's rows, scikit-learn's import. The table
goes to the summary of a workflow, too, where there is one.
"""

import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy
import sklearn

import nearlinear
from benchmarks.report import FOLDER

COMMITTED = FOLDER / "drift.json"
FRESH = Path("drift.json")
# The least that counts, where the noise of a few repeats happens to be small.
LEAST = {"bytes": 0.01, "x import of scikit-learn": 0.2, "x linear model": 0.25}
# Spreads of a few repeats that a figure must leave.
SPREADS = 3.0


@dataclass(frozen=True)
class Figure:
    """A number, and how far repeats of it lie apart, as a share of it."""

    value: float
    unit: str
    noise: float = 0.0


@dataclass(frozen=True)
class Moved:
    """A figure that left its noise; ``change`` is a share, None of one that came or went."""

    name: str
    before: Figure | None
    now: Figure | None
    change: float | None

    @property
    def is_worse(self):
        return self.change is None or self.change > 0


def compare(before, now):
    """Figures of two records that differ by more than their noise, the worst first."""
    moved = []
    for name in dict.fromkeys((*before, *now)):
        old, new = before.get(name), now.get(name)
        if old is None or new is None or old.unit != new.unit:
            moved.append(Moved(name, old, new, None))
            continue
        change = new.value / old.value - 1.0
        if abs(change) > max(LEAST[new.unit], SPREADS * max(old.noise, new.noise)):
            moved.append(Moved(name, old, new, change))
    return sorted(moved, key=lambda one: -abs(one.change or numpy.inf))


def table(moved, n_figures):
    """The same in Markdown."""
    if not moved:
        return f"Nothing moved: {n_figures} figures are within their noise.\n"
    lines = ["| figure | before | now | change |", "| --- | --- | --- | --- |"]
    for one in moved:
        change = "new or gone" if one.change is None else f"{100 * one.change:+.0f} %"
        lines.append(f"| {one.name} | {_shown(one.before)} | {_shown(one.now)} | {change} |")
    return "\n".join([f"{len(moved)} of {n_figures} figures moved.", "", *lines, ""])


def _shown(figure):
    if figure is None:
        return ""
    number = f"{figure.value:,.0f}" if figure.unit == "bytes" else f"{figure.value:.3g}"
    return f"{number} {figure.unit}"


def read(path):
    """The figures of a record."""
    found = json.loads(path.read_text("utf-8"))["figures"]
    return {name: Figure(**one) for name, one in found.items()}


def write(path, figures):
    versions = {one.__name__: one.__version__ for one in (nearlinear, numpy, sklearn)}
    record = {
        "machine": platform.machine(),
        "python": platform.python_version(),
        "versions": versions,
        "figures": {name: asdict(one) for name, one in figures.items()},
    }
    path.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


def run(again=False):
    """Measure and tell; whether nothing got worse."""
    from benchmarks.drift_figures import measured

    now = measured()
    if again:
        write(COMMITTED, now)
        print(f"wrote {len(now)} figures to {COMMITTED}")
        return True
    write(FRESH, now)
    moved = compare(read(COMMITTED), now)
    text = table(moved, len(now))
    print(text)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(summary, "a", encoding="utf-8") as file:
            file.write(text)
    return not any(one.is_worse for one in moved)
