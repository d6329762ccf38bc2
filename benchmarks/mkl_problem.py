"""The problem that EasyMKL of MKLpy is measured on, for our estimators."""

import numpy as np

from benchmarks.mklpy_baseline import N_KERNELS, problem
from nearlinear.kernels import Gaussian


def mkl_rows(n_rows, seed):
    return problem(n_rows, seed)


def ten_gaussians():
    """The kernels of ``mklpy_baseline``: gammas as multiples of one over the median distance²."""
    return [Gaussian(width=float(gamma**-0.5)) for gamma in np.geomspace(0.03, 10, N_KERNELS)]
