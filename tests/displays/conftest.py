"""Pictures are drawn without a window, and none stays open."""

import pytest


@pytest.fixture(autouse=True)
def no_windows():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")
