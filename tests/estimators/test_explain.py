"""``explain`` of every estimator: parts that add up to what the model says."""

import numpy as np
import pytest
from grids import in_one_test
from numpy.testing import assert_allclose, assert_array_equal
from preparation.pipelines import TEXT_STEPS, table
from scipy.sparse import csr_matrix
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)

import nearlinear
from nearlinear import (
    LDKLClassifier,
    LDKLRegressor,
    LLSVMClassifier,
    LMKLClassifier,
    LMKLRegressor,
    MLLKMClassifier,
    SimpleMKLClassifier,
    SVMKNNClassifier,
    SwMKLClassifier,
    UniformMKLClassifier,
)
from nearlinear.kernels import Gaussian

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def parts_of(found):
    if found.parts is not None:
        return found.parts
    return found.kernel_shares if found.coefficients is None else found.contributions


def assert_adds_up(found, scores, tolerance=1e-12):
    """Relative to the numbers that are added: support rows of both signs nearly cancel."""
    parts = parts_of(found)
    size = np.maximum(np.abs(parts).sum(axis=2) + np.abs(found.intercepts), 1.0)
    if found.support is not None:
        size = np.maximum(size, np.abs(found.support.parts).sum(axis=2))
    scores = scores.reshape(len(parts), -1)
    if scores.dtype == np.float32:  # forests answer so whatever they are given
        tolerance = max(tolerance, 1e-6)
    assert_allclose((parts.sum(axis=2) + found.intercepts - scores) / size, 0.0, atol=tolerance)
    assert_allclose((found.scores - scores) / size, 0.0, atol=tolerance)


def skip_without_parts(name):
    if name == "SVMKNNClassifier":
        pytest.skip("trains a machine for every row")


@pytest.fixture(scope="module")
def kept():
    """Models that several tests ask, by name."""
    return {}


@pytest.fixture
def fitted(kept, small, moons, wave):
    """A model by name, fitted to moons or to the wave, with rows to explain."""

    def fit(name):
        X, y = moons if name.endswith("Classifier") else wave
        if name not in kept:
            kept[name] = small(name).fit(X, y)
        return kept[name], X[::3]

    return fit


def test_two_classes_add_up(name, fitted):
    skip_without_parts(name)
    model, X = fitted(name)
    assert_adds_up(model.explain(X), model.decision_function(X))


def test_several_classes_add_up(name, small, blobs):
    skip_without_parts(name)
    X, y = blobs
    model = small(name).fit(X, y)
    found = model.explain(X[::3], n_support=2)
    assert_adds_up(found, model.decision_function(X[::3]))
    assert parts_of(found).shape[:2] == (60, 3)


def test_values_add_up(regressor_name, fitted):
    model, X = fitted(regressor_name)
    assert_adds_up(model.explain(X), model.predict(X))


def test_float32_adds_up_to_its_rounding(any_name, small, moons, wave):
    skip_without_parts(any_name)
    X, y = moons if any_name.endswith("Classifier") else wave
    X = X.astype(np.float32)
    model = small(any_name).fit(X, y)
    rows, ask = X[::3], getattr(model, "decision_function", model.predict)
    found = model.explain(rows, n_support=200)
    assert parts_of(found).dtype == np.float64
    assert_adds_up(found, ask(rows).astype(np.float64), 1e-5)


def test_sparse_rows_are_explained_as_dense_ones(any_sparse_name, fitted):
    model, X = fitted(any_sparse_name)
    found, expected = model.explain(csr_matrix(X)), model.explain(X)
    assert_allclose(parts_of(found), parts_of(expected), rtol=1e-8, atol=1e-8)
    assert_allclose(found.intercepts, expected.intercepts, rtol=1e-8, atol=1e-8)


def test_svm_knn_has_no_parts(moons):
    model = SVMKNNClassifier().fit(*moons)
    with pytest.raises(TypeError, match="SVM-KNN trains a new machine around every row"):
        model.explain(moons[0])


def test_nothing_is_explained_before_fitting(any_name, small, moons):
    with pytest.raises(NotFittedError):
        small(any_name).explain(moons[0])


def test_rows_are_checked_as_for_prediction(moons):
    X, y = moons
    model = LLSVMClassifier(n_anchors=8, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="3 features, but LLSVMClassifier is expecting 2"):
        model.explain(np.ones((2, 3)))
    with pytest.raises(ValueError, match="NaN"):
        model.explain(np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="n_support=-2 must be a whole number"):
        model.explain(X, n_support=-2)
    assert_array_equal(model.explain(X[:3].tolist()).scores, model.explain(X[:3]).scores)


@pytest.mark.parametrize("node_gate", ["tanh", "compositional", "indicator"])
@pytest.mark.parametrize("settings", [{"n_trees": 3}, {"n_components": 2}], ids=["forest", "map"])
def test_forests_and_projected_trees_add_up(blobs, node_gate, settings):
    X, y = blobs
    model = LDKLClassifier(depth=2, node_gate=node_gate, max_iter=20, random_state=0, **settings)
    model.fit(X, y)
    found = model.explain(X)
    assert_adds_up(found, model.decision_function(X))
    assert found.active.shape == ((180, 3, 3) if "n_trees" in settings else (180, 3))


