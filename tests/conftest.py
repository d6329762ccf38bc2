"""Which cases run, and data that many tests share: small, standardized, with a fixed seed."""

import signal

import numpy as np
import pytest
from grids import left_out
from sklearn.datasets import make_blobs, make_moons
from sklearn.preprocessing import StandardScaler


def pytest_configure(config):
    """Ctrl-C is heard also where a shell has started the tests in the background."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption(
        "--all", action="store_true", help="every case of every test; see tests/grids.py"
    )


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--all"):
        only_all = left_out(items) | {item for item in items if item.get_closest_marker("only_all")}
        config.hook.pytest_deselected(items=list(only_all))
        items[:] = [item for item in items if item not in only_all]


@pytest.fixture(autouse=True, scope="session")
def few_candidates():
    """Searches of the front door try one small model of each family: they end in a moment."""
    from nearlinear.search import search
    from nearlinear.search.candidates import Additive, Anchors, Boosted, Kernels
    from nearlinear.search.portfolio import LINEAR

    found = [LINEAR, Additive(0.3, 4), Anchors(4, 1.0, 0.1), Boosted(5, 4, 0.5), Kernels(1.0)]

    def portfolio(shape, is_sparse, has_budget, has_time=False, families=None):
        wanted = ("linear", *(families or [one.family for one in found]))
        kept = [one for one in found if one.family in wanted]
        return [one for one in kept if one.takes_sparse or not is_sparse]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "portfolio", portfolio)
        yield


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
