"""Trees of linear splits in SQL: a sum of what the nodes on a path say, CASE within CASE."""

from ...kinds import kind_of
from .literals import SqlExportError, number

_DEEPEST = 100  # DuckDB nests 1,000 expressions, and a level has several


def tree(query, part, X):
    """A balanced tree, or one whose nodes name their children; each output has its own CASE."""
    children = _children(part)
    _check_depth(children)
    walk = _Walk(query, part, X, children)
    return [
        f"({number(b)} + {walk.value(0, output, None)})" for output, b in enumerate(part.intercept)
    ]


class _Walk:
    """Expressions of the nodes of one tree."""

    def __init__(self, query, part, X, children):
        self._query, self._part, self._X, self._children = query, part, X, children
        self._gate = part.node_gate
        own = part.slopes if len(getattr(part, "slopes", ())) else part.splits
        self._own, self._seen = own, X[len(X) + 1 - own.shape[1] :]
        self._ends_alone = kind_of(self._gate) == "IndicatorNode"
        # a balanced tree of leaves has weights of leaves only
        self._before = len(children) if kind_of(part) == "TreeLeaves" else 0

    def value(self, node, output, above):
        """What the path from a node on adds; ``above`` is the gate of the parent."""
        sides = self._children[node] if node < len(self._children) else (-1, -1)
        is_end = max(sides) < 0
        terms, gate = [], None
        if not self._ends_alone:
            gate = self._feature(node, above)
            terms.append(f"{gate} * {self._product(self._part.weights[node, output], self._X)}")
        elif is_end:
            terms.append(self._product(self._part.weights[node - self._before, output], self._X))
        if not is_end:
            first, second = (self._side(node, side, output, gate) for side in sides)
            turn = self._product(self._part.splits[node], self._seen)
            terms.append(f"CASE WHEN {turn} > 0 THEN {first} ELSE {second} END")
        return f"({' + '.join(terms)})"

    def _side(self, node, side, output, gate):
        if side >= 0:
            return self.value(side, output, gate)
        # rows that end at a node with one child
        if self._ends_alone:
            return self._product(self._part.weights[node, output], self._X)
        return number(0.0)

    def _product(self, weights, X):
        return f"({self._query.product(X, weights[:-1])} + {number(weights[-1])})"

    def _feature(self, node, above):
        reached, kind = self._product(self._own[node], self._seen), kind_of(self._gate)
        if kind == "CompositionalNode":
            return f"tanh({reached})" if above is None else f"tanh({above} * {reached})"
        return f"tanh({number(self._gate.sigma)} * {reached})"


def _children(part):
    if kind_of(part) == "LinkedTree":
        return part.children.tolist()
    n_inner = len(part.splits) if kind_of(part) == "TreeLeaves" else len(part.weights) // 2
    return [(2 * node + 1, 2 * node + 2) for node in range(n_inner)]


def _check_depth(children):
    levels = {0: 1}
    for node, sides in enumerate(children):
        for side in sides:
            if side >= 0:
                levels[side] = levels[node] + 1
    if max(levels.values()) > _DEEPEST:
        raise SqlExportError(
            f"The tree is more than {_DEEPEST} levels deep, which DuckDB does not nest: fit a "
            "smaller depth, or export to C or ONNX."
        )
