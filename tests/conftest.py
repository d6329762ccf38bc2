"""Which cases run, and data that many tests share: small, standardized, with a fixed seed."""

import numpy as np
import pytest
from grids import left_out
from sklearn.datasets import make_blobs, make_moons
from sklearn.preprocessing import StandardScaler


def pytest_addoption(parser):
    parser.addoption(
        "--all", action="store_true", help="every case of every test; see tests/grids.py"
    )


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--all"):
        only_all = left_out(items) | {item for item in items if item.get_closest_marker("only_all")}
        config.hook.pytest_deselected(items=list(only_all))
        items[:] = [item for item in items if item not in only_all]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def moons():
    """Two classes that no line separates (a linear model gets about 87 %)."""
    X, y = make_moons(200, noise=0.15, random_state=0)
    return _read_only(StandardScaler().fit_transform(X), y)


@pytest.fixture(scope="session")
def blobs():
    """Three classes in six overlapping groups."""
    X, group = make_blobs(180, centers=6, cluster_std=1.2, n_features=4, random_state=3)
    return _read_only(StandardScaler().fit_transform(X), group % 3)


def _read_only(*arrays):
    """Shared between tests, so nothing may write to them."""
    for array in arrays:
        array.flags.writeable = False
    return arrays
