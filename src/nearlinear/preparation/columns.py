"""Columns on their way from raw rows to the model: the entries of a table, before it is one."""

import math
from dataclasses import dataclass, fields, replace

import numpy as np
from scipy.linalg import block_diag

from ..runtime.columns.curves import NORMAL, on_curve
from ..runtime.columns.readings import NUMBER, Reading
from ..runtime.preparation import NO_FOLD, Preparation


class NoPreparation(ValueError):
    """Steps that no table holds; the message says which and why."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Arrays with an entry for each column; ``fill`` stands for missing values, NaN for itself.

    They are columns of raw rows, or of rows of the columns that came ``before``. ``reading`` and
    ``curve`` are None for columns that are numbers, and not bent. A reading of numbers, in whose
    place slips are missing, is as good as none.
    """

    source: np.ndarray
    fill: np.ndarray
    reading: np.ndarray
    equals: np.ndarray
    curve: np.ndarray
    shift: np.ndarray
    scale: np.ndarray
    low: np.ndarray
    high: np.ndarray
    fold: np.ndarray
    before: "Columns | MixedColumns | None" = None

    def __len__(self):
        return len(self.source)

    @property
    def are_raw(self):
        """Whether nothing was done to them, or gaps were filled and no more."""
        return self.before is None and self._are_plain

    @property
    def _are_plain(self):
        raw = raw_columns(len(self))
        names = ("shift", "scale", "low", "high", "fold")
        is_plain = all(np.array_equal(getattr(self, name), getattr(raw, name)) for name in names)
        is_bent = any(one is not None for one in self.curve)
        is_bent = is_bent or any(one is not None and not one.is_of_numbers for one in self.reading)
        return is_plain and not is_bent and bool(np.all(np.isnan(self.equals)))

    @property
    def are_lines(self):
        """Whether they were shifted and scaled, and no more, since the columns before."""
        return replace(self, shift=np.zeros(len(self)), scale=np.ones(len(self)))._are_plain

    def pick(self, places):
        places = np.asarray(places, dtype=np.intp)
        return replace(self, **{name: getattr(self, name)[places] for name in _ARRAYS})

    def moved(self, shift, scale, low=-math.inf, high=math.inf):
        """Afterwards shifted, scaled and clipped: one shift, one scale and one clip again."""
        shift = 0.0 if shift is None else np.asarray(shift, dtype=np.float64)
        scale = 1.0 if scale is None else np.asarray(scale, dtype=np.float64)

        def after(values):
            return np.clip((values.astype(np.float64) - shift) / scale, low, high)

        start, slope, lift, floor = self.fold.T
        floor = np.maximum((floor - shift) / scale, low)
        fold = _folds(start, slope * scale, (lift - shift) / scale, floor)

        return replace(
            self, fill=after(self.fill), shift=self.shift + shift * self.scale,
            scale=self.scale * scale, low=after(self.low), high=after(self.high), fold=fold,
        )  # fmt: skip

    def of(self, columns, fill):
        """The same of columns that were shifted and scaled before; ``fill`` is for the gaps."""
        first = columns.pick(self.source)
        start, slope, lift, floor = self.fold.T
        fold = _folds(first.shift + first.scale * start, first.scale * slope, lift, floor)
        return replace(
            self, source=first.source, fill=fill, shift=first.shift + first.scale * self.shift,
            scale=first.scale * self.scale, fold=fold, reading=first.reading,
            before=columns.before,
        )  # fmt: skip

    def marks(self, fill, likes):
        """0 where there is a value, ``fill`` where there is none; ``likes`` are such values."""
        # texts are no numbers
        readings = [
            Reading(int(source), ()) if isinstance(like, str) else reading
            for source, like, reading in zip(self.source, likes, self.reading)
        ]
        zeros = np.zeros(len(self))
        return replace(
            raw_columns(len(self)), source=self.source, before=self.before,
            fill=np.asarray(fill, dtype=np.float64), reading=objects(readings), low=zeros,
            high=zeros,
        )  # fmt: skip

    def curved(self, knots, values):
        """Afterwards bent by curves: of each column the knots, in ascending order, and the values.

        Lines join them, and the ends go on level. Of a knot that stands three times, the first
        value is the end of the line that comes, the last the begin of the one that goes on, and
        the middle one counts at the knot itself.
        """
        pairs = zip(knots, values, strict=True)
        curves = [tuple(np.asarray(one, dtype=np.float64) for one in pair) for pair in pairs]
        if not self._are_plain:
            return begun_anew(self).curved(knots, values)
        fill = [float(on_curve(c, f)) for c, f in zip(curves, self.fill.astype(np.float64))]
        return replace(self, curve=objects(curves), fill=np.array(fill))

    def normal(self):
        """Afterwards normal scores; they are tails, negative ones of the upper end."""
        columns = begun_anew(self)
        return replace(columns, curve=np.full(len(self), NORMAL, dtype=object))

    def dated(self, units):
        """Dates as numbers: for each column, and each of its ``units``, one column.

        The units are those of ``nearlinear.runtime.columns.readings``.
        """
        if not self.are_raw:
            raise NoPreparation("Dates behind another step: let the dates come first.")
        found = self.pick(np.repeat(np.arange(len(self)), len(units)))
        each = zip(found.source.tolist(), list(units) * len(self))
        return replace(found, reading=objects([Reading(source, unit) for source, unit in each]))

    def with_slips(self, places):
        """The same, where texts that are no numbers are missing cells of these raw columns."""
        reading = self.reading.copy()
        for place in places:
            reading[place] = Reading(int(self.source[place]), NUMBER)
        return replace(self, reading=reading)

    def mixed(self, matrix, offset):
        return MixedColumns(self, matrix, offset)

    def table(self, n_raw, known):
        """The preparation of rows of ``n_raw`` columns; None for what does nothing."""
        if self.before is not None:
            after = replace(self, before=None).table(len(self.before), ())
            return replace(after, n_features=n_raw, before=self.before.table(n_raw, known))
        raw = raw_columns(n_raw)
        is_clipped = np.any(np.isfinite(self.low)) or np.any(np.isfinite(self.high))
        missing = self.fill.astype(np.float64)
        readings, places = _readings(self.reading, known)
        source = np.where(places < 0, self.source, n_raw + places)
        has_curves = any(curve is not None for curve in self.curve)
        return Preparation(
            n_features=n_raw,
            source=None if np.array_equal(source, raw.source) else source,
            missing=None if np.all(np.isnan(missing)) else missing,
            shift=self.shift if np.any(self.shift != 0.0) else None,
            scale=self.scale if np.any(self.scale != 1.0) else None,
            low=self.low if is_clipped else None,
            high=self.high if is_clipped else None,
            readings=readings or None,
            equals=None if np.all(np.isnan(self.equals)) else self.equals,
            curves=tuple(self.curve.tolist()) if has_curves else None,
            fold=self.fold if np.any(self.fold[:, 3] < math.inf) else None,
        )


