"""Named data sets: where they lie, how they are split, how they are scaled, how they are fetched.

Archives lie as ``NAME.npz`` in the folder named by the environment variable NEARLINEAR_DATA, with
arrays ``X_train, y_train, X_test, y_test`` where the set has a split of its own and ``X, y``
where it has none. ``python -m reproduce.datasets fetch letter usps`` fills the folder from OpenML.
"""

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

FOLDER = "NEARLINEAR_DATA"

# The share of rows that trains, for the sets whose makers did not divide them.
TRAIN_FRACTION = {"banana": 2 / 3, "magic04": 2 / 3, "skin": 1 / 2}


@dataclass(frozen=True)
class Split:
    """The two parts of a data set; features are float32 and scaled by the training part."""

    name: str
    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def limited(self, train_rows=None, test_rows=None, seed=0):
        """The same split with at most so many rows in each part, classes in proportion."""
        X_train, y_train = _sample(self.X_train, self.y_train, train_rows, seed)
        X_test, y_test = _sample(self.X_test, self.y_test, test_rows, seed)
        return Split(self.name, X_train, y_train, X_test, y_test)


class DatasetError(OSError):
    """A data set cannot be had; the message says what to do."""


def archive_path(name):
    """Where the archive of a set lies or would lie."""
    folder = os.environ.get(FOLDER)
    if not folder:
        raise DatasetError(f"Set {FOLDER} to the folder that holds {name}.npz (or shall hold it).")
    return Path(folder) / f"{name}.npz"


def is_available(name):
    return bool(os.environ.get(FOLDER)) and archive_path(name).exists()


def has_own_split(name):
    """Whether the makers of the set divided it, so that every seed sees the same rows."""
    return name not in TRAIN_FRACTION


def load(name, seed=0, scaling="standard"):
    """Read a set, split it (at random by ``seed`` where it has no split of its own), scale it."""
    path = archive_path(name)
    if not path.exists():
        raise DatasetError(
            f"{path} does not exist: fetch it with `python -m reproduce.datasets fetch {name}`."
        )
    with np.load(path, allow_pickle=False) as archive:
        if "X_train" in archive:
            parts = [archive[part] for part in ("X_train", "X_test", "y_train", "y_test")]
        else:
            X, y = archive["X"], archive["y"]
            n_train = int(len(y) * TRAIN_FRACTION[name] + 0.5)
            parts = train_test_split(X, y, train_size=n_train, stratify=y, random_state=seed)
    return _scaled(name, *parts, scaling)


def digits(n_train=200, n_test=100, seed=0):
    """A small part of the digits that ship with scikit-learn."""
    X, y = load_digits(return_X_y=True)
    parts = train_test_split(
        X, y, train_size=n_train, test_size=n_test, stratify=y, random_state=seed
    )
    return _scaled("digits", *parts, "global")


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
    return _scaled("sines", X_train, X_test, y_train, y_test, "standard")


def _scaled(name, X_train, X_test, y_train, y_test, scaling):
    """Centre by the training part; ``global`` has one scale so that dim pixels stay dim."""
    X_train, X_test = X_train.astype(np.float32), X_test.astype(np.float32)
    center = X_train.mean(axis=0, dtype=np.float64).astype(np.float32)
    X_train -= center
    X_test -= center
    if scaling == "standard":
        scale = X_train.std(axis=0, dtype=np.float64)
        scale[scale == 0] = 1.0
    elif scaling == "global":
        scale = X_train.std(dtype=np.float64)
    else:
        raise ValueError(f"scaling is 'standard' or 'global', not {scaling!r}")
    X_train /= np.float32(scale)
    X_test /= np.float32(scale)
    return Split(name, X_train, y_train, X_test, y_test)


def _sample(X, y, n_rows, seed):
    if n_rows is None or n_rows >= len(y):
        return X, y
    return train_test_split(X, y, train_size=n_rows, stratify=y, random_state=seed)[::2]


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
