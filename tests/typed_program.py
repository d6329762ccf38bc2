"""What users write, for type checkers: `make types` has mypy and pyright read it. It is never run.

A line that must be refused says so by an ignore, and both checkers tell of one that is not needed.
"""

from pathlib import Path
from typing import Any, assert_type

import numpy as np

import nearlinear
from nearlinear import (
    LDKLClassifier,
    LLCSAPLClassifier,
    LMKLClassifier,
    LocalForestRegressor,
    NearLinearClassifier,
    SimpleMKLClassifier,
    TableEncoder,
    config_context,
    distill,
    from_forest,
    get_config,
    load,
    save,
    set_config,
    streams,
    to_c,
    to_js,
    to_onnx,
    to_sql,
)
from nearlinear.kernels import Absolute, Gaussian, Linear, bank

X, y = np.zeros((10, 2)), np.zeros(10)

set_config(max_memory=1e9)
assert_type(get_config(), dict[str, float | None])
with config_context(max_memory="2GB"):
    pass

# constructors, and what a fit gives back
tree = LDKLClassifier(3, node_gate="tanh", C="auto", random_state=np.random.RandomState(0)).fit(
    X, y
)
assert_type(tree, LDKLClassifier)
assert_type(tree.partial_fit(X, y, classes=[0, 1]), LDKLClassifier)
anchors = LLCSAPLClassifier(100, class_weight="balanced").fit(X.tolist(), ["a", "b"] * 5)
assert_type(anchors, LLCSAPLClassifier)
LDKLClassifier("auto").fit(streams.from_arrays(X, y), checkpoint=Path("fit.part"))
SimpleMKLClassifier([Gaussian(width=0.5), Linear()], class_weight={0: 1.0, 1: 2.0}).fit(X, y)
SimpleMKLClassifier(bank(Absolute([0.5, 2.0]), degrees=(1, 2)))
LMKLClassifier(gate="softmax", gating_features=[0]).fit(X, y, gating=X)
LocalForestRegressor(monotonic_cst={"age": 1}, loss="poisson").fit(X, y).refit(X, y)
LDKLClassifier(depth="deep")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
LDKLClassifier(deepness=3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
nearlinear.LDKLClasifier  # type: ignore[attr-defined]  # pyright: ignore  # noqa: B018

# answers and what is known of a fitted model
scores: np.ndarray = tree.decision_function(X)
first: int = tree.n_features_in_ + tree.n_iter_ + tree.cost_.multiply_adds
labels: np.ndarray = tree.classes_[tree.predict(X)]
shares: np.ndarray | None = tree.explain(X, n_support=3).contributions
row: Any = tree.compile().predict(X[0])
tree.report(X, y, "report.html", title="A tree")

# the front door
model = NearLinearClassifier(max_us_per_row=1, families=["anchors"]).fit(X, y)
assert_type(model.select(knee=True), NearLinearClassifier)
table: Any = model.front_
numbers: Any = TableEncoder(pieces=None).fit_transform([[1.5, "red"], [None, "blue"]])
student = distill(model.predict, X, max_times_linear=10)
probabilities: np.ndarray = student.predict_proba(X)
forest = from_forest("model.txt").refit(X, y)

# leaving Python
save(tree, Path("model.nlm"))
back: Any = load("model.nlm")
flash: int = to_c(tree, "folder", dtype="int8").flash_bytes
page: Path = to_js(tree, "folder").page
text: str = to_sql(tree, ("db", "rows"), keep=["key"])
graph: Any = to_onnx(tree, dtype="float32")
to_c(tree, "folder", dtype="float64")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
