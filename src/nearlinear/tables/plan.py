"""What becomes of each column of a table: one look at its cells."""

import hashlib
import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from .cells import are_codes, present, read_dates, read_numbers
from .date_parts import numbers_of, varying

HEAVY = 12.0  # robust standard deviations
_NORMAL_IQR = 1.349  # of a standard normal law
_SQUARED = 1e150  # larger numbers have no finite square
_DISTINCT = 0.95
_FEWEST_NUMBERED = 20  # rows: a shorter column that counts up may mean something
_WORDS, _LETTERS = 8, 50  # on average, from where on a text is prose
_FEW = 3  # values of a number, below which it has no pieces
NUMBER, TEXT, DATE_KIND = "number", "text", "date"


@dataclass(frozen=True)
class Settings:
    """What the plan hangs on: rows, levels that are one-hot encoded, whether y tells them.

    ``n_seen`` of the rows are those whose cells the plan sees.
    """

    n_rows: int
    n_seen: int
    max_levels: int
    has_target: bool
    has_pieces: bool

    @property
    def min_frequency(self):
        """Rows below which a level is put together with other rare ones."""
        return max(3, math.ceil(0.005 * self.n_rows))


@dataclass(frozen=True)
class Plan:
    """One column: what it holds, the parts that take it, and words about it.

    ``parts`` are names of ``assembly.PARTS``; those of dates come with the units they take.
    ``dropped`` is the reason why nothing is made of it; ``is_told``: its owner may disagree.
    """

    kind: str
    parts: tuple = ()
    words: str = ""
    dropped: str | None = None
    is_told: bool = False
    units: dict = field(default_factory=dict)


def kind_of(column):
    """What a column is to be read as: a number, a text or a date."""
    if column.dtype.kind == "f":
        return NUMBER
    if column.dtype.kind == "M":
        return DATE_KIND
    if read_numbers(column) is not None and not are_codes(column):
        return NUMBER
    return TEXT if read_dates(column) is None else DATE_KIND


@dataclass(frozen=True, eq=False)
class Seen:
    """A column as it is known to the plan: its cells, read as its kind, or a sample of them.

    ``values`` are those that are there, and, beside those of a sample, what it lacks: extremes.
    ``counts`` are rows by level, and None of numbers and dates. ``is_open`` says that there are
    more levels than were counted. ``n_strays`` of the missing cells are texts among numbers.
    """

    cells: np.ndarray
    kind: str
    values: np.ndarray
    n_missing: int
    counts: dict | None = None
    is_open: bool = False
    n_strays: int = 0

    @classmethod
    def whole(cls, cells, kind, is_declared, n_strays=0):
        """Of all cells."""
        here = present(cells)
        counts = Counter(cells[here].tolist()) if kind == TEXT or is_declared else None
        n_missing = int(np.count_nonzero(~here))
        return cls(cells, kind, cells[here], n_missing, counts, n_strays=n_strays)


def plans_of(columns, name, settings):
    """A plan for each column that was ``Seen``; ``name(place)`` is what it is called."""
    plans, known = [], {}
    for place, seen in enumerate(columns):
        plan = _plan_of(seen, settings)
        if plan.dropped is None:
            same = _digest(seen.cells), seen.n_missing, plan.parts
            first = known.setdefault(same, place)
            if first != place:
                plan = Plan(seen.kind, dropped=f"the same as {name(first)}")
        plans.append(plan)
    return plans


def _plan_of(seen, settings):
    if not len(seen.values):
        return Plan(seen.kind, dropped="no cell has a value")
    if seen.kind == DATE_KIND:
        return _of_dates(seen.values, seen.n_missing > 0)
    if seen.counts is not None:
        return _of_levels(seen, settings)
    return _of_numbers(seen.values, seen.n_missing > 0, settings)


def _of_numbers(values, has_gaps, settings):
    distinct = np.unique(values)
    marks, words = (("missing",), ", and whether it is missing") if has_gaps else ((), "")
    if len(distinct) == 1:
        if has_gaps:
            return Plan(NUMBER, marks, "whether it is missing; all values are the same")
        return Plan(NUMBER, dropped=f"always {distinct[0]:g}")
    if not has_gaps and _counts_rows(values, distinct, settings):
        return Plan(NUMBER, dropped="it numbers the rows", is_told=True)
    if len(distinct) == 2:
        return Plan(NUMBER, ("two_values", *marks), f"0 or 1, centered{words}")
    is_heavy = largest_deviation(values) > HEAVY
    part, done = ("heavy", "normal scores: its tails are long") if is_heavy else (
        "numbers", "centered, scaled to unit spread")  # fmt: skip
    cut = settings.has_pieces and len(distinct) > _FEW
    pieces = (f"{part}_pieces",) if cut else ()
    return Plan(NUMBER, (part, *pieces, *marks), done + words + (", in pieces" if cut else ""))


