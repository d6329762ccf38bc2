"""The pass in which a front door looks at all rows of a source, and the sample that it searches on.

The sample are the rows that rank lowest by a hash of their numbers, and of a class that has few
rows there some more.
"""

from dataclasses import dataclass

import narwhals as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin

from ..._config import allowed_memory
from ...streams.blocks import Block, Parted, joined, usual_rows
from ...streams.survey import Survey, survey_rows
from ...tables.encoder import TableEncoder
from ...tables.survey import AnswerSurvey, survey_of

MOST_SAMPLED = 200_000
_OF_CLASS = 50  # rows of each class that the sample has, or all that there are
_RAW_SHARE, _FIT_SHARE = 8, 2  # parts of the memory limit: one has the sample, one what a fit takes
_HEAVIEST = 200  # bytes of an encoded number in such a fit: that of a piecewise-linear model
_COPIES = 48  # bytes of an encoded number while a search runs
_CELL, _OBJECT = 16, 80  # bytes of a number, and of a text, which is an object when it is read


@dataclass(frozen=True)
class Sample:
    """Rows by ``numbers``, which rise; ``ranked`` are those of the lowest ranks, in that order."""

    rows: Block
    numbers: np.ndarray
    ranked: np.ndarray
    ranks: np.ndarray


@dataclass(frozen=True)
class Sampled:
    """All that one pass has found."""

    parted: Parted
    survey: Survey
    columns: AnswerSurvey
    masses: dict  # sums of weights by class
    block_rows: int
    most_memory: float

    @property
    def is_whole(self):
        """Whether the sample has all rows, and a search on them fits into memory."""
        n_rows, n_columns = self.survey.n_rows, self.survey.sample.X.shape[1]
        is_small = issparse(self.survey.sample.X) or (
            _COPIES * n_rows * n_columns <= self.most_memory
        )
        return len(self.survey.ranks) == n_rows and is_small

    def in_order(self):
        """All rows, where the sample has them."""
        return self.survey.sample.take(np.argsort(self.survey.numbers))

    def size_for(self, n_features):
        """Rows of which a search may hold so many encoded columns."""
        n_rows = int(self.most_memory / (_FIT_SHARE * _HEAVIEST * max(1, n_features)))
        return min(len(self.survey.ranks), MOST_SAMPLED, n_rows)

    def sample(self, n_rows):
        """About so many rows: with some of each class, there may be a few more."""
        block, numbers = self.survey.sample.take(np.arange(n_rows)), self.survey.numbers[:n_rows]
        blocks, places = [block], [numbers]
        for rare, own, _ in self.survey.strata.values():
            new = np.flatnonzero(~np.isin(own, numbers))
            if len(own) - len(new) < _OF_CLASS and len(new):
                blocks.append(rare.take(new))
                places.append(own[new])
        numbers = np.concatenate(places)
        order = np.argsort(numbers)
        return Sample(
            joined(blocks).take(order), numbers[order], self.survey.numbers[:n_rows],
            self.survey.ranks[:n_rows],
        )  # fmt: skip


def sampled(model, source, seed):
    """Read all rows of a source once."""
    parted = Parted(source)
    first = next((b for k in range(parted.n_parts) for b in parted.part(k) if b.X.shape[0]), None)
    if first is None:
        raise ValueError("The source has no rows.")
    is_of_classes = isinstance(model, ClassifierMixin)
    is_ours = isinstance(model.encoder, str | TableEncoder)
    columns = (
        survey_of(first, is_of_classes, seed) if is_ours else AnswerSurvey(is_of_classes, seed)
    )
    most = allowed_memory()
    n_columns = first.X.shape[1]
    block_rows = parted.block_rows or max(first.X.shape[0], usual_rows(n_columns, _CELL))
    masses, has_weights = {}, first.weight is not None

    def see(block, row):
        if (block.weight is not None) != has_weights:
            raise ValueError("Some blocks of the source have weights, and others have none.")
        block = columns.add(block, row)
        if is_of_classes:
            labels, places = np.unique(block.y, return_inverse=True)
            found = np.bincount(places, block.weight, minlength=len(labels))
            for label, mass in zip(labels.tolist(), found, strict=True):
                masses[label] = masses.get(label, 0.0) + mass
        return block

    def n_sample(block):
        most_rows = int(min(MOST_SAMPLED, most / (_RAW_SHARE * _bytes_of_row(block.X))))
        return max(1, most_rows, block_rows + block_rows // 2)

    survey = survey_rows(parted, n_sample, seed, see, _OF_CLASS if is_of_classes else 0)
    return Sampled(parted, survey, columns, masses, block_rows, most)


def _bytes_of_row(X):
    if issparse(X):
        return max(1.0, _CELL * X.nnz / X.shape[0])
    if isinstance(X, np.ndarray) and X.dtype != object:
        return _CELL * X.shape[1]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return _OBJECT * X.shape[1]
    kinds = frame.schema.values()
    return sum(_CELL if kind.is_numeric() or kind.is_temporal() else _OBJECT for kind in kinds)
