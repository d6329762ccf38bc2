"""Encoders of categories: each of their columns is a number for every category.

A value that the fit has not seen has a number, too, and so has a missing one.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..runtime.columns.readings import Reading, is_category, is_missing
from .columns import NoPreparation, joined, objects

_LARGEST_WHOLE = 2**53  # whole numbers beyond it are no doubles


@dataclass(frozen=True)
class _Vocabulary:
    """The categories of a column, in the encoder's order; of these one may be a missing value."""

    categories: tuple
    gap: int | None

    @property
    def words(self):
        return tuple(value for k, value in enumerate(self.categories) if k != self.gap)

    def place(self, number):
        """Among the words, of a category that is none that is missing."""
        return number - (self.gap is not None and number > self.gap)


def one_hot(encoder, columns, known):
    dropped = getattr(encoder, "_drop_idx_after_grouping", None)
    joins = encoder.handle_unknown in ("infrequent_if_exist", "warn")

    def made(column, count):
        rare = _infrequent(encoder, column)
        groups = [[k] for k in range(count) if k not in rare] + ([sorted(rare)] if rare else [])
        left_out = None if dropped is None else dropped[column]
        unknown = len(groups) - 1 if rare and joins else None
        return [
            (dict.fromkeys(group, 1.0), float(place == unknown))
            for place, group in enumerate(groups)
            if place != left_out
        ]

    return _encoded(encoder, columns, known, encoder.handle_unknown == "error", made)


def ordinal(encoder, columns, known):
    is_strict, unknown = encoder.handle_unknown == "error", encoder.unknown_value
    gaps = encoder._missing_indices
    if not is_strict and np.isnan(unknown) and not np.isnan(encoder.encoded_missing_value):
        raise NoPreparation(
            "OrdinalEncoder with unknown_value=nan and another encoded_missing_value has no place "
            "before an exported model: let both be nan."
        )

    def made(column, count):
        rare = _infrequent(encoder, column)
        kept = [k for k in range(count) if k not in rare and k != gaps.get(column)]
        numbers = {k: float(place) for place, k in enumerate(kept)}
        numbers |= dict.fromkeys(rare, float(len(kept)))
        if column in gaps:
            numbers[gaps[column]] = float(encoder.encoded_missing_value)
        return [(numbers, 0.0 if is_strict else float(unknown))]

    return _encoded(encoder, columns, known, is_strict, made)


def target_means(encoder, columns, known):
    n_made = len(encoder.classes_) if encoder.target_type_ == "multiclass" else 1
    means = np.broadcast_to(encoder.target_mean_, n_made).tolist()

    def made(column, count):
        found = encoder.encodings_[column * n_made : (column + 1) * n_made]
        return [(dict(enumerate(one.tolist())), mean) for one, mean in zip(found, means)]

    return _encoded(encoder, columns, known, False, made)


def _encoded(encoder, columns, known, is_strict, made):
    """Columns of an encoder; ``made(column, count)`` lists numbers by category, and of unknown."""
    name = type(encoder).__name__
    if not columns.are_raw:
        raise NoPreparation(f"{name} behind a scaler or an encoder: let it come first.")
    found = []
    for place, categories in enumerate(encoder.categories_):
        words = _vocabulary(categories)
        pairs = made(place, len(words.categories))
        is_open = not is_strict and any(np.isnan(unknown) for _, unknown in pairs)
        unknown = "refused" if is_strict else "missing" if is_open else "other"
        reading = Reading(int(columns.source[place]), words.words, unknown)
        one = columns.pick([place])
        found += [_column(one, reading, words, *pair, is_strict) for pair in pairs]
        if is_strict:
            known.append(reading)
    return joined(found)


def _column(one, reading, words, numbers, unknown, is_strict):
    fill = _fill(one.fill[0], words, numbers, np.nan if is_strict else unknown)
    one = replace(one, fill=np.array([fill]), reading=objects([reading]))
    here = {words.place(k): v for k, v in numbers.items() if k != words.gap and v != 0.0}
    if unknown == 0.0 and list(here.values()) == [1.0]:
        return replace(one, equals=np.array([float(*here)]))
    if unknown == 0.0 and not here:  # the column of what is missing
        return replace(one, low=np.zeros(1), high=np.zeros(1))
    values = np.zeros(len(reading.of) + 1)
    values[0] = np.nan_to_num(unknown, nan=0.0)
    values[1 + np.array(list(here), dtype=int)] = list(here.values())
    return replace(one, curve=objects([(None, values)]))


def _fill(stands, words, numbers, unknown):
    """What a missing value becomes, or what was put in its place."""
    if is_missing(stands) and words.gap is not None and stands not in words.categories:
        return numbers.get(words.gap, 0.0)
    if stands not in words.categories:
        return unknown
    return numbers.get(words.categories.index(stands), 0.0)


def _vocabulary(values):
    values = [_category(value) for value in values.tolist()]
    gaps = [k for k, value in enumerate(values) if is_missing(value) and value != ""]
    if len(gaps) > 1:
        raise NoPreparation(
            "None and NaN are two categories of a column, and both are missing values here: turn "
            "one into the other before fitting."
        )
    return _Vocabulary(tuple(values), gaps[0] if gaps else None)


def _infrequent(encoder, column):
    rare = getattr(encoder, "_infrequent_indices", None) if encoder._infrequent_enabled else None
    return set() if rare is None or rare[column] is None else set(rare[column].tolist())


def _category(value):
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str) or is_missing(value):
        return value
    if not is_category(value) or abs(value) > _LARGEST_WHOLE:
        raise NoPreparation(
            f"The category {value!r} is neither a text nor a number: turn it into one."
        )
    return float(value)
