"""The survey of a source as an estimator needs it: rows checked, labels and weights counted."""

from collections import Counter
from dataclasses import replace

import numpy as np
from sklearn.base import ClassifierMixin

from ...._warn import warn_user
from ....streams.blocks import Block, Parted, usual_rows
from ....streams.survey import survey_rows
from ..input import block_pairs
from ..task import Regression, check_labels, class_factors, task_of_classes
from ..values.units import TargetUnits
from .memory import blocks_memory, require_blocks, row_bytes
from .rows import HELD_OUT, OF_CLASS, SAMPLE, BlockRows

_FREQUENT = 0.05  # a class of so many rows is among the first, unless rows are sorted


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
    if parted.block_rows and getattr(source, "row_bytes", None):
        require_blocks(model, parted.block_rows, source.row_bytes)

    def see(block, row):
        block = checks(block, row)
        sizes.append(block.X.shape[0])
        found = masses_of(block, checks.is_classifier)
        if row < (parted.block_rows or SAMPLE):
            first.update(found)
        masses.update(found)
        return block

    def n_sample(block):
        rows = parted.block_rows or usual_rows(block.X.shape[1], block.X.dtype.itemsize)
        if parted.block_rows:
            require_blocks(model, rows, row_bytes(block.X))
        return sample_rows(model, rows, block.X)

    survey = survey_rows(parted, n_sample, seed, see, sample_of_class(model, checks))
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


def sample_rows(model, block_rows, like):
    """How many rows of blocks of this size a survey keeps at most; ``like`` are some of them."""
    if hasattr(model, "_sample_rows"):
        n_bytes = blocks_memory(block_rows, row_bytes(like))
        return model._sample_rows(block_rows, like.shape[1], n_bytes)
    return max(1, min(SAMPLE + HELD_OUT, block_rows + block_rows // 2))


def sample_of_class(model, checks):
    """How many rows of every class it keeps in any case."""
    return OF_CLASS if hasattr(model, "_sample_rows") and checks.is_classifier else 0


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
    task, factors, mass = Regression(TargetUnits()), None, None
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
    return BlockRows(source, checks, survey, task, factors, names, total, block_rows, seed, mass)


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
