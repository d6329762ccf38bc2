"""Rows of a source as an estimator trains on them: checked, with targets, some held out."""

import hashlib
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin

from ...._warn import warn_user
from ....streams.blocks import Block, Parted, shuffled, usual_rows
from ....streams.survey import Survey, row_ranks, survey_rows
from ..input import block_pairs
from ..rows import TrainingRows
from ..target_units import TargetUnits
from ..task import Regression, check_labels, class_factors, task_of_classes
from .memory import blocks_memory, require_blocks, row_bytes

# The most rows of which a fit takes what need not be exact, and that it holds out; a block's worth
# and half of it where that is less.
_SAMPLE, _HELD_OUT = 20_000, 10_000
_OF_CLASS = 50  # rows of any class, if it has as many, in a sample of strata
_FREQUENT = 0.05  # a class of so many rows is among the first, unless rows are sorted


@dataclass(frozen=True)
class BlockRows:
    """All rows of a source but those that are held out: the ones that rank below ``bound``."""

    source: Parted
    checks: object
    survey: Survey
    task: object
    factors: np.ndarray | None  # of the classes' weights
    names: dict
    total_weight: float
    block_rows: int
    seed: int
    masses: np.ndarray | None = None  # the sum of the weights of each class, as they were given
    n_held: int = 0

    @property
    def attributes(self):
        return {**self.names, **self.task.attributes}

    @property
    def n_rows(self):
        return self.survey.n_rows - self.n_held

    @property
    def n_features(self):
        return self.survey.sample.X.shape[1]

    @property
    def mean_weight(self):
        return self.total_weight / self.n_rows

    @property
    def memory(self):
        """Bytes of the blocks that are there at once, and of what the survey has kept."""
        n_bytes = row_bytes(self.survey.sample.X)
        return blocks_memory(self.block_rows, n_bytes) + n_bytes * len(self.survey.ranks)

    @property
    def is_whole(self):
        """Whether the sample has all rows."""
        return len(self.survey.ranks) == self.survey.n_rows

    def in_order(self):
        """All rows, where the sample has them: X, y and weights, as they come."""
        return self.survey.sample.take(np.argsort(self.survey.numbers))

    def split(self, fraction):
        """These rows without a part, and that part; None where it would be tiny."""
        most = len(self.survey.ranks) // 3
        n_held = min(round(fraction * self.survey.n_rows), most, _HELD_OUT)
        if n_held < 10:
            return self, None
        held = self._rows(self.survey.sample.take(np.arange(n_held)))
        left = self.total_weight - held.weight.sum()
        return replace(self, n_held=n_held, total_weight=left), held

    def sample(self):
        """Some training rows, merged, that stand for all."""
        kept = np.arange(self.n_held, min(len(self.survey.ranks), self.n_held + _SAMPLE))
        return self._merged(self._rows(self.survey.sample.take(kept)))

    def weighted_sample(self):
        """The sample, weighing as much as all rows, with the unit of its values."""
        sample = self.sample()
        if isinstance(sample.task, Regression):
            units = TargetUnits.of_values(sample.targets[:, 0], sample.weight)
            sample = replace(sample, task=Regression(units))
        factor = self.total_weight / sample.weight.sum()
        return replace(sample, weight=factor * sample.weight, n_all=None)

    def stratified_sample(self):
        """All training rows that the survey has kept, with some of every class.

        Rows of a class that is rare are as many as it takes; together they weigh as they would if
        the class had its proportion.
        """
        kept = self.survey.sample.take(np.arange(self.n_held, len(self.survey.ranks)))
        known, parts = self.survey.numbers[self.n_held :], [self._rows(kept)]
        share = len(known) / self.n_rows
        bound = self.survey.ranks[self.n_held - 1] if self.n_held else None
        for label, (block, numbers, ranks) in self.survey.strata.items():
            number = np.searchsorted(self.task.classes, label)
            own = np.flatnonzero(parts[0].labels == number)
            if len(own) >= _OF_CLASS or len(own) >= len(numbers):
                continue
            is_new = ~np.isin(numbers, known)
            if bound is not None and (is_new & (ranks > bound)).any():
                is_new &= ranks > bound  # but a class that was held out whole is learned from, too
            more = self._rows(block.take(np.flatnonzero(is_new)))
            mass = parts[0].weight[own].sum() + more.weight.sum()
            factor = share * self.masses[number] * self.factors[number] / mass if mass else 1.0
            parts[0].weight[own] *= factor
            parts.append(replace(more, weight=more.weight * factor))
        return self._merged(_joined(parts))

    def _merged(self, rows):
        numbers = None
        if isinstance(self.task, Regression):
            numbers = np.unique(rows.targets[:, 0], return_inverse=True)[1]
        return replace(rows.merged(numbers), n_all=self.n_rows)

    def count_batches(self, batch_size):
        """Mini-batches of an epoch: no batch has rows of two blocks."""
        whole, rest = divmod(self.n_rows, self.block_rows)
        return whole * -(-self.block_rows // batch_size) + -(-rest // batch_size)

    def epoch(self, number):
        """Yields (X, targets, weights of mean 1) of all training rows, in blocks."""
        bound = self.survey.ranks[self.n_held - 1] if self.n_held else None
        mean, n_rows = self.mean_weight, 0

        def change(block, part, row):
            row = int(self.survey.part_starts[part]) + row
            block = self.checks(block, row)
            if bound is None:
                return block
            kept = row_ranks(row, block.X.shape[0], self.seed) > bound
            return block if kept.all() else block.take(np.flatnonzero(kept))

        for block in shuffled(self.source, self.block_rows, [self.seed, number], change):
            n_rows += block.X.shape[0]
            rows = self._rows(block)
            del block
            yield rows.X, rows.targets, rows.weight / mean
        if n_rows != self.n_rows:
            raise ValueError(
                f"The source gave {n_rows + self.n_held} rows now and {self.survey.n_rows} before: "
                "it must yield the same rows each time."
            )

    @property
    def fingerprint(self):
        """What tells these rows from others, for a checkpoint."""
        X = self.survey.sample.X
        told = hashlib.sha256((X.data if issparse(X) else np.ascontiguousarray(X)).tobytes())
        told.update(str(self.survey.sample.y.tolist()).encode())
        return {"rows": self.survey.n_rows, "block_rows": self.block_rows, "of": told.hexdigest()}

    def _rows(self, block):
        n_rows = block.X.shape[0]
        weight = np.ones(n_rows) if block.weight is None else block.weight
        labels = np.zeros(n_rows, dtype=np.intp)
        if self.factors is None:
            targets = block.y[:, None].astype(block.X.dtype)
        else:
            labels = np.searchsorted(self.task.classes, block.y)
            known = self.task.classes[np.minimum(labels, len(self.task.classes) - 1)] == block.y
            if not np.all(known):
                raise ValueError(
                    f"The source gave the label {block.y[~known].tolist()[0]!r} now and not "
                    "before: it must yield the same rows each time."
                )
            weight = weight * self.factors[labels]
            targets = self.task.targets(labels, block.X.dtype)
        return TrainingRows(block.X, labels, targets, weight, n_rows, self.task, self.names)


def _joined(parts):
    """Rows one after another."""
    if len(parts) == 1:
        return parts[0]
    names = ("X", "labels", "targets", "weight")
    found = {name: np.concatenate([getattr(one, name) for one in parts]) for name in names}
    return replace(parts[0], **found, n_distinct=len(found["labels"]))


class _Checks:
    """What ``fit`` asks of its rows, asked of each block; the first says what all have."""

    def __init__(self, model):
        self._model, self._first, self.names = model, None, None
        self.is_classifier = isinstance(model, ClassifierMixin)

    def __call__(self, block, row):
        try:
            X, y, names = block_pairs(self._model, block.X, block.y, self._first)
            if self._first is None:
                self._first, self.names = (names, X.dtype, block.weight is None), names
            if self.is_classifier:
                check_labels(y)
            weight = None if block.weight is None else np.asarray(block.weight, dtype=np.float64)
            if (weight is None) != self._first[2]:
                raise ValueError("some blocks have weights, and others have none")
            if weight is not None and (
                weight.shape != y.shape or not np.isfinite(weight).all() or (weight < 0).any()
            ):
                raise ValueError("weights are numbers of 0 or more, one for each row")
        except ValueError as error:
            raise ValueError(f"In the block from row {row:,} on: {error}") from error
        return Block(X, y, weight)


def surveyed(model, source, seed):
    """``BlockRows`` of a source, after one pass over it."""
    parted, checks = Parted(source), _Checks(model)
    masses, sizes, first = {}, [], set()
    if parted.block_rows and getattr(source, "row_bytes", None):
        require_blocks(model, parted.block_rows, source.row_bytes)

    def see(block, row):
        block = checks(block, row)
        sizes.append(block.X.shape[0])
        weight = np.ones(len(block.y)) if block.weight is None else block.weight
        if checks.is_classifier:
            classes, labels = np.unique(block.y, return_inverse=True)
            if row < (parted.block_rows or _SAMPLE):
                first.update(classes.tolist())
            for label, mass in zip(classes, np.bincount(labels, weights=weight), strict=True):
                masses[label] = masses.get(label, 0.0) + mass
        else:
            masses[None] = masses.get(None, 0.0) + weight.sum()
        return block

    def n_sample(block):
        rows = parted.block_rows or usual_rows(block.X.shape[1], block.X.dtype.itemsize)
        n_bytes = row_bytes(block.X)
        if parted.block_rows:
            require_blocks(model, rows, n_bytes)
        if grows:
            return model._sample_rows(rows, block.X.shape[1], blocks_memory(rows, n_bytes))
        return max(1, min(_SAMPLE + _HELD_OUT, rows + rows // 2))

    grows = hasattr(model, "_sample_rows")
    of_class = _OF_CLASS if grows and checks.is_classifier else 0
    survey = survey_rows(parted, n_sample, seed, see, of_class)
    task, factors, mass = Regression(TargetUnits()), None, None
    total = sum(masses.values())
    if not total > 0:
        raise ValueError("The sum of the weights is zero; give some row a positive weight.")
    if checks.is_classifier:
        classes = np.unique(np.array(list(masses), dtype=survey.sample.y.dtype))
        check_labels(classes)
        mass = np.array([masses[label] for label in classes])
        factors = class_factors(model.class_weight, classes, mass)
        total = float(mass @ factors)
        task = task_of_classes(model, classes, np.flatnonzero(mass * factors > 0))
        if parted.n_parts == 1:
            _warn_if_sorted(model, classes, mass / mass.sum(), first)
    names = dict(checks.names)
    if getattr(source, "feature_names", None) is not None:
        names["feature_names_in_"] = np.asarray(source.feature_names, dtype=object)
    rows = parted.block_rows or max(
        sizes[0], usual_rows(survey.sample.X.shape[1], survey.sample.X.dtype.itemsize)
    )
    return BlockRows(parted, checks, survey, task, factors, names, total, rows, seed, mass)


def _warn_if_sorted(model, classes, shares, first):
    for label, share in zip(classes.tolist(), shares, strict=True):
        if share > _FREQUENT and label not in first:
            warn_user(
                f"{type(model).__name__}: the first rows of the source have no {label!r}, which "
                f"{100 * share:.0f} % of all rows are; rows that come sorted are learned badly. "
                "Shuffle them, or give a source of several parts."
            )
            return
