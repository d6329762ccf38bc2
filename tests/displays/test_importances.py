"""The picture of which columns matter."""

import doctest

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from nearlinear import LLSVMClassifier, UniformMKLClassifier
from nearlinear.displays import ImportancesDisplay, importances


@pytest.fixture
def rows(rng):
    """Column 2 alone decides."""
    X = rng.standard_normal((120, 4))
    return X, X[:, 2] > 0


def test_bars_are_mean_sizes_and_the_column_that_decides_comes_first(rows):
    X, y = rows
    model = make_pipeline(StandardScaler(), LLSVMClassifier(5, random_state=0)).fit(X, y)
    display = ImportancesDisplay.from_estimator(model, X, max_features=3)
    assert display.drawn_[0] == 2
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, np.sort(display.sizes.mean(axis=0))[::-1][:3])
    parts = model[-1].explain(model[0].transform(X)).contributions[:, 0]
    np.testing.assert_allclose(display.sizes, np.abs(parts - parts.mean(axis=0)))
    assert "1 less important columns" in display.ax_.get_title(loc="left")


def test_a_kernel_machine_is_asked_with_columns_shuffled(rows):
    X, y = rows
    display = ImportancesDisplay.from_estimator(UniformMKLClassifier("gaussian").fit(X, y), X)
    assert display.drawn_[0] == 2
    assert "shuffled" in display.ax_.get_xlabel()


def test_models_of_others_and_no_bars_are_refused(rows):
    X, y = rows
    with pytest.raises(TypeError, match="draws models of nearlinear, not SVC"):
        ImportancesDisplay.from_estimator(SVC().fit(X, y), X)
    with pytest.raises(ValueError, match="max_features=0 must be at least 1"):
        ImportancesDisplay(sizes=np.ones((3, 2)), names=["a", "b"]).plot(max_features=0)


def test_the_example_in_the_docstring_runs():
    assert doctest.testmod(importances).failed == 0
