"""ONNX graphs: onnxruntime gives the scores, labels and probabilities of the model."""

import json
import sys
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from estimators.conftest import FRONT_DOORS, by_roads
from grids import in_one_test
from runtime import crafted
from scipy.sparse import csr_matrix
from sklearn.decomposition import PCA, KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from small_predictors import (
    additive,
    averaged,
    gated_linear,
    hinges,
    machines,
    mean_of,
    on_gated_rows,
    selected_sum,
    vote,
)

import nearlinear
from nearlinear import runtime
from nearlinear.export.onnx import builder as onnx_builder
from nearlinear.export.onnx import conformal as onnx_conformal
from nearlinear.export.onnx.builder import Graph, OnnxExportError
from nearlinear.export.onnx.graph import to_onnx
from nearlinear.gates.anchors import InverseDistance, ReconstructionCodes, SoftAssignment
from nearlinear.gates.learned import Columns, GaussianGate, Rounded, Sigmoid, Softmax, Viewing
from nearlinear.gates.scores import Clipped, Repeated, SoftmaxOf, UnitLength
from nearlinear.gates.trees.node_gates import CompositionalNode, IndicatorNode, TanhNode
from nearlinear.kernels import (
    Custom,
    Gaussian,
    Linear,
    OnColumns,
    Polynomial,
    Scaled,
    UnitDiagonal,
    WeightedSum,
    bank,
)
from nearlinear.kernels.composite import PairwiseNormalizedSum
from nearlinear.kernels.gated_grams import with_gates
from nearlinear.predictors.averaged import Averaged
from nearlinear.predictors.combined import Stacked, tree_predictor
from nearlinear.predictors.conformal_linear import ConformalLinear
from nearlinear.predictors.gated_expansion import GatedExpansion
from nearlinear.predictors.kernel_expansion import KernelExpansion
from nearlinear.predictors.locally_linear import LocallyLinear

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

FOREST = {
    "n_trees": 6, "max_leaves": 8, "min_samples_leaf": 2, "pairs": 2, "leaf_penalty": 1.0,
    "leaf_model": "linear", "linear_root": True, "random_state": 0,
}  # fmt: skip
CLASSIFIERS = {
    "LLSVMClassifier": {"n_anchors": 8, "n_neighbors": 3},
    "LCCSVMClassifier": {"n_anchors": 15, "n_neighbors": 3},
    "LLCSAPLClassifier": {"n_anchors": 8, "n_neighbors": 3, "max_iter": 12},
    "LDKLClassifier": {"depth": 2, "max_iter": 40},
    "ClusteredSVMClassifier": {"n_clusters": 5},
    "UniformMKLClassifier": {"C": 1.0},
    "SimpleMKLClassifier": {"C": 1.0},
    "SPGGMKLClassifier": {"C": 1.0},
    "SequentialMKLClassifier": {"kernels": bank(widths=3, degrees=(2,)), "C": 1.0},
    "MWUMKLClassifier": {"C": 1.0},
    "MLLKMClassifier": {"n_anchors": 25, "C": 1.0},
    "LMKLClassifier": {},
    "ConvexLMKLClassifier": {"C": 1.0},
    "SwMKLClassifier": {"C": 1.0},
    "LDMKLClassifier": {"C": 1.0},
    "SAMKLClassifier": {"C": 1.0, "max_rounds": 3},
    "LaSVMClassifier": {},
    "CPSPClassifier": {"n_basis": 8, "max_iter": 20},
    "DCPredClassifier": {"n_clusters": 3, "n_landmarks": 4},
    "LocalForestClassifier": FOREST,
}
REGRESSORS = {
    "LDKLRegressor": {"depth": 2, "max_iter": 40},
    "UniformMKLRegressor": {},
    "SimpleMKLRegressor": {},
    "SPGGMKLRegressor": {},
    "SequentialMKLRegressor": {"kernels": bank(widths=3, degrees=(2,))},
    "MLLKMRegressor": {"n_anchors": 25, "bias": "free", "max_support": 200},
    "LMKLRegressor": {},
    "DCPredRegressor": {"n_clusters": 3, "n_landmarks": 4},
    "LocalForestRegressor": FOREST,
}
TOLERANCE = {"float32": 1e-5, "float64": 1e-9}  # of the largest score
TIE = 1e-4  # of the largest score: nearer, rounding may choose another label
EACH_DTYPE = pytest.mark.parametrize("dtype", ["float32", "float64"])
D = 4


