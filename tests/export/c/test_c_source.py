"""C source: what gcc makes of it gives the scores of the model, to float32's rounding."""

import ctypes
import os
import re
import shutil
import subprocess
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from grids import in_one_test
from scipy.sparse import csr_matrix
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
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
from nearlinear.export.c.literals import CSourceError, float_literals, string_literal
from nearlinear.export.c.quantized import quantize, quantized, rounded_rows
from nearlinear.export.c.scaling import Scaling, absorbed
from nearlinear.export.c.source import to_c
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
from nearlinear.predictors.averaged import Averaged
from nearlinear.predictors.combined import Stacked, tree_predictor
from nearlinear.predictors.conformal_linear import ConformalLinear
from nearlinear.predictors.gated_expansion import GatedExpansion
from nearlinear.predictors.kernel_expansion import KernelExpansion
from nearlinear.predictors.locally_linear import LocallyLinear

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc compiles the sources")
FLAGS = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pedantic",
    "-std=c99",
    "-Wconversion",
    "-Wdouble-promotion",
]

BANK = bank(widths=3, degrees=(2,))
FOREST = {
    "n_trees": 6, "max_leaves": 8, "min_samples_leaf": 2, "pairs": 2, "leaf_penalty": 1.0,
    "leaf_model": "linear", "linear_root": True, "random_state": 0,
}  # fmt: skip
CLASSIFIERS = {
    "LLSVMClassifier": {"n_anchors": 8, "n_neighbors": 3, "random_state": 0},
    "LCCSVMClassifier": {"n_anchors": 15, "n_neighbors": 3, "random_state": 0},
    "LLCSAPLClassifier": {"n_anchors": 8, "n_neighbors": 3, "max_iter": 12, "random_state": 0},
    "LDKLClassifier": {"depth": 2, "max_iter": 40, "random_state": 0},
    "ClusteredSVMClassifier": {"n_clusters": 5, "random_state": 0},
    "UniformMKLClassifier": {"C": 1.0},
    "SimpleMKLClassifier": {"C": 1.0},
    "SPGGMKLClassifier": {"C": 1.0},
    "SequentialMKLClassifier": {"kernels": BANK, "C": 1.0},
    "MWUMKLClassifier": {"C": 1.0},
    "MLLKMClassifier": {"n_anchors": 25, "C": 1.0, "random_state": 0},
    "LMKLClassifier": {"random_state": 0},
    "ConvexLMKLClassifier": {"C": 1.0, "random_state": 0},
    "SwMKLClassifier": {"C": 1.0},
    "LDMKLClassifier": {"C": 1.0},
    "SAMKLClassifier": {"C": 1.0, "max_rounds": 3},
    "LaSVMClassifier": {"random_state": 0},
    "CPSPClassifier": {"n_basis": 8, "max_iter": 20, "random_state": 0},
    "DCPredClassifier": {"n_clusters": 3, "n_landmarks": 4, "random_state": 0},
    "LocalForestClassifier": FOREST,
}
REGRESSORS = {
    "LDKLRegressor": {"depth": 2, "max_iter": 40, "random_state": 0},
    "UniformMKLRegressor": {},
    "SimpleMKLRegressor": {},
    "SPGGMKLRegressor": {},
    "SequentialMKLRegressor": {"kernels": BANK},
    "MLLKMRegressor": {"n_anchors": 25, "max_support": 200, "random_state": 0},
    "LMKLRegressor": {"random_state": 0},
    "DCPredRegressor": {"n_clusters": 3, "n_landmarks": 4, "random_state": 0},
    "LocalForestRegressor": FOREST,
}


def compiled(records, folder, compiler="gcc", level="-O2"):
    """All sources as one library, compiled as one file: their names must not collide."""
    lines = [f'#include "{record.source.name}"\n' for record in records]
    (folder / "all.c").write_text("".join(lines))
    command = [compiler, *FLAGS, level, "-shared", "-fPIC", "-o", "all.so", "all.c", "-lm"]
    subprocess.run(command, check=True, cwd=folder)
    return ctypes.CDLL(str(folder / "all.so"))


def scores_in_c(library, X, n_outputs, name="model"):
    X = np.ascontiguousarray(X, dtype=np.float32)
    scores = np.full((len(X), n_outputs), np.nan, dtype=np.float32)
    function = getattr(library, f"{name}_scores")
    for x, out in zip(X, scores):
        function(x.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p))
    return scores


def assert_same_scores(scores, wanted, share=1e-4):
    wanted = np.asarray(wanted).reshape(len(scores), -1)
    assert np.abs(scores - wanted).max() <= share * np.abs(wanted).max()


