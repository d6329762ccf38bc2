"""What a forest may be made of: every path ends, and every number names something."""

import numpy as np

from ..fields import count, fields_checked, floats, one_type, require
from ..parts import Part

_MOST_LEVELS = 10_000
_WORD = 32  # categories in a word of a set
GATE = (
    "n_features", "pairs", "factors", "starts", "columns", "thresholds", "children",
    "missing_left", "sets", "categories",
)  # fmt: skip
FOREST = (
    "gate", "values", "outputs", "slopes", "slope_columns", "root", "fill", "intercept", "covers"
)  # fmt: skip


def forest(part, n_features):
    gate = part.gate
    is_gate = isinstance(gate, Part) and gate.kind == "ForestGate"
    require(is_gate, "Forest", "its gate is of another kind")
    n_trees, n_leaves = fields_checked(gate, GATE, _gate, n_features)
    (n_outputs,) = floats(part.intercept, None, name="intercept")
    _, n_told = floats(part.values, n_leaves, None, name="values")
    require(n_told in (1, n_outputs), "Forest", "its leaves have values of other outputs")
    _whole(part.outputs, (n_trees,), 0, n_outputs, "outputs")
    _, _, n_slopes = floats(part.slopes, n_leaves, n_told, None, name="slopes")
    _whole(part.slope_columns, (n_slopes,), 0, n_features, "slope_columns")
    _, width = floats(part.root, n_outputs, None, name="root")
    (n_filled,) = floats(part.fill, None, name="fill")
    good = width in (0, n_features) and n_filled in (0, n_features)
    require(good, "Forest", "its root is of other rows")
    floats(part.covers, n_leaves, name="covers")
    require(np.all(part.covers >= 0), "Forest", "its covers are negative")
    arrays = (part.values, part.slopes, part.root, part.fill, part.intercept)
    one_type(*arrays, gate.thresholds, gate.factors, name="Forest")
    return n_outputs


def _gate(gate, n_features):
    """Numbers of trees and of leaves."""
    count(gate.n_features, "n_features", n_features, n_features)
    n_pairs, _ = floats(gate.factors, None, 2, name="factors")
    _whole(gate.pairs, (n_pairs, 2), 0, n_features, "pairs")
    good = isinstance(gate.columns, np.ndarray) and gate.columns.ndim == 1
    require(good and len(gate.columns), "ForestGate", "it has no nodes")
    n_nodes = len(gate.columns)
    _whole(gate.columns, (n_nodes,), -1, n_features + n_pairs, "columns")
    thresholds = gate.thresholds  # one beyond all numbers parts missing values from others
    good = isinstance(thresholds, np.ndarray) and thresholds.dtype in (np.float32, np.float64)
    good = good and thresholds.shape == (n_nodes,) and not np.any(np.isnan(thresholds))
    require(good, "ForestGate", "its thresholds are none")
    _whole(gate.missing_left, (n_nodes,), 0, 2, "missing_left", np.uint8)
    starts = gate.starts
    good = isinstance(starts, np.ndarray) and starts.ndim == 1 and len(starts) >= 2
    require(good, "ForestGate", "it has no trees")
    _whole(starts, starts.shape, 0, n_nodes + 1, "starts")
    good = starts[0] == 0 and starts[-1] == n_nodes and np.all(starts[1:] > starts[:-1])
    require(good, "ForestGate", "its trees are out of order")
    _check_sets(gate, n_nodes)
    return len(starts) - 1, _check_links(gate, n_nodes)


def _check_sets(gate, n_nodes):
    sets, bits = gate.sets, gate.categories
    good = isinstance(bits, np.ndarray) and bits.ndim == 2 and bits.dtype == np.uint32
    good = good and (len(bits) == 0 or bits.shape[1] >= 1) and bits.shape[1] < 1 << 20
    require(good, "ForestGate", "its sets have no categories")
    n_sets = len(bits)
    _whole(sets, (n_nodes if n_sets else 0,), -1, n_sets, "sets")
    good = n_sets == 0 or np.all(sets[gate.columns < 0] < 0)
    require(good, "ForestGate", "a leaf has a set")


def _check_links(gate, n_nodes):
    """Every node but the roots is the child of one before it in its tree; the number of leaves."""
    children, is_leaf = gate.children, gate.columns < 0
    n_leaves = int(np.count_nonzero(is_leaf))
    _whole(children, (n_nodes,), 0, n_nodes, "children")
    in_order = np.array_equal(children[is_leaf], np.arange(n_leaves))
    require(in_order, "ForestGate", "its leaves are out of order")
    inner = np.flatnonzero(~is_leaf)
    first = children[inner].astype(np.int64)
    ends = np.repeat(gate.starts[1:], np.diff(gate.starts))
    named = np.zeros(n_nodes + 1, dtype=np.int64)
    np.add.at(named, first, 1)
    np.add.at(named, first + 1, 1)
    wanted = np.ones(n_nodes + 1, dtype=np.int64)
    wanted[gate.starts] = 0
    good = np.all(first > inner) and np.all(first + 1 < ends[inner])
    good = good and np.array_equal(named, wanted)
    require(good, "ForestGate", "its children point nowhere, back or twice")
    at, n_levels = gate.starts[:-1].astype(np.int64), 0
    while len(at):
        n_levels += 1
        require(n_levels <= _MOST_LEVELS, "ForestGate", f"it has more than {_MOST_LEVELS} levels")
        first = children[at[~is_leaf[at]]].astype(np.int64)
        at = np.concatenate([first, first + 1])
    return n_leaves


def _whole(array, shape, low, high, name, dtype=np.int32):
    """Whole numbers from ``low`` on and below ``high``."""
    good = isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape
    good = good and bool(np.all((array >= low) & (array < high)))
    require(good, "Forest", f"{name} point nowhere")