def largest_deviation(values):
    """The farthest value from the median, in robust standard deviations.

    These come from the quartiles; where half of all values are the same, from the mean square.
    """
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    farthest = np.max(np.abs(values - middle))
    if farthest > _SQUARED:
        return math.inf
    spread = (high - low) / _NORMAL_IQR or np.std(values)
    return farthest / spread if spread > 0 else math.inf


def _counts_rows(values, distinct, settings):
    """Whether whole numbers are 0, 1, 2, … or 1, 2, 3, …, as many as rows, or a sample of these.

    A training part of a table has gaps; of the whole, at least half of the rows must be there.
    """
    if len(distinct) < max(settings.n_seen, _FEWEST_NUMBERED) or np.any(values != np.floor(values)):
        return False
    return 0 <= distinct[0] <= 10 and distinct[-1] <= 2 * settings.n_rows


def _of_levels(seen, settings):
    counts, kind, has_gaps = seen.counts, seen.kind, seen.n_missing > 0
    n_levels = len(counts) + has_gaps  # a missing cell is a level of its own
    if n_levels == 1:
        return Plan(kind, dropped=f"always {next(iter(counts))!r}")
    n_distinct, n_values = len(counts), sum(counts.values())
    if seen.is_open:  # not all were counted: those of the sample tell it
        n_distinct, n_values = len(set(seen.values.tolist())), len(seen.values)
    if n_distinct >= max(2, _DISTINCT * n_values):
        why = "nearly every row has a value of its own, as identifiers do"
        return Plan(kind, dropped=why, is_told=True)
    n_common = sum(n >= settings.min_frequency for n in (*counts.values(), seen.n_missing))
    if n_levels <= settings.max_levels and n_common:
        return Plan(kind, ("one_hot",), f"one column for each of {n_levels} values")
    if kind == TEXT and _is_prose(counts):
        why = "it holds sentences: turn them into numbers before"
        return Plan(kind, dropped=why, is_told=True)
    if settings.has_target:
        return Plan(kind, ("target",), f"mean target of each of {n_levels} values, scaled")
    if n_common:
        return Plan(kind, ("frequent",), f"one column for the most frequent of {n_levels} values")
    why = f"no value stands in {settings.min_frequency} rows"
    return Plan(kind, dropped=why, is_told=True)


def _is_prose(counts):
    n_rows = sum(counts.values())
    n_words = sum(count * (text.count(" ") + 1) for text, count in counts.items()) / n_rows
    n_letters = sum(count * len(text) for text, count in counts.items()) / n_rows
    return n_words >= _WORDS and n_letters >= _LETTERS


def _of_dates(values, has_gaps):
    marks = ("missing_dates",) if has_gaps else ()
    if np.all(values == values[0]):
        if has_gaps:
            return Plan(DATE_KIND, marks, "whether it is missing; all dates are the same")
        return Plan(DATE_KIND, dropped=f"always {values[0]}")
    heavy = {u: largest_deviation(numbers_of(values, u)) > HEAVY for u in varying(values)}
    units = {
        "dates": tuple(unit for unit, is_it in heavy.items() if not is_it),
        "heavy_dates": tuple(unit for unit, is_it in heavy.items() if is_it),
    }
    units = {part: found for part, found in units.items() if found}
    words = f"{', '.join(heavy)} as numbers" + (", and whether it is missing" if has_gaps else "")
    return Plan(DATE_KIND, (*units, *marks), words, units=units)


def _digest(column):
    """The same for columns of the same cells."""
    if column.dtype == object:
        content = "\0".join("\1" if cell != cell else str(cell) for cell in column.tolist())
        return column.dtype.kind, hashlib.blake2b(content.encode(errors="surrogatepass")).digest()
    if column.dtype.kind == "f":
        column = np.where(present(column), column + 0.0, np.nan)  # one zero, one NaN
    return column.dtype.kind, hashlib.blake2b(np.ascontiguousarray(column)).digest()
