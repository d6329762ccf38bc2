"""Calibrated and threshold-tuned models: the same labels and probabilities wherever they go."""

import ctypes
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from grids import in_one_test
from numpy.testing import assert_allclose, assert_array_equal
from runtime import crafted, plain_reader
from sklearn import calibration as theirs
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA, KernelPCA
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC

from nearlinear import (
    LDKLClassifier,
    LLCSAPLClassifier,
    LLSVMClassifier,
    load,
    row_scorer,
    runtime,
    save,
    to_c,
    to_onnx,
)
from nearlinear.export.c.literals import CSourceError
from nearlinear.export.onnx.builder import OnnxExportError
from nearlinear.runtime import ModelFileError
from nearlinear.runtime.container import from_bytes, to_bytes
from nearlinear.runtime.outcome import Shares

# temperatures came with scikit-learn 1.8
METHODS = ["sigmoid", "isotonic", "temperature"][
    : 3 if hasattr(theirs, "_TemperatureScaling") else 2
]
FIRST_F1 = make_scorer(f1_score, pos_label=0)


def ours(**settings):
    return LLSVMClassifier(n_anchors=6, random_state=0, **settings)


class OfShares:
    """Fits a model whose scores are taken for shares, as those of a random forest are."""

    def fit(self, X, y):
        model = ours().fit(X, y)
        model.calibration_ = Shares()
        return model


def calibrated(model, **settings):
    return CalibratedClassifierCV(model, cv=3, **{"ensemble": False} | settings)


def scaled(model):
    return make_pipeline(StandardScaler(), model)


def tuned(model, **settings):
    return TunedThresholdClassifierCV(model, cv=3, **settings)


# Name: a model, and how many classes it is for.
CASES = {
    **{
        f"{method}, {n} classes{', averaged' * ensemble}": (
            lambda m=method, e=ensemble: calibrated(ours(), method=m, ensemble=e), n
        )
        for method in METHODS
        for n in (2, 3)
        for ensemble in (False, True)
    },
    "calibrated pipelines": (lambda: calibrated(scaled(ours()), ensemble=True), 3),
    "scaled before calibration": (lambda: scaled(calibrated(ours(), ensemble=True)), 3),
    "log loss": (lambda: LDKLClassifier(depth=2, max_iter=10, random_state=0), 3),
    "chosen log loss": (lambda: LLCSAPLClassifier(max_iter=3, random_state=0), 2),
    "shares of two": (lambda: OfShares(), 2),
    "shares of three": (lambda: OfShares(), 3),
    "threshold of a score": (lambda: tuned(ours(), scoring="f1"), 2),
    "threshold of a score of the first class": (lambda: tuned(ours(), scoring=FIRST_F1), 2),
    "threshold of a probability": (lambda: tuned(scaled(ours(loss="log_loss"))), 2),
    "threshold of the first class": (lambda: tuned(ours(loss="log_loss"), scoring=FIRST_F1), 2),
    "threshold after calibration": (lambda: scaled(tuned(calibrated(ours()))), 2),
    "fixed threshold": (
        lambda: FixedThresholdClassifier(ours(), threshold=0.3, pos_label="a"), 2
    ),
}  # fmt: skip
EACH_CASE = pytest.mark.parametrize("name", CASES)


@pytest.fixture(scope="module")
def rows():
    X, group = make_blobs(150, centers=6, cluster_std=2.2, n_features=4, random_state=3)
    return X, group


def labels_of(name, group):
    n_classes = CASES[name][1]
    # f1 of the class 0 needs numbers; elsewhere labels are text
    return group % 2 if "first class" in name or "score" in name else LETTERS[group % n_classes]


LETTERS = np.array(["a", "b", "c"])


@pytest.fixture(scope="module")
def models(rows):
    """Each case, fitted once."""
    X, group = rows
    return {name: make().fit(X, labels_of(name, group)) for name, (make, _) in CASES.items()}


