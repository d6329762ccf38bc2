"""LD-MKL made of scikit-learn's machines: what their fits take, and how exact they are."""

import heapq
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import softmax
from sklearn.svm import SVC, SVR

from benchmarks.bench_kernel_svm import (
    CACHE_MEGABYTES,
    LIBSVM_TOL,
    dual_coef_of,
    relative_gap,
    scores_of,
    values_of,
)
from nearlinear.solvers.machine.problem import DualProblem
from reproduce.unified_lkl.methods import three_kernels

C = 1.0
EPSILON = 0.01  # of the regressions
SMALLEST_SHARE = 0.1  # of the rows: with fewer, or one class alone, a kernel keeps its first SVC


@dataclass(frozen=True)
class Fit:
    """One machine: seconds of its fit alone, relative duality gap, scores of its rows."""

    seconds: float
    cpu_seconds: float
    gap: float
    scores: np.ndarray


@dataclass(frozen=True)
class LibsvmLDMKL:
    """All fits together; ``seconds`` are those of two phases on so many threads."""

    seconds: float
    cpu_seconds: float
    gaps: tuple[float, ...]
    kept_shares: np.ndarray


def fit_ldmkl(X, signs, n_threads):
    """For each kernel an SVC, an SVR of where it is right, an SVC on the rows it answers for."""
    kernels = list(zip(_settings(X.shape[1]), three_kernels(1.0, X.shape[1]), strict=True))
    with ThreadPoolExecutor(n_threads) as pool:
        learned = list(pool.map(partial(_machine_and_success, X, signs), kernels))
        gates = softmax([success.scores for _, success in learned], axis=0)
        kept = [np.flatnonzero(gate >= 1.0 / len(kernels)) for gate in gates]
        again = [(k, rows) for k, rows in zip(kernels, kept) if _makes_a_machine(signs, rows)]
        local = list(pool.map(lambda task: _svc(X[task[1]], signs[task[1]], task[0]), again))
    fits = [*local, *(fit for pair in learned for fit in pair)]
    seconds = makespan([sum(fit.seconds for fit in pair) for pair in learned], n_threads)
    return LibsvmLDMKL(
        seconds + makespan([fit.seconds for fit in local], n_threads),
        sum(fit.cpu_seconds for fit in fits),
        tuple(fit.gap for fit in fits),
        np.array([len(rows) / len(signs) for rows in kept]),
    )


def makespan(seconds, n_threads):
    """When the last of several tasks ends that are begun in order, each on the first free thread.

    So the scores between two fits, which are no part of them, cost nothing.
    """
    ends = [0.0] * n_threads
    for each in seconds:
        heapq.heapreplace(ends, ends[0] + each)
    return max(ends)


def _makes_a_machine(signs, rows):
    return len(rows) >= SMALLEST_SHARE * len(signs) and len(np.unique(signs[rows])) == 2


def _settings(n_features):
    unit = 1.0 / n_features
    return (
        {"kernel": "linear"},
        {"kernel": "poly", "degree": 2, "gamma": unit, "coef0": 1.0},
        {"kernel": "rbf", "gamma": unit},
    )


def _machine_and_success(X, signs, kernel):
    machine = _svc(X, signs, kernel)
    right = (machine.scores * signs > 0).astype(np.float64)
    problem = DualProblem.of_values(right, np.full(len(right), C), EPSILON)
    return machine, _fit(SVR(C=C, epsilon=EPSILON, **_shared(kernel)), kernel, X, problem)


def _svc(X, signs, kernel):
    problem = DualProblem.of_signs(signs, np.full(len(signs), C))
    return _fit(SVC(C=C, **_shared(kernel)), kernel, X, problem)


def _shared(kernel):
    return kernel[0] | {"tol": LIBSVM_TOL, "cache_size": CACHE_MEGABYTES}


def _fit(machine, kernel, X, problem):
    rows = csr_matrix(X)  # LIBSVM is faster on these than on dense ones
    start, cpu = time.perf_counter(), time.thread_time()
    machine.fit(rows, problem.targets)
    seconds, cpu = time.perf_counter() - start, time.thread_time() - cpu
    dual_coef = dual_coef_of(machine, len(problem))
    (scores,) = scores_of([dual_coef], kernel[1], X)
    gap = relative_gap(*values_of(dual_coef, scores, problem))
    return Fit(seconds, cpu, gap, scores + machine.intercept_[0])
