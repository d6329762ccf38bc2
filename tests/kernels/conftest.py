"""Two sets of rows with zeros among them, so that sparse forms have something to leave out."""

import pytest


@pytest.fixture
def X(rng):
    rows = rng.standard_normal((30, 4))
    rows[rows < -0.7] = 0.0
    return rows


@pytest.fixture
def Z(rng):
    rows = rng.standard_normal((17, 4)) + 0.5
    rows[rows > 1.0] = 0.0
    return rows
