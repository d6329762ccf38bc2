"""Fetching data sets from OpenML, for people with a network: checked, then stored as npz."""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import fetch_openml

from reproduce.datasets import DatasetError, archive_path


@dataclass(frozen=True)
class Source:
    """Where OpenML keeps a set, and what must arrive.

    ``rows`` and ``first_class`` have one entry per part, two where the set is split by its makers.
    ``first_class`` counts the positive rows of a binary set and class 0 of any other: a fetched set
    whose order or labels differ from the one used here does not pass unnoticed.
    """

    openml_id: int
    rows: tuple[int, ...]
    first_class: tuple[int, ...]


SOURCES = {
    "banana": Source(1460, (5300,), (2376,)),
    "magic04": Source(1120, (19020,), (12332,)),
    "skin": Source(1502, (245057,), (50859,)),
    "ijcnn1": Source(1575, (49990, 91701), (4853, 8712)),
    "usps": Source(41082, (7291, 2007), (1194, 359)),
    "mnist": Source(554, (60000, 10000), (5923, 980)),
    "letter": Source(6, (16000, 4000), (633, 156)),
}


def fetch(name):
    """Fetch a set from OpenML, check it and store it; the only function that needs a network."""
    if name not in SOURCES:
        raise DatasetError(f"There is no source for {name!r}; known are {', '.join(SOURCES)}.")
    path, source = archive_path(name), SOURCES[name]
    X, raw = fetch_openml(data_id=source.openml_id, as_frame=False, return_X_y=True)
    X = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.float32)
    if len(X) < sum(source.rows):
        raise DatasetError(
            f"OpenML sent {len(X)} rows of {name}, {sum(source.rows)} were expected."
        )
    y = _labels(raw[: source.rows[0]], raw, source)
    arrays, start = {}, 0
    suffixes = ("_train", "_test") if len(source.rows) == 2 else ("",)
    first = 0 if y.min() == 0 else 1
    for suffix, n_rows, wanted in zip(suffixes, source.rows, source.first_class):
        part = slice(start, start + n_rows)
        if np.count_nonzero(y[part] == first) != wanted:
            raise DatasetError(
                f"The rows of {name} that OpenML sent are not in the order of its makers."
            )
        arrays["X" + suffix], arrays["y" + suffix] = X[part], y[part]
        start += n_rows
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **arrays)
    return path


def _labels(first_part, raw, source):
    """Labels −1/+1 or 0, 1, 2, ...; the positive one of two is known by how often it occurs."""
    values = sorted(np.unique(raw), key=lambda v: (float(v) if _is_number(v) else 0.0, str(v)))
    if len(values) == 2:
        counts = [np.count_nonzero(first_part == value) for value in values]
        positive = values[int(counts[1] == source.first_class[0])]
        return np.where(raw == positive, 1, -1).astype(np.int16)
    return np.array([values.index(value) for value in raw], dtype=np.int16)


def _is_number(value):
    try:
        float(value)
    except ValueError:
        return False
    return True