@pytest.fixture
def new(rows):
    rng = np.random.default_rng(1)
    return rows[0] + 2.0 * rng.standard_normal(rows[0].shape)


def asked(model, X):
    names = ("predict", "predict_proba", "decision_function")
    return {name: getattr(model, name)(X) for name in names if hasattr(model, name)}


def assert_same_answers(model, X, labels, probabilities=None, atol=1e-12):
    """Labels, but for rows that rounding could decide, and probabilities."""
    wrong = np.asarray(labels) != model.predict(X)
    assert wrong.mean() <= (0.0 if atol < 1e-9 else 0.01)
    assert (probabilities is not None) == hasattr(model, "predict_proba")
    if probabilities is not None:
        assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=atol)


# --- files --------------------------------------------------------------------------------------


@EACH_CASE
def test_a_wrapped_model_comes_back_to_the_bit(name, models, new, tmp_path):
    model, path = models[name], tmp_path / "model.nlm"
    save(model, path)
    found = load(path)
    assert type(found) is type(model)
    wanted, got = asked(model, new), asked(found, new)
    assert wanted.keys() == got.keys()
    for method in wanted:
        assert_array_equal(got[method], wanted[method], strict=True)
    save(found, tmp_path / "again.nlm")  # what was loaded can be saved
    assert_array_equal(load(tmp_path / "again.nlm").predict(new), wanted["predict"])
    assert repr(clone(found)).split("(")[0] == repr(clone(model)).split("(")[0]


@in_one_test("name", CASES)
def test_numpy_alone_gives_the_same_answers(name, models, new, tmp_path):
    model, path = models[name], tmp_path / "model.nlm"
    save(model, path)
    found, plain = runtime.load(path), plain_reader.read(path.read_bytes())
    probabilities = found.predict_proba(new) if found.gives_probabilities else None
    assert_same_answers(model, new, found.predict(new), probabilities, atol=1e-11)
    few = new[:20]
    by_row = None
    if found.gives_probabilities:
        by_row = [plain_reader.probabilities(plain, row) for row in few.tolist()]
    labels = [plain_reader.label(plain, row) for row in few.tolist()]
    assert_same_answers(model, few, labels, by_row, atol=1e-10)


def test_parameters_and_findings_of_wrappers_come_back(models, tmp_path):
    path = tmp_path / "model.nlm"
    save(models["threshold of a score"], path)
    wanted, found = models["threshold of a score"], load(path)
    assert found.best_threshold_ == wanted.best_threshold_
    assert found.best_score_ == wanted.best_score_
    assert (found.cv, found.scoring) == (3, "f1")
    assert found.estimator.get_params() == wanted.estimator.get_params()
    save(models["isotonic, 3 classes, averaged"], path)
    found = load(path)
    assert (found.method, found.cv, len(found.calibrated_classifiers_)) == ("isotonic", 3, 3)


def test_a_frozen_model_and_names_of_columns_come_back(rows, tmp_path):
    X, group = rows
    frame = pd.DataFrame(X, columns=list("wxyz"))
    inner = scaled(ours()).fit(frame, group % 2)
    model = CalibratedClassifierCV(FrozenEstimator(inner)).fit(frame, group % 2)
    save(model, tmp_path / "model.nlm")
    found = load(tmp_path / "model.nlm")
    assert found.feature_names_in_.tolist() == list("wxyz")
    assert isinstance(found.estimator, FrozenEstimator)
    assert_array_equal(found.predict_proba(frame), model.predict_proba(frame))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", METHODS)
def test_single_precision_comes_back_to_the_bit(method, dtype, rows, tmp_path):
    X, group = rows[0].astype(dtype), rows[1]
    model = calibrated(ours(), method=method).fit(X, group % 3)
    save(model, tmp_path / "model.nlm")
    found = load(tmp_path / "model.nlm").predict_proba(X)
    assert_array_equal(found, model.predict_proba(X), strict=True)