# --- running a graph ----------------------------------------------------------------------------


def session_of(model):
    """A session of a checked graph of standard operators; of forests, also of their own one."""
    proto = to_onnx(model)
    onnx.checker.check_model(proto, full_check=True)
    own = {"ai.onnx.ml"} if "Forest" in type(model).__name__ else set()
    assert {node.domain for node in proto.graph.node} <= {"", *own}
    assert not {node.op_type for node in proto.graph.node} & {"Loop", "Scan", "If"}
    assert ("", 17) in [(entry.domain, entry.version) for entry in proto.opset_import]
    assert {entry.domain for entry in proto.opset_import} <= {"", *own}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def outputs_of(session, X):
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X})))


def in_type(value, dtype):
    """A predictor with all of its arrays of floats in one type."""
    if isinstance(value, np.ndarray | csr_matrix) and value.dtype.kind == "f":
        return value.astype(dtype)
    if isinstance(value, tuple):
        return tuple(in_type(item, dtype) for item in value)
    if is_dataclass(value):
        parts = {f.name: in_type(getattr(value, f.name), dtype) for f in fields(value)}
        return replace(value, **parts)
    return value


def exact_scores(predictor, X):
    return in_type(predictor, np.float64)(X.astype(np.float64))


def assert_same_scores(scores, expected, exact):
    """Equal to rounding: in float32 the model's own, where it is larger than the tolerance."""
    expected = expected.reshape(len(expected), -1)
    assert scores.shape == expected.shape
    assert scores.dtype == expected.dtype
    scale = np.abs(exact).max()
    own = np.abs(expected - exact).max() if scores.dtype == np.float32 else 0.0
    allowed = max(TOLERANCE[scores.dtype.name] * scale, 3.0 * own)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=allowed)


def assert_agrees(model, X, session=None):
    """Scores, labels and probabilities of a bare classifier."""
    found = outputs_of(session or session_of(model), X)
    scores = model.decision_function(X)
    assert_same_scores(found["scores"], scores, exact_scores(model.predictor_, X))
    columns = np.sort(np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores, axis=1)
    clear = columns[:, -1] - columns[:, -2] > TIE * np.abs(scores).max()
    assert clear.mean() > 0.9
    assert found["label"].shape == (len(X),)
    np.testing.assert_array_equal(found["label"][clear], model.predict(X)[clear])
    assert ("probabilities" in found) == hasattr(model, "predict_proba")
    if "probabilities" in found:
        probabilities = model.predict_proba(X)
        assert found["probabilities"].dtype == X.dtype
        np.testing.assert_allclose(found["probabilities"], probabilities, rtol=0, atol=1e-5)
    return found


def make(name, **settings):
    cls = getattr(nearlinear, name)
    settings = {**CLASSIFIERS, **REGRESSORS}[name] | settings
    if "random_state" in cls().get_params():
        settings = {"random_state": 0} | settings
    return cls(**settings)


def read_as(name, dtype):
    """Forests read all rows as float32."""
    return "float32" if "Forest" in name else dtype


def query(n_features, dtype, n_rows=1000):
    rng = np.random.default_rng(1)
    return rng.uniform(-2.0, 2.0, (n_rows, n_features)).astype(dtype)


# --- every estimator ----------------------------------------------------------------------------


