"""Explanations of whole test sets beside predictions of the same rows, one thread, in turns.

Both cost the same whatever was learned, so models are random, on drawn rows in the shapes of ijcnn1
and letter. An explanation counts with its contributions w(x) ∘ x; the fewest CPU seconds of many.
"""

import time
from dataclasses import dataclass

import numpy as np

from benchmarks.bench_tree_predict import Shape as TreeShape
from benchmarks.bench_tree_predict import random_tree
from benchmarks.report import FOLDER, Result, publish
from benchmarks.shapes import drawn
from nearlinear.explain.explain import explain
from nearlinear.gates.anchors import SoftAssignment
from nearlinear.gates.learned import Rounded, Softmax
from nearlinear.gates.trees.node_gates import CompositionalNode, IndicatorNode, TanhNode
from nearlinear.predictors.combined import Mean, Stacked
from nearlinear.predictors.conformal_linear import ConformalLinear
from nearlinear.predictors.locally_linear import LocallyLinear
from reproduce.protocol import one_thread

MOST_TIMES_PREDICTION = 10
TURNS = 40


@dataclass(frozen=True)
class Rows:
    """Shape of a test set, and the depth that its trees have."""

    name: str
    n_rows: int
    n_features: int
    n_outputs: int
    depth: int


SETS = (Rows("ijcnn1", 91701, 22, 1, depth=6), Rows("letter", 4000, 16, 26, depth=8))
SMOKE = (Rows("one output", 300, 5, 1, depth=2), Rows("three outputs", 200, 4, 3, depth=2))


def random_models(rows, X, rng):
    """One predictor of every locally linear kind, in float32."""
    d, n_outputs = rows.n_features, rows.n_outputs

    def draw(*size):
        return rng.standard_normal(size, dtype=np.float32)

    anchors = X[rng.choice(len(X), 100, replace=False)]
    shape = TreeShape(d, rows.depth, rows.n_rows, n_outputs)
    trees = {kind.name: random_tree(shape, kind(), rng) for kind in _FEATURES}
    forest = Mean(tuple(random_tree(shape, TanhNode(), rng) for _ in range(3)))
    models = {
        "100 anchors, 8 nearest": LocallyLinear(
            SoftAssignment(anchors, 8, 0.1), draw(100, d, n_outputs), draw(100, n_outputs)
        )
    }
    models |= {f"tree, {name}": tree for name, tree in trees.items()}
    models["3 trees, tanh"] = forest
    for per_feature in (False, True):
        name = "25 conformal kernels" + (", per feature" if per_feature else "")
        models[name] = _conformal(anchors[:25], n_outputs, per_feature, draw)
    gated = [
        LocallyLinear(Rounded(Softmax(draw(5, d), draw(5))), draw(5, d, 1), draw(5, 1))
        for _ in range(n_outputs)
    ]
    models["5 gated models"] = gated[0] if n_outputs == 1 else Stacked(tuple(gated))
    return models


_FEATURES = (TanhNode, CompositionalNode, IndicatorNode)


def _conformal(anchors, n_outputs, per_feature, draw):
    """A quarter of the kernels for each of several outputs, as fits have it; all for one."""
    places = [(k, o) for k in range(len(anchors)) for o in range(n_outputs)]
    kernels, outputs = np.array([p for p in places if n_outputs == 1 or sum(p) % 4 == 0]).T
    return ConformalLinear(
        anchors, np.full(len(anchors), 0.1, dtype=np.float32),
        draw(len(kernels), anchors.shape[1]), kernels, outputs, draw(n_outputs),
        "gaussian", per_feature,
    )  # fmt: skip


def fewest_seconds(calls, budget):
    """CPU seconds: the clock's would count what other processes take."""
    fewest, used = dict.fromkeys(calls, np.inf), dict.fromkeys(calls, 0.0)
    for _ in range(TURNS):
        for name, call in calls.items():
            if used[name] < budget:
                start = time.process_time()
                call()
                seconds = time.process_time() - start
                fewest[name] = min(fewest[name], seconds)
                used[name] += seconds
    return fewest


def results_for(rows, rng, budget):
    X, _ = drawn(rows.n_rows, rows.n_features, max(2, rows.n_outputs))
    for name, predictor in random_models(rows, X, rng).items():
        calls = {
            "predict": lambda p=predictor: p(X),
            "w and b": lambda p=predictor: explain(p, X),
            "explain": lambda p=predictor: explain(p, X).contributions,
        }
        for call in calls.values():
            call()  # compiles
        seconds = fewest_seconds(calls, budget)
        case = f"{rows.name}, {name}"
        micro = 1e6 * seconds["explain"] / rows.n_rows
        yield Result(case, "explanation of a row", micro, "µs")
        ratio = seconds["w and b"] / seconds["predict"]
        yield Result(case, "w(x) and b(x) / prediction", ratio, "×")
        ratio = seconds["explain"] / seconds["predict"]
        target = MOST_TIMES_PREDICTION
        yield Result(case, "with contributions / prediction", ratio, "×", target=target)


def run(smoke=False, folder=FOLDER):
    rng = np.random.default_rng(0)
    sets, budget = (SMOKE, 0.02) if smoke else (SETS, 0.7)
    with one_thread():
        return [result for rows in sets for result in results_for(rows, rng, budget)]


if __name__ == "__main__":
    publish("explain", run())
