"""Named data sets: where they lie, how they are split, how they are scaled, how they are fetched.

Archives lie as ``NAME.npz`` in the folder named by the environment variable NEARLINEAR_DATA, with
arrays ``X_train, y_train, X_test, y_test`` where the set has a split of its own and ``X, y``
where it has none. ``python -m reproduce.datasets fetch letter usps`` fills the folder from OpenML;
sets that OpenML does not have are read from svmlight files (``SVMLIGHT_SETS``).
"""

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_svmlight_files, make_friedman1

from reproduce.split import divide, scaled

SVMLIGHT_PARTS = ("train", "test")
SVMLIGHT_PACKING = ("", ".gz", ".bz2")


@dataclass(frozen=True)
class SvmlightSet:
    """A data set that the user downloads as svmlight files from ``source``.

    Sparse sets stay sparse: dense ones do not fit in memory. ``first_rows`` of the training file
    are used.
    """

    n_features: int
    source: str
    is_sparse: bool = False
    first_rows: int | None = None


SVMLIGHT_SETS = {
    "rcv1": SvmlightSet(
        47236, "LIBSVM's rcv1_train.binary and rcv1_test.binary", is_sparse=True
    ),
    "mnist8m": SvmlightSet(
        784, "LIBSVM's mnist8m, and mnist.t to test", first_rows=8_000_000
    ),
    "cifar": SvmlightSet(400, "the binary CIFAR-10 of 400 features of the LDKL paper's authors"),
    "gisette": SvmlightSet(5000, "LIBSVM's gisette_scale and gisette_scale.t"),
}  # fmt: skip


def svmlight_files(name, folder):
    """The two svmlight files of a set, or None if one of them is missing."""
    if name not in SVMLIGHT_SETS:
        return None
    found = [
        next(
            (path for end in SVMLIGHT_PACKING if (path := folder / f"{name}.{part}{end}").exists()),
            None,
        )
        for part in SVMLIGHT_PARTS
    ]
    return None if None in found else found


def read_svmlight(name, folder):
    """X_train, X_test, y_train, y_test."""
    known = SVMLIGHT_SETS[name]
    X_train, y_train, X_test, y_test = load_svmlight_files(
        [str(path) for path in svmlight_files(name, folder)], n_features=known.n_features
    )
    parts = [X_train[: known.first_rows], X_test, y_train[: known.first_rows], y_test]
    if not known.is_sparse:
        parts[:2] = [X.toarray() for X in parts[:2]]
    # labels are whole numbers; a regression is known by targets that are not
    parts[2:] = [y.astype("int16") for y in parts[2:]]
    return parts


def missing_files_message(name, folder):
    """How to provide a set that is missing."""
    return (
        f"{name} is not in {folder}: put {name}.npz there, or the svmlight files {name}.train and "
        f"{name}.test ({SVMLIGHT_SETS[name].source})."
    )


FOLDER = "NEARLINEAR_DATA"

# The share of rows that trains, for the sets whose makers did not divide them.
TRAIN_FRACTION = {
    "banana": 2 / 3,
    "magic04": 2 / 3,
    "skin": 1 / 2,
    "covertype": 9 / 10,
    "concrete": 2 / 3,
    "boston_housing": 2 / 3,
    "wine_white": 2 / 3,
    "ionosphere": 7 / 10,
    "sonar": 7 / 10,
    "heart": 7 / 10,
    "diabetes": 7 / 10,
    "breast_cancer": 3 / 4,
    "german_numeric": 3 / 4,
    "liver_disorders": 3 / 4,
    "mushrooms": 3 / 4,
}


@dataclass(frozen=True)
class BinaryTask:
    """Two classes made of the classes of an archive: ``positive`` against all others.

    ``first_rows`` of the archive train, in its own order, where the task has another split.
    """

    archive: str
    positive: tuple[int, ...]
    first_rows: int | None = None


BINARY_TASKS = {
    "covertype": BinaryTask("covertype", (2,)),
    "letter_halves": BinaryTask("letter", tuple(range(13)), first_rows=12000),
    "usps_halves": BinaryTask("usps", tuple(range(5))),
    "mnist_halves": BinaryTask("mnist", tuple(range(5))),
}


class DatasetError(OSError):
    """A data set cannot be had; the message says what to do."""


def archive_path(name):
    """Where the archive of a set lies or would lie."""
    folder = os.environ.get(FOLDER)
    archive = BINARY_TASKS[name].archive if name in BINARY_TASKS else name
    if not folder:
        raise DatasetError(
            f"Set {FOLDER} to the folder that holds {archive}.npz (or shall hold it)."
        )
    return Path(folder) / f"{archive}.npz"