def test_every_estimator_is_covered():
    estimators = {n for n in nearlinear.__all__ if n.endswith(("Classifier", "Regressor"))}
    assert estimators == {*CLASSIFIERS, *REGRESSORS, *FRONT_DOORS, "SVMKNNClassifier"}


@EACH_DTYPE
@pytest.mark.parametrize("name", by_roads(CLASSIFIERS))
def test_two_classes_agree(name, dtype, moons):
    (X, y), dtype = moons, read_as(name, dtype)
    model = make(name).fit(X[:120].astype(dtype), y[:120])
    found = assert_agrees(model, query(2, dtype))
    assert found["label"].dtype == np.int64
    assert found["scores"].shape == (1000, 1)


@EACH_DTYPE
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_three_classes_with_names_agree(name, dtype, blobs):
    (X, y), dtype = blobs, read_as(name, dtype)
    names = np.array(["red", "grün", "blue"])[y]
    model = make(name).fit(X[:120].astype(dtype), names[:120])
    found = assert_agrees(model, query(4, dtype))
    assert found["scores"].shape == (1000, 3)
    assert set(found["label"]) == {"red", "grün", "blue"}


@EACH_DTYPE
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressions_agree(name, dtype):
    dtype = read_as(name, dtype)
    rng = np.random.default_rng(7)
    X = rng.uniform(-2.0, 2.0, (120, 2)).astype(dtype)
    model = make(name).fit(X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1])
    rows = query(2, dtype)
    found = outputs_of(session_of(model), rows)
    exact = exact_scores(model.predictor_, rows)
    assert list(found) == ["variable"]
    assert_same_scores(found["variable"], model.predict(rows), exact)


