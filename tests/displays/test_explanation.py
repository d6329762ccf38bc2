"""The picture of one row's score."""

import doctest
from copy import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from small_predictors import additive

from nearlinear import (
    ConvexLMKLClassifier,
    DCPredClassifier,
    LDKLClassifier,
    LDKLRegressor,
    LLSVMClassifier,
    LMKLClassifier,
    MLLKMClassifier,
    SimpleMKLClassifier,
    SVMKNNClassifier,
    SwMKLClassifier,
    UniformMKLClassifier,
)
from nearlinear.displays import ExplanationDisplay, explanation
from nearlinear.kernels import Family, Gaussian, Linear
from nearlinear.predictors.averaged import Averaged


@pytest.fixture(scope="module")
def anchored(blobs):
    return LLSVMClassifier(n_anchors=8, n_neighbors=3, random_state=0).fit(*blobs)


@pytest.fixture(scope="module")
def machine(moons):
    return SimpleMKLClassifier([Gaussian(1.0), Linear()], C=1.0).fit(*moons)


def widths(bars):
    return np.array([bar.get_width() for bar in bars])


def ticks(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_examples_in_the_docstring_hold():
    assert doctest.testmod(explanation).failed == 0


def test_bars_are_contributions_largest_first_and_the_intercept(anchored, blobs):
    display = ExplanationDisplay.from_estimator(anchored, blobs[0][5])
    found = anchored.explain(blobs[0][5:6])
    output = found.scores[0].argmax()
    parts = found.contributions[0, output]
    assert_array_equal(display.drawn_, np.argsort(-np.abs(parts)))
    expected = [*parts[display.drawn_], found.intercepts[0, output]]
    assert_allclose(widths(display.bars_), expected, rtol=1e-12)
    names = [f"x{d} = {blobs[0][5, d]:.3g}" for d in display.drawn_]
    assert ticks(display.ax_) == [*names, "intercept"]


def test_bars_add_up_to_the_score_that_is_told(anchored, blobs):
    display = ExplanationDisplay.from_estimator(anchored, blobs[0][5])
    scores = anchored.decision_function(blobs[0][5:6])[0]
    assert display.score == pytest.approx(scores.max())
    assert_allclose(widths(display.bars_).sum(), scores.max())
    told = display.ax_.get_title(loc="left")
    assert told.startswith(f"score of {scores.argmax()}: {scores.max():.4g} = ")


def test_small_contributions_are_summed(anchored, blobs):
    display = ExplanationDisplay.from_estimator(anchored, blobs[0][5], max_features=2)
    assert len(display.bars_) == 4
    assert ticks(display.ax_)[2:] == ["2 others", "intercept"]
    others = np.setdiff1d(np.arange(4), display.drawn_)
    assert widths(display.bars_)[2] == pytest.approx(display.parts[others].sum())


def test_anchors_are_shown_with_their_gates(anchored, blobs):
    display = ExplanationDisplay.from_estimator(anchored, blobs[0][5])
    found = anchored.explain(blobs[0][5:6])
    order = np.argsort(-found.gates[0])
    assert ticks(display.region_ax_) == [f"anchor {found.active[0, k]}" for k in order]
    assert_allclose(widths(display.region_bars_), found.gates[0, order])
    assert display.region_ax_.get_title(loc="left") == "nearest anchors: gate"


def test_another_class_may_be_asked_for(anchored, blobs):
    scores = anchored.decision_function(blobs[0][5:6])[0]
    for label in anchored.classes_:
        display = ExplanationDisplay.from_estimator(anchored, blobs[0][5], label=label)
        assert display.score == pytest.approx(scores[label])
        assert display.heading == f"score of {label}"


def test_the_path_of_a_tree_is_shown_with_its_turns(moons):
    model = LDKLClassifier(depth=2, max_iter=20, random_state=0).fit(*moons)
    display = ExplanationDisplay.from_estimator(model, moons[0][7])
    found = model.explain(moons[0][7:8])
    root, middle, leaf = found.active[0]
    signs = ["+" if node % 2 else "−" for node in (middle, leaf)]
    expected = [f"node {root} {signs[0]}", f"node {middle} {signs[1]}", f"leaf {leaf}"]
    assert ticks(display.region_ax_) == expected
    assert_allclose(widths(display.region_bars_), found.gates[0])
    split = model.predictor_.splits[0]
    assert signs[0] == ("+" if split @ [*moons[0][7], 1.0] > 0 else "−")


def test_a_forest_shows_the_path_of_its_first_tree(moons):
    model = LDKLClassifier(depth=2, n_trees=3, max_iter=10, random_state=0).fit(*moons)
    display = ExplanationDisplay.from_estimator(model, moons[0][7])
    assert_allclose(display.region, model.explain(moons[0][7:8]).gates[0, 0])
    assert display.region_heading == "path down tree 0 of 3"


def test_a_regressor_shows_its_value(moons):
    X = moons[0]
    model = LDKLRegressor(depth=1, max_iter=10, random_state=0).fit(X, X[:, 0] ** 2)
    display = ExplanationDisplay.from_estimator(model, X[3])
    assert display.heading == "value"
    assert display.score == pytest.approx(model.predict(X[3:4])[0])


def test_local_kernels_are_shown_with_h(moons):
    model = MLLKMClassifier(n_anchors=20, random_state=0).fit(*moons)
    display = ExplanationDisplay.from_estimator(model, moons[0][3])
    assert all(label.startswith("kernel ") for label in display.region_labels)
    shown = [int(label.split()[1]) for label in display.region_labels]
    assert_allclose(display.region, model.explain(moons[0][3:4]).gates[0, shown])
    assert display.region[0] == pytest.approx(model.support_score(moons[0][3:4])[0])


def test_where_no_kernel_reaches_the_region_is_empty(moons):
    model = MLLKMClassifier(n_anchors=20, profile="linear", random_state=0).fit(*moons)
    display = ExplanationDisplay.from_estimator(model, [1e3, 1e3])
    assert len(display.region_bars_) == 0
    assert not display.parts.any()


def test_landmarks_are_drawn_with_h(moons):
    model = DCPredClassifier(random_state=0).fit(*moons)
    display = ExplanationDisplay.from_estimator(model, moons[0][0])
    assert display.region_labels[0].startswith("landmark ")
    assert display.score == pytest.approx(model.decision_function(moons[0][:1])[0])


def test_gated_models_show_the_gate_of_the_class(blobs):
    model = LMKLClassifier(n_copies=3, random_state=0).fit(*blobs)
    display = ExplanationDisplay.from_estimator(model, blobs[0][5], label=1)
    gates = model.gate_values(blobs[0][5:6])[1][0]
    shown = [int(label.removeprefix("component ")) for label in display.region_labels]
    assert_allclose(display.region, gates[shown])


def test_a_second_matrix_is_handed_on(moons):
    X, y = moons
    model = LMKLClassifier(n_copies=2, random_state=0).fit(X, y, gating=X[:, :1])
    display = ExplanationDisplay.from_estimator(model, X[3], gating=X[3:4, :1])
    assert display.score == pytest.approx(model.decision_function(X[3:4], gating=X[3:4, :1])[0])
    assert len(display.parts) == 2


def test_kernel_machines_show_support_rows_and_shares(machine, moons):
    display = ExplanationDisplay.from_estimator(machine, moons[0][3], max_features=4)
    found = machine.explain(moons[0][3:4], n_support=4)
    names = [f"support row {j}" for j in found.support.indices[0, 0]]
    assert ticks(display.ax_) == [*names, "all others", "intercept"]
    assert_allclose(widths(display.bars_)[:4], found.support.parts[0, 0])
    assert_allclose(widths(display.bars_).sum(), machine.decision_function(moons[0][3:4])[0])
    assert sorted(display.region) == pytest.approx(sorted(found.kernel_shares[0, 0]))
    assert any(label.startswith("Gaussian, gamma 1") for label in display.region_labels)


def test_without_further_support_rows_there_are_no_others(machine, moons):
    display = ExplanationDisplay.from_estimator(machine, moons[0][3], max_features=500)
    assert "all others" not in ticks(display.ax_)
    assert len(display.bars_) == len(machine.predictor_.support) + 1


def test_many_kernels_are_cut_and_summed(blobs):
    model = ConvexLMKLClassifier(C=1.0, random_state=0).fit(*blobs)
    display = ExplanationDisplay.from_estimator(model, blobs[0][5])
    shares = model.explain(blobs[0][5:6])
    output = shares.scores[0].argmax()
    assert len(display.region) == 13 and display.region_labels[-1] == "18 others"
    assert display.region.sum() == pytest.approx(shares.kernel_shares[0, output].sum())
    first = np.abs(shares.kernel_shares[0, output]).argmax()
    assert display.region_labels[0].startswith(f"cluster {first // 10}: Gaussian")


def test_pairwise_blends_name_their_kernels(moons):
    kernels = [Gaussian(1.0), Linear()]
    model = SwMKLClassifier(kernels, blend="pairwise", C=1.0).fit(*moons)
    display = ExplanationDisplay.from_estimator(model, moons[0][3])
    names = {label.split(",")[0] for label in display.region_labels}
    assert names == {"Gaussian", "Linear"}


# --- rows, names and pipelines ------------------------------------------------------------------


def test_a_scaled_pipeline_is_shown_in_original_units(blobs):
    raw = 10.0 + 100.0 * blobs[0]
    model = make_pipeline(StandardScaler(), LLSVMClassifier(n_anchors=8, random_state=0))
    model.fit(raw, blobs[1])
    display = ExplanationDisplay.from_estimator(model, raw[5])
    scaler, last = model
    found = last.explain(scaler.transform(raw[5:6])).in_original_units(scaler)
    output = found.scores[0].argmax()
    assert_allclose(display.parts, found.contributions[0, output])
    assert display.labels[0] == f"x0 = {raw[5, 0]:.3g}"
    assert display.score == pytest.approx(model.decision_function(raw[5:6])[0].max())


@pytest.mark.parametrize(
    ("step", "names"),
    [(KernelPCA(3), ["kernelpca0", "kernelpca1"]), (FunctionTransformer(), ["x0", "x1"])],
)
def test_behind_other_steps_features_are_those_the_model_sees(blobs, step, names):
    model = make_pipeline(step, LLSVMClassifier(n_anchors=8, random_state=0)).fit(*blobs)
    display = ExplanationDisplay.from_estimator(model, blobs[0][5])
    assert [label.split(" = ")[0] for label in display.labels][: len(names)] == names


def test_names_are_those_of_the_data_frame(blobs):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs[0], columns=["alpha", "beta", "gamma", "delta"])
    model = make_pipeline(StandardScaler(), LLSVMClassifier(n_anchors=8, random_state=0))
    model.fit(frame, blobs[1])
    for row in (frame.iloc[[5]], frame.iloc[5]):
        display = ExplanationDisplay.from_estimator(model, row)
        assert [label.split(" = ")[0] for label in display.labels] == list(frame.columns)


