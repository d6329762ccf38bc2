"""Parameters with the least mean squared error on the halves that validate.

Most candidates are tried on two halves only, see ``choice`` in config.toml.
"""

import itertools
import json
import warnings
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import partial
from math import nan

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import RepeatedKFold

from reproduce.lmkr.methods import STUDY
from reproduce.split import Split, scaled
from reproduce.tuning import candidates, try_candidate, tuning_store


def standardized(name, X_train, X_test, y_train, y_test):
    """Features scaled by the training part, targets in their own unit."""
    split = scaled(name, X_train, X_test, y_train, y_test, "standard").cast(np.float64)
    return replace(split, y_train=y_train, y_test=y_test, target_scale=1.0)


@dataclass(frozen=True)
class Halves:
    """Halves of a split's training part, each of which trains once; the test part is always it."""

    split: Split
    halvings: int

    def __len__(self):
        return 2 * self.halvings

    def validating(self, number):
        """This half trains, and the other one tests."""
        trains, validates = self._rows(number)
        X, y = self.split.X_train, self._unscaled(self.split.y_train)
        return standardized(self.split.name, X[trains], X[validates], y[trains], y[validates])

    def testing(self, number):
        """This half trains; the split's test part tests."""
        trains, _ = self._rows(number)
        y_train, y_test = map(self._unscaled, (self.split.y_train, self.split.y_test))
        return standardized(
            self.split.name, self.split.X_train[trains], self.split.X_test, y_train[trains], y_test
        )

    def _rows(self, number):
        folds = RepeatedKFold(n_splits=2, n_repeats=self.halvings, random_state=0)
        return list(folds.split(self.split.X_train))[number]

    def _unscaled(self, y):
        # Less a constant, which the bias of a machine takes up.
        return self.split.target_scale * y


FILE = "validation.csv"


def store_in(folder):
    """Where the errors of all candidates are kept."""
    return tuning_store(STUDY, folder / FILE)


def grid_for(method, dataset):
    """Candidate values by parameter; C is the last."""
    config = STUDY.config
    common = {"epsilon": config["datasets"][dataset]["epsilon"], "C": config["C"]}
    return STUDY.grid_for(method, dataset) | common


def rules_for(dataset):
    """When a candidate is given up."""
    entry = STUDY.config["datasets"][dataset]
    rules = STUDY.config["choice"]
    return {name: entry.get(name, value) for name, value in rules.items()}


def choose(store, halves, method, base, grid, rules):
    """Parameters of the best candidate: ``base`` and one value of every list of ``grid``."""

    def error(parameters, numbers):
        return np.mean([tried(store, halves, method, parameters, number) for number in numbers])

    coarse = _by_growing_C(
        [base | values for values in candidates(grid)],
        partial(error, numbers=range(rules["coarse"])),
        rules["rise"],
    )
    least = min(found for found, _ in coarse)
    near = [entry for entry in coarse if entry[0] <= (1 + rules["near"]) * least]
    near.sort(key=lambda entry: entry[0])
    for _, parameters in near[: rules["most"]]:
        error(parameters, range(len(halves)))
    return best_of(store.rows(), halves.split.name, method, len(halves), base, grid)[0]


def _by_growing_C(tried_parameters, error, rise):
    """(error, parameters) of those whose C is not beyond where the error has risen."""
    found = []
    for _, group in itertools.groupby(tried_parameters, key=_without_C):
        least = np.inf
        for parameters in group:
            value = error(parameters)
            found.append((value, parameters))
            if value > (1 + rise) * least:
                break
            least = min(least, value)
    return found


def _without_C(parameters):
    return {name: value for name, value in parameters.items() if name != "C"}


def tried(store, halves, method, parameters, number):
    """Squared error on the half that validates; kept in the store."""
    part = halves.validating(number)
    key = {"dataset": part.name, "method": method, "seed": number, "parameters": parameters}
    key["n_train"] = len(part.y_train)
    with warnings.catch_warnings():
        # Machines that do not get to their optimum are candidates, too, if rarely good ones.
        warnings.simplefilter("ignore", ConvergenceWarning)
        row, _ = store.get_or_add(
            key, partial(try_candidate, STUDY, method, parameters, part, number)
        )
    # As the file keeps it, or a row read from there would lose or win a tie.
    return float(f"{row['mse']:.6g}")


def best_of(rows, dataset, method, n_halves, base, grid):
    """Of the candidates that all halves have tried the one with the least error, and this error."""
    errors = defaultdict(dict)
    for row in rows:
        if (row["dataset"], row["method"]) == (dataset, method):
            name = json.dumps(row["parameters"], sort_keys=True)
            errors[name][row["seed"]] = float(f"{row['mse']:.6g}")
    known = {
        json.dumps(base | values, sort_keys=True): base | values for values in candidates(grid)
    }
    means = {
        name: np.mean([found[number] for number in range(n_halves)])
        for name, found in errors.items()
        if name in known and found.keys() >= set(range(n_halves))
    }
    if not means:
        return None, nan
    best = min(means, key=means.get)
    return known[best], float(means[best])


def chosen(rows, method, dataset):
    """What ``rows`` of the store say that is best, and its error; None and NaN without any."""
    base, grid = STUDY.base_for(method, dataset), grid_for(method, dataset)
    return best_of(rows, dataset, method, 2 * STUDY.config["halvings"], base, grid)
