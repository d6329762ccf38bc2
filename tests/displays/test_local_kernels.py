"""The picture of a local kernel machine on two features."""

import doctest

import numpy as np
import pytest
from grids import in_one_test
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from nearlinear import MLLKMClassifier, MLLKMRegressor
from nearlinear.displays import LocalKernelsDisplay, local_kernels

NARROW = {"profile": "square", "bandwidths": [1.0, 3.0], "random_state": 0}


@pytest.fixture(scope="module")
def model(moons):
    return MLLKMClassifier(**NARROW).fit(*moons)


def draw(model, X, y, *positional, **options):
    from matplotlib.figure import Figure

    options = {"resolution": 40, "ax": Figure(figsize=(7, 6)).subplots(), **options}
    return LocalKernelsDisplay.from_estimator(model, X, y, *positional, **options)


def have_one_color(drawn, other):
    from matplotlib.colors import same_color

    return same_color(drawn.get_facecolor(), other.get_facecolor())


def grid_rows(display):
    return np.column_stack([display.xx0.ravel(), display.xx1.ravel()])


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_the_heat_map_is_the_decision_function(model, moons):
    display = draw(model, *moons)
    expected = model.decision_function(grid_rows(display)).reshape(40, 40)
    np.testing.assert_array_equal(display.surface_.get_array(), expected)
    low, high = display.surface_.get_clim()
    assert low == -high  # zero has the color in the middle


def test_every_point_of_the_grid_is_the_center_of_its_pixel(model, moons):
    display = draw(model, *moons)
    left, right, bottom, top = display.surface_.get_extent()
    centers = np.linspace(left, right, 81)[1::2], np.linspace(bottom, top, 81)[1::2]
    np.testing.assert_allclose(centers[0], display.xx0[0])
    np.testing.assert_allclose(centers[1], display.xx1[:, 0])


def test_the_grid_reaches_a_margin_beyond_the_rows(model, moons):
    display = draw(model, *moons, margin=0.5)
    low, high = moons[0].min(axis=0), moons[0].max(axis=0)
    room = 0.5 * (high - low)
    ends = [display.ax_.get_xlim(), display.ax_.get_ylim()]
    np.testing.assert_allclose(ends, np.column_stack([low - room, high + room]))


def test_the_models_boundary_is_dashed_and_runs_where_its_score_is_zero(model, moons):
    display = draw(model, *moons, resolution=200)
    (path,) = display.model_boundary_.get_paths()
    scores = model.decision_function(path.vertices)
    assert len(scores) > 50
    assert np.abs(scores).max() < 0.02 * np.abs(display.scores).max()
    ((_, dashes),) = display.model_boundary_.get_linestyles()
    assert dashes is not None


def test_the_true_boundary_is_a_solid_line_through_its_points(model, moons):
    points = [[-2.0, 0.5], [0.0, -0.5], [2.0, 0.5]]
    display = draw(model, *moons, points)
    np.testing.assert_array_equal(display.true_boundary_.get_xydata(), points)
    assert display.true_boundary_.get_linestyle() == "-"
    assert "true boundary" in legend(display)


def test_without_a_true_boundary_none_is_drawn(model, moons):
    display = draw(model, *moons)
    assert display.true_boundary_ is None
    assert legend(display) == [
        "class 0", "class 1", "row with y f(x) ≤ 1", "kernel, by weight", "model's boundary",
    ]  # fmt: skip


def test_rows_have_the_color_and_mark_of_their_class(model, moons):
    X, y = moons
    display = draw(model, X, y)
    groups = [
        drawn for drawn in display.ax_.collections
        if any(np.array_equal(drawn.get_offsets(), X[y == label]) for label in (0, 1))
    ]  # fmt: skip
    assert len(groups) == 2
    assert not have_one_color(*groups)
    first, second = (group.get_paths()[0].vertices for group in groups)
    assert len(first) != len(second)


def test_rows_within_the_margin_are_circled(model, moons):
    X, y = moons
    display = draw(model, X, y)
    expected = [x for x, label in zip(X, y) if (1, -1)[label] * decide(model, x) >= -1.001]
    np.testing.assert_array_equal(display.support_.get_offsets(), expected)
    assert len(display.support_.get_facecolor()) == 0  # the row inside stays visible


def decide(model, x):
    return model.predictor_.plain(x[None])[0, 0]


