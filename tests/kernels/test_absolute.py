"""Widths in the unit of the features, wherever plain ones are relative to the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_moons

from nearlinear import (
    CPSPClassifier,
    LLSVMClassifier,
    MLLKMClassifier,
    load,
    save,
)
from nearlinear.kernels import Absolute, Gaussian, bank
from nearlinear.kernels.row_scales import RowScales

X, y = make_moons(80, noise=0.1, random_state=0)


def test_bandwidths_are_the_gammas_of_the_model(tmp_path):
    model = MLLKMClassifier("linear", bandwidths=Absolute([0.7, 0.2])).fit(X, y)
    assert set(model.gammas_) <= {0.2, 0.7}
    save(model, tmp_path / "model.nlm")
    again = clone(load(tmp_path / "model.nlm")).fit(X, y)
    assert_array_equal(again.decision_function(X), model.decision_function(X))


MODELS = {
    "soft assignment": (
        lambda s: LLSVMClassifier(n_anchors=5, random_state=0, sharpness=s),
        lambda model: model.sharpness_,
    ),
    "learned vectors": (
        lambda s: CPSPClassifier(5, gamma=s, max_iter=0, random_state=0),
        lambda model: model.gamma_,
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_relative_number_in_absolute_terms_is_the_same_model(name):
    make, number_of = MODELS[name]
    relative = make(1.5).fit(X, y)
    same = make(Absolute(number_of(relative))).fit(X, y)
    assert_allclose(same.decision_function(X), relative.decision_function(X), rtol=1e-9)
    assert number_of(make(Absolute(0.37)).fit(100.0 * X, y)) == 0.37


def test_a_bank_has_these_widths():
    found = bank(widths=Absolute([0.5, 2.0]), degrees=(), columns="all").kernels
    assert found == (Gaussian(gamma=4.0), Gaussian(gamma=0.25))
    scale = RowScales.of(X).squared_distance
    assert Gaussian(width=2.0).for_rows(X).gamma == pytest.approx(0.25 / scale)


@pytest.mark.parametrize("value", [0.0, -1.0, [1.0, np.inf], [], "1", None, [[1.0, np.nan]]])
def test_what_is_no_width_is_refused(value):
    with pytest.raises(ValueError, match="Absolute needs numbers above 0"):
        Absolute(value)


def test_one_number_is_asked_for_where_one_is_needed():
    with pytest.raises(ValueError, match="One number is needed"):
        LLSVMClassifier(sharpness=Absolute([1.0, 2.0])).fit(X, y)
