"""Rows of ``benchmarks front`` as points: one for each model, over its seeds."""

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from benchmarks.front_models import OURS
from benchmarks.front_sets import REGRESSIONS


@dataclass(frozen=True)
class Point:
    """``score`` is the mean over seeds, ``us`` the shortest time: noise only adds to it."""

    table: str
    family: str
    size: str
    score: float
    us: float
    one_row_us: float | None
    fit_seconds: float | None
    n_bytes: int | None
    held_out: float | None
    log_loss: float | None
    n_seeds: int
    spread: float
    plan: str = ""

    @property
    def title(self):
        return f"{self.family} {self.size}".strip()

    @property
    def is_ours(self):
        return self.family in OURS

    @property
    def error(self):
        """What is to be small: percent of errors, or the mean squared error."""
        return self.score if self.table in REGRESSIONS else 100.0 - self.score

    @property
    def text(self):
        return f"{self.score:.4g}" if self.table in REGRESSIONS else f"{self.score:.2f} %"


def points_of(rows):
    """{table: points}"""

    def key(row):
        return row["table"], row["model"], row["size"]

    found = {}
    for (table, family, size), some in groupby(sorted(rows, key=key), key):
        found.setdefault(table, []).append(_point(table, family, size, list(some)))
    return found


def _point(table, family, size, rows):
    def each(name):
        return [row[name] for row in rows if row.get(name) is not None]

    def lowest(name):
        return min(each(name), default=None)

    def mean(name):
        return float(np.mean(each(name))) if each(name) else None

    scores = each("score")
    first = min(rows, key=lambda row: row["seed"])
    return Point(
        table, family, size, float(np.mean(scores)), lowest("us"), lowest("one_row_us"),
        lowest("fit_seconds"), lowest("bytes"), first.get("held_out"), mean("log_loss"),
        len(rows), float(np.std(scores)), first.get("plan", ""),
    )  # fmt: skip


def front_of(points):
    """Those that no faster one matches, the fastest first."""
    best, front = np.inf, []
    for point in sorted(points, key=lambda point: (point.us, point.error)):
        if point.error < best:
            best = point.error
            front.append(point)
    return front


def hull_of(points):
    """Of the front, the corners of its convex hull in the logarithms of time and error."""
    corners = []
    for point in front_of(points):
        while len(corners) > 1 and not _turns(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    return corners


def _turns(first, middle, last):
    """Whether the middle lies below the line from the first to the last."""
    (x0, y0), (x1, y1), (x2, y2) = (
        (np.log(one.us), np.log(max(one.error, 1e-6))) for one in (first, middle, last)
    )
    return (y1 - y0) * (x2 - x0) < (y2 - y0) * (x1 - x0)