@pytest.mark.parametrize("profile", ["exponential", "gaussian", "linear", "square"])
def test_circles_are_the_rows_that_held_the_boundary_in_the_fit(moons, profile):
    model = MLLKMClassifier(profile, tol=1e-4).fit(*moons)
    display = draw(model, *moons)
    assert abs(display.is_support.sum() - model.n_support_) <= 1


def test_kernels_are_squares_at_their_anchors_that_grow_with_their_weight(model, moons):
    display = draw(model, *moons)
    np.testing.assert_allclose(display.kernels_.get_offsets(), model.anchors_)
    sizes, weights = display.kernels_.get_sizes(), model.kernel_weights_
    slope = (sizes.max() - sizes.min()) / (weights.max() - weights.min())
    assert slope > 0
    np.testing.assert_allclose(sizes - sizes.min(), slope * (weights - weights.min()), atol=1e-9)
    corners = display.kernels_.get_paths()[0].vertices[:-1]
    assert len(np.unique(np.abs(corners))) == 1  # a square


def test_the_region_without_an_answer_is_hatched(model, moons):
    from matplotlib.path import Path

    display = draw(model, *moons, margin=0.8, resolution=150, abstain_below=0.3)
    assert display.abstention_.hatches == ["////"]
    (path,) = display.abstention_.get_paths()
    rows = grid_rows(display)
    rings = [Path(ring).contains_points(rows) for ring in path.to_polygons()]
    inside = np.logical_xor.reduce(rings)  # a hole is a ring in a ring
    reach = model.support_score(rows)
    rim = np.isin(rows, [rows.min(axis=0), rows.max(axis=0)]).any(axis=1)
    sure = (np.abs(reach - 0.3) > 0.02) & ~rim
    assert 0.1 < inside.mean() < 0.9
    np.testing.assert_array_equal(inside[sure], reach[sure] < 0.3)
    assert legend(display)[-1] == "no answer"


def test_no_boundary_is_drawn_where_there_is_no_answer(model, moons):
    everywhere = draw(model, *moons, margin=0.8, resolution=150)
    display = draw(model, *moons, margin=0.8, resolution=150, abstain_below=0.6)
    scores = [
        model.support_score(one.model_boundary_.get_paths()[0].vertices)
        for one in (everywhere, display)
    ]
    assert scores[0].min() < 0.4
    assert scores[1].min() > 0.55


def test_a_model_that_answers_everywhere_has_no_hatched_region(moons):
    model = MLLKMClassifier("gaussian", bandwidths=[0.03]).fit(*moons)
    display = draw(model, *moons, abstain_below=0.01)
    assert display.abstention_ is None
    assert "no answer" not in legend(display)


def test_a_model_of_one_answer_has_no_boundary(model, moons):
    X, y = moons
    first = X[np.argmin(model.decision_function(X))]
    few = np.argsort(np.linalg.norm(X - first, axis=1))[:5]
    display = draw(model, X[few], y[few])
    assert (display.scores < 0).all()
    assert display.model_boundary_ is None
    assert "model's boundary" not in legend(display)


@pytest.mark.parametrize("labels", [("no", "yes"), (5, 3)])
def test_labels_of_any_kind_are_drawn(moons, labels):
    X, y = moons[0], np.array(labels)[moons[1]]
    model = MLLKMClassifier(**NARROW).fit(X, y)
    display = draw(model, X, y)
    assert legend(display)[:2] == [f"class {label}" for label in sorted(labels)]
    assert 0 < display.is_support.mean() < 0.5


def test_a_pipeline_is_drawn_in_the_units_of_its_rows(moons):
    X, y = 10 * moons[0] + [100, 0], moons[1]
    pipeline = make_pipeline(StandardScaler(), MLLKMClassifier(**NARROW)).fit(X, y)
    display = draw(pipeline, X, y, resolution=12)
    anchors = pipeline[0].inverse_transform(pipeline[-1].anchors_)
    np.testing.assert_allclose(display.kernels_.get_offsets(), anchors)
    seen = pipeline[0].transform(grid_rows(display))
    np.testing.assert_allclose(display.reach.ravel(), pipeline[-1].support_score(seen))
    np.testing.assert_allclose(
        display.scores.ravel(), pipeline.decision_function(grid_rows(display))
    )


@pytest.mark.parametrize("step", [FunctionTransformer(np.cbrt), FunctionTransformer(np.abs)])
def test_a_step_that_cannot_be_undone_is_an_error(moons, step):
    pipeline = make_pipeline(step, MLLKMClassifier(**NARROW)).fit(*moons)
    with pytest.raises(ValueError, match=r"needs pipeline steps that can be undone, such as a sca"):
        draw(pipeline, *moons)