def runs(record, folder, *flags):
    """The exit code of the generated test program."""
    program = folder / "program"
    sources = [str(record.source), str(record.test)]
    subprocess.run(["gcc", *FLAGS, *flags, "-o", str(program), *sources, "-lm"], check=True)
    return subprocess.run([str(program)], capture_output=True, check=False).returncode


@pytest.fixture(scope="module")
def wave():
    rng = np.random.default_rng(7)
    X = rng.uniform(-2.0, 2.0, (150, 2))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]


def holding(predictor, n_features):
    """A fitted model with a predictor of our own."""
    X = np.random.default_rng(0).standard_normal((12, n_features))
    model = nearlinear.UniformMKLClassifier("linear").fit(X, X[:, 0] > 0)
    n_outputs = predictor(X).shape[1]
    model.predictor_ = predictor
    model.classes_ = np.arange(2 if n_outputs == 1 else n_outputs)
    return model


# --- every estimator ----------------------------------------------------------------------------


@needs_gcc
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_compiled_scores_and_labels_are_the_models(name, moons, blobs, tmp_path):
    make = getattr(nearlinear, name)
    two, three = (make(**CLASSIFIERS[name]).fit(*data) for data in (moons, blobs))
    first = to_c(two, tmp_path, name="two", sample=moons[0])
    second = to_c(three, tmp_path, name="three", sample=blobs[0])
    library = compiled([first, second], tmp_path)
    assert_same_scores(scores_in_c(library, moons[0], 1, "two"), two.decision_function(moons[0]))
    scores = scores_in_c(library, blobs[0], 3, "three")
    assert_same_scores(scores, three.decision_function(blobs[0]))
    rows = np.ascontiguousarray(blobs[0][:40], dtype=np.float32)
    labels = [library.three_predict(x.ctypes.data_as(ctypes.c_void_p)) for x in rows]
    assert np.mean(labels == three.predict(blobs[0][:40])) >= 0.97
    assert first.agreement == 1.0 and second.n_rows == len(blobs[0])


@needs_gcc
@pytest.mark.parametrize("name", REGRESSORS)
def test_compiled_values_are_the_regressors(name, wave, tmp_path):
    model = getattr(nearlinear, name)(**REGRESSORS[name]).fit(*wave)
    record = to_c(model, tmp_path, sample=wave[0], sample_labels=wave[1])
    library = compiled([record], tmp_path)
    assert_same_scores(scores_in_c(library, wave[0], 1), model.predict(wave[0]))
    library.model_value.restype = ctypes.c_float
    row = wave[0][3].astype(np.float32)
    value = library.model_value(row.ctypes.data_as(ctypes.c_void_p))
    assert value == pytest.approx(model.predict(wave[0][3:4])[0], rel=1e-3, abs=1e-4)
    assert record.agreement is None
    assert record.accuracy_before == pytest.approx(model.score(*wave), abs=1e-9)
    assert record.accuracy_after == pytest.approx(record.accuracy_before, abs=1e-3)


def test_every_public_estimator_but_the_one_without_a_model_is_covered():
    public = {name for name in nearlinear.__all__ if name.endswith(("Classifier", "Regressor"))}
    assert {*CLASSIFIERS, *REGRESSORS} <= public
    own = {"SVMKNNClassifier"}
    missing = public - {*CLASSIFIERS, *REGRESSORS} - own
    assert all(not hasattr(getattr(nearlinear, name), "_learn") for name in missing)


# --- every kind of model ------------------------------------------------------------------------

D = 5


def numbers(seed=0):
    return np.random.default_rng(seed).standard_normal


def soft_anchors(metric):
    anchors = 3.0 + numbers()((9, D))
    return SoftAssignment(anchors, 4, 0.7, np.linspace(0.1, 2.0, D) if metric else None)


def locally_linear(gate, width=D):
    return LocallyLinear(gate, numbers(1)((9, width, 3)), numbers(2)((9, 3)))


def tree(feature, n_outputs=2, projected=False, seed=0):
    width = 4 if projected else D + 1
    n_splits = 15 if feature.name == "compositional" else 7
    draw = numbers(seed)
    return tree_predictor(
        draw((n_splits, width)), draw((15 if feature.name == "tanh" else 0, width)),
        draw((15, n_outputs, width)), draw(n_outputs), feature,
        draw((3, D + 1)) if projected else None,
    )  # fmt: skip


def conformal(profile, per_feature):
    kernels, outputs = np.array([0, 0, 1, 2, 3, 3]), np.array([0, 2, 1, 0, 1, 2])
    gammas = np.array([0.1, 0.2, 0.3, 0.05])
    return ConformalLinear(
        numbers()((4, D)), gammas, numbers(1)((6, D)), kernels, outputs, numbers(2)(3), profile,
        per_feature,
    )  # fmt: skip


