"""Scores and slopes along hard paths, against the definition and differences."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.gates.trees.balanced import hard_paths
from nearlinear.gates.trees.node_gates import NODE_GATES
from nearlinear.solvers.trees.paths import path_features, path_gradients, path_scores
from nearlinear.solvers.trees.soft import SoftPass
from reference import tree
from reference.tree_problem import ALL_LOSSES, SIGMA, make_rows, make_tree

pytestmark = pytest.mark.passes
each_kind = pytest.mark.parametrize("kind", NODE_GATES)
each_loss = pytest.mark.parametrize("loss", ALL_LOSSES.values(), ids=ALL_LOSSES)
each_size = pytest.mark.parametrize("n_outputs", [1, 3], ids=["one output", "three outputs"])
each_form = pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])


def paths_of(model, Z):
    return hard_paths(Z, model.splits, model.depth)


def loss_by_definition(model, kind, rows, loss):
    Z, targets, row_weight = rows
    scores = tree.scores(Z, model.splits, model.slopes, model.weights, kind, SIGMA)
    return row_weight @ loss.value(scores, targets)


@each_kind
@each_form
def test_features_are_those_of_the_nodes_on_the_path(kind, form):
    model, (Z, _, _) = make_tree(kind), make_rows()
    paths = paths_of(model, Z)
    expected = [
        [tree.feature(z, node, kind, model.splits, model.slopes, SIGMA) for node in nodes]
        for z, nodes in zip(Z, paths)
    ]
    np.testing.assert_allclose(path_features(model, form(Z), paths), expected, atol=1e-13)


@each_kind
@each_size
@each_form
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_scores_follow_the_definition(kind, n_outputs, form, depth):
    model, (Z, _, _) = make_tree(kind, depth, n_outputs), make_rows(n_outputs)
    expected = tree.scores(Z, model.splits, model.slopes, model.weights, kind, SIGMA)
    found = path_scores(model, form(Z), paths_of(model, Z))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@each_kind
@each_loss
@each_size
@each_form
def test_gradients_are_the_derivatives_of_the_loss(kind, loss, n_outputs, form):
    model, (Z, *rest) = make_tree(kind, 2, n_outputs), make_rows(n_outputs)
    value, found = path_gradients(model, form(Z), paths_of(model, Z), *rest, loss)
    assert value == pytest.approx(loss_by_definition(model, kind, (Z, *rest), loss))
    for name in ("slopes", "weights"):
        gradient = getattr(found, name)
        assert gradient.shape == getattr(model, name).shape
        for entry in list(np.ndindex(*gradient.shape))[::5]:  # every fifth is enough
            ends = []
            for sign in (1, -1):
                array = getattr(model, name).copy()
                array[entry] += 1e-6 * sign
                moved = replace(model, **{name: array})
                ends.append(loss_by_definition(moved, kind, (Z, *rest), loss))
            # a loss of about 100, known to 1e-14, divided by a step of 1e-6
            assert gradient[entry] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-6)


KEPT = np.array([True, True, False, False, True, False, False])


@pytest.mark.parametrize("kind", NODE_GATES)
def test_nodes_that_are_gone_get_no_gradient_and_the_others_theirs(kind):
    """The loss is that of a tree whose other weights are zero."""
    model, (Z, *rest) = make_tree(kind, 2, 2), make_rows(2)
    paths, loss = paths_of(model, Z), ALL_LOSSES["log_loss"]

    def value(moved):
        gone = replace(moved, weights=moved.weights * KEPT[:, None, None])
        return rest[1] @ loss.value(path_scores(gone, Z, paths), rest[0])

    found, gradients = path_gradients(model, Z, paths, *rest, loss, KEPT)
    assert found == pytest.approx(value(model))
    assert not gradients.weights[~KEPT].any()
    for name in ("slopes", "weights"):
        for entry in list(np.ndindex(*getattr(model, name).shape))[::3]:
            ends = []
            for sign in (1, -1):
                array = getattr(model, name).copy()
                array[entry] += 1e-6 * sign
                ends.append(value(replace(model, **{name: array})))
            expected = (ends[0] - ends[1]) / 2e-6
            assert getattr(gradients, name)[entry] == pytest.approx(expected, rel=1e-5, abs=1e-5)
    if kind != "own":
        return
    soft = SoftPass(model, len(Z)).gradients(model, Z, *rest, 1.3, loss)[1].slopes.copy()
    for entry in list(np.ndindex(*soft.shape))[::3]:
        ends = []
        for sign in (1, -1):
            slopes = model.slopes.copy()
            slopes[entry] += 1e-6 * sign
            moved = replace(model, slopes=slopes)
            scores = SoftPass(moved, len(Z)).scores(moved, Z, 1.3)
            ends.append(rest[1] @ loss.value(scores, rest[0]))
        assert soft[entry] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-5)


@each_kind
def test_nodes_that_no_row_passes_get_no_gradient(kind):
    model, (Z, *rest) = make_tree(kind), make_rows()
    model.splits[:, :] = [0.0, 0.0, 0.0, 1.0]  # every row goes left
    _, found = path_gradients(model, Z, paths_of(model, Z), *rest, ALL_LOSSES["log_loss"])
    passed = [0, 1, 3]
    assert np.all(found.weights[passed] != 0.0)
    assert not np.delete(found.weights, passed, axis=0).any()


@each_kind
@each_form
def test_the_gradients_of_float32_rows_are_float32(kind, form):
    model = make_tree(kind, 2, 3, dtype=np.float32)
    Z, targets, weight = make_rows(3, dtype=np.float32)
    _, found = path_gradients(
        model, form(Z), paths_of(model, Z), targets, weight, ALL_LOSSES["log_loss"]
    )
    assert found.weights.dtype == found.slopes.dtype == np.float32
    assert path_scores(model, form(Z), paths_of(model, Z)).dtype == np.float32