def _readings(wanted, known):
    """Distinct readings, and which of them each column has (−1 for none)."""
    places = dict.fromkeys([*(one for one in wanted if one is not None), *known])
    for one in [one for one in places if one.is_of_text and not one.of]:
        # whether there is a text, any reading of it tells
        tells = (o for o in places if o.is_of_text and o.of and o.unknown != "missing")
        places[one] = next((other for other in tells if other.column == one.column), None)
    kept = [one for one, other in places.items() if other is None]
    number = {one: kept.index(other or one) for one, other in places.items()}
    return tuple(kept), np.array([-1 if one is None else number[one] for one in wanted], dtype=int)


@dataclass(frozen=True, eq=False)
class MixedColumns:
    """matrix z + offset of columns z, as principal components are."""

    columns: Columns
    matrix: np.ndarray
    offset: np.ndarray

    are_raw = are_lines = False

    def __len__(self):
        return len(self.matrix)

    def pick(self, places):
        places = np.asarray(places, dtype=np.intp)
        return replace(self, matrix=self.matrix[places], offset=self.offset[places])

    def moved(self, shift, scale, low=-math.inf, high=math.inf):
        """Afterwards shifted and scaled; None where they would be clipped."""
        if np.any(np.isfinite(low)) or np.any(np.isfinite(high)):
            return None
        shift = 0.0 if shift is None else np.asarray(shift, dtype=np.float64)
        scale = np.ones(len(self)) if scale is None else np.asarray(scale, dtype=np.float64)
        offset = (self.offset - shift) / scale
        return replace(self, matrix=self.matrix / scale[:, None], offset=offset)

    def curved(self, knots, values):
        return begun_anew(self).curved(knots, values)

    def mixed(self, matrix, offset):
        """The same, mixed once more."""
        offset = matrix @ self.offset + offset
        return MixedColumns(self.columns, matrix @ self.matrix, offset)

    def table(self, n_raw, known):
        found = self.columns.table(n_raw, known)
        return replace(found, matrix=self.matrix, offset=self.offset)


def raw_columns(count):
    """Columns as they come."""
    return Columns(
        np.arange(count), np.full(count, math.nan), np.full(count, None), np.full(count, math.nan),
        np.full(count, None), np.zeros(count), np.ones(count), np.full(count, -math.inf),
        np.full(count, math.inf), np.tile(NO_FOLD, (count, 1)),
    )  # fmt: skip


def objects(items):
    """A row of any things."""
    found = np.empty(len(items), dtype=object)
    for place, item in enumerate(items):
        found[place] = item
    return found


def _folds(shift, scale, lift, floor):
    """Second lines; one that is above all has no other numbers."""
    lines = np.column_stack([shift, scale, lift, floor])
    return np.where(np.isposinf(floor)[:, None], NO_FOLD, lines)


def begins_anew(columns):
    """Whether they are columns of a table that follows another."""
    return isinstance(columns, Columns) and columns.before is not None


def begun_anew(columns):
    """The same columns, as those of a new table."""
    return replace(raw_columns(len(columns)), before=columns)


_ARRAYS = tuple(field.name for field in fields(Columns) if field.name != "before")


def joined(parts):
    """Columns side by side."""
    parts = [raw_columns(0), *parts]
    if any(begins_anew(part) for part in parts):
        return _joined_chains([part if begins_anew(part) else begun_anew(part) for part in parts])
    if any(isinstance(part, MixedColumns) for part in parts):
        mixed = [p if isinstance(p, MixedColumns) else p.mixed(*_unmixed(len(p))) for p in parts]
        return MixedColumns(
            joined([part.columns for part in mixed]),
            block_diag(*(part.matrix for part in mixed)),
            np.concatenate([part.offset for part in mixed]),
        )
    return Columns(*(np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS))


def _joined_chains(parts):
    befores = list({id(part.before): part.before for part in parts}.values())
    ends = dict(zip(map(id, befores), np.cumsum([0, *map(len, befores)]).tolist()))
    firsts = [ends[id(part.before)] for part in parts]
    after = [
        replace(part, source=part.source + first, before=None) for part, first in zip(parts, firsts)
    ]
    return replace(joined(after), before=joined(befores))


def _unmixed(count):
    return np.eye(count), np.zeros(count)


def is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def are_nan(values):
    """The same for numbers, texts and anything else of an array."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    return np.array([is_nan(value) for value in values.tolist()], dtype=bool)