def expansion(*kernels, n_outputs=2):
    coefficients = numbers(1)((len(kernels), 12, n_outputs))
    return KernelExpansion(kernels, numbers()((12, D)), coefficients, numbers(2)(n_outputs), D)


def components():
    kernels = (Gaussian(0.2), Scaled(Polynomial(2, 0.1, 1.0), 0.5))
    return machines(
        kernels, (0, 1, 0, 1), numbers()((12, D)), numbers(1)((4, 12)), numbers(2)(4), D
    )


def gated_rows():
    gate = Softmax(numbers()((2, D)), numbers(1)(2))
    rows = numbers(2)((10, D))
    kernel = PairwiseNormalizedSum((Gaussian(0.2), UnitDiagonal(Polynomial(2, 0.3, 1.0))), D)
    machine = KernelExpansion(
        (kernel,), np.hstack([rows, gate(rows)]), numbers(3)((1, 10, 1)), numbers(4)(1), D
    )
    return on_gated_rows(gate, machine)


DIRECTIONS, OFFSETS = numbers(5)((4, D)), numbers(6)(4)
SOFT = Softmax(DIRECTIONS, OFFSETS)
GATES = {
    "softmax": SOFT,
    "sigmoid": Sigmoid(DIRECTIONS, OFFSETS),
    "gaussian": GaussianGate(DIRECTIONS, 0.3 * OFFSETS, 2.0),
    "viewing": Viewing(Softmax(DIRECTIONS[:, :2], OFFSETS), Columns((3, 1))),
    "rounded": Rounded(Softmax(4.0 * DIRECTIONS, OFFSETS), 0.05),
    "softmax of scores": SoftmaxOf(components(), 0.3),
    "clipped scores": Clipped(expansion(Gaussian(0.1), n_outputs=4), 0.1),
    "unit length": UnitLength(SOFT),
    "repeated": Repeated(Softmax(DIRECTIONS[:2], OFFSETS[:2]), 2),
}
KINDS = {
    "soft assignment": locally_linear(soft_anchors(metric=False)),
    "soft assignment, metric": locally_linear(soft_anchors(metric=True)),
    "constants": locally_linear(soft_anchors(metric=True), width=0),
    "inverse distance": locally_linear(InverseDistance(numbers()((9, D)), 4)),
    "reconstruction": locally_linear(ReconstructionCodes(numbers()((9, D)), 4)),
    "tanh": tree(TanhNode(1.5)),
    "compositional": tree(CompositionalNode()),
    "indicator": tree(IndicatorNode(), n_outputs=1),
    "projected": tree(TanhNode(), projected=True),
    "forest": mean_of(*(tree(TanhNode(), seed=seed) for seed in range(3))),
    "additive": additive(D, 3),
    "additive without knots": additive(D, counts=(0,)),
    "hinges": hinges(D, 3, units=(7, 9, 5)),
    "hinges of one layer": hinges(D, units=(4,)),
    "average of two classes": averaged(D, first=tree(TanhNode(), n_outputs=1)),
    "average of classes": averaged(D, 3, first=locally_linear(soft_anchors(metric=False))),
    "average of values": Averaged((additive(D), additive(D, seed=1)), (1.0, 3.0)),
    "linear": expansion(Linear(), n_outputs=1),
    "polynomial": expansion(Polynomial(3, 0.2, 1.0)),
    "on columns": expansion(OnColumns(Gaussian(0.4), (3, 1))),
    "columns and all": expansion(
        OnColumns(Linear(), (2,)), Gaussian(0.1), OnColumns(Gaussian(1.0), (0, 2))
    ),
    "unit diagonal": expansion(UnitDiagonal(Polynomial(2, 0.3, 1.0)), UnitDiagonal(Gaussian(0.3))),
    "unit sum": expansion(
        UnitDiagonal(WeightedSum((OnColumns(Linear(), (1, 3)), Gaussian(0.2)), (0.5, 2.0)))
    ),
    "weighted sum": expansion(
        WeightedSum((Gaussian(0.3), Scaled(Linear(), 0.1), UnitDiagonal(Linear())), (1.0, 2.0, 0.5))
    ),
    "wide": expansion(Scaled(Gaussian(1e-4), 5e3), Gaussian(0.5)),
    "vote": vote(SOFT, components()),
    "selected": selected_sum(components(), 3, 0.3),
    "linear models": gated_linear(SOFT, numbers(8)((D, 4)), numbers(9)(4), 0.4),
    "gated rows": gated_rows(),
    "stacked": Stacked(
        (
            vote(SOFT, components()),
            selected_sum(components(), 2, 0.1),
            selected_sum(components(), 3, 0.2),
        )
    ),
    **{f"gate: {name}": GatedExpansion(gate, components(), 0.2) for name, gate in GATES.items()},
    **{
        f"conformal: {profile}, {per_feature}": conformal(profile, per_feature)
        for profile in ("exponential", "gaussian", "linear", "square")
        for per_feature in (False, True)
    },
}


