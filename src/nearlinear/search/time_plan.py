"""How a table is cut down to a time limit: training rows, columns, rows of the first round.

All of it follows from the shape of the table and the limit, never from measured times.
"""

from dataclasses import replace

import narwhals as nw
import numpy as np
from scipy.sparse import issparse

from .candidates import Shape
from .fits.forecasts import Pace
from .portfolio import LINEAR, SLOW, portfolio

# Seconds that the encoder takes for a number, a string and a column: about twice what was measured.
_SECONDS_PER_NUMBER, _SECONDS_PER_TEXT, _SECONDS_PER_COLUMN = 5e-7, 2.5e-6, 1e-4
# of the limit
_SHARE_OF_ENCODING, _SHARE_OF_FIRST_ROUND, _SHARE_OF_LINEAR_MODEL = 0.5, 0.3, 0.1
_MIN_ROWS, _ROWS_OF_LINEAR_MODEL = 2_000, 20  # the latter for each column
_FIRST_ROUND_ROWS = 20_000, 10_000, 5_000
_MIN_COLUMNS, _ROWS_PER_COLUMN = 100, 10  # of screening; measured, see docs/guide/front_door.md
_N_ROUNDS = 3  # of fits of all candidates that a search takes about as long as


def max_rows(limit, X, n_outputs, is_classification, families):
    """Most rows of a table that can be encoded and learned in the time, None if all of them.

    Half of the families must have time for a fit, or there are 20 rows for each column.
    """
    n_rows, n_columns = X.shape
    if limit is None or issparse(X) or n_rows <= _MIN_ROWS:
        return None
    n_texts = _count_texts(X)
    per_row = _SECONDS_PER_NUMBER * (n_columns - n_texts) + _SECONDS_PER_TEXT * n_texts
    seconds = _SHARE_OF_ENCODING * limit - _SECONDS_PER_COLUMN * n_columns
    most = int(min(n_rows, seconds / per_row))
    shape = Shape(n_rows, n_columns, n_outputs, is_classification)
    fewest = max(_MIN_ROWS, _ROWS_OF_LINEAR_MODEL * n_columns)
    if Pace(shape).seconds(LINEAR, fewest) > _SHARE_OF_LINEAR_MODEL * limit:
        fewest = _MIN_ROWS
    while most > fewest and not _has_turns(limit, shape, families, most):
        most = max(fewest, most // 2)
    return max(_MIN_ROWS, most) if most < n_rows else None


def _count_texts(X):
    """Columns of a table that are neither numbers nor booleans."""
    if isinstance(X, np.ndarray):
        return 0 if X.dtype.kind in "fiub" else X.shape[1]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return X.shape[1]
    types = (series.dtype for series in frame.iter_columns())
    return sum(not (one.is_numeric() or isinstance(one, nw.Boolean)) for one in types)


def max_columns(limit, shape, families):
    """Most columns to search on, None if all of them."""
    if limit is None or shape.n_features <= _MIN_COLUMNS:
        return None
    candidates, pace = _candidates(shape, families), Pace(shape)
    if _N_ROUNDS * sum(map(pace.seconds, candidates)) <= limit:
        return None
    count = int(max(_MIN_COLUMNS * shape.n_outputs**0.5, shape.n_rows / _ROWS_PER_COLUMN))
    count = min(shape.n_features, count)
    while count > _MIN_COLUMNS:
        if _has_turns(limit, replace(shape, n_features=count), families):
            break
        count = max(_MIN_COLUMNS, count // 2)
    return count if count < shape.n_features else None


def first_round_rows(limit, shape, families):
    """Rows of the first round."""
    sizes = (n for n in _FIRST_ROUND_ROWS if _has_turns(limit, shape, families, n))
    return next(sizes, _MIN_ROWS)


def _has_turns(limit, shape, families, n_rows=_MIN_ROWS):
    """Whether half of the families can be tried on so many rows in a part of the time."""
    pace, fastest = Pace(shape), {}
    for one in _candidates(shape, families):
        seconds = pace.seconds(one, min(n_rows, shape.n_rows))
        fastest[one.family] = min(seconds, fastest.get(one.family, np.inf))
    turns = sorted(fastest.values())
    return sum(turns[: (len(turns) + 1) // 2]) <= _SHARE_OF_FIRST_ROUND * limit


def _candidates(shape, families):
    found = portfolio(shape, False, False, True, families)
    return [one for one in found if one.family not in SLOW or one.family in (families or ())]
