"""Sets that everyone has to bring: read from files of stated names.

A set is ``NAME.npz`` as every other (arrays ``X_train, y_train, X_test, y_test``), or two files of
svmlight lines, ``NAME.train`` and ``NAME.test``, packed as .gz or .bz2 if they are long.
"""

from dataclasses import dataclass

from sklearn.datasets import load_svmlight_files

PARTS = ("train", "test")
PACKED = ("", ".gz", ".bz2")


@dataclass(frozen=True)
class Brought:
    """``source`` says where a set is from. Sparse sets stay sparse: in full they fill a disk.

    ``first_rows`` of the training file are used.
    """

    n_features: int
    source: str
    is_sparse: bool = False
    first_rows: int | None = None


SETS = {
    "rcv1": Brought(
        47236, "LIBSVM's rcv1_train.binary and rcv1_test.binary", is_sparse=True
    ),
    "mnist8m": Brought(
        784, "LIBSVM's mnist8m, and mnist.t to test", first_rows=8_000_000
    ),
    "cifar": Brought(400, "the binary CIFAR-10 of 400 features of the LDKL paper's authors"),
    "gisette": Brought(5000, "LIBSVM's gisette_scale and gisette_scale.t"),
}  # fmt: skip


def files_of(name, folder):
    """The two svmlight files of a set, or None if one of them is missing."""
    if name not in SETS:
        return None
    found = [
        next((path for end in PACKED if (path := folder / f"{name}.{part}{end}").exists()), None)
        for part in PARTS
    ]
    return None if None in found else found


def read(name, folder):
    """X_train, X_test, y_train, y_test."""
    known = SETS[name]
    X_train, y_train, X_test, y_test = load_svmlight_files(
        [str(path) for path in files_of(name, folder)], n_features=known.n_features
    )
    parts = [X_train[: known.first_rows], X_test, y_train[: known.first_rows], y_test]
    if not known.is_sparse:
        parts[:2] = [X.toarray() for X in parts[:2]]
    # labels are whole numbers; a regression is known by targets that are not
    parts[2:] = [y.astype("int16") for y in parts[2:]]
    return parts


def how_to_bring(name, folder):
    """One sentence for a set that is not there."""
    return (
        f"{name} is not in {folder}: put {name}.npz there, or the svmlight files {name}.train and "
        f"{name}.test ({SETS[name].source})."
    )