SAMPLE = numbers(11)((60, D))


@pytest.fixture(scope="module")
def all_kinds(tmp_path_factory):
    """Folder and library of every kind, in float32 (f0, f1, ...) and in int8 (i0, i1, ...)."""
    folder = tmp_path_factory.mktemp("kinds")
    models = [holding(predictor, D) for predictor in KINDS.values()]
    records = [
        to_c(model, folder, dtype, sample=SAMPLE, name=f"{dtype[0]}{number}")
        for number, model in enumerate(models)
        for dtype in ("float32", "int8")
    ]
    return folder, compiled(records, folder, level="-O1")


@needs_gcc
@pytest.mark.parametrize("number, kind", enumerate(KINDS))
def test_every_kind_of_model_scores_as_in_python(number, kind, all_kinds):
    wanted = KINDS[kind](SAMPLE)
    scores = scores_in_c(all_kinds[1], SAMPLE, wanted.shape[1], f"f{number}")
    assert_same_scores(scores, wanted)


@needs_gcc
@in_one_test("number, kind", enumerate(KINDS))
def test_eight_bit_sources_compute_with_the_rounded_tables(number, kind, all_kinds):
    predictor, scaling = absorbed(KINDS[kind], Scaling(None, None), True)
    wanted = quantized(predictor)(scaling(SAMPLE.astype(np.float32).astype(np.float64)))
    scores = scores_in_c(all_kinds[1], SAMPLE, wanted.shape[1], f"i{number}")
    away = np.abs(scores - wanted).max(axis=1) / np.abs(wanted).max()
    assert np.quantile(away, 0.95) <= 1e-4  # at a split, rounding may decide


@needs_gcc
def test_wide_gaussians_keep_their_digits(all_kinds):
    """Their machines cancel: summed as they are, float32 would leave three digits."""
    kind = "wide"
    scores = scores_in_c(all_kinds[1], SAMPLE, 2, f"f{list(KINDS).index(kind)}")
    assert_same_scores(scores, KINDS[kind](SAMPLE), share=2e-6)


# --- what goes around a model -------------------------------------------------------------------


def far_from_the_origin(moons):
    X, y = moons
    return X * [3.0, 0.1] + [20.0, -0.7], y


PIPED = ["LLCSAPLClassifier", "LDKLClassifier", "LMKLClassifier", "LaSVMClassifier"]


@needs_gcc
@pytest.mark.parametrize("name", [*PIPED, "MLLKMClassifier", "SwMKLClassifier"])
def test_pipelines_take_rows_before_the_scaler(name, moons, tmp_path):
    X, y = far_from_the_origin(moons)
    make = getattr(nearlinear, name)
    model = make_pipeline(StandardScaler(), make(**CLASSIFIERS[name])).fit(X, y)
    records = [to_c(model, tmp_path, kind, X, y, name=kind) for kind in ("float32", "int8")]
    library = compiled(records, tmp_path)
    scores = scores_in_c(library, X, 1, "float32")
    assert_same_scores(scores, model.decision_function(X))
    labels = scores_in_c(library, X, 1, "int8")[:, 0] > 0
    assert np.mean(labels == model.predict(X)) >= 0.97
    assert records[0].accuracy_before == pytest.approx(model.score(X, y))
    assert records[1].accuracy_after == pytest.approx(np.mean(labels == y), abs=0.011)


@pytest.mark.parametrize("name", ["LDKLClassifier", "LMKLClassifier"])
def test_the_scaler_vanishes_into_linear_tables(name, moons, tmp_path):
    scaled = make_pipeline(StandardScaler(), getattr(nearlinear, name)(**CLASSIFIERS[name]))
    scaled.fit(*far_from_the_origin(moons))
    folded, kept = to_c(scaled, tmp_path / "a"), to_c(scaled, tmp_path / "b", "int8")
    alone = to_c(scaled[-1], tmp_path / "c")
    assert folded.table_bytes == alone.table_bytes
    assert folded.multiply_adds == alone.multiply_adds == kept.multiply_adds - 2
    assert "shift" not in folded.source.read_text() and "shift" in kept.source.read_text()


def test_a_scaler_that_would_cost_digits_is_not_folded(moons, tmp_path):
    X, y = moons
    inner = nearlinear.LDKLClassifier(depth=1, max_iter=5, random_state=0)
    model = make_pipeline(StandardScaler(), inner)
    record = to_c(model.fit(X + 1000.0, y), tmp_path, sample=X + 1000.0)
    assert "shift" in record.source.read_text()
    assert record.largest_difference <= 1e-4 * record.largest_score