@pytest.mark.parametrize("profile", ["exponential", "linear"])
def test_additive_machines_add_up(blobs, profile):
    X, y = blobs
    model = MLLKMClassifier(n_anchors=20, per_feature=True, profile=profile, random_state=0)
    model.fit(X, y)
    assert_adds_up(model.explain(X), model.decision_function(X))


def test_anchors_and_gates_are_those_of_the_model(blobs):
    X, y = blobs
    model = LLSVMClassifier(n_anchors=8, n_neighbors=3, random_state=0).fit(X, y)
    found = model.explain(X)
    gates = np.zeros((180, 8))
    np.put_along_axis(gates, found.active, found.gates, axis=1)
    assert_allclose(gates, model.predictor_.gate(X), atol=1e-14)
    assert_allclose(found.gates.sum(axis=1), 1.0, atol=1e-12)


def test_gates_of_localized_machines_are_those_of_gate_values(blobs):
    X, y = blobs
    model = LMKLClassifier(n_copies=2, random_state=0).fit(X, y)
    assert_array_equal(model.explain(X).gates, np.stack(model.gate_values(X), axis=1))


@pytest.mark.parametrize(
    ("kernels", "solver"), [("affine", "smo"), ("affine", "adam"), ("gaussians", "smo")]
)
def test_a_second_matrix_is_seen_by_the_gate_alone(moons, kernels, solver):
    X, y = moons
    gating = X**2
    model = LMKLClassifier(kernels, n_copies=2, solver=solver, max_epochs=20, random_state=0)
    model.fit(X, y, gating=gating)
    found = model.explain(X, gating=gating)
    assert_adds_up(found, model.decision_function(X, gating=gating))
    if kernels == "affine":
        assert found.coefficients.shape == (200, 1, 2) and found.rows.shape == (200, 2)
    with pytest.raises(ValueError, match="second matrix and is given no gating"):
        model.explain(X)


def test_a_regressor_with_a_second_matrix_adds_up(wave):
    X, y = wave
    model = LMKLRegressor(n_copies=2, random_state=0).fit(X, y, gating=X[:, :1])
    found = model.explain(X, gating=X[:, :1])
    assert_adds_up(found, model.predict(X, gating=X[:, :1]))


def test_the_published_success_blend_adds_up(blobs):
    X, y = blobs
    model = SwMKLClassifier([Gaussian(0.1), Gaussian(1.0)], blend="pairwise", C=1.0).fit(X, y)
    found = model.explain(X)
    assert found.kernel_shares.shape == (180, 3, 2)
    assert_adds_up(found, model.decision_function(X))


def test_precomputed_kernels_add_up(moons):
    X, y = moons
    stack = np.stack([Gaussian(gamma)(X) for gamma in (0.1, 1.0)], axis=2)
    model = SimpleMKLClassifier("precomputed").fit(stack, y)
    found = model.explain(stack[:10])
    assert_adds_up(found, model.decision_function(stack[:10]))


def test_a_pipeline_is_explained_in_the_units_of_its_rows(blobs):
    X, y = blobs
    raw = 3.0 + X * [1.0, 50.0, 0.1, 2.0]
    pipeline = make_pipeline(StandardScaler(), LDKLClassifier(depth=2, max_iter=20, random_state=0))
    scaler, model = pipeline.fit(raw, y)
    found = model.explain(scaler.transform(raw)).in_original_units(scaler)
    assert_allclose(found.contributions, found.coefficients * raw[:, None], rtol=1e-10)
    assert_adds_up(found, pipeline.decision_function(raw))


def test_data_frames_are_explained(moons):
    pandas = pytest.importorskip("pandas")
    X, y = moons
    frame = pandas.DataFrame(X, columns=["left", "right"])
    model = LLSVMClassifier(n_anchors=8, random_state=0).fit(frame, y)
    assert_adds_up(model.explain(frame), model.decision_function(frame))


# --- names, frames and steps before the model -----------------------------------------------------


@pytest.fixture
def named(blobs):
    pandas = pytest.importorskip("pandas")
    X, y = blobs
    raw = pandas.DataFrame(300.0 + X * [1.0, 5.0, 0.1, 2.0], columns=["a", "b", "c", "d"])
    return raw, np.array(["low", "mid", "high"])[y]


def test_names_of_features_and_classes_are_known(named):
    raw, y = named
    model = LLSVMClassifier(n_anchors=5, random_state=0).fit(raw, y)
    found = model.explain(raw)
    assert found.feature_names == ("a", "b", "c", "d")
    assert found.classes == ("high", "low", "mid")
    two = LLSVMClassifier(n_anchors=5, random_state=0).fit(raw, y == "mid")
    assert two.explain(raw).classes == (True,)
    value = LDKLRegressor(depth=1, max_iter=3, random_state=0).fit(raw.to_numpy(), raw["a"])
    found = value.explain(raw.to_numpy())
    assert found.feature_names is None and found.classes is None


