"""What a fit of a localized method takes in memory, every fit in a process of its own."""

import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from sklearn.base import clone

import nearlinear
from reproduce.memory import forget_peak, peak_bytes, present_bytes
from reproduce.protocol import one_thread
from reproduce.unified_lkl.methods import LOCAL, three_kernels

MEGABYTE = 1e6
# Bytes; more than any of these fits would use.
PLENTY = 16e9
SOLVERS = {
    "plenty": {"solver": "smo"},
    "smo": {"solver": "smo"},
    "mwu": {"solver": "mwu"},
}
# More steps take longer and nothing more.
FEW_STEPS = {"lmkl": {"max_iter": 2}, "clmkl": {"max_iter": 2}}


def loose_model(method, solver, n_features):
    """The method on three kernels, to be stopped early."""
    copies = {"n_copies": 1} if method == "lmkl" else {}
    return LOCAL[method](
        three_kernels(1.0, n_features), C=1.0, normalization="diagonal", random_state=0,
        tol=0.1, **SOLVERS[solver], **FEW_STEPS.get(method, {}), **copies,
    )  # fmt: skip


def fit_bytes(model, X, y):
    """The most that this process holds during a fit, less what it held before."""
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is stopped early on purpose
        clone(model).fit(X[:200], y[:200])  # compiled code is not the fit's
        held = present_bytes()
        forget_peak()
        model.fit(X, y)
        return peak_bytes() - held


def megabytes_here(method, solver, X, y):
    """Megabytes of one fit, in this process."""
    limit = PLENTY if solver == "plenty" else None
    with nearlinear.config_context(max_memory=limit):
        return fit_bytes(loose_model(method, solver, X.shape[1]), X, y) / MEGABYTE


def megabytes_of(method, solver, X, y):
    """The same in a fresh process, so that nothing freed before is used again."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(megabytes_here, method, solver, X, y).result()