def is_available(name):
    if not os.environ.get(FOLDER):
        return False
    path = archive_path(name)
    return path.exists() or svmlight_files(path.stem, path.parent) is not None


def has_own_split(name):
    """Whether the makers of the set divided it, so that every seed sees the same rows."""
    return name not in TRAIN_FRACTION


def load(name, seed=0, scaling="standard", train_rows=None):
    """Read a set, split it (at random by ``seed`` where it has no split of its own), scale it.

    ``train_rows`` takes the place of the usual share where the split is drawn.
    """
    task = BINARY_TASKS.get(name)
    arrays = read(name)
    if "X_train" in arrays:
        parts = [arrays[part] for part in ("X_train", "X_test", "y_train", "y_test")]
        if task and task.first_rows:
            parts = _first_rows(*parts, task.first_rows)
    else:
        X, y = arrays["X"], arrays["y"]
        n_train = train_rows or int(len(y) * TRAIN_FRACTION[name] + 0.5)
        parts = divide(X, y, seed, train_size=n_train)
    if task:
        parts[2:] = [np.where(np.isin(y, task.positive), 1, -1) for y in parts[2:]]
    return scaled(name, *parts, scaling)


def read(name):
    """The arrays of a set by name, as its archive has them."""
    path = archive_path(name)
    if path.exists():
        with np.load(path, allow_pickle=False) as archive:
            return dict(archive)
    if svmlight_files(path.stem, path.parent):
        names = ("X_train", "X_test", "y_train", "y_test")
        return dict(zip(names, read_svmlight(path.stem, path.parent)))
    raise DatasetError(what_is_missing(name))


def what_is_missing(name):
    """One sentence for a set that is not available."""
    try:
        path = archive_path(name)
    except DatasetError as error:
        return str(error)
    if path.stem in SVMLIGHT_SETS:
        return missing_files_message(path.stem, path.parent)
    return f"{path} does not exist: fetch it with `python -m reproduce.datasets fetch {path.stem}`."


def _first_rows(X_train, X_test, y_train, y_test, n_first):
    """The same rows in the same order, divided after another number of them."""
    X, y = np.concatenate([X_train, X_test]), np.concatenate([y_train, y_test])
    return [X[:n_first], X[n_first:], y[:n_first], y[n_first:]]


def digits(n_train=200, n_test=100, seed=0, halves=False):
    """A small part of the digits that ship with scikit-learn; ``halves``: 0 to 4 against 5 to 9."""
    X, y = load_digits(return_X_y=True)
    parts = divide(X, y, seed, train_size=n_train, test_size=n_test)
    if halves:
        parts[2:] = [np.where(y < 5, 1, -1) for y in parts[2:]]
    return scaled("digits_halves" if halves else "digits", *parts, "global")


def tumors(n_train=100, n_test=100, seed=0):
    """Two classes: a small part of the 30 features of tumors that ship with scikit-learn."""
    X, y = load_breast_cancer(return_X_y=True)
    parts = divide(X, y, seed, train_size=n_train, test_size=n_test)
    return scaled("tumors", *parts, "standard")


def friedman(n_train=300, n_test=150, seed=0):
    """Regression: Friedman's first function of ten features, of which five matter."""
    X, y = make_friedman1(n_train + n_test, noise=1.0, random_state=seed)
    return scaled("friedman", *divide(X, y, seed, train_size=n_train), "standard")


def sines(n_train=1000, n_test=1000, seed=0, noise=0.17):
    """Two sine curves one above the other, so many training points on each."""
    rng = np.random.default_rng(seed)

    def draw(n_each):
        position = rng.uniform(0, 2 * np.pi, 2 * n_each)
        label = np.repeat([-1, 1], n_each)
        height = np.sin(position) + 0.35 * label + noise * rng.standard_normal(2 * n_each)
        return np.column_stack([position, height]), label

    X_train, y_train = draw(n_train)
    X_test, y_test = draw(n_test)
    return scaled("sines", X_train, X_test, y_train, y_test, "standard")


def main(arguments=None):
    from reproduce.openml import fetch

    parser = argparse.ArgumentParser(prog="python -m reproduce.datasets", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("fetch").add_argument("names", nargs="+", metavar="NAME")
    for name in parser.parse_args(arguments).names:
        try:
            print(f"{name}: {fetch(name)}")
        except OSError as error:
            print(error, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
