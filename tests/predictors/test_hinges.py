"""Units that bend: the formula, blocks of rows, which units count, and what it costs."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from small_predictors import hinges

D = 6


def rows(n_rows=130, dtype=np.float64):
    return np.random.default_rng(3).standard_normal((n_rows, D)).astype(dtype)


@pytest.mark.passes
@pytest.mark.parametrize("form", [np.asarray, csr_matrix, np.asfortranarray])
@pytest.mark.parametrize("units", [(8,), (5, 9, 3)])
def test_scores_in_blocks_are_the_formulas(units, form):
    X, model = rows(), hinges(D, 3, units=units)
    X[0], X[1] = 1e9, 0.0
    for scores in (model(form(X)), model.plain(form(X))):
        np.testing.assert_allclose(scores, model.plain(X), rtol=1e-12, atol=1e-12)


def blas_treats_rows_alike(weights):
    """Whether equal rows have equal products: not those of float32 in OpenBLAS without AVX-512."""
    row = np.random.default_rng(0).standard_normal(len(weights)).astype(weights.dtype)
    found = np.tile(row, (640, 1)) @ weights
    return (found == found[0]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_row_has_the_same_bits_wherever_it_stands_if_blas_allows(n_outputs, dtype):
    X, model = rows(5000, dtype), hinges(D, n_outputs, dtype=dtype, units=(100, 10))
    scores = model(X)
    assert scores.dtype == dtype
    np.testing.assert_array_equal(model(X, n_jobs=2), scores)
    is_exact = all(map(blas_treats_rows_alike, model.weights))
    room = 0.0 if is_exact else 8 * np.finfo(dtype).eps * np.abs(scores).max()
    np.testing.assert_allclose(model(X[37:4001]), scores[37:4001], rtol=0, atol=room)


def test_units_count_where_they_are_positive():
    X, model = rows(), hinges(D, units=(4, 3))
    first = X @ model.weights[0] + model.biases[0]
    second = np.maximum(first, 0) @ model.weights[1] + model.biases[1]
    np.testing.assert_array_equal(model.active(X), np.hstack([first, second]) > 0)


def test_a_weight_costs_a_multiply_add_and_a_unit_a_comparison():
    cost = hinges(5, 3, units=(8, 4), dtype=np.float32).cost
    assert cost.multiply_adds == 5 * 8 + 8 * 4 + 4 * 3 + 12
    assert cost.times_linear == cost.multiply_adds / 15
    assert cost.n_bytes == 4 * (5 * 8 + 8 * 4 + 4 * 3 + 8 + 4 + 3)
