"""Data that many tests share: small, standardized, with a fixed seed."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.preprocessing import StandardScaler


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