@needs_gcc
@pytest.mark.parametrize("settings", [{"with_mean": False}, {"with_std": False}])
@pytest.mark.filterwarnings("ignore:.* of the variance of all")
def test_halves_of_a_scaler_are_enough(settings, moons, tmp_path):
    X, y = far_from_the_origin(moons)
    inner = nearlinear.LLSVMClassifier(n_anchors=8, random_state=0)
    model = make_pipeline(StandardScaler(**settings), inner).fit(X, y)
    library = compiled([to_c(model, tmp_path)], tmp_path)
    assert_same_scores(scores_in_c(library, X, 1), model.decision_function(X))


@needs_gcc
def test_a_second_matrix_for_the_gate_comes_after_the_features(moons, tmp_path):
    X, y = moons
    gating = np.column_stack([X[:, 0] ** 2, X.sum(axis=1)])
    model = nearlinear.LMKLClassifier(n_copies=3, random_state=0).fit(X, y, gating=gating)
    rows = np.hstack([X, gating])
    record = to_c(model, tmp_path, sample=rows)
    assert "#define MODEL_N_FEATURES 4\n" in record.header.read_text()
    scores = scores_in_c(compiled([record], tmp_path), rows, 1)
    assert_same_scores(scores, model.decision_function(X, gating=gating))


@needs_gcc
def test_models_of_float32_and_of_sparse_rows_are_exported(moons, tmp_path):
    X, y = moons
    narrow = nearlinear.LDKLClassifier(depth=2, max_iter=9).fit(X.astype(np.float32), y)
    sparse = nearlinear.UniformMKLClassifier("gaussian").fit(csr_matrix(X), y)
    records = [to_c(narrow, tmp_path, name="narrow", sample=csr_matrix(X))]
    records += [to_c(sparse, tmp_path, name="sparse")]
    library = compiled(records, tmp_path)
    wanted = narrow.decision_function(X.astype(np.float32))
    assert_same_scores(scores_in_c(library, X, 1, "narrow"), wanted)
    assert_same_scores(scores_in_c(library, X, 1, "sparse"), sparse.decision_function(X))


@needs_gcc
def test_machines_without_support_rows_give_their_bias(wave, tmp_path):
    model = nearlinear.UniformMKLRegressor(epsilon=100.0).fit(*wave)
    assert model.n_support_ == 0
    records = [to_c(model, tmp_path, kind, name=kind) for kind in ("float32", "int8")]
    library = compiled(records, tmp_path)
    for kind in ("float32", "int8"):
        assert_same_scores(scores_in_c(library, wave[0][:5], 1, kind), model.predict(wave[0][:5]))


@needs_gcc
def test_rows_that_are_anchors_get_their_own_model(moons, tmp_path):
    model = nearlinear.LLSVMClassifier(
        coding="inverse", n_anchors=8, n_neighbors=3, random_state=0
    ).fit(*moons)
    anchors = model.anchors_.astype(np.float32)
    library = compiled([to_c(model, tmp_path)], tmp_path)
    assert_same_scores(scores_in_c(library, anchors, 1), model.decision_function(anchors))


LABELS = ['say "no"', "a\\b", "größer ≥ 日本", "what??/", "tab\tand\nline"]
# what our own templates call their gaps
MARKS = ["user@example.com", "@@_N_CLASSES $ <N_OUTPUTS>", "<LABELS> <CALLS> row[d]"]


@needs_gcc
@pytest.mark.parametrize("labels", [LABELS, MARKS], ids=["text", "marks"])
def test_labels_of_any_text_come_back(labels, blobs, tmp_path):
    X, group = blobs
    y = np.array(labels)[group]
    model = nearlinear.LDKLClassifier(depth=1, max_iter=3, random_state=0).fit(X, y)
    record = to_c(model, tmp_path, sample=X, sample_labels=y)
    library = compiled([record], tmp_path)
    found = (ctypes.c_char_p * 3).in_dll(library, "model_labels")
    assert [text.decode() for text in found] == model.classes_.tolist()
    assert record.source.read_bytes().isascii()
    assert record.accuracy_before == pytest.approx(model.score(X, y))


@needs_gcc
@pytest.mark.parametrize("label", LABELS)
def test_a_string_literal_is_the_string(label, tmp_path):
    (tmp_path / "s.c").write_text(f"const char *const s = {string_literal(label)};\n")
    subprocess.run(
        ["gcc", *FLAGS, "-shared", "-fPIC", "-o", "s.so", "s.c"], check=True, cwd=tmp_path
    )
    library = ctypes.CDLL(str(tmp_path / "s.so"))
    assert ctypes.c_char_p.in_dll(library, "s").value.decode() == label


