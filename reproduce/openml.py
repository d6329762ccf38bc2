"""Fetching data sets from OpenML, for people with a network: checked, then stored as npz."""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import fetch_openml

from reproduce.datasets import DatasetError, archive_path


@dataclass(frozen=True)
class Source:
    """Where OpenML keeps a set, and what must arrive.

    ``rows`` and ``first_class`` have one entry per part, two where the set is split by its makers.
    ``first_class`` counts the positive rows of a binary set and the first class of any other: a
    fetched set whose order or labels differ from the one used here does not pass unnoticed. In a
    regression ``target_mean`` has that office. Columns that OpenML declares as categories although
    they hold numbers need a data frame (``as_frame``), or their codes would arrive.
    """

    openml_id: int
    rows: tuple[int, ...]
    first_class: tuple[int, ...] = ()
    first_label: int = 0
    target_mean: float | None = None
    as_frame: bool = False


SOURCES = {
    "banana": Source(1460, (5300,), (2376,)),
    "magic04": Source(1120, (19020,), (12332,)),
    "skin": Source(1502, (245057,), (50859,)),
    "ijcnn1": Source(1575, (49990, 91701), (4853, 8712)),
    "usps": Source(41082, (7291, 2007), (1194, 359)),
    "mnist": Source(554, (60000, 10000), (5923, 980)),
    "letter": Source(6, (16000, 4000), (633, 156)),
    "covertype": Source(1596, (581012,), (211840,), first_label=1),
    "concrete": Source(44959, (1030,), target_mean=35.818),
    "boston_housing": Source(531, (506,), target_mean=22.533, as_frame=True),
    "wine_white": Source(44971, (4898,), target_mean=5.878),
    "ionosphere": Source(59, (351,), (225,)),
    "sonar": Source(40, (208,), (111,)),
    "heart": Source(53, (270,), (120,)),
    "diabetes": Source(37, (768,), (268,)),
}


def fetch(name):
    """Fetch a set from OpenML, check it and store it; the only function that needs a network."""
    if name not in SOURCES:
        raise DatasetError(f"There is no source for {name!r}; known are {', '.join(SOURCES)}.")
    path, source = archive_path(name), SOURCES[name]
    X, raw = fetch_openml(data_id=source.openml_id, as_frame=source.as_frame, return_X_y=True)
    X = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.float32)
    raw = np.asarray(raw)
    if len(X) < sum(source.rows):
        raise DatasetError(
            f"OpenML sent {len(X)} rows of {name}, {sum(source.rows)} were expected."
        )
    is_regression = source.target_mean is not None
    y = raw.astype(np.float32) if is_regression else _labels(raw[: source.rows[0]], raw, source)
    arrays, start = {}, 0
    suffixes = ("_train", "_test") if len(source.rows) == 2 else ("",)
    for number, (suffix, n_rows) in enumerate(zip(suffixes, source.rows)):
        part = slice(start, start + n_rows)
        if not _is_known(y[part], source, number):
            raise DatasetError(
                f"The rows of {name} that OpenML sent are not in the order of its makers."
            )
        arrays["X" + suffix], arrays["y" + suffix] = X[part], y[part]
        start += n_rows
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **arrays)
    return path


def _is_known(y, source, part):
    """Whether a part's targets are those of the set used here."""
    if source.target_mean is not None:
        return abs(y.mean(dtype=np.float64) - source.target_mean) < 1e-3
    first = 1 if y.min() < 0 else source.first_label
    return np.count_nonzero(y == first) == source.first_class[part]


def _labels(first_part, raw, source):
    """Labels −1/+1 or counted up; the positive one of two is known by how often it occurs."""
    values = sorted(np.unique(raw), key=lambda v: (float(v) if _is_number(v) else 0.0, str(v)))
    if len(values) == 2:
        counts = [np.count_nonzero(first_part == value) for value in values]
        positive = values[int(counts[1] == source.first_class[0])]
        return np.where(raw == positive, 1, -1).astype(np.int16)
    places = {value: source.first_label + place for place, value in enumerate(values)}
    return np.array([places[value] for value in raw], dtype=np.int16)


def _is_number(value):
    try:
        float(value)
    except ValueError:
        return False
    return True
