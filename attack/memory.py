"""Memory limits, and wide sparse rows within 2 GB."""

import time
import tracemalloc
import warnings

import numpy as np
from estimators.conftest import SMALL, SMALL_REGRESSORS
from scipy.sparse import csr_matrix

import nearlinear

from .apart import call
from .report import Count

_SIZES = ((200, 3), (600, 20), (1500, 8))
_BUDGETS = (1e5, 1e6, 1e7, 1e8)
_WIDE = 2 << 30
_PATIENCE = 30  # seconds for a fit of wide rows


def run(count):
    """``count`` estimators at every size and budget, and as many kernel machines of wide rows."""
    names = [*SMALL, *SMALL_REGRESSORS]
    counts = call(budgets, names[:count], what="fits within max_memory", timeout=600)
    wide = Count("fits and predictions of 600 × 2^20 sparse rows within 2 GB")
    machines = [name for name in names if "MKL" in name or "LaSVM" in name or "CPSP" in name]
    for name in machines[:count]:
        for one in call(wide_rows, name, what=name, timeout=_PATIENCE, memory=_WIDE):
            wide.tried += one.tried
            wide.outcomes += one.outcomes
            wide.findings += [f"{name} {finding}" for finding in one.findings]
    return [*counts, wide]


def budgets(names):
    """Every estimator at every size and memory limit."""
    found = Count("fits within max_memory")
    warnings.simplefilter("ignore")
    for name in names:
        small = getattr(nearlinear, name)(**{**SMALL, **SMALL_REGRESSORS}[name])
        X, y = _problem(50, 3, name)
        small.fit(X, y).predict(X)  # what is loaded once
        for shape in _SIZES:
            for budget in _BUDGETS:
                X, y = _problem(*shape, name)
                found.add(*_held(small, X, y, budget))
    return [found]


def _problem(n_rows, n_features, name):
    X = np.random.default_rng(0).standard_normal((n_rows, n_features))
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    return X, y if name in SMALL_REGRESSORS else (y > 0).astype(int)


def _held(model, X, y, budget):
    tracemalloc.start()
    try:
        with nearlinear.config_context(max_memory=budget):
            model.fit(X, y)
        # max_memory is what a fit may use in addition to the data, of which it has a copy
        peak = tracemalloc.get_traced_memory()[1] - X.nbytes - y.nbytes
    except MemoryError as error:
        if "max_memory" in str(error):
            return "refused", None
        return "other", f"{type(model).__name__}, {X.shape}, {budget:g}: {error}"
    finally:
        tracemalloc.stop()
    if peak <= budget:
        return "held", None
    return "exceeded", f"{type(model).__name__}, {X.shape}: {peak:.3g} bytes, allowed {budget:g}"


def wide_rows(name):
    """A kernel machine of rows with a million columns and 50 entries each."""
    found, start = Count(name), time.perf_counter()
    rng, y = np.random.default_rng(0), np.arange(600) % 2
    columns = np.sort(rng.integers(1 << 20, size=(600, 50)))
    values = rng.random((600, 50)) + y[:, None]  # something to learn
    X = csr_matrix((values.ravel(), columns.ravel(), range(0, 30001, 50)), shape=(600, 1 << 20))
    warnings.simplefilter("ignore")
    settings = {} if "MKL" in name else SMALL[name]
    model = getattr(nearlinear, name)(**settings)
    try:
        with nearlinear.config_context(max_memory=0.75 * _WIDE):
            scores = model.fit(X, y.astype(float)).predict(X)
    except (MemoryError, ValueError) as error:
        is_clear = "max_memory" in str(error) or "columns" in str(error)
        fault = f"after {time.perf_counter() - start:.0f} s: {error}"
        found.add("refused", None if is_clear else fault)
        return [found]
    is_finite = np.all(np.isfinite(scores))
    found.add("fitted and predicted", None if is_finite else "scores are not finite")
    return [found]
