"""Halves of the training part, each of which trains once and validates once."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.model_selection import RepeatedKFold

from reproduce.split import Split, scaled


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
