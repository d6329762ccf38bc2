"""Every estimator once: it learns, and its model travels."""

import numpy as np
import pytest
from small_estimators import SMALL, SMALL_REGRESSORS

import nearlinear
from nearlinear import runtime

LAZY = ["SVMKNNClassifier"]  # a new machine around every row: no model that could travel


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 2))
    X.flags.writeable = False
    return X, X[:, 0] * X[:, 1]


@pytest.mark.parametrize("name", [*SMALL, *SMALL_REGRESSORS])
def test_an_estimator_learns_and_its_model_travels(name, rows, tmp_path):
    X, values = rows
    y = values if name in SMALL_REGRESSORS else np.where(values > 0, "same", "other")
    settings = {**SMALL, **SMALL_REGRESSORS}[name]
    model = getattr(nearlinear, name)(**settings).fit(X, y)
    method = "predict" if name in SMALL_REGRESSORS else "decision_function"
    scores = getattr(model, method)(X)
    assert model.score(X, y) > (0.3 if name in SMALL_REGRESSORS else 0.8)

    scorer = model.compile()
    np.testing.assert_allclose([scorer(x) for x in X[:5]], scores[:5], atol=1e-9)
    if name in LAZY:
        return
    np.testing.assert_allclose(model.explain(X[:5]).scores.ravel(), scores[:5], atol=1e-9)
    path = tmp_path / "model.nlm"
    nearlinear.save(model, path)
    np.testing.assert_array_equal(nearlinear.load(path).predict(X), model.predict(X))
    np.testing.assert_allclose(getattr(runtime.load(path), method)(X), scores, atol=1e-9)
    nearlinear.to_c(model, tmp_path)
    assert (tmp_path / "model.c").stat().st_size > 0