def test_rows_that_a_step_brings_to_two_features_are_an_error(blobs):
    X, y = blobs
    pipeline = make_pipeline(PCA(2), MLLKMClassifier(**NARROW)).fit(X, y == 0)
    with pytest.raises(ValueError, match=r"draws rows of 2 features; X has 4\."):
        draw(pipeline, X, y == 0)


def test_a_data_frame_names_the_axes(moons):
    pandas = pytest.importorskip("pandas")
    X, y = pandas.DataFrame(moons[0], columns=["height", "weight"]), moons[1]
    display = draw(MLLKMClassifier(**NARROW).fit(X, y), X, y)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("height", "weight")


def test_single_precision_is_drawn(moons):
    X, y = moons[0].astype(np.float32), moons[1]
    display = draw(MLLKMClassifier(**NARROW).fit(X, y), X, y)
    assert display.scores.shape == (40, 40)


def test_a_display_can_be_drawn_again_on_other_axes(model, moons):
    from matplotlib.figure import Figure

    display, other = draw(model, *moons), Figure().subplots()
    display.plot(other, abstain_below=0.5, title="Moons")
    assert display.ax_ is other
    assert display.abstention_ is not None
    assert other.get_title(loc="left") == "Moons"


def test_a_figure_is_made_where_none_is_given(model, moons):
    display = draw(model, *moons, ax=None)
    assert display.figure_.axes[0] is display.ax_
    assert len(display.figure_.axes) == 2  # the picture and the scale


def test_the_legend_stands_below_the_axis(model, moons):
    display = draw(model, *moons, [[-1.0, 0.0], [1.0, 0.0]], abstain_below=0.5, ax=None)
    display.figure_.draw_without_rendering()
    box = display.ax_.get_legend().get_window_extent()
    assert not box.overlaps(display.ax_.xaxis.label.get_window_extent())
    assert box.y0 >= 0
    assert 0 <= box.x0 < box.x1 <= display.figure_.bbox.x1


def test_a_regressor_is_an_error(moons):
    X, _ = moons
    model = MLLKMRegressor().fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"draws classifiers of MLLKM, not MLLKMRegressor\."):
        draw(model, X, X[:, 0])


def test_another_kind_of_model_is_an_error(moons):
    with pytest.raises(ValueError, match=r"draws classifiers of MLLKM, not SVC\."):
        draw(SVC().fit(*moons), *moons)


def test_three_classes_are_an_error(blobs):
    X, y = blobs[0][:, :2], blobs[1]
    with pytest.raises(ValueError, match=r"draws models of 2 classes; this one knows 3\."):
        draw(MLLKMClassifier(**NARROW).fit(X, y), X, y)


def test_another_number_of_features_is_an_error(blobs):
    X, y = blobs
    model = MLLKMClassifier(**NARROW).fit(X, y == 0)
    with pytest.raises(ValueError, match=r"draws models of 2 features; this one was fitted on 4\."):
        draw(model, X, y == 0)


def test_a_model_that_was_not_fitted_is_an_error(moons):
    with pytest.raises(NotFittedError):
        draw(MLLKMClassifier(), *moons)


def test_a_label_that_the_model_does_not_know_is_an_error(model, moons):
    with pytest.raises(ValueError, match="label 7, which the model does not know"):
        draw(model, moons[0], np.where(moons[1] == 1, 7, 0))


def test_labels_of_another_length_are_an_error(model, moons):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        draw(model, moons[0], moons[1][:-1])


@pytest.mark.parametrize("boundary", [[0.0, 1.0], [[0.0, 1.0, 2.0]]])
def test_a_boundary_that_is_no_line_in_the_plane_is_an_error(model, moons, boundary):
    with pytest.raises(ValueError, match=r"boundary must have the shape \(n_points, 2\), not \("):
        draw(model, *moons, boundary)


def test_a_grid_of_one_point_is_an_error(model, moons):
    with pytest.raises(ValueError, match="resolution=1 must be at least 2"):
        draw(model, *moons, resolution=1)


@in_one_test("threshold", [0.0, -0.1, 1.5, np.nan])
def test_a_threshold_that_no_support_score_can_have_is_an_error(model, moons, threshold):
    with pytest.raises(ValueError, match=f"abstain_below={threshold} must be above 0 and at most"):
        draw(model, *moons, abstain_below=threshold)


def test_the_example_in_the_docstring_runs():
    results = doctest.testmod(local_kernels)
    assert results.attempted > 0
    assert results.failed == 0