@EACH_DTYPE
@pytest.mark.parametrize("name", ["LLCSAPLClassifier", "LDKLClassifier"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_agree(name, dtype, n_classes, blobs):
    X, y = blobs
    model = make(name, loss="log_loss").fit(X.astype(dtype), np.minimum(y, n_classes - 1))
    found = assert_agrees(model, query(4, dtype))
    assert found["probabilities"].shape == (1000, n_classes)


@pytest.mark.parametrize(
    "labels", [[False, True], [2.0, 5.0], [-7, 3], np.array([4, 9], dtype=np.uint8)]
)
def test_labels_of_numbers_are_whole_numbers(labels, moons):
    X, y = moons
    model = make("LLSVMClassifier").fit(X, np.asarray(labels)[y])
    found = outputs_of(session_of(model), X)
    assert found["label"].dtype == np.int64
    assert np.array_equal(found["label"], model.predict(X))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", by_roads(CLASSIFIERS))
def test_the_precision_may_be_another_than_the_model_s(name, dtype, moons):
    X, y = moons
    own = {"float32": "float64", "float64": "float32"}[dtype]
    model = make(name).fit(X.astype(own), y)
    session = onnxruntime.InferenceSession(
        to_onnx(model, dtype=dtype).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (scores,) = session.run(["scores"], {"X": X.astype(dtype)})
    wanted = model.decision_function(X.astype(own))
    assert scores.dtype == dtype
    # a row within rounding of a border may fall on its other side
    apart = np.abs(scores[:, 0] - wanted) / np.abs(wanted).max()
    assert np.quantile(apart, 0.98) < 1e-3


@EACH_DTYPE
@pytest.mark.parametrize("n_features", [1, 2])
@pytest.mark.parametrize("scaler", [{}, {"with_mean": False}, {"with_std": False}])
def test_scaler_is_part_of_the_graph(dtype, n_features, scaler, moons):
    X, y = moons
    X = (100.0 * X + 30.0).astype(dtype)[:, :n_features]
    linear = make("UniformMKLClassifier", kernels=Linear(), C=0.01)
    model = make_pipeline(StandardScaler(**scaler), linear).fit(X, y)
    found, rows = outputs_of(session_of(model), X), model[0].transform(X)
    exact = exact_scores(linear.predictor_, rows)
    assert_same_scores(found["scores"], model.decision_function(X), exact)


@pytest.mark.parametrize("name", by_roads({**CLASSIFIERS, **REGRESSORS}))
def test_any_number_of_rows(name, moons):
    X, y = moons
    X = X.astype(read_as(name, "float64"))
    model = make(name).fit(X[:60], y[:60])
    session, scores = session_of(model), getattr(model, "decision_function", model.predict)(X[:7])
    for n_rows in (0, 1, 7):
        found = outputs_of(session, X[:n_rows])
        given = found["scores" if "scores" in found else "variable"]
        np.testing.assert_allclose(given, scores[:n_rows, None], atol=TOLERANCE[X.dtype.name])


def test_gate_of_a_second_matrix_sees_the_last_columns(moons):
    X, y = moons
    gating = np.random.default_rng(5).standard_normal((len(X), 3))
    model = make("LMKLClassifier").fit(X, y, gating=gating)
    found = outputs_of(session_of(model), np.hstack([X, gating]))
    scores = model.decision_function(X, gating=gating)
    np.testing.assert_allclose(found["scores"][:, 0], scores, atol=1e-9)


# --- models of random numbers -------------------------------------------------------------------

RNG = np.random.default_rng(11)


def random(*shape):
    return RNG.standard_normal(shape)


def of_components(owners=(1, 0, 1), n_support=9):
    kernels, support = (Gaussian(0.3), Linear()), random(n_support, D)
    numbers = random(len(owners), n_support), random(len(owners))
    return machines(kernels, owners, support, *numbers, D)


def softmax_gate(n_features=D, n_components=3):
    return Softmax(random(n_components, n_features), random(n_components))


ANCHORS = random(12, D)
MANY = random(40, D)
ANCHOR_GATES = {
    "soft": SoftAssignment(ANCHORS, 4, 0.8),
    "soft, of a metric": SoftAssignment(ANCHORS, 4, 0.8, np.array([0.1, 2.0, 0.0, 1.0])),
    "soft, one": SoftAssignment(ANCHORS, 1, 1.0),
    "soft, few of many": SoftAssignment(MANY, 2, 0.5),
    "inverse": InverseDistance(ANCHORS, 3),
    "codes of one": ReconstructionCodes(ANCHORS, 1),
    "codes": ReconstructionCodes(ANCHORS, 3),
    "codes of eight": ReconstructionCodes(MANY, 8),
    "codes of all": ReconstructionCodes(ANCHORS, 12, 1e-2),
}
FEATURES = [TanhNode(0.7), CompositionalNode(), IndicatorNode()]
KERNELS = {
    "linear": Linear(),
    "polynomial": Polynomial(3, gamma=0.3, coef0=0.7),
    "line": Polynomial(1, gamma=0.3, coef0=0.0),
    "Gaussian": Gaussian(0.4),
    "one column": OnColumns(Gaussian(0.4), (2,)),
    "columns": OnColumns(Scaled(Linear(), 0.3), (3, 0)),
    "scaled": Scaled(Scaled(Gaussian(0.4), 1.7), 0.3),
    "unit diagonal": UnitDiagonal(Polynomial(2, gamma=0.3, coef0=0.0)),
    "unit diagonals": UnitDiagonal(
        WeightedSum((UnitDiagonal(Linear()), Gaussian(1.0), OnColumns(Linear(), (1,))), (2, 1, 0.3))
    ),
    "unit diagonal of a scaled": UnitDiagonal(Scaled(OnColumns(Polynomial(1, 0.1), (0, 1)), 0.1)),
    "sum": WeightedSum((Linear(), Gaussian(0.3), Polynomial(2, 1.0)), (0.3, 1.1, 0.0)),
    "sum of one": WeightedSum((Linear(),), (0.3,)),
    "sum of nothing": WeightedSum((Linear(),), (0.0,)),
}
GATES = {
    "softmax": softmax_gate(),
    "sigmoid": Sigmoid(random(3, D), random(3)),
    "gaussian": GaussianGate(random(3, D), random(3), 1.3),
    "columns": Viewing(softmax_gate(2), Columns((3, 1))),
    "rounded": Rounded(Softmax(5.0 * random(3, D), random(3)), 0.2),
    "softmax of scores": SoftmaxOf(of_components(), 0.7),
    "clipped": Clipped(of_components(), 0.05),
    "unit length": UnitLength(Sigmoid(random(3, D), random(3))),
    "repeated": Repeated(softmax_gate(n_components=1), 3),
}


def tree(feature, depth, n_outputs, projection=None):
    n_nodes, width = 2 ** (depth + 1) - 1, (D if projection is None else len(projection)) + 1
    n_splits, n_slopes = feature.direction_rows(n_nodes)
    parts = random(n_splits, width), random(n_slopes, width), random(n_nodes, n_outputs, width)
    return tree_predictor(*parts, random(n_outputs), feature, projection)


def conformal(profile, per_feature):
    outputs = np.array([0, 1, 2, 0, 2, 1, 0])
    return ConformalLinear(
        random(5, D), RNG.uniform(0.1, 0.6, 5), random(7, D), np.array([0, 0, 0, 1, 2, 4, 4]),
        outputs, random(3), profile, per_feature,
    )  # fmt: skip


def gated_rows(n_support=9):
    gate, support = Clipped(of_components(owners=(0, 1)), 0.1), random(n_support, D)
    kernel = PairwiseNormalizedSum((Gaussian(0.4), Scaled(Linear(), 0.3)), D)
    numbers = random(1, n_support, 1), random(1)
    return on_gated_rows(
        gate, KernelExpansion((kernel,), with_gates(support, gate(support)), *numbers, D)
    )


def kernel_sum(kernels, support, n_outputs=3):
    numbers = random(len(kernels), support.shape[0], n_outputs), random(n_outputs)
    return KernelExpansion(tuple(kernels), support, *numbers, D)


PREDICTORS = {
    **{
        f"{name}, {width} features": LocallyLinear(
            gate, random(len(gate.anchors), width, n_outputs), random(len(gate.anchors), n_outputs)
        )
        for name, gate in ANCHOR_GATES.items()
        for width, n_outputs in ((D, 3), (0, 1))
    },
    **{
        f"{feature.name} tree, depth {depth}": tree(feature, depth, n_outputs)
        for feature in FEATURES
        for depth, n_outputs in ((0, 1), (1, 1), (4, 1), (3, 5))
    },
    "tree on a projection": tree(TanhNode(), 3, 1, random(2, D + 1)),
    "forest": mean_of(*(tree(TanhNode(), 2, 3) for _ in range(3))),
    "additive": additive(D, 3),
    "additive without knots": additive(D, counts=(0,)),
    "hinges": hinges(D, 3),
    "average of two classes": averaged(D, first=tree(TanhNode(), 2, 1)),
    "average of classes": averaged(D, 3, first=tree(TanhNode(), 2, 3)),
    "average of values": Averaged((additive(D), additive(D, seed=1)), (1.0, 3.0)),
    **{
        f"{profile} profile{', each' * each}": conformal(profile, each)
        for profile in ("exponential", "gaussian", "linear", "square")
        for each in (False, True)
    },
    "no kernel": replace(conformal("square", False), weights=np.zeros((7, D))),
    **{name: kernel_sum([kernel], random(9, D)) for name, kernel in KERNELS.items()},
    **{f"{name} of one row": kernel_sum([k], random(1, D)) for name, k in KERNELS.items()},
    "many kernels": kernel_sum(KERNELS.values(), random(9, D), 1),
    "sparse support": kernel_sum([Gaussian(0.4)], csr_matrix(np.maximum(random(9, D), 0.0))),
    "no support": kernel_sum([Gaussian(0.4)], random(0, D)),
    "no component": GatedExpansion(softmax_gate(), of_components(n_support=0), 0.4),
    "kernels in another order": GatedExpansion(softmax_gate(), of_components(), 0.4),
    **{f"{name} gate": gated_linear(g, random(D, 3), random(3), 0.4) for name, g in GATES.items()},
    "vote": vote(softmax_gate(), of_components()),
    "selection": selected_sum(of_components(owners=(1, 0, 0, 1, 1)), 2, 0.4),
    "rows with gates": gated_rows(),
    "stack": Stacked(
        (
            vote(softmax_gate(), of_components()),
            gated_linear(softmax_gate(), random(D, 3), random(3), 0.4),
            gated_rows(),
        )
    ),
}
FACES = {
    "LocallyLinear": "LLSVMClassifier",
    "TreePath": "LDKLClassifier",
    **dict.fromkeys(("TreeLeaves", "Averaged"), "LDKLClassifier"),
    "ConformalLinear": "MLLKMClassifier",
    "KernelExpansion": "SimpleMKLClassifier",
}


def model_of(predictor, dtype="float64"):
    """A classifier that has learned this predictor."""
    model = getattr(nearlinear, FACES.get(type(predictor).__name__, "LMKLClassifier"))()
    model.predictor_ = in_type(predictor, dtype)
    model.n_features_in_, model.n_gating_features_ = D, 0
    n_outputs = predictor(np.zeros((1, D))).shape[1]
    model.classes_ = np.arange(2 if n_outputs == 1 else n_outputs)
    return model


@EACH_DTYPE
@in_one_test("name", PREDICTORS)
def test_models_of_random_numbers_agree(name, dtype):
    model = model_of(PREDICTORS[name], dtype)
    session = session_of(model)
    assert_agrees(model, query(D, dtype, 200), session)
    none = outputs_of(session, np.zeros((0, D), dtype=dtype))
    assert none["scores"].shape == (0, 1 if len(model.classes_) == 2 else len(model.classes_))


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("profile", ["exponential", "square"])
def test_conformal_kernels_may_come_in_blocks_of_differences(each, profile, monkeypatch):
    monkeypatch.setattr(onnx_conformal, "_AT_ONCE", 2 * D)
    monkeypatch.setattr(onnx_conformal, "_MOST_ROUNDINGS", 0.0)
    model = model_of(conformal(profile, each))
    assert_agrees(model, query(D, "float64", 50))
    kinds = [node.op_type for node in to_onnx(model).graph.node]
    assert kinds.count("Flatten") == 2  # four of the five kernels have terms


@pytest.mark.parametrize("profile", ["exponential", "gaussian", "linear", "square"])
def test_narrow_kernels_far_apart_keep_their_distances(profile):
    wide = conformal(profile, False)
    model = model_of(replace(wide, anchors=300.0 * wide.anchors), "float32")
    near = np.repeat(model.predictor_.anchors, 40, axis=0)
    X = near + query(D, "float32", len(near))
    exact = exact_scores(model.predictor_, X)
    scores = outputs_of(session_of(model), X)["scores"]
    np.testing.assert_allclose(scores, exact, rtol=0, atol=1e-5 * np.abs(exact).max())


@pytest.mark.parametrize("name", ["Gaussian", "inverse, 0 features", "soft, 0 features"])
def test_rows_far_from_the_origin_keep_their_distances(name):
    far = 3000.0
    predictor = PREDICTORS[name]
    if name == "Gaussian":
        predictor = replace(predictor, support=predictor.support + far)
    else:
        gate = replace(predictor.gate, anchors=predictor.gate.anchors + far)
        predictor = replace(predictor, gate=gate)
    model = model_of(predictor, "float32")
    X = (query(D, "float64", 200) + far).astype(np.float32)
    exact = exact_scores(model.predictor_, X)
    scores = outputs_of(session_of(model), X)["scores"]
    np.testing.assert_allclose(scores, exact, rtol=0, atol=1e-5 * np.abs(exact).max())


@pytest.mark.parametrize("name", ["inverse, 0 features", "codes of one, 0 features"])
def test_a_row_that_is_an_anchor_gets_its_model(name):
    predictor = PREDICTORS[name]
    found = outputs_of(session_of(model_of(predictor)), ANCHORS)
    np.testing.assert_allclose(found["scores"], predictor.biases, atol=1e-6)


# --- the graph itself ---------------------------------------------------------------------------


def test_kernels_share_their_distances():
    predictor = kernel_sum([Gaussian(g) for g in (0.1, 0.2, 0.3, 0.4)], random(9, D))
    kinds = [node.op_type for node in to_onnx(model_of(predictor)).graph.node]
    assert kinds.count("MatMul") == 1 + 4
    assert kinds.count("Exp") == 4


def test_equal_values_have_one_name():
    graph = Graph(np.dtype("float32"))
    first = graph.op("Add", "X", np.ones(3))
    assert graph.op("Add", "X", np.ones(3, dtype=np.float32)) == first
    assert graph.op("Add", "X", np.ones((1, 3))) != first
    assert graph.of(np.float64).op("Add", "X", np.ones(3)) != first
    assert len(graph.constants) == 3


def test_graph_says_where_it_is_from(moons):
    import pandas as pd

    X, y = moons
    frame = pd.DataFrame(X, columns=["länge", "b"])
    proto = to_onnx(make_pipeline(StandardScaler(), make("LLSVMClassifier")).fit(frame, y))
    assert (proto.producer_name, proto.producer_version) == ("nearlinear", nearlinear.__version__)
    notes = {entry.key: entry.value for entry in proto.metadata_props}
    assert notes["method"] == "LLSVMClassifier"
    assert json.loads(notes["feature_names"]) == ["länge", "b"]
    (rows,) = proto.graph.input
    extents = rows.type.tensor_type.shape.dim
    assert (rows.name, extents[0].dim_param, extents[1].dim_value) == ("X", "n_rows", 2)


# --- files --------------------------------------------------------------------------------------


def test_file_holds_the_graph(tmp_path, moons):
    X, y = moons
    model, path = make("LLSVMClassifier").fit(X, y), tmp_path / "model.onnx"
    path.write_bytes(b"an earlier one")
    proto = to_onnx(model, path)
    assert path.read_bytes() == proto.SerializeToString()
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]
    assert onnxruntime.InferenceSession(str(path)).get_inputs()[0].name == "X"


def test_file_that_cannot_be_written_leaves_the_earlier_one(tmp_path, moons, monkeypatch):
    X, y = moons
    model, path = make("LLSVMClassifier").fit(X, y), tmp_path / "model.onnx"
    path.write_bytes(b"an earlier one")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OnnxExportError, match="No space left on device"):
        to_onnx(model, path)
    assert path.read_bytes() == b"an earlier one"
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


def test_folder_that_is_not_there_is_named(tmp_path, moons):
    model = make("LLSVMClassifier").fit(*moons)
    with pytest.raises(OnnxExportError, match="cannot be written"):
        to_onnx(model, tmp_path / "nowhere" / "model.onnx")


# --- what has no graph --------------------------------------------------------------------------


def test_missing_onnx_is_named(monkeypatch, moons):
    model = make("LLSVMClassifier").fit(*moons)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install nearlinear\[onnx\]"):
        to_onnx(model)


def test_model_that_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        to_onnx(make("LLSVMClassifier"))


def test_neighborhood_machine_is_refused(moons):
    model = nearlinear.SVMKNNClassifier(n_neighbors=12).fit(*moons)
    with pytest.raises(OnnxExportError, match="SVMKNNClassifier solves a new problem"):
        to_onnx(model)


def test_other_steps_and_models_are_refused(moons):
    model = make_pipeline(KernelPCA(2), make("LLSVMClassifier")).fit(*moons)
    with pytest.raises(OnnxExportError, match="KernelPCA has no place"):
        to_onnx(model)
    with pytest.raises(OnnxExportError, match="KernelPCA is no model of nearlinear"):
        to_onnx(model[0])


def test_code_of_the_user_is_refused(moons):
    X, y = moons
    own = make("UniformMKLClassifier", kernels=Custom(lambda X, Z: X @ Z.T)).fit(X, y)
    with pytest.raises(OnnxExportError, match="A Custom kernel is a function"):
        to_onnx(own)
    seen = make("LMKLClassifier", gating_features=np.abs).fit(X, y)
    with pytest.raises(OnnxExportError, match="function of yours"):
        to_onnx(seen)


def test_similarities_are_refused(moons):
    X, y = moons
    model = make("UniformMKLClassifier", kernels="precomputed").fit((X @ X.T)[:, :, None], y)
    with pytest.raises(OnnxExportError, match="Precomputed kernel"):
        to_onnx(model)


def test_classes_of_the_user_are_no_kinds_of_ours():
    class Softmax(type(softmax_gate())):
        """Something else of the same name."""

    gate = Softmax(random(3, D), random(3))
    with pytest.raises(OnnxExportError, match="Softmax is no kind of nearlinear"):
        to_onnx(model_of(gated_linear(gate, random(D, 3), random(3), 0.4)))


def test_numbers_beyond_float32_are_refused():
    predictor = PREDICTORS["softmax gate"]
    gate = replace(predictor.gate, offsets=np.array([1e300, 0.0, 0.0]))
    model = model_of(predictor, "float32")
    model.predictor_ = replace(model.predictor_, gate=gate)
    with pytest.raises(OnnxExportError, match="not finite in float32"):
        to_onnx(model)


@pytest.mark.parametrize("name", ["Gaussian", "sparse support"])
def test_model_beyond_what_a_file_holds_is_refused(name, monkeypatch):
    monkeypatch.setattr(onnx_builder, "_LARGEST", 100)
    with pytest.raises(OnnxExportError, match="an ONNX file holds 2 GB"):
        to_onnx(model_of(PREDICTORS[name]))


def test_labels_that_onnx_does_not_have_are_refused(moons):
    model = make("LLSVMClassifier").fit(*moons)
    model.classes_ = np.array([b"a", b"b"])
    with pytest.raises(OnnxExportError, match="whole numbers and strings"):
        to_onnx(model)


# --- pipelines of skl2onnx ----------------------------------------------------------------------


@EACH_DTYPE
@pytest.mark.parametrize("name", ["LDKLClassifier", "LLSVMClassifier", "LDKLRegressor"])
def test_skl2onnx_takes_the_models_behind_other_steps(name, dtype, blobs):
    skl2onnx = pytest.importorskip("skl2onnx")
    from nearlinear.export.onnx.skl2onnx import register_converters

    register_converters()
    X, y = blobs
    X = X.astype(dtype)
    model = make_pipeline(MinMaxScaler(), PCA(3), make(name)).fit(X, y)
    proto = skl2onnx.to_onnx(model, X[:1])
    found = outputs_of(onnxruntime.InferenceSession(proto.SerializeToString()), X)
    scores = getattr(model, "decision_function", model.predict)(X).reshape(len(X), -1)
    given = found["scores" if "scores" in found else "variable"]
    np.testing.assert_allclose(given, scores, rtol=0, atol=1e-5 * np.abs(scores).max())
    if "label" in found:
        assert np.array_equal(found["label"], model.predict(X))


def test_a_forest_with_categories_that_no_split_uses_is_exported(tmp_path):
    path = tmp_path / "model.nlm"
    path.write_bytes(crafted.file_of("forest of splits"))
    model = nearlinear.load(path)
    rows = np.random.default_rng(0).standard_normal((5, crafted.N_FEATURES))
    session = onnxruntime.InferenceSession(
        to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    found = dict(zip([one.name for one in session.get_outputs()], session.run(None, {"X": rows})))
    np.testing.assert_array_equal(found["label"], runtime.load(path).predict(rows))
