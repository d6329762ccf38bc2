"""What an unbalanced tree may be made of, and the gates of a tree's nodes."""

import numpy as np

from .fields import WHOLE, floats, number, one_type, require

TREES = ("TreePath", "TreeLeaves", "LinkedTree")
_MOST_LEVELS = 1000
_NODE_GATES = {
    "TanhNode": ("sigma",), "CompositionalNode": (), "IndicatorNode": ()
}  # fmt: skip


def check_node_gate(gate, owner, known=tuple(_NODE_GATES)):
    """Hold a node gate against the rules; returns its kind."""
    kind = getattr(gate, "kind", None)
    require(isinstance(kind, str) and kind in known, owner, "its node gate is unknown")
    require(set(vars(gate)) == {"kind", *_NODE_GATES[kind]}, owner, "its node gate is odd")
    if kind == "TanhNode":
        number(gate.sigma, "sigma")
    return kind


def linked_tree(part, n_features):
    kind = check_node_gate(part.node_gate, "LinkedTree")
    n_nodes, n_outputs, _ = floats(part.weights, None, None, n_features + 1, name="weights")
    children = part.children
    good = isinstance(children, np.ndarray) and children.dtype in WHOLE and children.ndim == 2
    good = good and n_nodes >= 1 and children.shape[1] == 2 and len(children) < n_nodes
    require(good, "LinkedTree", "its children have another shape")
    _check_links(children, n_nodes)
    n_inner = len(children)
    for name, wanted in (
        ("splits", n_nodes if kind == "CompositionalNode" else n_inner),
        ("slopes", n_nodes if kind == "TanhNode" else 0),
    ):
        n_found, width = floats(getattr(part, name), None, None, name=name)
        require(n_found == wanted, "LinkedTree", f"{name} are missing, or too many")
        require(2 <= width <= n_features + 1, "LinkedTree", f"{name} are of other rows")
    same = part.slopes.shape[1] == part.splits.shape[1]
    require(same, "LinkedTree", "splits and slopes see other columns")
    floats(part.intercept, n_outputs, name="intercept")
    slopes = part.slopes if len(part.slopes) else None
    one_type(part.splits, slopes, part.weights, part.intercept, name="LinkedTree")
    return n_outputs


def _check_links(children, n_nodes):
    """Every node but the root is the child of one before it, so that every path ends."""
    parents = np.arange(len(children))[:, None]
    # an array without numbers may have any number of rows: no memory for nodes that nobody names
    good = children.size >= n_nodes - 1
    good = good and np.all((children == -1) | ((children > parents) & (children < n_nodes)))
    named = np.sort(children[children >= 0])
    good = good and np.array_equal(named, np.arange(1, n_nodes))
    good = good and bool(np.all(children.max(axis=1, initial=-1) >= 0))
    require(good, "LinkedTree", "its children point nowhere, back or twice")
    levels = np.zeros(n_nodes, dtype=np.int64)
    for node, pair in enumerate(children.tolist()):
        for child in pair:
            if child >= 0:
                levels[child] = levels[node] + 1
    require(levels.max() <= _MOST_LEVELS, "LinkedTree", f"it has more than {_MOST_LEVELS} levels")