def test_given_names_are_written(anchored, blobs):
    display = ExplanationDisplay.from_estimator(anchored, blobs[0][5], list("abcd"))
    assert [label[0] for label in display.labels] == list("abcd")


def test_it_draws_on_given_axes_below_a_title(anchored, blobs):
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, 2)
    display = ExplanationDisplay.from_estimator(anchored, blobs[0][5], axes=axes, title="Row 5")
    assert display.ax_ is axes[0] and display.region_ax_ is axes[1]
    assert display.ax_.get_title(loc="left") == "Row 5\n"
    assert any("score of" in text.get_text() for text in display.ax_.texts)
    display.figure_.canvas.draw()


def test_it_can_be_plotted_again_with_fewer_bars(anchored, blobs):
    display = ExplanationDisplay.from_estimator(anchored, blobs[0][5])
    assert len(display.plot(max_features=1).bars_) == 3
    assert ticks(display.ax_)[1] == "3 others"


# --- what is refused ----------------------------------------------------------------------------


def test_strange_settings_are_refused(anchored, blobs):
    row = blobs[0][5]
    with pytest.raises(ValueError, match="max_features=0 must be at least 1"):
        ExplanationDisplay.from_estimator(anchored, row, max_features=0)
    with pytest.raises(ValueError, match="draws one row; x has 2"):
        ExplanationDisplay.from_estimator(anchored, blobs[0][:2])
    with pytest.raises(ValueError, match="feature_names has 2 names and LLSVMClassifier sees 4"):
        ExplanationDisplay.from_estimator(anchored, row, ["a", "b"])
    with pytest.raises(ValueError, match=r"label=7 is none of the classes"):
        ExplanationDisplay.from_estimator(anchored, row, label=7)