OTHERS = {
    "A calibrated model of a calibrated one": lambda: calibrated(calibrated(ours())),
    "A TunedThresholdClassifierCV within": lambda: calibrated(tuned(ours())),
    "A pipeline within a pipeline": lambda: scaled(calibrated(scaled(ours()))),
    "LogisticRegression is no model": lambda: calibrated(LogisticRegression()),
}


@in_one_test("reason", OTHERS)
def test_what_has_no_file_is_told(reason, rows, tmp_path):
    model = OTHERS[reason]().fit(rows[0], rows[1] % 2)
    with pytest.raises(ModelFileError, match=reason):
        save(model, tmp_path / "model.nlm")
    with pytest.raises(CSourceError, match=reason):
        to_c(model, tmp_path)
    with pytest.raises(OnnxExportError, match=reason):
        to_onnx(model)


def test_wrappers_from_a_file_are_checked(models, tmp_path):
    path = tmp_path / "model.nlm"
    save(models["threshold after calibration"], path)
    header, arrays = from_bytes(path.read_bytes())
    kinds = [dict(one["items"])["kind"] for one in header["wrapped_in"]]
    assert kinds == ["Pipeline", "TunedThresholdClassifierCV", "CalibratedClassifierCV"]

    def refused(edit, match):
        path.write_bytes(to_bytes(*crafted.edited(header, arrays, edit)))
        with pytest.raises(ModelFileError, match=match):
            load(path)

    def put(number, key, value):
        def edit(header, arrays):
            pairs = header["wrapped_in"][number]["items"]
            pairs[:] = [[key, value], *(pair for pair in pairs if pair[0] != key)]

        return edit

    wrong = "not those of its outcome"
    refused(lambda header, arrays: header["wrapped_in"].reverse(), wrong)
    refused(lambda header, arrays: header["wrapped_in"].pop(), wrong)
    refused(lambda header, arrays: header["wrapped_in"].pop(1), wrong)
    refused(lambda header, arrays: header["wrapped_in"].append(header["wrapped_in"][1]), wrong)
    refused(lambda header, arrays: header.update(wrapped_in=[]), "described wrongly")
    refused(lambda header, arrays: header.update(wrapped_in=3), "described wrongly")
    refused(put(1, "kind", "GridSearchCV"), wrong)
    refused(put(1, "kind", ["Pipeline"]), wrong)
    refused(put(2, "parameters", crafted.table(estimator=None)), "does not have")
    refused(put(2, "parameters", crafted.table(method="isotonic")), "not of its method")
    refused(put(2, "parameters", crafted.table(ensemble="yes")), "wrong parameter")
    refused(put(2, "parameters", None), "does not have")
    refused(put(1, "parameters", crafted.table(scoring="no such")), "wrong parameter")
    refused(
        put(1, "parameters", crafted.table(response_method="decision_function")),
        "threshold is not that of its parameters",
    )
    refused(lambda header, arrays: header.pop("wrapped_in"), "an outcome that its")


# --- single rows --------------------------------------------------------------------------------


@in_one_test("name", CASES)
def test_single_rows_have_the_same_answers(name, models, new):
    model, few = models[name], new[:40]
    scorer = row_scorer(model)
    by_row = None
    if hasattr(model, "predict_proba"):
        by_row = np.array([scorer.predict_proba(row) for row in few])
    else:
        with pytest.raises(AttributeError, match="no probabilities"):
            scorer.predict_proba(few[0])
    labels = [scorer.predict(row) for row in few]
    assert_same_answers(model, few, labels, by_row, atol=1e-11)


def test_a_scorer_of_single_rows_checks_them(models):
    with pytest.raises(ValueError, match="has 3 numbers, not 4"):
        row_scorer(models["sigmoid, 2 classes, averaged"]).predict_proba(np.zeros(3))