@needs_gcc
@pytest.mark.parametrize("labels", [[3, -5], [False, True], [2.0, 7.0]])
def test_labels_that_are_no_text_are_written_as_such(labels, moons, tmp_path):
    X, y = moons
    model = nearlinear.LDKLClassifier(depth=1, max_iter=3).fit(X, np.array(labels)[y])
    library = compiled([to_c(model, tmp_path)], tmp_path)
    found = (ctypes.c_char_p * 2).in_dll(library, "model_labels")
    assert [text.decode() for text in found] == [str(label) for label in model.classes_]


# --- the files ----------------------------------------------------------------------------------


@needs_gcc
@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("name", PIPED)
def test_the_test_program_passes_and_notices_altered_tables(name, dtype, blobs, tmp_path):
    X, y = blobs
    model = make_pipeline(StandardScaler(), getattr(nearlinear, name)(**CLASSIFIERS[name]))
    record = to_c(model.fit(X, y), tmp_path, dtype)
    assert runs(record, tmp_path) == 0
    text = record.source.read_text()
    tables = re.findall(r"static const (?:float|int8_t) (\w+)\[\d+\] = \{(.*?)\};", text, re.DOTALL)
    assert len(tables) >= 3
    symbol, body = max(tables, key=lambda table: len(table[1]))
    altered = re.sub(r"-?\b[1-9][\d.e+-]*|-?\b0\.\d[\de+-]*", "7", body).replace("7f", "7.0f")
    record.source.write_text(text.replace(body, altered))
    assert runs(record, tmp_path) == 1, symbol


@needs_gcc
def test_the_test_program_of_values_passes(wave, tmp_path):
    model = nearlinear.LDKLRegressor(depth=2, max_iter=9, random_state=0).fit(*wave)
    assert runs(to_c(model, tmp_path, sample=wave[0]), tmp_path) == 0


@needs_gcc
@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed")
def test_clang_finds_nothing_to_say_either(all_kinds):
    folder, _ = all_kinds
    command = ["clang", *FLAGS, "-fsyntax-only", "all.c"]
    subprocess.run(command, check=True, cwd=folder)


@needs_gcc
@in_one_test("number", range(len(KINDS)))
@pytest.mark.parametrize("letter", "fi")
def test_sources_are_plain_single_precision(letter, number, all_kinds):
    folder, _ = all_kinds
    for end in (".h", ".c", "_test.c"):
        text = (folder / f"{letter}{number}{end}").read_text(encoding="ascii")
        text = re.sub(r'/\*.*?\*/|"[^"]*"', "", text, flags=re.DOTALL)
        assert not re.search(r"\b(malloc|calloc|free|double|long|goto)\b", text)
        literals = re.findall(r"(?<![\w.])(?:\d+\.\d*|\d+e[+-]?\d+)[\de+-]*\w*", text)
        assert literals or end == ".h"
        assert all(literal.endswith("f") for literal in literals)
        known = {"expf", "logf", "tanhf", "sqrtf", "printf"}
        assert set(re.findall(r"\b[a-z]+f(?=\()", text)) <= known


def test_tables_grow_with_the_model_and_code_does_not(moons, tmp_path):
    X, y = moons
    sizes = [10, 60]
    small, large = (
        to_c(nearlinear.LLSVMClassifier(n_anchors=n, random_state=0).fit(X, y), tmp_path / str(n))
        for n in sizes
    )
    assert small.code_bytes == large.code_bytes
    assert large.table_bytes - small.table_bytes == 50 * 4 * (2 + 2 + 1 + 1)


def test_outputs_that_are_built_alike_share_their_code(tmp_path):
    outputs = [selected_sum(components(), 2, 0.1 * number) for number in range(9)]
    few, many = (to_c(holding(Stacked(tuple(outputs[:n])), D), tmp_path / str(n)) for n in (3, 9))
    assert few.code_bytes == many.code_bytes


def test_a_hundred_anchors_of_covertype_take_44_kilobytes(tmp_path):
    draw = numbers()
    gate = SoftAssignment(draw((100, 54)), 8, 1.0, np.ones(54))
    predictor = LocallyLinear(gate, draw((100, 54, 1)), draw((100, 1)))
    record = to_c(holding(predictor, 54), tmp_path)
    assert 43_000 <= record.table_bytes <= 45_500
    assert 40_000 <= record.flash_bytes <= 50_000
    assert record.flash_bytes == record.table_bytes + record.code_bytes
    assert record.multiply_adds == 100 * 54 + 8 * 55
    eighth = to_c(holding(predictor, 54), tmp_path, "int8")
    assert eighth.table_bytes < 13_000


