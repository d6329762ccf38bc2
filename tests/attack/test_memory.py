"""Fits respect ``max_memory``, and wide sparse rows need little memory."""

import tracemalloc

import numpy as np
import pytest
from estimators.conftest import SMALL, SMALL_REGRESSORS
from runtime.child import limit_memory, run_child
from sklearn.base import clone

import nearlinear

pytestmark = pytest.mark.only_all
ESTIMATORS = {**SMALL, **SMALL_REGRESSORS}
SHAPES = ((200, 3), (600, 20), (1500, 8))


def problem(shape, name):
    X = np.random.default_rng(0).standard_normal(shape)
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    return X, y if name in SMALL_REGRESSORS else (y > 0).astype(int)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_fit_stays_within_max_memory_or_raises(name):
    model = getattr(nearlinear, name)(**ESTIMATORS[name])
    for shape in SHAPES:
        X, y = problem(shape, name)
        clone(model).fit(X, y)  # loads modules and compiled code
        for limit in (1e5, 1e6, 1e7, 1e8):
            tracemalloc.start()
            try:
                with nearlinear.config_context(max_memory=limit):
                    model.fit(X, y)
                # The limit is on what a fit allocates besides its copy of the data.
                assert tracemalloc.get_traced_memory()[1] - X.nbytes - y.nbytes <= limit
            except MemoryError as error:
                assert "max_memory" in str(error)
            finally:
                tracemalloc.stop()


WIDE = """
import sys, warnings
import numpy as np
from scipy.sparse import csr_matrix
from estimators.conftest import SMALL, SMALL_REGRESSORS
import nearlinear

name = sys.argv[1]
rng, y = np.random.default_rng(0), np.arange(600) % 2
columns = np.sort(rng.integers(1 << 20, size=(600, 50)))
values = rng.random((600, 50)) + y[:, None]
X = csr_matrix((values.ravel(), columns.ravel(), range(0, 30001, 50)), shape=(600, 1 << 20))
warnings.simplefilter("ignore")
settings = {} if "MKL" in name else SMALL[name]
model = getattr(nearlinear, name)(**settings)
nearlinear.set_config(max_memory=1.5 * (1 << 30))
try:
    assert np.all(np.isfinite(model.fit(X, y.astype(float)).predict(X)))
except (MemoryError, ValueError) as error:
    assert "max_memory" in str(error) or "columns" in str(error), error
"""


@pytest.mark.parametrize(
    "name", [name for name in ESTIMATORS if any(word in name for word in ("MKL", "LaSVM", "CPSP"))]
)
def test_a_million_sparse_columns_need_less_than_2_gb(name):
    run_child(limit_memory(2 << 30) + WIDE, name, timeout=60)
