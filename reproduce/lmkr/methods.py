"""The methods of the paper by name, and other kernels beside them."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.svm import SVR

from nearlinear import LMKLRegressor
from nearlinear.estimators._base.task import Regression
from nearlinear.estimators._base.values.units import TargetUnits
from reproduce.study import Study


def polynomial_machine(degree, **parameters):
    """(⟨x, z⟩ + 1)^degree; with a free bias degree 1 is the linear kernel."""
    return SVR(kernel="poly", degree=degree, gamma=1.0, coef0=1.0, **parameters)


@dataclass(frozen=True)
class UnitPolynomial:
    """(⟨x, z⟩ + 1)^degree, divided so that every row has length one in its feature space."""

    degree: int

    def __call__(self, X, Z):
        return (_on_sphere(X) @ _on_sphere(Z).T) ** self.degree


def _on_sphere(X):
    X = np.column_stack([X, np.ones(len(X))])
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def unit_machine(degree, **parameters):
    """A polynomial of unit diagonal."""
    return SVR(kernel=UnitPolynomial(degree), **parameters)


class InRange(SVR):
    """Every feature lies between −1 and 1 on the rows that it is fitted to."""

    def fit(self, X, y):
        self.low_, span = X.min(axis=0), np.ptp(X, axis=0)
        self.span_ = np.where(span > 0, span, 1.0)
        return super().fit(self._ranged(X), y)

    def predict(self, X):
        return super().predict(self._ranged(X))

    def _ranged(self, X):
        return 2.0 * (X - self.low_) / self.span_ - 1.0


def range_machine(degree, **parameters):
    """(⟨x, z⟩ + 1)^degree on features between −1 and 1."""
    return InRange(kernel="poly", degree=degree, gamma=1.0, coef0=1.0, **parameters)


def gaussian_machine(width, **parameters):
    """exp(−‖x − z‖² / width²)."""
    return SVR(kernel="rbf", gamma=width**-2, **parameters)


class LMKLInOwnUnit(LMKLRegressor):
    """C and ε as the paper prints them: in the unit of the targets, not in that of their spread.

    The penalty on the gate is in units of C times the targets' standard deviation.
    """

    def _learn(self, rows):
        return super()._learn(replace(rows, task=Regression(TargetUnits())))

    def fit(self, X, y):
        given = self.gate_penalty
        self.gate_penalty = given * np.std(y)
        try:
            return super().fit(X, y)
        finally:
            self.gate_penalty = given


def local_machine(kernel, **parameters):
    """Copies of one kernel, as it is, behind a softmax gate."""
    machine = {"gate": "softmax", "normalization": None, "solver": "smo"}
    return LMKLInOwnUnit(kernel, **machine | parameters)


REGRESSORS = {
    "svr_linear": polynomial_machine,
    "svr": polynomial_machine,
    "svr_unit": unit_machine,
    "svr_range": range_machine,
    "svr_gaussian": gaussian_machine,
    "lmkl_published": partial(local_machine, "linear"),
    "lmkl_alternating": partial(local_machine, "linear", solver="alternating"),
    "lmkl": partial(local_machine, "linear"),
    "lmkl_affine": partial(local_machine, "affine"),
}
TITLES = {
    "svr_linear": "SVR, linear",
    "svr": "SVR, polynomial",
    "svr_unit": "SVR, polynomial, unit diagonal",
    "svr_range": "SVR, polynomial, features from −1 to 1",
    "svr_gaussian": "SVR, Gaussian",
    "lmkl_published": "LMKL, linear, no penalty",
    "lmkl_alternating": "LMKL, linear, the paper's steps",
    "lmkl": "LMKL, linear",
    "lmkl_affine": "LMKL, affine",
}
MEASURED = (
    "mse",
    "fit_seconds",
    "predict_us_per_row",
    "times_linear",
    "n_support",
    "support_per_kernel",
    "kernels_per_row",
    "model_bytes",
    "n_train",
    "n_test",
    "version",
)

STUDY = Study(
    folder=Path(__file__).parent,
    makers={},
    regressors=REGRESSORS,
    titles=TITLES,
    measured=MEASURED,
)
