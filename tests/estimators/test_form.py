"""The form that all estimators have: two classes, one private attribute, state set at once."""

import numpy as np
import pytest
from grids import in_one_test

import nearlinear
from nearlinear.estimators._base import model as base

NAMES = [name for name in nearlinear.__all__ if name.endswith(("Classifier", "Regressor"))]
each_estimator = in_one_test("estimator", [getattr(nearlinear, name) for name in NAMES])


def data(estimator):
    X = np.random.default_rng(0).standard_normal((40, 2))
    return X, X[:, 0] if estimator.__name__.endswith("Regressor") else np.arange(40) % 2


@each_estimator
def test_an_estimator_is_itself_and_model(estimator):
    own = [cls for cls in estimator.__mro__ if cls.__module__.startswith("nearlinear.")]
    # Methods that differ in one detail share a private base.
    assert [cls for cls in own if not cls.__name__.startswith("_")] == [estimator, base.Model]


@each_estimator
def test_a_fit_leaves_one_private_attribute(estimator):
    model = estimator().fit(*data(estimator))
    found = set(vars(model)) - set(model.get_params())
    assert {name for name in found if not name.endswith("_")} == {"_training"}


@each_estimator
def test_a_fit_that_fails_at_its_end_leaves_the_model_as_it_was(estimator):
    X, y = data(estimator)
    model = estimator().fit(X, y)
    before = dict(vars(model))

    def fail(*_):
        raise RuntimeError("at the end")

    with pytest.MonkeyPatch.context() as patch, pytest.raises(RuntimeError, match="at the end"):
        patch.setattr(base, "require_finite_model", fail)
        model.fit(X[:, :1], y)
    assert list(vars(model)) == list(before)
    assert all(vars(model)[name] is before[name] for name in before)