def test_costs_are_listed_table_by_table(blobs, tmp_path):
    X, y = blobs
    model = nearlinear.LLSVMClassifier(n_anchors=8, random_state=0).fit(X, y)
    record = to_c(model, tmp_path, sample=X, sample_labels=y)
    text = record.cost.read_text()
    assert f"flash          {record.flash_bytes} bytes" in text
    assert re.search(r"anchors +128 float +8 x 4\n", text)
    assert re.search(r"weights +384 float +24 x 4\n", text)
    assert f"accuracy       {model.score(X, y):.4f} before" in text
    listed = sum(int(n) for n in re.findall(r"^[\w()]+ +(\d+) (?:float|uint16| )", text, re.M))
    assert listed == record.table_bytes


def test_the_stack_holds_the_arrays(tmp_path):
    predictor = locally_linear(ReconstructionCodes(7.0 + numbers()((9, D)), 4))
    record = to_c(holding(predictor, D), tmp_path)
    # a scaled row, three scores, four neighbors with codes, and their Gram matrix
    arrays = 4 * (D + 3 + 4 + 4 + 16)
    assert arrays <= record.ram_bytes <= arrays + 300


def test_factors_of_coefficients_are_stored_instead_of_their_product(moons, tmp_path):
    model = nearlinear.UniformMKLClassifier(C=1.0).fit(*moons)
    n_kernels, n_support, _ = model.predictor_.coefficients.shape
    assert n_kernels == 10
    record = to_c(model, tmp_path)
    assert record.table_bytes < 4 * 3 * n_support + 400


def test_columns_that_no_kernel_reads_are_not_stored(tmp_path):
    text = to_c(holding(KINDS["on columns"], D), tmp_path).source.read_text()
    assert "model_support[24]" in text


@needs_gcc
def test_rows_that_are_not_numbers_do_no_harm(blobs, tmp_path):
    X, y = blobs
    model = nearlinear.LLSVMClassifier(n_anchors=8, random_state=0).fit(X, y)
    library = compiled([to_c(model, tmp_path)], tmp_path)
    rows = np.array([[np.nan] * 4, [np.inf, 0, 0, 0]], dtype=np.float32)
    found = [library.model_predict(x.ctypes.data_as(ctypes.c_void_p)) for x in rows]
    assert all(0 <= label < 3 for label in found)


# --- eight bits ---------------------------------------------------------------------------------


def test_rounding_to_eight_bits_twice_is_rounding_once(rng):
    rows = rng.standard_normal((40, 7)) * 10.0 ** rng.integers(-6, 6, (40, 1))
    rows[3] = 0.0
    whole, scales = quantize(rows)
    assert whole.dtype == np.int8 and whole.min() >= -127 and whole.max() == 127
    once = rounded_rows(rows)
    assert np.abs(once - rows).max(axis=1) == pytest.approx(0.5 * scales, abs=0.0, rel=1.0)
    again, same_scales = quantize(once)
    assert np.array_equal(whole, again) and np.array_equal(scales, same_scales)


def test_only_tables_of_rows_are_rounded():
    before, after = KINDS["tanh"], quantized(KINDS["tanh"])
    assert np.array_equal(before.weights[..., -1], after.weights[..., -1])
    assert not np.array_equal(before.weights, after.weights)
    assert np.array_equal(KINDS["linear"].coefficients, quantized(KINDS["linear"]).coefficients)


@pytest.mark.parametrize("name", ["LLCSAPLClassifier", "LDKLClassifier", "LaSVMClassifier"])
def test_eight_bits_keep_97_of_100_labels(name, blobs, tmp_path):
    X, y = blobs
    model = getattr(nearlinear, name)(**CLASSIFIERS[name]).fit(X, y)
    record = to_c(model, tmp_path, "int8", sample=X, sample_labels=y)
    assert record.agreement >= 0.97
    assert record.accuracy_after >= record.accuracy_before - 0.03
    assert 0 < record.largest_difference < 0.1 * record.largest_score


# --- refusals -----------------------------------------------------------------------------------


def refused(match, *arguments, **settings):
    with pytest.raises(CSourceError, match=match) as caught:
        to_c(*arguments, **settings)
    assert str(caught.value).count("\n") == 0 and str(caught.value).endswith(".")


