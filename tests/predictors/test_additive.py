"""Lines that bend at knots: the formula, scikit-learn's pipelines, and what it costs."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import SplineTransformer
from small_predictors import additive

from nearlinear.predictors.additive import Additive, additive_of, knots_of

D = 6


def rows(n_rows=130, dtype=np.float64, n_features=D):
    return np.random.default_rng(3).standard_normal((n_rows, n_features)).astype(dtype)


@pytest.mark.passes
@pytest.mark.parametrize("form", [np.asarray, csr_matrix, np.asfortranarray])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_compiled_scores_are_the_formulas(n_outputs, form):
    X, model = rows(), additive(D, n_outputs)
    X[0], X[1], X[2] = 1e9, -1e9, np.resize(model.knots, D)
    for scores in (model(form(X)), model.plain(form(X))):
        np.testing.assert_allclose(scores, model.plain(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_columns_and_rows_keep_their_places_and_their_type(dtype):
    X = rows(4200, dtype, 70)
    model = additive(70, 2, dtype=dtype, counts=(2, 9, 0, 4))
    scores = model(X)
    assert scores.dtype == dtype
    np.testing.assert_allclose(scores, model.plain(X), atol=400 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(model(X, n_jobs=2), scores)


def test_without_knots_it_is_a_linear_model():
    X, model = rows(), additive(D, 2, counts=(0,))
    np.testing.assert_allclose(model(X), X @ model.weights + model.intercept, rtol=1e-14)
    assert model.cost.times_linear == 1.0


def test_a_column_costs_a_multiply_add_and_the_comparisons_of_a_search():
    assert additive(5, 3, counts=(7,)).cost.multiply_adds == 5 * (3 + 3)


# --- scikit-learn's models ----------------------------------------------------------------------

CASES = {
    "two classes": (LogisticRegression(), lambda X: X[:, 0] > 0.2),
    "three classes": (LogisticRegression(), lambda X: np.digitize(X[:, 0] ** 2, [0.3, 1.0])),
    "values": (Ridge(), lambda X: np.sin(2 * X[:, 0])),
    "several values": (Ridge(), lambda X: np.sin(2 * X[:, :2])),
}


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_a_pipeline_of_splines_gives_the_same_scores(case, with_bias):
    X, (model, target) = rows(), CASES[case]
    columns = [4, 1]
    spline = SplineTransformer(degree=1, n_knots=7, knots="quantile", include_bias=with_bias)
    pieces = spline.fit_transform(X[:, columns])
    model.fit(np.hstack([X, pieces]), target(X))
    found = additive_of(model.coef_, model.intercept_, knots_of(spline, columns), D)
    new = 2.0 * rows(300)  # beyond the outer knots, too
    expected = np.hstack([new, spline.transform(new[:, columns])])
    score = getattr(model, "decision_function", model.predict)
    expected = score(expected).reshape(len(new), -1)
    np.testing.assert_allclose(found(new), expected, atol=1e-12)


def test_knots_that_are_one_number_in_single_precision_become_one():
    knots = {0: np.array([-1.0, 1.0, 1.0 + 1e-9, 2.0]), 1: np.array([3.0, 3.0 + 1e-9])}
    coefficients = np.array([[0.5, -0.5, 0.0, 1.0, 2.0, 3.0, 4.0, 6.0]])
    found = additive_of(coefficients, [0.25], knots, 2, np.float32)
    assert isinstance(found, Additive) and found.dtype == np.float32
    assert found.knots.tolist() == [-1.0, 1.0, 2.0] and found.firsts.tolist() == [0, 3, 3]
    assert found.values[:, 0].tolist() == [0.0, 1.5, 3.0]
    assert found.intercept.tolist() == [5.25]


def test_other_splines_and_coefficients_are_refused():
    X = rows()
    with pytest.raises(ValueError, match="take SplineTransformer"):
        knots_of(SplineTransformer(degree=2).fit(X), range(D))
    with pytest.raises(ValueError, match="There are 5 coefficients for 2 columns"):
        additive_of(np.zeros((1, 5)), [0.0], {0: np.arange(7)}, 2)
