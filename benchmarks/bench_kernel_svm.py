"""Our kernel machine beside LIBSVM: seconds to the same duality gap, cold and warm, and memory.

LIBSVM stops at its own tolerance of 1e-3; the duality gap of what it found is computed from its
dual coefficients, and ours works until its gap is as small. One thread, CPU seconds: on a machine
that is shared they say more than the clock.
"""

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.svm import SVC

from benchmarks.bench_fit import in_child
from benchmarks.kernel_sets import MACHINES, SMOKE_ROWS, kernel_rows, origin
from benchmarks.quiet import best_of, disturbance, say_load
from benchmarks.report import FOLDER, Result, publish
from nearlinear.kernels.pairs import Pairs
from nearlinear.kernels.rows import ComputedRows
from nearlinear.solvers.machine.bias import FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.machine.working_sets import solve_kernel_machine
from reproduce.protocol import one_thread

CACHE_MEGABYTES = 200  # of kernel rows, for both
LIBSVM_TOL = 1e-3
_BLOCK = 500


def solve(kernel, X, signs, C, *, tol, start=None):
    """Our machine, from rows to solution."""
    source = ComputedRows(kernel, X, CACHE_MEGABYTES * 2**20)
    problem = DualProblem.of_signs(signs, np.full(len(signs), C))
    return solve_kernel_machine(source, problem, FreeBias(), tol=tol, start=start)


def warm_up():
    """Compile before anything is timed, for dense rows and sparse ones."""
    X, signs = kernel_rows("letter_halves", 600)
    for rows in (X, csr_matrix(X)):
        source = ComputedRows(MACHINES[0].kernel, rows, 2**20, working_set=64, whole_set=100)
        problem = DualProblem.of_signs(signs, np.ones(len(signs)))
        solve_kernel_machine(source, problem, FreeBias())


def dual_coef_of(model, n_rows):
    """αᵢyᵢ of a fitted SVC; positive for its second class, as ours."""
    coef = model.dual_coef_
    dual = np.zeros(n_rows)
    dual[model.support_] = coef.toarray()[0] if hasattr(coef, "toarray") else coef[0]
    return dual


def scores_of(dual_coefs, kernel, X):
    """Ka for each of several dual vectors: in double precision, with no code of a solver."""
    stacked = np.stack(dual_coefs, axis=1)
    used = np.flatnonzero(stacked.any(axis=1))
    coefs, Z = stacked[used], X[used]
    return np.concatenate(
        [
            kernel.from_pairs(Pairs(X[start : start + _BLOCK], Z)) @ coefs
            for start in range(0, len(X), _BLOCK)
        ]
    ).T


def values_of(dual_coef, scores, problem):
    """Primal and dual objective of a dual vector a with the scores Ka."""
    quadratic, slack = dual_coef @ scores, problem.targets - scores
    primal = 0.5 * quadratic + problem.loss(slack - problem.best_bias(slack))
    return primal, problem.dual_value(dual_coef, quadratic)


def relative_gap(primal, dual):
    return (primal - dual) / primal


def results_for(case, smoke):
    X, signs = kernel_rows(case.name, SMOKE_ROWS if smoke else None)
    forms = {"dense": X}
    if case.name == "a9a":
        forms["CSR"] = csr_matrix(X)
    for form, rows in forms.items():
        print(f"  {case.name}, {form} ...", flush=True)
        yield from against_libsvm(case, f"{case.name}, {len(signs)} rows, {form}", X, rows, signs)


def against_libsvm(case, title, X, rows, signs):
    """Both on ``rows``, which are ``X`` in some form."""
    C, kernel = case.C, case.kernel

    def fit_libsvm():
        settings = {"tol": LIBSVM_TOL, "cache_size": CACHE_MEGABYTES}
        return SVC(C=C, gamma=case.gamma, **settings).fit(rows, signs)

    theirs = best_of({"libsvm": fit_libsvm}, key="cpu_seconds")["libsvm"]
    dual_coef = dual_coef_of(theirs.value, len(signs))
    problem = DualProblem.of_signs(signs, np.full(len(signs), C))
    (scores,) = scores_of([dual_coef], kernel, X)
    primal, dual = values_of(dual_coef, scores, problem)
    tol = relative_gap(primal, dual)
    narrower = type(kernel)(gamma=0.9 * case.gamma)
    starts = {
        "ours": None,
        "ours from the solution for C / 2": solve(kernel, rows, signs, C / 2, tol=tol),
        "ours from the solution for 0.9 gamma": solve(narrower, rows, signs, C, tol=tol),
    }

    def solver(start):
        start = start and start.dual_coef
        return lambda: solve(kernel, rows, signs, C, tol=tol, start=start)

    ours = best_of({name: solver(s) for name, s in starts.items()}, key="cpu_seconds")
    for name, took in ours.items():
        n_support = np.count_nonzero(took.value.dual_coef)
        note = (
            f"{took.cpu_seconds:.2f} s and {theirs.cpu_seconds:.2f} s to a gap of {tol:.1e}, "
            f"{n_support} and {len(theirs.value.support_)} support rows"
        )
        note += origin(case.name) + disturbance(max(took.others, theirs.others))
        ratio = took.cpu_seconds / theirs.cpu_seconds
        yield Result(title, f"{name} / LIBSVM", ratio, "×", note=note)
    coefs = [took.value.dual_coef for took in ours.values()]
    pairs = zip(coefs, scores_of(coefs, kernel, X))
    values = [values_of(coef, scores, problem) for coef, scores in pairs]
    apart = max(abs(other - dual) / abs(dual) for _, other in values)
    note = f"{dual:.6g}, gap {tol:.1e}; ours " + ", ".join(
        f"{other:.6g}, gap {relative_gap(upper, other):.1e}" for upper, other in values
    )
    yield Result(title, "largest difference of dual objectives", apart, target=1e-3, note=note)


def memory(smoke):
    for case in MACHINES[:2]:
        print(f"  memory on {case.name} ...", flush=True)
        arguments = ["machine", case.name, *(["--smoke"] if smoke else [])]
        took = in_child(*arguments, n_threads=1, module="benchmarks.kernel_fit_child")
        n_rows, beyond = took["n_rows"], took["beyond_data"]
        title = f"{case.name}, {n_rows} rows, dense"
        note = f"{CACHE_MEGABYTES} MB of it for kernel rows" + origin(case.name)
        yield Result(title, "memory beyond the data", beyond / 1e6, "MB", note=note)
        matrix = 4 * n_rows**2
        note = f"{matrix / 1e6:.0f} MB in single precision"
        yield Result(title, "the same / one n × n matrix", beyond / matrix, "×", note=note)


def run(smoke=False, folder=FOLDER):
    say_load()
    with one_thread():
        warm_up()
        found = [result for case in MACHINES for result in results_for(case, smoke)]
    return [*found, *memory(smoke)]


if __name__ == "__main__":
    publish("kernel_svm", run())