REFUSED = {
    "Custom kernel": expansion(Custom(lambda X, Z: X @ Z.T)),
    "another UnitDiagonal": expansion(
        UnitDiagonal(WeightedSum((UnitDiagonal(Linear()), Gaussian(0.1)), (1.0, 1.0)))
    ),
    "sees rows through a function": gated_linear(
        Viewing(Softmax(DIRECTIONS, OFFSETS), np.tanh), numbers()((D, 4)), numbers()(4), 0.0
    ),
    "holds a function": GatedExpansion(SoftmaxOf(lambda X: X[:, :4]), components(), 0.0),
    "too large for float32": expansion(Scaled(Linear(), 1e300)),
    "sums with unit diagonals": on_gated_rows(
        SOFT,
        replace(
            expansion(Linear()),
            kernels=(
                PairwiseNormalizedSum(
                    (WeightedSum((UnitDiagonal(Linear()), Linear()), (1.0, 1.0)),), D - 1
                ),
            ),
        ),
    ),
}


@in_one_test("match", REFUSED)
def test_models_without_c_are_refused_in_a_sentence(match, tmp_path):
    model = holding(KINDS["linear"], D)
    model.predictor_ = REFUSED[match]
    refused(match, model, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_other_models_are_refused_in_a_sentence(moons, tmp_path):
    X, y = moons
    refused("around every query", nearlinear.SVMKNNClassifier().fit(X, y), tmp_path)
    gram = nearlinear.UniformMKLClassifier("precomputed").fit((X @ X.T)[:, :, None], y)
    refused("Precomputed kernel", gram, tmp_path)
    refused("model of nearlinear", LogisticRegression().fit(X, y), tmp_path)
    other = make_pipeline(KernelPCA(2), nearlinear.LDKLClassifier(max_iter=2)).fit(X, y)
    refused("take scikit-learn's scalers", other, tmp_path)
    with pytest.raises(NotFittedError):
        to_c(nearlinear.LDKLClassifier(), tmp_path)


def test_wrong_arguments_are_refused_in_a_sentence(moons, tmp_path):
    X, y = moons
    model = nearlinear.LDKLClassifier(depth=1, max_iter=2).fit(X, y)
    refused("'float32' or 'int8'", model, tmp_path, "float64")
    refused("give sample", model, tmp_path, sample_labels=y)
    refused("3 columns", model, tmp_path, sample=np.zeros((2, 3)))
    for name in ("2fast", "a-b", "", "math", "ünder"):
        refused("cannot begin C names", model, tmp_path, name=name)
    with pytest.raises(ValueError, match="inconsistent"):
        to_c(model, tmp_path, sample=X, sample_labels=y[:-1])
    nul = nearlinear.LDKLClassifier(depth=1, max_iter=2).fit(X, np.array(["a\0b", "c"], object)[y])
    refused(r"The class label 'a\\x00b' contains a NUL character", nul, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_category_with_a_nul_character_is_refused_as_a_category(moons, tmp_path):
    y = moons[1]
    texts = np.array(["plain", "a\0b"], dtype=object)[y][:, None]
    encoder = OneHotEncoder(sparse_output=False)
    model = make_pipeline(encoder, nearlinear.LDKLClassifier(depth=1, max_iter=2)).fit(texts, y)
    refused(r"The category 'a\\x00b' of column 0 contains a NUL character", model, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named(moons, tmp_path):
    model = nearlinear.LDKLClassifier(depth=1, max_iter=2).fit(*moons)
    (tmp_path / "file").write_text("in the way")
    refused("file: the C files cannot be written", model, tmp_path / "file")
    (tmp_path / "model.h").mkdir()
    refused("cannot be written", model, tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["file", "model.h"]


def test_a_directory_is_made_and_nothing_else_left_in_it(moons, tmp_path):
    model = nearlinear.LDKLClassifier(depth=1, max_iter=2).fit(*moons)
    folder = tmp_path / "a" / "b"
    record = to_c(model, str(folder), name="moons")
    assert sorted(os.listdir(folder)) == ["moons.c", "moons.h", "moons_cost.txt", "moons_test.c"]
    assert {record.header, record.source, record.test, record.cost} == set(folder.iterdir())
    with pytest.raises(FrozenInstanceError):
        record.flash_bytes = 0


def test_the_same_model_gives_the_same_files(moons, tmp_path):
    model = nearlinear.LaSVMClassifier(random_state=0).fit(*moons)
    first, second = to_c(model, tmp_path / "a"), to_c(model, tmp_path / "b")
    for name in ("header", "source", "test", "cost"):
        assert getattr(first, name).read_bytes() == getattr(second, name).read_bytes()


def test_literals_are_the_shortest_that_give_the_number_back(rng):
    values = rng.standard_normal(300) * 10.0 ** rng.integers(-30, 30, 300)
    values = values.astype(np.float32)
    texts = float_literals(values)
    assert np.array_equal(np.array([float(t.rstrip("f")) for t in texts], np.float32), values)
    assert float_literals([0.1, 1e-45, 3.0]) == ["0.1f", "0.0f", "3.0f"]
