"""Soft trees: scores by the definition, slopes by differences, whatever the chunks."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.gates.trees.balanced import hard_paths
from nearlinear.gates.trees.node_gates import NODE_GATES
from nearlinear.solvers.trees.paths import path_scores
from nearlinear.solvers.trees.soft import SoftPass
from reference import tree
from reference.tree_problem import ALL_LOSSES, SIGMA, make_rows, make_tree

each_kind = pytest.mark.parametrize("kind", NODE_GATES)
each_loss = pytest.mark.parametrize("loss", ALL_LOSSES.values(), ids=ALL_LOSSES)
each_size = pytest.mark.parametrize("n_outputs", [1, 3], ids=["one output", "three outputs"])
SHARPNESS = 1.3
NAMES = ("splits", "slopes", "weights")


def soft_scores(model, Z, sharpness=SHARPNESS):
    return SoftPass(model, Z.shape[0]).scores(model, Z, sharpness)


def gradients(model, rows, loss, *, n_jobs=None):
    """Loss and gradients (of splits, slopes and weights) in arrays of their own."""
    Z, targets, row_weight = rows
    value, sums = SoftPass(model, Z.shape[0]).gradients(
        model, Z, targets, row_weight, SHARPNESS, loss, n_jobs
    )
    return value, [array.copy() for array in sums[:3]]


def loss_by_definition(model, kind, rows, loss):
    Z, targets, row_weight = rows
    arrays = model.splits, model.slopes, model.weights
    scores = tree.scores(Z, *arrays, kind, SIGMA, tree.soft(SHARPNESS))
    return row_weight @ loss.value(scores, targets)


def difference(model, kind, rows, loss, name, entry, step=1e-6):
    """Central difference of the loss by definition in one number of the tree."""
    ends = []
    for sign in (1, -1):
        array = getattr(model, name).copy()
        array[entry] += sign * step
        ends.append(loss_by_definition(replace(model, **{name: array}), kind, rows, loss))
    return (ends[0] - ends[1]) / (2 * step)


@pytest.mark.passes
@each_kind
@each_size
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_scores_follow_the_definition(kind, n_outputs, depth):
    model, (Z, _, _) = make_tree(kind, depth, n_outputs), make_rows(n_outputs)
    expected = tree.scores(
        Z, model.splits, model.slopes, model.weights, kind, SIGMA, tree.soft(SHARPNESS)
    )
    np.testing.assert_allclose(soft_scores(model, Z), expected, atol=1e-12)


@pytest.mark.passes
@each_kind
@each_loss
@each_size
def test_gradients_are_the_derivatives_of_the_loss(kind, loss, n_outputs):
    model, rows = make_tree(kind, 2, n_outputs), make_rows(n_outputs)
    _, found = gradients(model, rows, loss)
    for name, gradient in zip(NAMES, found):
        assert gradient.shape == getattr(model, name).shape
        entries = list(np.ndindex(*gradient.shape))[::3]  # every third is enough
        numeric = [difference(model, kind, rows, loss, name, entry) for entry in entries]
        # a loss of about 100, known to 1e-14, divided by a step of 1e-6
        np.testing.assert_allclose(
            [gradient[entry] for entry in entries], numeric, rtol=1e-6, atol=1e-6
        )


def narrowed(model, n_hidden):
    """The tree whose splits and slopes do not see the first columns; and the same, with zeros."""
    names = ("splits", "slopes")

    def padded(tree):
        wide = {name: np.pad(getattr(tree, name), [(0, 0), (n_hidden, 0)]) for name in names}
        return replace(tree, **wide)

    return replace(model, **{name: getattr(model, name)[:, n_hidden:] for name in names}), padded


@pytest.mark.passes
@each_kind
def test_splits_that_see_the_last_columns_alone_have_the_slopes_of_their_loss(kind):
    model, padded = narrowed(make_tree(kind, 2, 2), 2)
    rows, loss, step = make_rows(2), ALL_LOSSES["log_loss"], 1e-6
    np.testing.assert_allclose(
        soft_scores(model, rows[0]), soft_scores(padded(model), rows[0]), atol=1e-12
    )
    _, found = gradients(model, rows, loss)
    for name, gradient in zip(NAMES, found):
        assert gradient.shape == getattr(model, name).shape
        for entry in list(np.ndindex(*gradient.shape))[::3]:
            ends = []
            for sign in (1, -1):
                array = getattr(model, name).copy()
                array[entry] += sign * step
                moved = padded(replace(model, **{name: array}))
                ends.append(loss_by_definition(moved, kind, rows, loss))
            assert gradient[entry] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-7)


@pytest.mark.passes
@each_kind
@each_loss
def test_the_loss_of_a_batch_is_the_weighted_sum_over_its_rows(kind, loss):
    model, rows = make_tree(kind, 2, 3), make_rows(3)
    found, _ = gradients(model, rows, loss)
    assert found == pytest.approx(loss_by_definition(model, kind, rows, loss))


@pytest.mark.passes
@each_kind
@each_size
def test_sparse_rows_have_the_gradients_of_dense_ones(kind, n_outputs):
    model, (Z, *rest) = make_tree(kind, 2, n_outputs), make_rows(n_outputs)
    dense = gradients(model, (Z, *rest), ALL_LOSSES["log_loss"])
    sparse = gradients(model, (csr_matrix(Z), *rest), ALL_LOSSES["log_loss"])
    assert sparse[0] == pytest.approx(dense[0])
    for one, other in zip(sparse[1], dense[1]):
        np.testing.assert_allclose(one, other, atol=1e-12)


@each_kind
def test_sparse_rows_have_the_soft_scores_of_dense_ones(kind):
    model, (Z, _, _) = make_tree(kind, 2, 3), make_rows(3)
    np.testing.assert_allclose(soft_scores(model, csr_matrix(Z)), soft_scores(model, Z), atol=1e-12)


# A chunk has at most 512 rows: this batch has two whole ones and a short one.
MANY = 1100


@each_kind
@each_size
def test_a_batch_of_many_chunks_has_the_sum_of_its_parts(kind, n_outputs):
    model, (Z, targets, weight) = make_tree(kind, 2, n_outputs), make_rows(n_outputs, MANY)
    loss = ALL_LOSSES["log_loss"]
    value, whole = gradients(model, (Z, targets, weight), loss)
    parts = [
        gradients(model, (Z[part], targets[part], weight[part]), loss)
        for part in np.array_split(np.arange(MANY), 11)
    ]
    assert value == pytest.approx(sum(part[0] for part in parts))
    for found, *pieces in zip(whole, *(part[1] for part in parts)):
        np.testing.assert_allclose(found, sum(pieces), atol=1e-10)  # sums of a thousand terms


@each_kind
def test_scores_of_many_chunks_are_those_of_single_rows(kind):
    model, (Z, _, _) = make_tree(kind, 2, 3), make_rows(3, MANY)
    picked = [0, 511, 512, 1023, 1024, 1099]
    alone = np.vstack([soft_scores(model, Z[[i]]) for i in picked])
    np.testing.assert_allclose(soft_scores(model, Z)[picked], alone, atol=1e-12)


@each_kind
def test_the_number_of_threads_does_not_change_a_bit(kind):
    model, rows = make_tree(kind, 2, 3), make_rows(3, MANY)
    loss = ALL_LOSSES["log_loss"]
    one, three = gradients(model, rows, loss), gradients(model, rows, loss, n_jobs=3)
    assert one[0] == three[0]
    for single, threaded in zip(one[1], three[1]):
        np.testing.assert_array_equal(single, threaded)


@each_kind
def test_memory_used_for_a_large_batch_serves_a_smaller_one(kind):
    model, (Z, targets, weight) = make_tree(kind, 2, 3), make_rows(3, MANY)
    loss, soft = ALL_LOSSES["log_loss"], SoftPass(model, MANY)
    soft.gradients(model, Z, targets, weight, SHARPNESS, loss)
    few = Z[:7], targets[:7], weight[:7]
    value, again = soft.gradients(model, *few, SHARPNESS, loss)
    expected_value, expected = gradients(model, few, loss)
    assert value == pytest.approx(expected_value)
    for found, wanted in zip(again, expected):
        np.testing.assert_allclose(found, wanted, atol=1e-13)


@each_kind
@pytest.mark.parametrize("sharpness", [1e6, 1e12])
def test_very_sharp_splits_give_the_scores_of_the_hard_path(kind, sharpness):
    model, (Z, _, _) = make_tree(kind, 3, 3), make_rows(3, 40)
    paths = hard_paths(Z, model.splits, 3)
    np.testing.assert_allclose(
        soft_scores(model, Z, sharpness), path_scores(model, Z, paths), atol=1e-12
    )


@pytest.mark.passes
@each_kind
@pytest.mark.parametrize("n_rows", [12, 600], ids=["one chunk", "two chunks"])
def test_slopes_in_the_rows_are_the_derivatives_of_the_loss(kind, n_rows):
    model, (Z, targets, weight) = make_tree(kind, 2, 3), make_rows(3, n_rows)
    loss, found = ALL_LOSSES["log_loss"], np.empty_like(Z)
    SoftPass(model, n_rows).gradients(model, Z, targets, weight, SHARPNESS, loss, row_slopes=found)
    for i in (0, n_rows // 2, n_rows - 1):
        for d in range(Z.shape[1]):
            ends = []
            for sign in (1, -1):
                moved = Z[[i]].copy()
                moved[0, d] += 1e-6 * sign
                ends.append(
                    loss_by_definition(model, kind, (moved, targets[[i]], weight[[i]]), loss)
                )
            # as above
            assert found[i, d] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-6)


@each_kind
def test_the_gradients_of_float32_rows_are_float32(kind):
    model, rows = make_tree(kind, 2, 3, dtype=np.float32), make_rows(3, dtype=np.float32)
    rows = (*rows[:2], rows[2].astype(np.float32))
    _, found = gradients(model, rows, ALL_LOSSES["log_loss"])
    _, exact = gradients(make_tree(kind, 2, 3), make_rows(3), ALL_LOSSES["log_loss"])
    for single, double in zip(found, exact):
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, double, atol=1e-4)  # gradients of size ten


def test_the_unit_of_the_sharpness_is_the_mean_distance_from_a_split():
    model, (Z, _, _) = make_tree("compositional", 2), make_rows()
    # three of the seven directions part rows
    distances = [abs(split @ z) for split in model.splits[:3] for z in Z]
    found = SoftPass(model, len(Z)).mean_distance(model, Z)
    assert found == pytest.approx(np.mean(distances))


def test_a_tree_without_splits_has_a_unit_of_one():
    model, (Z, _, _) = make_tree("tanh", 0), make_rows()
    assert SoftPass(model, len(Z)).mean_distance(model, Z) == 1.0
