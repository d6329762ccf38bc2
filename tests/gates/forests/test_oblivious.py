"""Trees with one split a level: the same leaves as by the formula."""

import numpy as np
import pytest

from nearlinear.gates.forests.gate import GrownTree, gather_trees


def grown(rng, depth, n_features, is_oblivious=True):
    """A complete tree; its thresholds are among few values, so that rows meet them."""
    n_inner = 2**depth - 1
    nodes = np.arange(n_inner)
    level = np.log2(nodes + 1).astype(int) if is_oblivious else nodes
    ends, rest = np.full(n_inner + 1, -1), np.zeros(n_inner + 1)

    def split(values):
        return np.concatenate([values[level], rest])

    return GrownTree(
        split(rng.randint(0, n_features, n_inner + 1)),
        split(rng.randint(-2, 3, n_inner + 1) / 2),
        np.concatenate([2 * nodes + 1, ends]),
        np.concatenate([2 * nodes + 2, ends]),
        split(rng.randint(0, 2, n_inner + 1)),
        rng.standard_normal((2 * n_inner + 1, 1)),
        np.ones(2 * n_inner + 1),
    )


@pytest.mark.passes
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("missing", [False, True])
def test_leaves_are_those_of_the_formula(dtype, missing):
    rng = np.random.RandomState(0)
    trees = [grown(rng, depth, 4) for depth in (1, 2, 3, 6, 7)]
    trees += [grown(rng, 4, 4, is_oblivious=False), grown(rng, 0, 4), grown(rng, 5, 4)]
    gate, _, _ = gather_trees(trees, 4, dtype)
    X = (rng.randint(-6, 7, (150, 4)) / 4).astype(dtype)
    if missing:
        X[rng.uniform(size=X.shape) < 0.2] = np.nan
    tables = gate.packed.narrow_missing if missing else gate.packed.narrow
    assert tables.ends_there.tolist()[:6] == [2, 2, 2, 2, 2, 1]
    np.testing.assert_array_equal(gate(X), gate.plain(X))
