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
    """What the plan hangs on: rows, levels that are one-hot encoded, whether y tells them."""

    n_rows: int
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


def plans_of(table, kinds, settings):
    """A plan for each column of a table whose columns were read as their kinds."""
    plans, seen = [], {}
    for place, (column, kind) in enumerate(zip(table.cells, kinds)):
        plan = _plan_of(column, kind, place in table.declared, settings)
        if plan.dropped is None:
            first = seen.setdefault((_digest(column), plan.parts), place)
            if first != place:
                plan = Plan(kind, dropped=f"the same as {table.name(first)}")
        plans.append(plan)
    return plans


def _plan_of(column, kind, is_declared, settings):
    """The plan of a column that was read as its kind."""
    here = present(column)
    if not here.any():
        return Plan(kind, dropped="no cell has a value")
    values = column[here]
    if kind == DATE_KIND:
        return _of_dates(column, here)
    if kind == TEXT or is_declared:
        return _of_levels(values.tolist(), np.count_nonzero(~here), kind, settings)
    return _of_numbers(values, not here.all(), settings)


def _of_numbers(values, has_gaps, settings):
    distinct = np.unique(values)
    marks, words = (("missing",), ", and whether it is missing") if has_gaps else ((), "")
    if len(distinct) == 1:
        if has_gaps:
            return Plan(NUMBER, marks, "whether it is missing; all values are the same")
        return Plan(NUMBER, dropped=f"always {distinct[0]:g}")
    if _counts_rows(values, distinct, settings.n_rows):
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


def _counts_rows(values, distinct, n_rows):
    """Whether whole numbers are 0, 1, 2, … or 1, 2, 3, …, as many as rows, or a sample of these.

    A training part of a table has gaps; of the whole, at least half of the rows must be there.
    """
    if len(distinct) < max(n_rows, _FEWEST_NUMBERED) or np.any(values != np.floor(values)):
        return False
    return 0 <= distinct[0] <= 10 and distinct[-1] <= 2 * n_rows


def _of_levels(values, n_missing, kind, settings):
    counts = Counter(values)
    if n_missing:
        counts[None] = n_missing  # a level of its own
    n_levels = len(counts)
    if n_levels == 1:
        return Plan(kind, dropped=f"always {values[0]!r}")
    if n_levels - bool(n_missing) >= max(2, _DISTINCT * len(values)):
        why = "nearly every row has a value of its own, as identifiers do"
        return Plan(kind, dropped=why, is_told=True)
    n_common = sum(count >= settings.min_frequency for count in counts.values())
    if n_levels <= settings.max_levels and n_common:
        return Plan(kind, ("one_hot",), f"one column for each of {n_levels} values")
    if kind == TEXT and _is_prose(values):
        why = "it holds sentences: turn them into numbers before"
        return Plan(kind, dropped=why, is_told=True)
    if settings.has_target:
        return Plan(kind, ("target",), f"mean target of each of {n_levels} values, scaled")
    if n_common:
        return Plan(kind, ("frequent",), f"one column for the most frequent of {n_levels} values")
    why = f"no value stands in {settings.min_frequency} rows"
    return Plan(kind, dropped=why, is_told=True)


def _is_prose(texts):
    n_words = np.mean([text.count(" ") + 1 for text in texts])
    return n_words >= _WORDS and np.mean([len(text) for text in texts]) >= _LETTERS


def _of_dates(dates, here):
    values, has_gaps = dates[here], not here.all()
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
