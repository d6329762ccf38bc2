"""The model that is measured on a9a: three kernels from Gram columns alone."""

from nearlinear import MWUMKLClassifier
from nearlinear.kernels import Gaussian, Linear, Polynomial

KERNELS = (Linear(), Polynomial(2), Gaussian(gamma=1 / 123))
C = 1.0  # memory does not depend on it, seconds do
TOL = 0.05


def mwu_model(**settings):
    return MWUMKLClassifier(list(KERNELS), C=C, tol=TOL, **settings)