def test_models_without_parts_are_refused(machine, moons):
    X, y = moons
    with pytest.raises(ValueError, match="has one score; leave out label=1"):
        ExplanationDisplay.from_estimator(machine, X[0], label=1)
    with pytest.raises(TypeError, match="draws models of nearlinear, not SVC"):
        ExplanationDisplay.from_estimator(SVC().fit(X, y), X[0])
    with pytest.raises(TypeError, match="SVM-KNN trains a new machine"):
        ExplanationDisplay.from_estimator(SVMKNNClassifier().fit(X, y), X[0])
    with pytest.raises(NotFittedError):
        ExplanationDisplay.from_estimator(LLSVMClassifier(), X[0])


def test_kernels_on_columns_have_the_names_that_were_given(blobs):
    X, y = blobs
    each = Family((Gaussian(1.0),), columns="each")
    model = UniformMKLClassifier(each).fit(X, y)
    display = ExplanationDisplay.from_estimator(model, X[5], ["north", "east", "south", "west"])
    told = " ".join(display.region_labels)
    assert all(f"on {name}" in told for name in ("north", "east", "south", "west"))


def test_an_average_shows_kernels_beside_its_other_members(machine, moons):
    average = copy(machine)
    average.predictor_ = Averaged((machine.predictor_, additive(2)), (3.0, 1.0))
    display = ExplanationDisplay.from_estimator(average, moons[0][0])
    assert display.labels[0].startswith("member 0, ") and display.labels[-1] == "member 1"
    score = float(average.decision_function(moons[0][:1])[0])
    assert sum(display.parts) + display.intercept == pytest.approx(score)
    assert display.region_labels == ["member 0", "member 1"]
