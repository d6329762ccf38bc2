"""Rows of a source as an estimator trains on them: checked, with targets, some held out."""

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial

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

# The most rows of which a fit takes what need not be exact, and that it holds out; a block's worth
# and half of it where that is less.
_SAMPLE, _HELD_OUT = 20_000, 10_000
MOST_SAMPLED = _SAMPLE + _HELD_OUT
_FREQUENT = 0.05  # a class of so many rows is among the first, unless rows are sorted


@dataclass(frozen=True)
class RowRules:
    """How rows of a block become training rows; rows that rank up to ``bound`` are held out."""

    checks: object
    task: object
    factors: np.ndarray | None  # of the classes' weights
    names: dict
    seed: int
    bound: np.uint64 | None = None

    def kept(self, block, row):
        """A block, checked, without what is held out; ``row`` is the number of its first row."""
        block = self.checks(block, row)
        if self.bound is None:
            return block
        kept = row_ranks(row, block.X.shape[0], self.seed) > self.bound
        return block if kept.all() else block.take(np.flatnonzero(kept))

    def rows(self, block):
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


@dataclass(frozen=True)
class BlockRows:
    """All rows of a source but those that are held out."""

    source: Parted
    checks: object
    survey: Survey
    task: object
    factors: np.ndarray | None  # of the classes' weights
    names: dict
    total_weight: float
    block_rows: int
    seed: int
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
    def rules(self):
        bound = self.survey.ranks[self.n_held - 1] if self.n_held else None
        return RowRules(self.checks, self.task, self.factors, self.names, self.seed, bound)

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
        held = self.rules.rows(self.survey.sample.take(np.arange(n_held)))
        left = self.total_weight - held.weight.sum()
        return replace(self, n_held=n_held, total_weight=left), held

    def sample(self):
        """Some training rows, merged, that stand for all."""
        kept = np.arange(self.n_held, min(len(self.survey.ranks), self.n_held + _SAMPLE))
        rows = self.rules.rows(self.survey.sample.take(kept))
        numbers = None
        if isinstance(self.task, Regression):
            numbers = np.unique(rows.targets[:, 0], return_inverse=True)[1]
        return replace(rows.merged(numbers), n_all=self.n_rows)

    def rows_a_step(self, batch_size):
        """Rows of a mini-batch here, where all that learn at once see ``batch_size`` a step."""
        return batch_size

    @property
    def step_factor(self):
        """Of the length of steps: 1, as long as nobody learns beside."""
        return 1.0

    def count_batches(self, batch_size):
        """Mini-batches of an epoch: no batch has rows of two blocks."""
        whole, rest = divmod(self.n_rows, self.block_rows)
        return whole * -(-self.block_rows // batch_size) + -(-rest // batch_size)

    def taker(self, training, take):
        """What takes one item of ``epoch``: ``take(training, X, targets, weight)`` as it is."""
        return partial(take, training)

    def epoch(self, number):
        """Yields (X, targets, weights of mean 1) of all training rows, in blocks."""
        rules, mean, n_rows = self.rules, self.mean_weight, 0

        def change(block, part, row):
            return rules.kept(block, int(self.survey.part_starts[part]) + row)

        for block in shuffled(self.source, self.block_rows, [self.seed, number], change):
            n_rows += block.X.shape[0]
            rows = rules.rows(block)
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


class RowChecks:
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
    parted, checks = Parted(source), RowChecks(model)
    masses, sizes, first = Counter(), [], set()

    def see(block, row):
        block = checks(block, row)
        sizes.append(block.X.shape[0])
        found = masses_of(block, checks.is_classifier)
        if row < (parted.block_rows or _SAMPLE):
            first.update(found)
        masses.update(found)
        return block

    def n_sample(block):
        rows = parted.block_rows or usual_rows(block.X.shape[1], block.X.dtype.itemsize)
        return max(1, min(MOST_SAMPLED, rows + rows // 2))

    survey = survey_rows(parted, n_sample, seed, see)
    n_rows = parted.block_rows or max(
        sizes[0], usual_rows(survey.sample.X.shape[1], survey.sample.X.dtype.itemsize)
    )
    rows = rows_of(model, parted, checks, survey, masses, n_rows, seed)
    if checks.is_classifier and parted.n_parts == 1:
        _warn_if_sorted(model, masses, first)
    if getattr(source, "feature_names", None) is not None:
        names = {"feature_names_in_": np.asarray(source.feature_names, dtype=object)}
        rows = replace(rows, names=rows.names | names)
    return rows


def masses_of(block, is_classifier):
    """Weights of a block's rows by label; those of values are one sum."""
    weight = np.ones(len(block.y)) if block.weight is None else block.weight
    if not is_classifier:
        return {None: float(weight.sum())}
    classes, labels = np.unique(block.y, return_inverse=True)
    masses = np.bincount(labels, weights=weight)
    return dict(zip(classes.tolist(), masses.tolist(), strict=True))


def rows_of(model, source, checks, survey, masses, block_rows, seed):
    """``BlockRows`` from a survey and the weights of all rows by label."""
    task, factors = Regression(TargetUnits()), None
    total = sum(masses.values())
    if not total > 0:
        raise ValueError("The sum of the weights is zero; give some row a positive weight.")
    if checks.is_classifier:
        dtype = survey.sample.y.dtype
        # the longest text need not be in the sample
        classes = np.unique(np.array(list(masses), dtype=None if dtype.kind in "US" else dtype))
        check_labels(classes)
        mass = np.array([masses[label] for label in classes.tolist()])
        factors = class_factors(model.class_weight, classes, mass)
        total = float(mass @ factors)
        task = task_of_classes(model, classes, np.flatnonzero(mass * factors > 0))
    names = dict(checks.names)
    return BlockRows(source, checks, survey, task, factors, names, total, block_rows, seed)


def _warn_if_sorted(model, masses, first):
    total = sum(masses.values())
    for label, mass in sorted(masses.items(), key=lambda pair: str(pair[0])):
        if mass / total > _FREQUENT and label not in first:
            warn_user(
                f"{type(model).__name__}: the first rows of the source have no {label!r}, which "
                f"{100 * mass / total:.0f} % of all rows are; rows that come sorted are learned "
                "badly. Shuffle them, or give a source of several parts."
            )
            return