def test_a_frame_has_a_line_for_each_row_and_class(named):
    raw, y = named
    model = LLSVMClassifier(n_anchors=5, random_state=0).fit(raw, y)
    found = model.explain(raw[:7])
    frame = found.to_frame()
    assert list(frame.columns) == ["a", "b", "c", "d", "intercept", "score"]
    assert frame.index.names == ["row", "output"] and len(frame) == 21
    assert_allclose(frame.loc[(3, "low"), ["a", "b", "c", "d"]], found.contributions[3, 1])
    assert_allclose(frame["score"].to_numpy().reshape(7, 3), model.decision_function(raw[:7]))
    assert_allclose(frame.drop(columns="score").sum(axis=1), frame["score"])


def test_importances_are_mean_absolute_contributions(named):
    raw, y = named
    model = LLSVMClassifier(n_anchors=5, random_state=0).fit(raw, y)
    found = model.explain(raw)
    frame = found.to_frame().abs().groupby("output").mean()
    assert_allclose(found.importances, frame[["a", "b", "c", "d"]])
    machine = UniformMKLClassifier(["linear", "gaussian"]).fit(raw, y).explain(raw)
    assert machine.importances.shape == (3, 2)
    assert list(machine.to_frame().columns) == ["kernel 0", "kernel 1", "intercept", "score"]


WHITE = make_pipeline(StandardScaler(), PCA(2, whiten=True))


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(), RobustScaler(), WHITE])
def test_behind_a_scaler_the_raw_features_are_told(scaler, named):
    raw, y = named
    model = make_pipeline(scaler, LLSVMClassifier(n_anchors=5, random_state=0)).fit(raw, y)
    found = model[-1].explain(raw, preparation=model[:-1])
    assert found.feature_names == ("a", "b", "c", "d")
    assert_allclose(found.rows, raw, rtol=1e-9)
    assert_adds_up(found, model.decision_function(raw))


def test_behind_other_steps_the_columns_are_told_that_they_make(named):
    raw, y = named
    steps = PolynomialFeatures(include_bias=False)
    model = make_pipeline(steps, LLSVMClassifier(n_anchors=5, random_state=0)).fit(raw, y)
    found = model[-1].explain(raw, preparation=model[:-1])
    assert found.feature_names[3:6] == ("d", "a^2", "a b")
    assert_adds_up(found, model.decision_function(raw))


def test_contributions_of_pieces_are_summed_by_raw_column(named):
    raw, y = named
    spline = SplineTransformer(4, degree=1, knots="quantile")
    local = LLSVMClassifier(n_anchors=5, random_state=0)
    model = make_pipeline(StandardScaler(), spline, local).fit(raw, y)
    found = model[-1].explain(raw, preparation=model[:-1])
    assert found.names == ("a", "b", "c", "d")
    assert_allclose(found.scores, model.decision_function(raw), rtol=1e-6)
    made = model[-1].explain(model[:-1].transform(raw)).contributions
    assert_allclose(found.contributions, made.reshape(len(raw), 3, 4, 4).sum(axis=3))


@in_one_test("name", TEXT_STEPS)
def test_what_a_table_adds_is_told_of_its_raw_columns(name):
    columns, steps = TEXT_STEPS[name]
    raw, y = table()
    raw = raw[columns]
    model = make_pipeline(steps, LLSVMClassifier(n_anchors=3, random_state=0)).fit(raw, y)
    found = model[-1].explain(raw, preparation=model[:-1])
    assert found.names == tuple(columns)
    assert found.rows[1].tolist() == raw.iloc[1].tolist()
    assert_allclose(found.scores[:, 0], model.decision_function(raw), rtol=1e-6)
    made = model[-1].explain(model[:-1].transform(raw)).contributions[:, 0]
    names = model[:-1].get_feature_names_out()
    of_color = [j for j, one in enumerate(names) if "__color" in one]
    place = columns.index("color")
    assert_allclose(found.contributions[:, 0, place], made[:, of_color].sum(axis=1))


def test_rows_that_are_not_scaled_as_in_training_are_noticed(named, tmp_path):
    raw, y = named
    model = make_pipeline(StandardScaler(), LLSVMClassifier(n_anchors=5, random_state=0))
    scaled = model.fit(raw, y)[0].transform(raw)
    with pytest.warns(UserWarning, match="prepared already"):
        model[-1].explain(raw * 0.0 + scaled, preparation=model[:-1])
    nearlinear.save(model, tmp_path / "model.nlm")
    loaded = nearlinear.load(tmp_path / "model.nlm")[-1]
    with pytest.warns(UserWarning, match="look as they were before it"):
        loaded.explain(raw.to_numpy())
    for row in range(20):  # a row alone is enough, and the right ones are let pass
        loaded.explain(scaled[row : row + 1])
        loaded.explain(raw[row : row + 1], preparation=model[:-1])
        with pytest.warns(UserWarning, match="look as they were before it"):
            loaded.explain(raw[row : row + 1].to_numpy())
