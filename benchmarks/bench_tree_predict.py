"""Batch prediction of trees beside ``X @ w`` on the same rows, float32, one thread, in turns.

A prediction costs the same whatever was learned, so the trees are random. Of several outputs the
yardstick computes as many: ``X @ W``.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.report import FOLDER, Result, publish
from nearlinear.gates.trees.balanced import count_nodes
from nearlinear.gates.trees.node_gates import NODE_GATES
from nearlinear.predictors.combined import tree_predictor
from reproduce.protocol import best_seconds, one_thread


@dataclass(frozen=True)
class Shape:
    """Rows and a tree; ``most`` is the multiple of ``X @ w`` that is asked for."""

    n_features: int
    depth: int
    n_rows: int
    n_outputs: int = 1
    n_components: int | None = None
    most: float | None = None

    @property
    def title(self):
        words = [f"{self.n_features} features", f"depth {self.depth}"]
        if self.n_components:
            words.insert(1, f"projected to {self.n_components}")
        if self.n_outputs > 1:
            words.append(f"{self.n_outputs} outputs")
        return ", ".join(words)


SHAPES = (
    Shape(54, depth=9, n_rows=100_000, most=8),
    Shape(784, depth=4, n_rows=20_000, most=4),
    Shape(784, depth=4, n_rows=20_000, n_components=32, most=4),
    Shape(22, depth=6, n_rows=100_000),
    Shape(16, depth=8, n_rows=50_000, n_outputs=26),
    Shape(2, depth=3, n_rows=100_000),
)
SMOKE = (Shape(6, depth=2, n_rows=300, most=8), Shape(8, 1, 300, n_outputs=3, n_components=2))


def random_tree(shape, feature, rng):
    """Splits through the middle of the rows, so that all leaves are reached about as often."""
    inner = shape.n_components or shape.n_features
    n_nodes = count_nodes(shape.depth)
    n_splits, n_slopes = feature.direction_rows(n_nodes)

    def draw(*size):
        return rng.standard_normal(size, dtype=np.float32) / np.float32(np.sqrt(size[-1]))

    projection = draw(shape.n_components, shape.n_features + 1) if shape.n_components else None
    splits, slopes = draw(n_splits, inner + 1), draw(n_slopes, inner + 1)
    splits[:, -1] = 0.0
    weights = draw(n_nodes, shape.n_outputs, inner + 1)
    intercept = np.zeros(shape.n_outputs, dtype=np.float32)
    return tree_predictor(splits, slopes, weights, intercept, feature, projection)


def results_for(shape, rng, budget):
    X = rng.standard_normal((shape.n_rows, shape.n_features), dtype=np.float32)
    size = shape.n_features if shape.n_outputs == 1 else (shape.n_features, shape.n_outputs)
    w = rng.standard_normal(size, dtype=np.float32)
    linear = "X @ w" if shape.n_outputs == 1 else "X @ W"
    calls = {linear: lambda: X @ w}
    for name, kind in NODE_GATES.items():
        predictor = random_tree(shape, kind(), rng)
        predictor(X[:100])  # compiles
        calls[name] = lambda predictor=predictor: predictor(X)
    seconds = best_seconds(calls, budget=budget, max_repeats=50)
    for name in calls:
        nanoseconds = 1e9 * seconds[name] / shape.n_rows
        yield Result(shape.title, f"{name}, time of a row", nanoseconds, "ns")
        if name != linear:
            ratio = seconds[name] / seconds[linear]
            yield Result(shape.title, f"{name} / {linear}", ratio, "×", target=shape.most)


def run(smoke=False, folder=FOLDER):
    rng = np.random.default_rng(0)
    shapes, budget = (SMOKE, 0.02) if smoke else (SHAPES, 3.0)
    with one_thread():
        return [result for shape in shapes for result in results_for(shape, rng, budget)]


if __name__ == "__main__":
    publish("tree_predict", run())
