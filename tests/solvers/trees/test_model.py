"""Trees in training and the coordinates they live in."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.solvers.trees.model import RowScaling, project_rows
from reference.tree_problem import make_projected, make_rows, make_tree


@pytest.fixture
def data(rng):
    return rng.standard_normal((40, 3)) * [1.0, 5.0, 0.2] + [3.0, -2.0, 0.0], rng.uniform(1, 3, 40)


def test_scaled_rows_are_centered_and_of_mean_square_one(data):
    X, weight = data
    Z = RowScaling.of(X, weight)(X)
    np.testing.assert_allclose(np.average(Z[:, :-1], axis=0, weights=weight), 0.0, atol=1e-12)
    assert np.average((Z[:, :-1] ** 2).mean(axis=1), weights=weight) == pytest.approx(1.0)
    np.testing.assert_array_equal(Z[:, -1], 1.0)


def test_scaling_keeps_the_proportions_of_the_features(data):
    X, weight = data
    Z = RowScaling.of(X, weight)(X)
    np.testing.assert_allclose(
        Z[:, :-1].std(axis=0) / X.std(axis=0), 1.0 / RowScaling.of(*data).scale
    )


def test_a_weight_of_two_counts_as_two_rows(data):
    X, _ = data
    weight = np.r_[np.full(10, 2.0), np.ones(30)]
    one, other = RowScaling.of(X, weight), RowScaling.of(np.vstack([X[:10], X]), np.ones(50))
    np.testing.assert_allclose(one.center, other.center)
    assert one.scale == pytest.approx(other.scale)


def test_sparse_rows_are_scaled_but_not_centered(data):
    X, weight = np.where(np.abs(data[0]) < 1.0, 0.0, data[0]), data[1]
    Z = RowScaling.of(csr_matrix(X), weight)(csr_matrix(X))
    np.testing.assert_array_equal(Z.toarray() == 0.0, np.column_stack([X, np.ones(40)]) == 0.0)
    squares = Z[:, :-1].toarray() ** 2
    assert np.average(squares.mean(axis=1), weights=weight) == pytest.approx(1.0)


@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])
def test_rows_are_not_changed(data, form):
    X, weight = form(data[0]), data[1]
    RowScaling.of(X, weight)(X)
    np.testing.assert_array_equal(X.toarray() if form is csr_matrix else X, data[0])


@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])
def test_directions_in_either_coordinates_are_the_same_functions(data, rng, form):
    X, weight = data
    scaling, directions = RowScaling.of(form(X), weight), rng.standard_normal((2, 5, 4))
    Z = scaling(form(X))
    Z = Z.toarray() if form is csr_matrix else Z
    unscaled = scaling.unscaled(directions)
    np.testing.assert_allclose(
        np.column_stack([X, np.ones(40)]) @ unscaled.swapaxes(-1, -2),
        Z @ directions.swapaxes(-1, -2),
        atol=1e-12,
    )


def test_scaling_and_unscaling_are_inverse(data, rng):
    scaling, directions = RowScaling.of(*data), rng.standard_normal((2, 5, 4))
    np.testing.assert_allclose(scaling.scaled(scaling.unscaled(directions)), directions)


@pytest.mark.parametrize("unit", [1e-8, 1e-3, 1e8])
def test_the_unit_of_the_rows_does_not_matter(data, unit):
    X, weight = data
    expected = RowScaling.of(X, weight)(X)
    np.testing.assert_allclose(RowScaling.of(unit * X, weight)(unit * X), expected, atol=1e-12)


@pytest.mark.parametrize(("offset", "spread"), [(1e3, 1e-3), (1.6e9, 1e3), (1e6, 1.0)])
def test_the_scale_of_rows_far_from_the_origin_is_their_spread(data, offset, spread):
    X, weight = data
    moved = RowScaling.of(spread * X + offset, weight)
    # the rows themselves are known to 1e-16 times the offset
    rel = 1e-6 + 1e-14 * offset / spread
    assert moved.scale == pytest.approx(spread * RowScaling.of(X, weight).scale, rel=rel)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e6 / 3.0])
def test_constant_rows_are_not_scaled(value):
    X = np.full((7, 3), value)
    scaling = RowScaling.of(X, np.full(7, 1.1))
    assert scaling.scale == 1.0
    np.testing.assert_allclose(scaling(X)[:, :-1], 0.0, atol=1e-9 * (1.0 + value))


def test_float32_rows_stay_float32(data):
    X = data[0].astype(np.float32)
    scaling = RowScaling.of(X, data[1])
    assert scaling(X).dtype == np.float32
    assert scaling.unscaled(np.ones((2, 4), dtype=np.float32)).dtype == np.float32
    assert scaling(csr_matrix(X)).dtype == np.float32


def test_weights_as_a_matrix_have_a_row_for_each_node_and_output():
    model = make_tree("tanh", 2, 3)
    np.testing.assert_array_equal(model.weight_rows[3 * 4 + 2], model.weights[4, 2])


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_the_depth_is_known_from_the_weights(depth):
    assert make_tree("indicator", depth).depth == depth


@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])
def test_projected_rows_end_in_their_constant(form):
    Z = make_rows(n_features=5)[0]
    projection = make_projected("tanh").projection
    found = project_rows(form(Z), projection)
    np.testing.assert_allclose(found[:, :-1], Z[:, :-1] @ projection.T, atol=1e-14)
    np.testing.assert_array_equal(found[:, -1], 1.0)


def test_a_tree_sees_projected_rows_if_it_has_a_projection():
    Z, model = make_rows(n_features=5)[0], make_projected("tanh")
    np.testing.assert_array_equal(model.rows(Z), project_rows(Z, model.projection))
    assert make_tree("tanh").rows(Z) is Z


def test_a_projection_of_scaled_rows_is_one_of_the_rows_themselves(data, rng):
    X, weight = data
    scaling, projection = RowScaling.of(X, weight), rng.standard_normal((2, 3))
    found = scaling.unscaled_projection(projection)
    np.testing.assert_allclose(
        X @ found[:, :-1].T + found[:, -1], project_rows(scaling(X), projection)[:, :-1], atol=1e-12
    )
