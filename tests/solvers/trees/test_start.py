"""Where splits start, and where they start again."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.gates.trees.balanced import hard_paths
from nearlinear.solvers.trees.start import (
    halving_direction,
    revive_splits,
    start_projection,
    start_tree,
)
from reference.tree_problem import make_feature, make_projected, make_tree

each_kind = pytest.mark.parametrize("kind", ["tanh", "compositional", "indicator"])
each_form = pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])


@pytest.fixture
def Z(rng):
    """A hundred rows of continuous numbers, so that every median parts them."""
    return np.column_stack([rng.standard_normal((100, 3)), np.ones(100)])


def start(Z, depth=3, n_outputs=1, kind="tanh", *, seed=0, **settings):
    generator = np.random.default_rng(seed)
    return start_tree(Z, depth, n_outputs, make_feature(kind), generator, **settings)


def rows_at_each_node(Z, model):
    paths = hard_paths(Z, model.splits, model.depth)
    return np.bincount(paths.ravel(), minlength=len(model.weights))


@each_kind
@each_form
def test_every_split_halves_the_rows_that_reach_it(Z, kind, form):
    model = start(form(Z), kind=kind)
    count = rows_at_each_node(Z, model)
    for node in range(7):
        assert abs(count[2 * node + 1] - count[2 * node + 2]) <= 1


def test_random_splits_do_not_look_at_the_rows(Z):
    one, other = start(Z, from_data=False), start(5.0 - Z, from_data=False)
    np.testing.assert_array_equal(one.splits, other.splits)


@each_kind
@pytest.mark.parametrize("depth", [0, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_start_has_the_shapes_that_its_feature_asks_for(Z, kind, depth, dtype):
    model, like = start(Z.astype(dtype), depth, 3, kind), make_tree(kind, depth, 3)
    for name in ("splits", "slopes", "weights"):
        array = getattr(model, name)
        assert array.shape == getattr(like, name).shape
        assert array.dtype == dtype
    assert model.node_gate == like.node_gate


def test_one_seed_gives_one_start(Z):
    np.testing.assert_array_equal(start(Z).splits, start(Z).splits)
    assert np.abs(start(Z, seed=1).splits - start(Z).splits).max() > 1e-3


@pytest.mark.parametrize("n_rows", [1, 2, 5])
def test_fewer_rows_than_nodes_are_a_start(Z, n_rows):
    model = start(Z[:n_rows], 4)
    assert np.all(np.isfinite(model.splits))
    assert rows_at_each_node(Z[:n_rows], model)[-16:].max() == 1  # no two rows share a leaf


def test_equal_rows_are_a_start():
    assert np.all(np.isfinite(start(np.ones((10, 4))).splits))


@each_form
def test_the_direction_lies_between_two_groups(rng, form):
    Z = np.column_stack([rng.standard_normal((60, 2)), np.ones(60)])
    Z[:30, 0] += 20.0
    direction = halving_direction(form(Z), rng)
    side = Z @ direction > 0
    assert len(set(side[:30])) == len(set(side[30:])) == 1
    assert side[0] != side[-1]


def test_rows_lie_at_a_mean_distance_of_one_from_their_split(Z, rng):
    assert np.abs(Z @ halving_direction(Z, rng)).mean() == pytest.approx(1.0)


def test_equal_rows_have_no_direction(rng):
    assert halving_direction(np.ones((10, 3)), rng) is None


def test_rows_that_are_there_twice_do_not_hide_the_others():
    Z = np.column_stack([np.repeat([0.0, 1.0], 10), np.ones(20)])
    for seed in range(10):  # of the two rows drawn, some are equal
        direction = halving_direction(Z, np.random.default_rng(seed))
        assert direction is not None
        assert np.count_nonzero(Z @ direction > 0) == 10


@each_kind
@each_form
def test_exactly_the_splits_that_part_nothing_are_replaced(Z, kind, form, rng):
    model = start(Z, kind=kind)
    model.splits[4], model.splits[5] = [0.0, 0.0, 0.0, 5.0], [0.0, 0.0, 0.0, -0.3]
    assert sorted(revive_splits(model, form(Z), rng)) == [4, 5]


@each_form
def test_replaced_splits_part_their_rows_in_halves(Z, form, rng):
    model = start(Z)
    model.splits[0] = [0.0, 0.0, 0.0, 5.0]
    splits = model.splits.copy()
    for node, direction in revive_splits(model, form(Z), rng).items():
        splits[node] = direction
    count = rows_at_each_node(Z, replace(model, splits=splits))
    assert abs(count[1] - count[2]) <= 1


def test_a_replaced_split_keeps_its_distance_from_the_rows(Z, rng):
    model = start(Z)
    model.splits[0] = [0.0, 0.0, 0.0, 5.0]
    revived = revive_splits(model, Z, rng)
    assert np.abs(Z @ revived[0]).mean() == pytest.approx(5.0)


def test_the_rows_of_a_replaced_split_are_looked_at_further_down(Z, rng):
    model = start(Z)
    # both send all rows to the left: the rows that the new root sends there meet a dead child
    model.splits[:2] = [0.0, 0.0, 0.0, 5.0]
    assert {0, 1} <= set(revive_splits(model, Z, rng))


def test_living_splits_stay(Z, rng):
    assert revive_splits(start(Z), Z, rng) == {}


def test_a_node_with_few_rows_has_nothing_to_part(Z, rng):
    model = start(Z[:19])
    model.splits[:] = [0.0, 0.0, 0.0, 5.0]
    assert revive_splits(model, Z[:19], rng) == {}


def test_reviving_does_not_write_to_the_model(Z, rng):
    model = start(Z)
    model.splits[:] = [0.0, 0.0, 0.0, 5.0]
    before = model.splits.copy()
    revive_splits(model, Z, rng)
    np.testing.assert_array_equal(model.splits, before)


@each_form
def test_a_projection_starts_at_the_principal_directions(rng, form):
    spreads = np.array([5.0, 3.0, 0.1, 0.1])
    basis = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    X = rng.standard_normal((200, 4)) * spreads @ basis
    projection = start_projection(form(np.column_stack([X, np.ones(200)])), 2, rng)
    # spans the first two directions up to what two hundred rows show of them
    np.testing.assert_allclose(projection @ basis[2:].T, 0.0, atol=0.02)
    assert np.linalg.matrix_rank(projection) == 2


def test_projected_columns_have_a_mean_square_of_one(Z, rng):
    projected = Z[:, :-1] @ start_projection(Z, 2, rng).T
    assert np.mean(projected**2) == pytest.approx(1.0)


def test_a_projection_of_float32_rows_is_float32(Z, rng):
    assert start_projection(Z.astype(np.float32), 2, rng).dtype == np.float32


def test_splits_on_projected_rows_are_replaced_there(rng):
    Z = np.column_stack([rng.standard_normal((100, 5)), np.ones(100)])
    model = make_projected("tanh")
    model.splits[:] = [0.0, 0.0, 0.0, 5.0]
    revived = revive_splits(model, Z, rng)
    assert abs(np.count_nonzero(model.rows(Z) @ revived[0] > 0) - 50) <= 1
