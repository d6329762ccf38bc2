"""``save`` and ``load``: a model comes back to the bit, and scores with NumPy alone to rounding."""

import errno
import itertools
import os
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from estimators.conftest import FRONT_DOORS, by_roads
from grids import in_one_test
from numpy.testing import assert_allclose, assert_array_equal
from runtime import crafted, plain_reader
from runtime.crafted import edited, put_top, table
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from small_estimators import SMALL, SMALL_REGRESSORS

import nearlinear
from nearlinear import kernels, load, runtime, save
from nearlinear.runtime import ModelFileError
from nearlinear.runtime.container import from_bytes, to_bytes

# Quicker still: here it matters what a fit leaves, not how good it is.
QUICK = {
    "LDKLClassifier": {"max_iter": 5},
    "LDKLRegressor": {"max_iter": 5},
    "LLCSAPLClassifier": {"max_iter": 3},
    "MLLKMClassifier": {"n_anchors": 8, "bandwidths": [0.5, 2.0]},
    "MLLKMRegressor": {"n_anchors": 8, "bandwidths": [0.5, 2.0]},
    "SequentialMKLClassifier": {"kernels": kernels.bank(widths=2, degrees=(2,))},
    "SequentialMKLRegressor": {"kernels": kernels.bank(widths=2, degrees=(2,))},
    **{
        f"{name}MKLClassifier": {"kernels": ["gaussian", "affine", "poly"]}
        for name in ("Uniform", "Simple", "SPGG", "MWU", "ConvexL", "Sw", "LD", "SA")
    },
}
CLASSIFIERS = [name for name in SMALL if name != "SVMKNNClassifier"]
NAMES = [*CLASSIFIERS, *SMALL_REGRESSORS]


