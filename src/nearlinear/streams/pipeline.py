"""A pipeline fitted to rows in blocks: each step to what those before it make of them."""

from typing import Any

import numpy as np
from sklearn.base import clone

from .._hints import Source
from .blocks import Block, Parted, read_ahead, usual_rows
from .survey import survey_rows

SAMPLE_ROWS = 100_000


class Transformed:
    """A source whose rows have gone through fitted transformers."""

    def __init__(self, source, steps):
        self._source, self._steps = Parted(source), steps
        self.n_parts, self.block_rows = self._source.n_parts, self._source.block_rows

    def part(self, number):
        for block in self._source.part(number):
            X = block.X
            for step in self._steps:
                X = step.transform(X)
            yield Block(X, block.y, block.weight)

    def __iter__(self):
        for number in range(self.n_parts):
            yield from self.part(number)


def fit_pipeline(pipeline: Any, source: Source, **settings: Any) -> Any:
    """Fit transformers and the model behind them to rows in blocks.

    Parameters
    ----------
    pipeline : Pipeline
        Transformers of scikit-learn's kind, and an estimator whose ``fit`` takes blocks. A
        transformer with ``partial_fit``, such as StandardScaler, sees all rows, in one pass; any
        other is fitted to 100,000 rows, or one block if that is less, chosen at random.
    source : source of blocks
        What ``from_arrays``, ``from_tables`` and others here give, or any iterable that yields the
        same blocks (X, y) or (X, y, weight) again and again.
    **settings
        Further arguments of the estimator's ``fit``, such as ``checkpoint``.

    Returns
    -------
    Pipeline
        The same one, fitted.
    """
    steps = []
    for place, (name, step) in enumerate(pipeline.steps[:-1]):
        if step in (None, "passthrough"):
            continue
        step = clone(step)
        _fit_step(step, Transformed(source, steps))
        pipeline.steps[place] = name, step
        steps.append(step)
    model = pipeline.steps[-1][1]
    model.fit(Transformed(source, steps) if steps else source, **settings)
    names = getattr(source, "feature_names", None)
    if names is not None and steps:
        steps[0].feature_names_in_ = names  # now: blocks are arrays without names
    return pipeline


def _fit_step(step, source):
    if hasattr(step, "partial_fit"):
        for block in read_ahead(iter(source)):
            step.partial_fit(block.X, block.y)
        return
    found = survey_rows(source, _sample_rows, 0, lambda block, row: block)
    some = found.sample.take(np.argsort(found.numbers))
    step.fit(some.X, some.y)


def _sample_rows(block):
    itemsize = getattr(block.X, "dtype", np.dtype(float)).itemsize  # a table has several
    return min(SAMPLE_ROWS, usual_rows(block.X.shape[1], itemsize))