def test_the_log_loss_gives_probabilities_of_a_compiled_model(models, new):
    model = models["log loss"]
    found = model.compile().predict_proba(new[0])
    assert_allclose(found, model.predict_proba(new[:1])[0], atol=1e-12)
    with pytest.raises(AttributeError, match="no probabilities"):
        ours().fit(new, new[:, 0] > 0).compile().predict_proba(new[0])


# --- C ------------------------------------------------------------------------------------------


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc compiles the sources")
@EACH_CASE
def test_c_gives_the_same_answers(name, models, new, tmp_path):
    model = models[name]
    made = to_c(model, tmp_path, sample=new)
    flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-std=c99", "-Wconversion"]
    flags += ["-Wdouble-promotion", "-O1"]
    library, program = tmp_path / "model.so", tmp_path / "check"
    for out, sources in ((library, ["-shared", "-fPIC"]), (program, [made.test])):
        command = ["gcc", *flags, "-o", out, *sources, made.source, "-lm"]
        subprocess.run(command, check=True)
    assert subprocess.run([program], capture_output=True, check=False).returncode == 0
    assert made.agreement == 1.0
    c, single = ctypes.CDLL(str(library)), np.ascontiguousarray(new, dtype=np.float32)
    labels = model.classes_[[c.model_predict(pointer(row)) for row in single]]
    probabilities = None
    if hasattr(model, "predict_proba"):
        probabilities = np.full((len(new), len(model.classes_)), np.nan, dtype=np.float32)
        for row, out in zip(single, probabilities, strict=True):
            c.model_probabilities(pointer(row), pointer(out))
    assert_same_answers(model, new, labels, probabilities, atol=1e-4)


# --- ONNX ---------------------------------------------------------------------------------------


def run_onnx(proto, X):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X}), strict=True))


@EACH_CASE
def test_onnx_gives_the_same_answers(name, models, new):
    pytest.importorskip("onnx")
    found = run_onnx(to_onnx(models[name]), new)
    assert ("scores" in found) == hasattr(models[name], "decision_function")
    assert_same_answers(models[name], new, found["label"], found.get("probabilities"), atol=1e-8)


@EACH_CASE
def test_skl2onnx_gives_the_same_answers(name, models, new):
    skl2onnx = pytest.importorskip("skl2onnx")
    from nearlinear.export.onnx.skl2onnx import register_converters

    register_converters()
    found = run_onnx(skl2onnx.to_onnx(models[name], new[:1]), new)
    assert_same_answers(models[name], new, found["label"], found.get("probabilities"), atol=1e-6)


def test_skl2onnx_puts_other_steps_before_a_calibrated_model_and_not_into_it(rows):
    skl2onnx = pytest.importorskip("skl2onnx")
    from nearlinear.export.onnx.skl2onnx import register_converters

    register_converters()
    X, y = rows[0], rows[1] % 2
    model = make_pipeline(MinMaxScaler(), PCA(3), calibrated(ours())).fit(X, y)
    found = run_onnx(skl2onnx.to_onnx(model, X[:1]), X)
    assert_same_answers(model, X, found["label"], found["probabilities"], atol=1e-6)
    inside = calibrated(make_pipeline(KernelPCA(3), ours())).fit(X, y)
    with pytest.raises(OnnxExportError, match="fit a pipeline of these steps"):
        skl2onnx.to_onnx(inside, X[:1])


def test_skl2onnx_keeps_its_own_way_for_models_of_others(rows):
    skl2onnx = pytest.importorskip("skl2onnx")
    from nearlinear.export.onnx.skl2onnx import register_converters

    register_converters()
    X, y = rows[0].astype(np.float32), rows[1] % 2
    model = calibrated(LinearSVC()).fit(X, y)
    proto = skl2onnx.to_onnx(model, X[:1], options={"zipmap": False})
    found = run_onnx(proto, X)
    assert_same_answers(model, X, found["label"], found["probabilities"], atol=1e-5)