@pytest.fixture(scope="module")
def rows():
    """Training rows of three features in two groups, and a few further ones."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((80, 3))
    return X[:60], X[60:]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.nlm"


def targets(name, X, n_classes=2):
    if name.endswith("Regressor"):
        return np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]
    signal = X[:, 0] * X[:, 1] + 0.3 * X[:, 2]
    return np.digitize(signal, [0.0] if n_classes == 2 else [-0.3, 0.3])


def small(name, **settings):
    usual = {**SMALL, **SMALL_REGRESSORS}[name] | QUICK.get(name, {})
    return getattr(nearlinear, name)(**usual | settings)


SPARSE = [name for name in NAMES if get_tags(small(name)).input_tags.sparse]


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what fits say is no matter here
        return model.fit(X, y)


def asked(model, X):
    """Everything that a model says of rows."""
    names = ("decision_function", "predict", "predict_proba")
    return {name: getattr(model, name)(X) for name in names if hasattr(model, name)}


def assert_same_bits(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert_array_equal(one[name], other[name], err_msg=name, strict=True)


def assert_runtime_agrees(model, read, X, dense, tolerance):
    """Scores to rounding, and the same labels where no tie is near."""
    is_regression = not hasattr(model, "decision_function")
    scores = model.predict(X) if is_regression else model.decision_function(X)
    found = read.decision_function(dense)
    error = tolerance * max(1.0, float(np.abs(scores).max()))
    assert_allclose(found, scores, rtol=0, atol=error)
    if is_regression:
        assert_array_equal(read.predict(dense), found)
        return
    ordered = np.sort(scores, axis=-1) if scores.ndim > 1 else scores[:, None] * [-1.0, 1.0] / 2
    clear = np.abs(ordered[:, -1] - ordered[:, -2]) > 2.0 * error
    assert clear.mean() > 0.8
    assert_array_equal(read.predict(dense)[clear], model.predict(X)[clear])


def check(model, path, X, dense=None, tolerance=1e-10):
    """A fitted model beside what comes out of its file, in three ways."""
    dense = X if dense is None else dense
    is_regression = not hasattr(model, "decision_function")
    scores = (model.predict if is_regression else model.decision_function)(X)[:3]
    if scores.dtype == np.float32:  # forests answer so whatever they are given
        tolerance = max(tolerance, 1e-6)
    save(model, path)
    assert_same_bits(asked(load(path), X), asked(model, X))
    assert_runtime_agrees(model, runtime.load(path), X, dense, tolerance)
    plain = plain_reader.read(path.read_bytes())
    by_row = np.array([plain_reader.scores(plain, row) for row in dense[:3].tolist()])
    # in doubles: single precision is lost where kernels are much larger than their sum
    error = max(1.0, float(np.abs(scores).max())) * (1e-10 if tolerance < 1e-9 else 1e-3)
    assert_allclose(by_row.reshape(scores.shape), scores, rtol=0, atol=error)


# --- every estimator ----------------------------------------------------------------------------


def test_every_public_estimator_is_tried_here():
    public = {name for name in nearlinear.__all__ if name.endswith(("Classifier", "Regressor"))}
    assert public == {*NAMES, *FRONT_DOORS, "SVMKNNClassifier"}


PRECISIONS = {"double": (np.float64, 1e-10), "single": (np.float32, 1e-4)}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "name, n_classes",
    [*itertools.product(CLASSIFIERS, (2, 3)), *((name, None) for name in SMALL_REGRESSORS)],
)
def test_a_model_comes_back(name, n_classes, precision, rows, path):
    dtype, tolerance = PRECISIONS[precision]
    X, new = (part.astype(dtype) for part in rows)
    model = fitted(small(name), X, targets(name, X, n_classes))
    check(model, path, new, tolerance=tolerance)


@pytest.mark.parametrize("form", [csr_matrix, csr_array])
@pytest.mark.parametrize("name", by_roads(SPARSE))
def test_a_model_of_sparse_rows_comes_back(name, form, rows, path):
    dtype, tolerance = PRECISIONS["double" if form is csr_matrix else "single"]
    X, new = (np.where(part > -0.5, part, 0.0).astype(dtype) for part in rows)
    model = fitted(small(name), form(X), targets(name, X, 3))
    check(model, path, form(new), new, tolerance)
    assert_same_bits(asked(load(path), new), asked(model, new))


@pytest.mark.parametrize("name", by_roads(NAMES))
def test_a_pipeline_with_a_scaler_comes_back(name, rows, path):
    X, new = (part * [1.0, 5.0, 0.1] + [0.0, 30.0, -2.0] for part in rows)
    model = make_pipeline(StandardScaler(), small(name))
    fitted(model, X, targets(name, rows[0]))
    check(model, path, new)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("with_mean, with_std", [(True, False), (False, True), (False, False)])
@pytest.mark.parametrize("name", ["LLSVMClassifier", "LDKLRegressor", "UniformMKLClassifier"])
def test_a_scaler_does_half_its_work_or_none(name, with_mean, with_std, precision, rows, path):
    dtype, tolerance = PRECISIONS[precision]
    X, new = ((part * [1.0, 3.0, 0.5] + [0.0, 3.0, -2.0]).astype(dtype) for part in rows)
    scaler = StandardScaler(with_mean=with_mean, with_std=with_std)
    model = fitted(make_pipeline(scaler, small(name)), X, targets(name, rows[0]))
    check(model, path, new, tolerance=tolerance)
    found = load(path)[0]
    assert (found.with_mean, found.with_std) == (with_mean, with_std)


def test_a_scaler_of_sparse_rows_comes_back(rows, path):
    X, new = (csr_matrix(np.where(part > 0, 3.0 * part, 0.0)) for part in rows)
    model = make_pipeline(StandardScaler(with_mean=False), small("LLSVMClassifier"))
    check(fitted(model, X, targets("", rows[0])), path, new, new.toarray())


def test_a_constant_feature_is_scaled_as_before(rows, path):
    X, new = (np.column_stack([part, np.full(len(part), 7.0)]) for part in rows)
    model = fitted(make_pipeline(StandardScaler(), small("LDKLClassifier")), X, targets("", X))
    check(model, path, new)


SETTINGS = [
    *(("LLSVMClassifier", {"coding": coding}) for coding in ("soft", "inverse", "reconstruction")),
    ("LLSVMClassifier", {"loss": "log_loss"}),
    ("LCCSVMClassifier", {"coding": "soft"}),
    ("LLCSAPLClassifier", {"local_model": "constant", "loss": "log_loss"}),
    ("ClusteredSVMClassifier", {"loss": "log_loss"}),
    *(
        ("LDKLClassifier", {"node_gate": node_gate, "n_components": width, "n_trees": n_trees})
        for node_gate in ("tanh", "compositional", "indicator")
        for width, n_trees in ((None, 2), (2, 1))
    ),
    ("LDKLClassifier", {"depth": 0}),
    ("LDKLClassifier", {"sigma": 0.5, "loss": "crammer_singer"}),
    *(
        ("MLLKMClassifier", {"profile": profile, "per_feature": per_feature})
        for profile in ("exponential", "gaussian", "linear", "square")
        for per_feature in (False, True)
    ),
    ("MLLKMRegressor", {"refinement": "kernels"}),
    *(("UniformMKLClassifier", {"kernels": "bank", "normalization": n}) for n in ("trace", None)),
    ("UniformMKLClassifier", {"kernels": "bank", "normalization": "diagonal"}),
    ("LaSVMClassifier", {"kernel": ["linear", "gaussian", "poly"]}),
    *(
        ("LMKLClassifier", {"kernels": kind, "gate": gate})
        for kind in ("affine", "gaussian")
        for gate in ("softmax", "sigmoid", "gaussian")
    ),
    ("LMKLClassifier", {"solver": "adam", "max_epochs": 5}),
    ("LMKLClassifier", {"gating_features": [2, 0]}),
    ("LMKLRegressor", {"kernels": "gaussian", "epsilon": 100.0}),
    ("UniformMKLRegressor", {"epsilon": 100.0}),
    ("ConvexLMKLClassifier", {"p": 1.0}),
    ("SwMKLClassifier", {"blend": "pairwise"}),
    *(("LDMKLClassifier", {"vote": vote}) for vote in ("gated", "printed")),
]


@pytest.mark.parametrize("name, settings", SETTINGS, ids=str)
def test_every_kind_of_predictor_comes_back(name, settings, rows, path):
    X, new = rows
    model = fitted(small(name, **settings), X, targets(name, X, 3))
    check(model, path, new)


def test_rows_at_the_anchors_are_scored_alike(rows, path):
    model = fitted(small("LLSVMClassifier", coding="inverse"), rows[0] + 50.0, targets("", rows[0]))
    save(model, path)
    anchors = model.predictor_.gate.anchors
    found = runtime.load(path).decision_function(anchors)
    assert_allclose(found, model.decision_function(anchors), rtol=1e-6)


def test_a_second_matrix_for_the_gate_comes_back(rows, path):
    (X, new), rng = rows, np.random.default_rng(0)
    gating, new_gating = rng.standard_normal((60, 2)), rng.standard_normal((20, 2))
    model = small("LMKLClassifier").fit(X, targets("", X), gating=gating)
    save(model, path)
    scores = model.decision_function(new, gating=new_gating)
    assert_array_equal(load(path).decision_function(new, gating=new_gating), scores)
    joined = np.hstack([new, new_gating])
    assert_allclose(runtime.load(path).decision_function(joined), scores, rtol=1e-10)
    with pytest.raises(ValueError, match="second matrix"):
        load(path).predict(new)


# --- what else comes back -----------------------------------------------------------------------


@pytest.mark.parametrize("name", by_roads(NAMES))
def test_parameters_and_attributes_come_back(name, rows, path):
    X, new = rows
    model = fitted(small(name), X, targets(name, X))
    save(model, path)
    found = load(path)
    assert type(found) is type(model)
    assert repr(found) == repr(model)
    assert repr(clone(found)) == repr(clone(model))
    assert found.cost_ == model.cost_
    assert found.n_features_in_ == 3
    for attribute in ("kernel_weights_", "objective_", "n_support_", "n_iter_", "anchors_"):
        if hasattr(model, attribute):
            assert_array_equal(getattr(found, attribute), getattr(model, attribute))
    for method in ("gate_values", "support_score"):
        if hasattr(model, method):
            assert_array_equal(getattr(found, method)(new), getattr(model, method)(new))


@pytest.mark.parametrize("name", by_roads(NAMES))
def test_a_model_that_is_saved_twice_or_fitted_anew_gives_the_same_bytes(name, rows, tmp_path):
    X, new = rows
    y = targets(name, X)
    model = fitted(small(name), X, y)
    files = [tmp_path / "one.nlm", tmp_path / "two.nlm", tmp_path / "three.nlm"]
    save(model, files[0])
    save(model, files[1])
    again = fitted(load(files[0]), X, y)
    save(again, files[2])
    assert files[0].read_bytes() == files[1].read_bytes() == files[2].read_bytes()
    assert_same_bits(asked(again, new), asked(model, new))


STREAMS = [name for name in NAMES if hasattr(getattr(nearlinear, name), "partial_fit")]


GOES_ON = [name for name in STREAMS if hasattr(getattr(nearlinear, name), "_goes_on_from_file")]


@in_one_test("name", GOES_ON)
def test_a_loaded_model_goes_on_with_a_stream(name, rows, path):
    X, new = rows
    y, model = targets(name, X), small(name).set_params(random_state=0)
    if "n_trees" in model.get_params():
        model.set_params(n_trees=1)
    save(fitted(model, X, y), path)
    loaded = load(path)
    before = loaded.predictor_(new)
    for one in (model, loaded):
        one.partial_fit(X, y)
    found, size = loaded.predictor_(new), np.abs(before).max()
    assert np.abs(found - before).max() > 1e-4 * size
    # the coordinates of a tree from a file are those of the rows, to rounding
    np.testing.assert_allclose(found, model.predictor_(new), rtol=0, atol=1e-3 * size)


@in_one_test("name", [name for name in STREAMS if name not in GOES_ON])
def test_a_loaded_model_of_another_method_does_not(name, rows, path):
    X, _ = rows
    save(fitted(small(name), X, targets(name, X)), path)
    with pytest.raises(ValueError, match=r"comes from a file.* fit it anew"):
        load(path).partial_fit(X, targets(name, X))


def test_a_loaded_model_can_be_saved_again(rows, tmp_path):
    X, new = rows
    model = fitted(make_pipeline(StandardScaler(), small("LMKLClassifier")), X, targets("", X))
    save(model, tmp_path / "one.nlm")
    save(load(tmp_path / "one.nlm"), tmp_path / "two.nlm")
    assert_same_bits(asked(load(tmp_path / "two.nlm"), new), asked(model, new))


def test_the_steps_of_a_pipeline_keep_their_names(rows, path):
    X, new = rows
    model = Pipeline([("size", StandardScaler()), ("off", None), ("svm", small("LLSVMClassifier"))])
    save(fitted(model, X, targets("", X)), path)
    found = load(path)
    assert list(found.named_steps) == ["size", "svm"]
    assert_same_bits(asked(found, new), asked(model, new))


def test_a_pipeline_of_a_model_alone_is_one_still(rows, path):
    X, new = rows
    model = fitted(Pipeline([("svm", small("LLSVMClassifier"))]), X, targets("", X))
    save(model, path)
    assert list(load(path).named_steps) == ["svm"]
    assert_same_bits(asked(load(path), new), asked(model, new))


def test_saving_leaves_the_model_as_it_was(rows, path):
    X, new = rows
    model = fitted(small("LMKLClassifier"), X, targets("", X))
    before, state = asked(model, new), list(vars(model))
    save(model, path)
    assert list(vars(model)) == state
    assert_same_bits(asked(model, new), before)


MANY_TYPES = {
    "generator": {"random_state": np.random.RandomState(3)},
    "dictionary": {"class_weight": {0: 1.0, 1: np.float32(2.0)}},
    "numbers": {"class_weight": "balanced", "tol": 1e-3, "n_jobs": 2},
    "numpy number": {"n_neighbors": np.int64(1)},
}


@in_one_test("settings", MANY_TYPES.values())
def test_parameters_of_many_types_are_no_hindrance(settings, rows, path):
    X, new = rows
    model = fitted(small("LLSVMClassifier", **settings), X, targets("", X))
    check(model, path, new)


def test_array_likes_as_parameters_are_no_hindrance(rows, path):
    pandas = pytest.importorskip("pandas")
    X, new = rows
    for anchors in (X[:4].astype(np.float32), X[:4].tolist(), pandas.DataFrame(X[:4])):
        model = fitted(small("MLLKMClassifier", anchors=anchors), X, targets("", X))
        check(model, path, new)


def test_a_kernel_that_is_code_and_has_no_weight_is_no_hindrance(rows, path):
    X, new = rows
    both = ["gaussian", lambda A, B: 1e-4 * (A @ B.T)]
    model = fitted(
        small("SimpleMKLClassifier", kernels=both, normalization=None), X, targets("", X)
    )
    assert model.kernel_weights_[1] == 0.0
    check(model, path, new)


# --- labels and names ---------------------------------------------------------------------------

LABELS = {
    "strings": np.array(["no", "yes"]),
    "unsorted strings": np.array(["yes", "no"]),
    "strings of any letters": np.array(["Größe ≥ 1", "\\n\"'\t"]),
    "empty string": np.array(["", "x"]),
    "objects": np.array(["no", "yes"], dtype=object),
    "unsorted objects": np.array(["b", "a"], dtype=object),
    "booleans": np.array([False, True]),
    "unsorted booleans": np.array([True, False]),
    "integers": np.array([3, 70_000]),
    "negative integers": np.array([1, -1]),
    "floats": np.array([2.0, 1.0]),
    **{
        str(np.dtype(dtype)): np.array([2, 1], dtype=dtype)
        for dtype in ("i1", "u1", "i2", "u2", "i4", "u4", "u8", "f2", "f4")
    },
}


@in_one_test("labels", LABELS.values())
def test_labels_keep_their_type_and_value(labels, rows, path):
    X, new = rows
    y = labels[targets("", X)]
    model = fitted(small("LDKLClassifier"), X, y)
    save(model, path)
    found = load(path)
    assert_array_equal(found.classes_, np.unique(y), strict=True)
    predicted = model.predict(new)
    assert set(predicted.tolist()) == set(labels.tolist())
    assert_array_equal(found.predict(new), predicted, strict=True)
    assert runtime.load(path).predict(new).tolist() == predicted.tolist()


def test_many_unsorted_labels_keep_their_places(rows, path):
    X, new = rows
    labels = np.array(["cherry", "apple", "banana"])
    model = fitted(small("LLSVMClassifier"), X, labels[targets("", X, 3)])
    check(model, path, new)


@pytest.mark.parametrize("labels", [np.array([2**63 + 5, 3], np.uint64), np.array([1, 2], "M8[Y]")])
def test_labels_that_no_file_can_hold_are_refused_in_one_sentence(labels, rows, path):
    X, _ = rows
    model = fitted(small("LLSVMClassifier"), X, labels[targets("", X)])
    with pytest.raises(ModelFileError, match="Labels of type") as found:
        save(model, path)
    assert "\n" not in str(found.value)
    assert not path.exists()


@pytest.mark.parametrize("with_scaler", [False, True])
def test_names_of_features_are_checked_as_before(with_scaler, rows, path):
    pandas = pytest.importorskip("pandas")
    X, new = (pandas.DataFrame(part, columns=["a", "größe", "c"]) for part in rows)
    model = small("LLSVMClassifier")
    model = make_pipeline(StandardScaler(), model) if with_scaler else model
    fitted(model, X, targets("", rows[0]))
    save(model, path)
    found = load(path)
    assert_same_bits(asked(found, new), asked(model, new))
    assert runtime.load(path).feature_names == ["a", "größe", "c"]
    assert found.feature_names_in_.tolist() == ["a", "größe", "c"]
    for wrong in (new[["c", "größe", "a"]], new.rename(columns={"a": "b"})):
        with pytest.raises(ValueError, match="feature names should match"):
            found.predict(wrong)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        found.predict(new.to_numpy())


def test_rows_of_another_length_are_refused_as_before(rows, path):
    X, new = rows
    save(fitted(small("LLSVMClassifier"), X, targets("", X)), path)
    with pytest.raises(ValueError, match="expecting 3 features"):
        load(path).predict(new[:, :2])


# --- what cannot be saved -----------------------------------------------------------------------


def as_is(Z):
    return Z


class OwnGate:
    """A gate as users write them."""

    parameters = np.zeros(1)

    def start(self, Z, n_components, rng):
        return self

    def __call__(self, Z):
        return np.full((Z.shape[0], 5), 0.2)

    def with_parameters(self, parameters):
        return self

    def gradient(self, Z, slopes):
        return np.zeros(1)


class DoubleScaler(StandardScaler):
    def transform(self, X, copy=None):
        return 2.0 * super().transform(X, copy)


class OwnSVM(nearlinear.LLSVMClassifier):
    pass


LLSVM = small("LLSVMClassifier")
UNSAVED = {
    "SVM-KNN": (nearlinear.SVMKNNClassifier(), "its training rows, and there is nothing smaller"),
    "a function as kernel": (
        nearlinear.UniformMKLClassifier([lambda A, B: A @ B.T]), "UniformMKLClassifier cannot be"
    ),
    "a function as view": (
        small("LMKLClassifier", gating_features=as_is), "LMKLClassifier cannot be saved: as_is"
    ),
    "a gate of the user": (small("LMKLClassifier", gate=OwnGate()), "an object of OwnGate"),
    "a conformal kernel": (
        nearlinear.UniformMKLClassifier([kernels.Conformal((0.0, 0.0, 0.0), 1.0)]), "Conformal"
    ),
    "a foreign model": (LinearSVC(), "LinearSVC is no model of nearlinear"),
    "a search without its best": (
        GridSearchCV(LLSVM, {"C": [1.0]}, cv=2, refit=False), "GridSearchCV kept no best estimator"
    ),
    "a scaler alone": (StandardScaler(), "StandardScaler is no model"),
    "a subclass": (OwnSVM(**SMALL["LLSVMClassifier"]), "OwnSVM is no model"),
    "another step": (make_pipeline(KernelPCA(2), LLSVM), "KernelPCA has no place"),
    "a scaler of the user": (make_pipeline(DoubleScaler(), LLSVM), "DoubleScaler has no place"),
    "three steps": (make_pipeline(StandardScaler(), KernelPCA(2), LLSVM), "KernelPCA has no"),
    "a pipeline of scalers": (make_pipeline(StandardScaler(), StandardScaler()), "StandardScaler"),
    "a foreign end": (make_pipeline(StandardScaler(), LinearSVC()), "LinearSVC is no model"),
    "a pipeline of nothing": (Pipeline([("a", "passthrough")]), "A pipeline of nothing"),
}  # fmt: skip


@in_one_test("model, words", UNSAVED.values())
def test_what_cannot_be_saved_is_refused_in_one_sentence(model, words, rows, path):
    X, _ = rows
    path.write_bytes(b"what was there")
    fitted(model, X, targets("", X))
    with pytest.raises(ModelFileError) as found:
        save(model, path)
    message = str(found.value)
    assert words in message
    assert "\n" not in message and " at 0x" not in message and len(message) < 250
    assert path.read_bytes() == b"what was there"
    assert [entry.name for entry in path.parent.iterdir()] == ["model.nlm"]


def test_precomputed_kernels_cannot_be_saved(rows, path):
    X, _ = rows
    model = nearlinear.UniformMKLClassifier("precomputed").fit(X @ X.T, targets("", X))
    with pytest.raises(ModelFileError, match=r"UniformMKLClassifier cannot be saved.*Precomputed"):
        save(model, path)
    assert not path.exists()


@in_one_test("model", [None, 3, "model", nearlinear.LLSVMClassifier, {}])
def test_what_is_no_model_is_refused(model, path):
    with pytest.raises(ModelFileError, match="is no model of nearlinear"):
        save(model, path)


@in_one_test("name", [*NAMES, "SVMKNNClassifier"])
def test_an_unfitted_model_says_so(name, path):
    for model in (small(name), make_pipeline(StandardScaler(), small(name))):
        with pytest.raises(NotFittedError, match=f"{name} instance is not fitted"):
            save(model, path)
    assert not path.exists()


# --- files --------------------------------------------------------------------------------------


@pytest.fixture
def model(rows):
    X, _ = rows
    return fitted(small("LLSVMClassifier"), X, targets("", X))


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_save_that_fails_leaves_the_older_file(name, error, model, rows, path, monkeypatch):
    save(model, path)
    older = path.read_bytes()
    newer = fitted(small("LLSVMClassifier", C=0.1), rows[0], targets("", rows[0]))

    def fail(*args):
        raise error

    monkeypatch.setattr(os, name, fail)
    expected = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else ModelFileError
    with pytest.raises(expected):
        save(newer, path)
    assert path.read_bytes() == older
    assert [entry.name for entry in path.parent.iterdir()] == ["model.nlm"]


@in_one_test("where", ["none/model.nlm", ".", "model.nlm/inside"])
def test_impossible_places_are_refused_in_one_sentence(where, model, path):
    path.write_bytes(b"what was there")
    with pytest.raises(ModelFileError, match="cannot be written") as found:
        save(model, path.parent / where)
    assert "\n" not in str(found.value)
    assert path.read_bytes() == b"what was there"


def test_missing_files_and_folders_are_refused_in_one_sentence(path):
    for wrong in (path, path.parent):
        with pytest.raises(ModelFileError, match="cannot be read"):
            load(wrong)


def test_a_pickle_is_not_loaded(model, path):
    import pickle

    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(path.parent / "sprung"),)

    path.write_bytes(pickle.dumps((model, Trap())))
    with pytest.raises(ModelFileError, match="is no model file"):
        load(path)
    assert not (path.parent / "sprung").exists()


def test_models_saved_to_one_path_at_once_leave_one_of_them(rows, path):
    X, new = rows
    models = [fitted(small("LLSVMClassifier", C=C), X, targets("", X)) for C in (0.1, 1.0, 10.0)]
    answers = [model.decision_function(new).tolist() for model in models]
    start = threading.Barrier(3)

    def work(model):
        start.wait()
        for _ in range(10):
            save(model, path)
            assert load(path).decision_function(new).tolist() in answers

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, models))
    assert [entry.name for entry in path.parent.iterdir()] == ["model.nlm"]


def test_a_model_comes_back_from_ten_threads_at_once(model, rows, path):
    save(model, path)
    scores = model.decision_function(rows[1])
    with ThreadPoolExecutor(10) as pool:
        for found in pool.map(lambda _: load(path).decision_function(rows[1]), range(30)):
            assert_array_equal(found, scores)


# --- files that lie -----------------------------------------------------------------------------


def refused(path, header, arrays, edit):
    path.write_bytes(to_bytes(*edited(header, arrays, edit)))
    with pytest.raises(ModelFileError) as found:
        load(path)
    assert "\n" not in str(found.value)


@pytest.fixture
def content(model, path):
    save(model, path)
    return from_bytes(path.read_bytes())


@in_one_test("name", crafted.MODELS)
def test_a_file_made_by_hand_is_a_model_too(name, rows, path):
    path.write_bytes(crafted.file_of(name))
    model = load(path)
    scores = getattr(model, "decision_function", model.predict)(rows[1])
    assert_allclose(scores, runtime.load(path).decision_function(rows[1]), rtol=1e-9, atol=1e-12)


LIES = {
    "method": (
        None, 1, "", "save", "gates", "SVMKNNClassifier", "LinearSVC", "LDKLClassifier",
        "UniformMKLClassifier", "LDKLRegressor", "LMKLClassifier", "__class__", [], {},
    ),
    "parameters": (
        None, [], table(weights=1), table(self=1), {"$": "dict", "items": [[1, 1]]},
        {"$": "dict", "items": [[None, 1]]}, table(n_jobs="x"), table(n_jobs=1.5), table(C=-1.0),
        table(C="large"), table(n_anchors=crafted.LINEAR), table(loss="none"), table(loss=[]),
        table(class_weight=3), table(random_state=-1), table(random_state="x"), table(tol=None),
        table(anchors=crafted.part("Custom", function=1)),
        table(anchors=crafted.part("Conformal", anchor=[10**400], gamma=1.0, profile="square",
                                   per_feature=True)),
    ),
    "attributes": (
        None, [], 1, "x", {}, crafted.LINEAR, {"$": "dict", "items": [[1, 1]]}, table(cost_=1),
        table(fit=1), table(predict=1), table(_private_=1), table(__class__=1), table(__dict__=1),
        table(predictor_=1), table(classes_=1), table(n_features_in_=9), table(anchors_=1),
        table(feature_names_in_=1), table(n_gating_features_=5), table(_score_dtype=1), table(x=1),
        table(any_=crafted.part("Custom", function=1)), table(any_={"$": "code"}),
        table(any_={"$": "array", "number": 999}), table(any_={"$": "object", "kind": "Linear",
                                                                "fields": [1]}),
    ),
    "n_features": (2, 4, "3"),
    "n_gating_features": (1, -3, None),
    "classes": (None, [0], [0, 1, 2], [0, 0], [[0], [1]]),
    "feature_names": (["a"], [1, 2, 3]),
    "predictor": (None, crafted.LINEAR),
}  # fmt: skip


@in_one_test("key, value", [(key, value) for key, values in LIES.items() for value in values])
def test_every_lie_of_a_header_is_refused(key, value, content, path):
    refused(path, *content, put_top(key, value))


@pytest.mark.parametrize("name", ["soft anchors", "tree of TanhNode", "conformal, gaussian"])
def test_rows_shorter_than_the_predictors_never_reach_compiled_code(name, path):
    def edit(header, arrays):
        header.update(n_features=2, n_gating_features=1)

    refused(path, *crafted.make(name), edit)


@pytest.mark.parametrize("method", [*crafted.METHODS.values(), "LDKLRegressor", "LMKLRegressor"])
@pytest.mark.parametrize("name", ["soft anchors", "forest", "two kernels", "gated linear", "vote"])
def test_a_method_has_predictors_of_its_own_kinds_only(name, method, path):
    header, arrays = crafted.make(name)
    belongs = {
        "soft anchors": ("LLSVM", "LMKL", "DCPred"),
        "forest": ("LDKL",),
        "vote": ("LDMKL", "LMKL"),
    }
    belongs |= {"two kernels": ("UniformMKL",), "gated linear": ("LLSVM", "LMKL", "DCPred")}
    if not method.startswith(belongs[name]) or method.endswith("Regressor"):
        refused(path, header, arrays, put_top("method", method))


@in_one_test("record", [
        None, [], 3, "x", {"training_rows": "x"}, {"steps": 1},
        {"steps": ["a", "b", "c"]}, {"steps": [None]}, {"steps": ["a", "a"]}, {"cost": []},
        {"versions": None},
    ])  # fmt: skip
def test_the_record_never_stands_in_the_way(record, content, model, rows, path):
    header, arrays = content
    path.write_bytes(to_bytes({**header, "record": record}, arrays))
    assert_array_equal(load(path).predict(rows[1]), model.predict(rows[1]))


def test_a_regressor_has_no_classes_and_a_classifier_has(path):
    for name, classes in (("LDKLClassifier", None), ("LDKLRegressor", ["a", "b"])):
        header, arrays = crafted.make("tree of one node, TanhNode")
        path.write_bytes(to_bytes({**header, "method": name, "classes": classes}, arrays))
        with pytest.raises(ModelFileError, match="classes"):
            load(path)
