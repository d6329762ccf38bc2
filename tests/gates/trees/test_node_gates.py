"""The three features of a node: values, slopes by differences, values along a path."""

from dataclasses import dataclass

import numpy as np
import pytest

from nearlinear.gates.trees.node_gates import (
    NODE_GATES,
    OwnNode,
    PolynomialNode,
    TanhNode,
    node_gate_of,
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


@dataclass(frozen=True)
class Bump:
    """A node feature of somebody's own."""

    width: float = 1.5

    def __call__(self, u):
        return np.exp(-((u / self.width) ** 2))

    def slope(self, u):
        return -2.0 * u / self.width**2 * self(u)


@pytest.mark.parametrize("function", [PolynomialNode(1), PolynomialNode(3), Bump()])
def test_a_function_as_a_gate_has_the_slopes_of_its_values(function, rng):
    gate, u, slope_c = OwnNode(function), *rng.standard_normal((2, N_NODES, N_ROWS))
    values = gate.values(None, u, np.empty_like(u))
    np.testing.assert_allclose(values, function(u))
    np.testing.assert_allclose(gate.along_path(u[:3]), values[:3])
    step = 1e-6
    numeric = (function(u + step) - function(u - step)) / (2 * step)
    np.testing.assert_allclose(gate.path_slopes(u, values), numeric, atol=1e-8)
    slopes = u.copy()  # where the projections stand
    gate.backward(values, slope_c, None, None, slopes)
    np.testing.assert_allclose(slopes, numeric * slope_c, atol=1e-8)
    assert gate.along_path(u.astype(np.float32)).dtype == np.float32
    assert gate.direction_rows(N_NODES) == (3, N_NODES)


def test_what_is_no_function_of_single_numbers_is_refused():
    with pytest.raises(ValueError, match=r"gave values of shape \(3,\) for an array of shape"):
        OwnNode(lambda u: u.sum(axis=1)).along_path(np.ones((3, 2)))
    with pytest.raises(ValueError, match="needs a degree from 1 to 10, not 0"):
        PolynomialNode(0)
    with pytest.raises(ValueError, match=r"or an object g with g\(u\) and g\.slope\(u\)"):
        node_gate_of(np.sin, 1.0)
