"""Silverman's motorcycle data: every method with each of its sizes, by ten folds."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

import nearlinear
from reproduce.datasets import DatasetError, archive_path
from reproduce.lmkr.choice import standardized
from reproduce.lmkr.methods import STUDY
from reproduce.model_cost import n_support
from reproduce.protocol import RowStore, one_thread, score_of

COLUMNS = ("mse", "n_support", "n_train", "n_test", "version")


@dataclass(frozen=True)
class Scatter:
    """Rows of one feature, and which sizes of which methods are tried (``values``) and drawn."""

    name: str
    X: np.ndarray
    y: np.ndarray
    n_folds: int
    values: Mapping[str, list]
    curves: Mapping[str, list]

    def folds(self):
        """One split for every fold that tests."""
        return [self._split(trains, self.X[tests], self.y[tests]) for trains, tests in self._rows()]

    def folds_before(self, grid):
        """The same training parts; the rows of ``grid`` are to be predicted."""
        return [self._split(trains, grid, np.zeros(len(grid))) for trains, _ in self._rows()]

    def whole_before(self, grid):
        """All rows train."""
        return self._split(slice(None), grid, np.zeros(len(grid)))

    def grid(self, n_rows=300):
        return np.linspace(self.X.min(), self.X.max(), n_rows)[:, None]

    def _rows(self):
        return KFold(self.n_folds, shuffle=True, random_state=0).split(self.X)

    def _split(self, trains, X_test, y_test):
        return standardized(self.name, self.X[trains], X_test, self.y[trains], y_test)


def load():
    """Milliseconds after the impact, and the head's acceleration in g."""
    path = archive_path("motorcycle")
    if not path.exists():
        raise DatasetError(f"{path} does not exist: it is mcycle of R's MASS, as arrays X and y.")
    with np.load(path, allow_pickle=False) as archive:
        X, y = archive["X"].astype(np.float64), archive["y"].astype(np.float64)
    config = STUDY.config["motorcycle"]
    return Scatter(
        "motorcycle",
        X,
        y,
        config["folds"],
        {method: swept(method)[1] for method in config["methods"]},
        {method: entry["curves"] for method, entry in config["methods"].items()},
    )


def swept(method):
    """The parameter that is varied, and its values."""
    ((name, values),) = STUDY.config["motorcycle"]["methods"][method]["grid"].items()
    return name, values


def parameters_of(method, value):
    """All parameters of a method with this value of its own."""
    config = STUDY.config["motorcycle"]
    common = config["common"] | config["methods"][method]["common"]
    return common | {swept(method)[0]: value}


def fitted(method, value, split, seed):
    model = STUDY.build(method, parameters_of(method, value), seed, regression=True)
    with one_thread(), warnings.catch_warnings():
        # High polynomials do not get to their optimum.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(split.X_train, split.y_train)


def measured(folder, scatter, method):
    """Squared errors and support vectors in %, shape (n_values, n_folds) each."""
    store = RowStore(folder / "motorcycle.csv", COLUMNS)
    values, splits = scatter.values[method], scatter.folds()
    rows = []
    for value in values:
        for seed, split in enumerate(splits):
            key = {"dataset": split.name, "method": method, "seed": seed}
            key["parameters"] = parameters_of(method, value)
            row, _ = store.get_or_add(key, partial(_tried, method, value, split, seed))
            rows.append((row["mse"], 100 * row["n_support"] / row["n_train"]))
    errors, support = np.reshape(rows, (len(values), len(splits), 2)).transpose(2, 0, 1)
    return errors, support


def _tried(method, value, split, seed):
    model = fitted(method, value, split, seed)
    return score_of(model.predict(split.X_test), split) | {
        "n_support": n_support(model),
        "n_train": len(split.y_train),
        "n_test": len(split.y_test),
        "version": nearlinear.__version__,
    }
