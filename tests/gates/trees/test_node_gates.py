"""The three features of a node: values, slopes by differences, values along a path."""

import numpy as np
import pytest

from nearlinear.gates.trees.node_gates import (
    NODE_GATES,
    TanhNode,
)
from reference import tree

pytestmark = pytest.mark.passes
each_kind = pytest.mark.parametrize("kind", NODE_GATES)
N_NODES, N_ROWS, SIGMA = 7, 5, 0.6


def make(kind):
    return TanhNode(SIGMA) if kind == "tanh" else NODE_GATES[kind]()


@pytest.fixture
def directions(rng):
    """Splits, slopes and rows; every feature reads what it needs of them."""
    splits, slopes = rng.standard_normal((2, N_NODES, 3))
    return splits, slopes, rng.standard_normal((N_ROWS, 3))


def values(kind, split_scores, slope_scores):
    return make(kind).values(split_scores, slope_scores, np.empty((N_NODES, N_ROWS)))


def project(directions):
    splits, slopes, Z = directions
    return splits @ Z.T, slopes @ Z.T


@each_kind
def test_values_follow_their_formula(kind, directions):
    splits, slopes, Z = directions
    expected = [
        [tree.feature(z, node, kind, splits, slopes, SIGMA) for z in Z] for node in range(N_NODES)
    ]
    np.testing.assert_allclose(values(kind, *project(directions)), expected, atol=1e-14)


@each_kind
def test_slopes_are_the_derivatives_of_the_values(kind, directions, rng):
    scores, slope_c = project(directions), rng.standard_normal((N_NODES, N_ROWS))
    found = np.zeros((N_NODES, N_ROWS)), np.zeros((N_NODES, N_ROWS))
    make(kind).backward(values(kind, *scores), slope_c.copy(), scores[0], *found)
    step = 1e-6
    for which in (0, 1):
        for node in range(N_NODES):
            ends = []
            for sign in (1, -1):
                moved = [array.copy() for array in scores]
                moved[which][node] += sign * step
                ends.append((slope_c * values(kind, *moved)).sum(axis=0))
            # a central difference with step 1e-6 is good to about 1e-9
            np.testing.assert_allclose(
                found[which][node], (ends[0] - ends[1]) / (2 * step), atol=1e-8
            )


@pytest.mark.parametrize("kind", ["tanh", "compositional"])
def test_values_along_a_path_are_those_of_its_nodes(kind, directions):
    scores = project(directions)
    read = scores[1] if kind == "tanh" else scores[0]
    nodes = tree.path(directions[2][0], directions[0], 2)
    found = make(kind).along_path(np.ascontiguousarray(read[nodes]))
    np.testing.assert_allclose(found, values(kind, *scores)[nodes], atol=1e-14)


@pytest.mark.parametrize(
    ("kind", "rows"), [("tanh", (3, 7)), ("compositional", (7, 0)), ("indicator", (3, 0))]
)
def test_each_kind_says_how_many_directions_it_reads(kind, rows):
    assert make(kind).direction_rows(N_NODES) == rows


@pytest.mark.parametrize("kind", ["tanh", "compositional"])
def test_float32_paths_stay_float32(kind, directions):
    scores = project(directions)[0].astype(np.float32)
    assert make(kind).along_path(scores).dtype == np.float32
