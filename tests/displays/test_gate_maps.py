"""The picture of a localized classifier's gate and components."""

import doctest
from dataclasses import dataclass

import numpy as np
import pytest
from grids import in_one_test
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from nearlinear import (
    ConvexLMKLClassifier,
    LDMKLClassifier,
    LMKLClassifier,
    LMKLRegressor,
    SAMKLClassifier,
    SwMKLClassifier,
)
from nearlinear.displays import GateDisplay, gate_maps

TWO = ["linear", "gaussian"]
BLENDS = {
    "affine": LMKLClassifier(n_copies=3, random_state=0),
    "sigmoid": LMKLClassifier(n_copies=2, gate="sigmoid", random_state=0),
    "kernels": LMKLClassifier(TWO, n_copies=2, random_state=0),
    "clusters": ConvexLMKLClassifier(TWO, n_clusters=3, random_state=0),
    "success": SwMKLClassifier(TWO),
}
VOTE, PAIRWISE = LDMKLClassifier(TWO), SwMKLClassifier(TWO, blend="pairwise")
ALL = {**BLENDS, "vote": VOTE, "pairwise": PAIRWISE}


@dataclass(frozen=True)
class Halves:
    """Component 0 answers for negative values of the first feature, component 1 for the others."""

    @property
    def parameters(self):
        return np.zeros(0)

    def start(self, Z, n_components, rng):
        return self

    def __call__(self, Z):
        right = Z[:, :1] >= 0.0
        return np.hstack([~right, right]).astype(np.float64)

    def with_parameters(self, parameters):
        return self

    def gradient(self, Z, slopes):
        return np.zeros(0)


@pytest.fixture(scope="module")
def rows(moons):
    return moons[0][::2], moons[1][::2]


@pytest.fixture(scope="module")
def models(rows):
    return {name: model.fit(*rows) for name, model in ALL.items()}


@pytest.fixture(scope="module")
def model(models):
    return models["affine"]


@pytest.fixture(scope="module")
def halves(rows):
    return LMKLClassifier(n_copies=2, gate=Halves(), tol=1e-6).fit(*rows)


@pytest.fixture(scope="module")
def display(model, rows):
    return draw(model, *rows)


def draw(model, X, y, *positional, n_panels=None, **options):
    from matplotlib.figure import Figure

    if "ax" not in options:
        n_panels = n_panels or model.gate_(np.zeros((1, 2))).shape[1]
        figure = Figure(figsize=(4 * n_panels, 4))
        options["ax"] = figure.subplots(1, n_panels)
    options = {"resolution": 30, **options}
    return GateDisplay.from_estimator(model, X, y, *positional, **options)


def grid_rows(display):
    return np.column_stack([display.xx0.ravel(), display.xx1.ravel()])


def flat(panels):
    return np.reshape(panels, (len(panels), -1)).T


def signed(model, X, y):
    return np.where(y == model.classes_[1], 1, -1) * model.decision_function(X)


def legend(display):
    (found,) = display.figure_.legends
    return [text.get_text() for text in found.get_texts()]


@pytest.mark.parametrize("name", ALL)
def test_the_shading_is_the_gate_on_one_scale(models, rows, name):
    display = draw(models[name], *rows)
    expected = models[name].gate_(grid_rows(display))
    shown = [surface.get_array() for surface in display.surfaces_]
    np.testing.assert_allclose(flat(shown), expected)
    limits = {surface.get_clim() for surface in display.surfaces_}
    assert limits == {(expected.min(), expected.max())}


@pytest.mark.parametrize("name", BLENDS)
def test_components_blended_by_their_gates_make_the_decision_function(models, rows, name):
    display, predictor = draw(models[name], *rows), models[name].predictor_
    bias = predictor.intercept[0] if hasattr(predictor, "intercept") else predictor.bias
    gates = flat(display.gates)
    if name == "success":  # its expected successes are brought to unit length
        gates = gates / np.sqrt((gates**2).sum(axis=1, keepdims=True))
    blended = (gates * (flat(display.alone) - bias)).sum(axis=1) + bias
    expected = models[name].decision_function(grid_rows(display))
    np.testing.assert_allclose(blended, expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(display.scores.ravel(), expected)


def test_votes_of_the_components_make_the_decision_function_of_ld_mkl(models, rows):
    display = draw(models["vote"], *rows)
    votes = (flat(display.gates) * np.tanh(flat(display.alone))).sum(axis=1)
    np.testing.assert_allclose(votes, display.scores.ravel(), rtol=1e-8, atol=1e-8)


def test_a_component_of_the_pairwise_blend_answers_by_its_kernel_alone(models, rows):
    model = models["pairwise"]
    display, expansion = draw(model, *rows), model.predictor_.predictor
    support = np.ascontiguousarray(expansion.support[:, :2])
    for panel, kernel in enumerate(model.kernels_):
        expected = kernel(grid_rows(display), support) @ expansion.coefficients[0, :, 0]
        expected += expansion.biases[0]
        np.testing.assert_allclose(display.alone[panel].ravel(), expected, rtol=1e-8, atol=1e-8)


def test_the_models_boundary_is_dashed_in_every_panel(model, rows):
    display = draw(model, *rows, resolution=200)
    assert len(display.model_boundaries_) == 3
    for boundary in display.model_boundaries_:
        (path,) = boundary.get_paths()
        scores = model.decision_function(path.vertices)
        assert len(scores) > 50
        assert np.abs(scores).max() < 0.02 * np.abs(display.scores).max()
        ((_, dashes),) = boundary.get_linestyles()
        assert dashes is not None


def test_a_components_own_lines_run_where_it_would_answer_so(model, rows):
    display = draw(model, *rows, margin=3.0)  # far enough for all lines
    predictor = model.predictor_
    for q, lines in enumerate(display.alone_):
        assert lines.levels.tolist() == [-1.0, 0.0, 1.0]
        for level, path in zip(lines.levels, lines.get_paths(), strict=True):
            answers = path.vertices @ predictor.weights[q, :, 0] + predictor.biases[q, 0]
            answers += predictor.intercept[0]
            assert len(answers) > 1
            np.testing.assert_allclose(answers, level, atol=1e-8)  # linear, so contours are exact


def test_margins_are_dotted_in_the_color_of_their_class(model, rows):
    from matplotlib.colors import same_color

    display = draw(model, *rows, margin=3.0)
    lines = display.alone_[0]
    colors = lines.get_edgecolors()
    groups = [drawn.get_facecolor() for drawn in display.axes_[0].collections[-3:-1]]
    assert same_color(colors[0], groups[0])
    assert same_color(colors[2], groups[1])
    dashes = [style[1] for style in lines.get_linestyles()]
    assert dashes[0] == dashes[2] is not None
    assert dashes[1] is None


def test_lines_that_do_not_cross_the_picture_are_not_drawn(model, rows):
    X, y = rows
    first = X[np.argmin(model.decision_function(X))]
    few = np.argsort(np.linalg.norm(X - first, axis=1))[:3]
    display = draw(model, X[few], y[few], margin=0.0)
    assert display.model_boundaries_ == [None] * 3
    for answers, lines in zip(display.alone, display.alone_, strict=True):
        crossed = [level for level in (-1, 0, 1) if answers.min() < level < answers.max()]
        assert (lines is None) == (not crossed)
        assert lines is None or lines.levels.tolist() == crossed
    assert any(lines is None for lines in display.alone_)


def test_rows_have_the_color_and_mark_of_their_class_in_every_panel(display, rows):
    X, y = rows
    for ax in display.axes_:
        groups = [
            drawn for label in (0, 1) for drawn in ax.collections
            if np.array_equal(drawn.get_offsets(), X[y == label])
        ]  # fmt: skip
        assert len(groups) == 2
        assert tuple(groups[0].get_facecolor()[0]) != tuple(groups[1].get_facecolor()[0])
        assert len(groups[0].get_paths()[0].vertices) != len(groups[1].get_paths()[0].vertices)


def test_support_points_are_circled_where_their_component_is_open(halves, rows):
    X, y = rows
    display = draw(halves, X, y)
    held = signed(halves, X, y) <= 1.001
    for circles, side in zip(display.support_, (X[:, 0] < 0, X[:, 0] >= 0), strict=True):
        np.testing.assert_array_equal(circles.get_offsets(), X[held & side])
        assert 0 < len(circles.get_offsets()) < held.sum()
        assert len(circles.get_facecolor()) == 0  # the row inside stays visible


def test_circles_are_the_support_rows_of_the_fit(halves, rows):
    display = draw(halves, *rows)
    counts = [len(circles.get_offsets()) for circles in display.support_]
    np.testing.assert_allclose(counts, halves.n_support_per_component_, atol=1)


def test_circles_of_ld_mkl_are_those_of_each_machine(models, rows):
    X, y = rows
    model = models["vote"]
    display = draw(model, X, y)
    signs = np.where(y == 1, 1, -1)[:, None]
    expected = (signs * model.predictor_.components(X) <= 1.001) & (model.gate_(X) >= 0.5 - 1e-8)
    np.testing.assert_array_equal(display.is_support, expected)
    assert not np.array_equal(expected[:, 0], expected[:, 1])


def test_titles_tell_the_component_and_the_number_of_its_support_points(display):
    for q, ax in enumerate(display.axes_):
        count = len(display.support_[q].get_offsets())
        assert ax.get_title(loc="left") == f"component {q}\n{count} support points"


def test_one_support_point_is_one(model, rows):
    X, y = rows
    weakest = np.argmin(signed(model, X, y))
    few = np.append(weakest, np.argsort(-signed(model, X, y))[:5])
    display = draw(model, X[few], y[few])
    assert display.axes_[0].get_title(loc="left").endswith("\n1 support point")


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("kernels", ["0: Linear", "1: Gaussian", "2: Linear", "3: Gaussian"]),
        ("success", ["0: Linear", "1: Gaussian"]),
        ("pairwise", ["0: Linear", "1: Gaussian"]),
        ("vote", ["0: Linear", "1: Gaussian"]),
        ("clusters", ["cluster 0", "cluster 1", "cluster 2"]),
    ],
)
def test_components_are_called_by_their_kernel_or_cluster(models, rows, name, labels):
    display = draw(models[name], *rows)
    assert [label.partition(",")[0] for label in display.labels] == labels


def test_a_kernel_on_one_column_is_called_so(rows):
    from nearlinear.kernels import Linear, OnColumns

    kernels = [OnColumns(Linear(), [0]), OnColumns(Linear(), [1])]
    display = draw(LMKLClassifier(kernels, n_copies=1, random_state=0).fit(*rows), *rows)
    assert [label.partition(",")[0] for label in display.labels] == [
        "0: Linear on feature 0", "1: Linear on feature 1",
    ]  # fmt: skip


def test_chosen_components_are_drawn_in_the_order_given(model, rows, display):
    chosen = draw(model, *rows, [2, 0], n_panels=2)
    assert chosen.labels == ["component 2", "component 0"]
    for name in ("gates", "alone"):
        np.testing.assert_array_equal(getattr(chosen, name), getattr(display, name)[[2, 0]])
    np.testing.assert_array_equal(chosen.is_support, display.is_support[:, [2, 0]])


@pytest.mark.parametrize("name", ["clusters", "vote", "pairwise"])
def test_one_component_of_other_methods_is_drawn_alone(models, rows, name):
    display = draw(models[name], *rows, [1], n_panels=1)
    full = draw(models[name], *rows)
    assert display.labels == full.labels[1:2]
    np.testing.assert_allclose(display.alone, full.alone[1:2])
    np.testing.assert_array_equal(display.is_support, full.is_support[:, 1:2])


def test_a_single_component_is_open_everywhere(rows):
    model = LMKLClassifier(n_copies=1).fit(*rows)
    display = draw(model, *rows, n_panels=1)
    np.testing.assert_allclose(display.surfaces_[0].get_array(), 1.0)
    assert display.surfaces_[0].get_clim() == (0.0, 1.0)


@pytest.mark.parametrize("labels", [("no", "yes"), (5, 3)])
def test_labels_of_any_kind_are_drawn(rows, labels):
    X, y = rows[0], np.array(labels)[rows[1]]
    model = LMKLClassifier(n_copies=2, random_state=0).fit(X, y)
    display = draw(model, X, y)
    assert legend(display)[:2] == [f"class {label}" for label in sorted(labels)]
    np.testing.assert_array_equal(display.is_support[:, 0], signed(model, X, y) <= 1.001)


def test_a_pipeline_is_drawn_in_the_units_of_its_rows(rows):
    X, y = 10 * rows[0] + [100, 0], rows[1]
    pipeline = make_pipeline(StandardScaler(), LMKLClassifier(n_copies=2, random_state=0))
    display = draw(pipeline.fit(X, y), X, y, n_panels=2)
    seen = pipeline[0].transform(grid_rows(display))
    np.testing.assert_allclose(flat(display.gates), pipeline[-1].gate_(seen))
    np.testing.assert_allclose(
        display.scores.ravel(), pipeline.decision_function(grid_rows(display))
    )


def test_a_gate_that_sees_one_column_is_drawn(rows):
    model = LMKLClassifier(n_copies=2, gating_features=[1], random_state=0).fit(*rows)
    display = draw(model, *rows)
    assert np.ptp(display.gates, axis=1).max() > 0.1
    np.testing.assert_allclose(np.ptp(display.gates, axis=2), 0.0, atol=1e-12)


def test_a_data_frame_names_the_axes(rows):
    pandas = pytest.importorskip("pandas")
    X, y = pandas.DataFrame(rows[0], columns=["height", "weight"]), rows[1]
    display = draw(LMKLClassifier(n_copies=2, random_state=0).fit(X, y), X, y)
    for ax in display.axes_:
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("height", "weight")


def test_single_precision_is_drawn(rows):
    X, y = rows[0].astype(np.float32), rows[1]
    display = draw(LMKLClassifier(TWO, n_copies=1, random_state=0).fit(X, y), X, y)
    assert display.alone.shape == (2, 30, 30)


def test_the_grid_reaches_a_margin_beyond_the_rows(model, rows):
    display = draw(model, *rows, margin=0.5)
    low, high = rows[0].min(axis=0), rows[0].max(axis=0)
    room = 0.5 * (high - low)
    for ax in display.axes_:
        ends = [ax.get_xlim(), ax.get_ylim()]
        np.testing.assert_allclose(ends, np.column_stack([low - room, high + room]))


def test_a_figure_is_made_where_none_is_given(models, rows):
    display = draw(models["affine"], *rows, ax=None, title="Moons")
    assert list(display.axes_) == display.figure_.axes[:-1]  # the last one is the scale
    assert display.figure_.get_suptitle() == "Moons"


def test_many_panels_stand_in_rows(rows):
    model = LMKLClassifier(n_copies=5, random_state=0, max_iter=1).fit(*rows)
    display = draw(model, *rows, ax=None, resolution=10)
    display.figure_.draw_without_rendering()
    corners = {tuple(np.round(ax.get_position().p0, 3)) for ax in display.axes_}
    assert len({x for x, _ in corners}) == 3
    assert len({y for _, y in corners}) == 2
    assert len(corners) == 5


@pytest.mark.parametrize("n_panels", [1, 3])
def test_the_legend_stands_below_the_panels(model, rows, n_panels):
    display = draw(model, *rows, range(n_panels), ax=None)
    display.figure_.draw_without_rendering()
    box = display.figure_.legends[0].get_window_extent()
    assert 0 <= box.x0 < box.x1 <= display.figure_.bbox.x1
    for ax in display.axes_:
        assert not box.overlaps(ax.get_tightbbox())


def test_the_legend_says_what_is_drawn(display):
    assert legend(display) == [
        "class 0", "class 1", "support point", "model's boundary", "component alone: its boundary",
        "component alone: class 0 ahead by 1", "component alone: class 1 ahead by 1",
    ]  # fmt: skip


def test_a_display_can_be_drawn_again_on_other_axes(model, rows):
    from matplotlib.figure import Figure

    display, other = draw(model, *rows), Figure().subplots(3)
    display.plot(other)
    assert list(display.axes_) == list(other)
    assert [len(drawn) for drawn in (display.surfaces_, display.support_, display.alone_)] == [
        3
    ] * 3


def test_another_number_of_axes_is_an_error(model, rows):
    with pytest.raises(ValueError, match=r"GateDisplay draws on 3 axes; ax has 2\."):
        draw(model, *rows, n_panels=2)


@in_one_test("components", [[3], [-1], [0, 7]])
def test_a_component_that_is_not_there_is_an_error(model, rows, components):
    with pytest.raises(ValueError, match=r"must hold numbers of components from 0 to 2\."):
        draw(model, *rows, components)


@in_one_test("components", [[], 1, [0.5], ["0"], [[0, 1]]])
def test_what_is_no_list_of_components_is_an_error(model, rows, components):
    with pytest.raises(ValueError, match="must be a list of numbers of components"):
        draw(model, *rows, components)


def test_a_model_that_was_not_fitted_is_an_error(rows):
    with pytest.raises(NotFittedError):
        draw(LMKLClassifier(), *rows, n_panels=3)


@pytest.mark.parametrize(
    "other",
    [SVC(), SAMKLClassifier(TWO), LMKLRegressor(n_copies=2, max_iter=1)],
    ids=lambda model: type(model).__name__,
)
def test_a_model_without_a_gate_or_classes_is_an_error(rows, other):
    name = type(other).__name__
    with pytest.raises(ValueError, match=rf"draws classifiers with a gate, .*, not {name}\."):
        draw(other.fit(*rows), *rows, n_panels=2)


@pytest.mark.parametrize("name", ["affine", "clusters", "success", "vote"])
def test_three_classes_are_an_error(blobs, name):
    X, y = blobs[0][::3, :2], blobs[1][::3]
    model = type(ALL[name])(**ALL[name].get_params()).fit(X, y)
    with pytest.raises(ValueError, match=r"draws models of 2 classes; this one knows 3\."):
        draw(model, X, y, n_panels=3)


def test_another_number_of_features_is_an_error(blobs):
    X, y = blobs
    model = LMKLClassifier(n_copies=2, random_state=0, max_iter=1).fit(X, y == 0)
    with pytest.raises(ValueError, match=r"GateDisplay draws rows of 2 features; X has 4\."):
        draw(model, X, y == 0, n_panels=2)


def test_sparse_rows_are_an_error(model, rows):
    with pytest.raises(TypeError, match="dense data is required"):
        draw(model, csr_matrix(rows[0]), rows[1])


def test_a_gate_that_sees_a_second_matrix_is_an_error(rows):
    X, y = rows
    model = LMKLClassifier(n_copies=2, random_state=0, max_iter=1).fit(X, y, gating=X[:, :1])
    with pytest.raises(ValueError, match="was fitted with a second matrix"):
        draw(model, X, y, n_panels=2)


def test_a_label_that_the_model_does_not_know_is_an_error(model, rows):
    with pytest.raises(ValueError, match="label 7, which the model does not know"):
        draw(model, rows[0], np.where(rows[1] == 1, 7, 0))


def test_labels_of_another_length_are_an_error(model, rows):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        draw(model, rows[0], rows[1][:-1])


def test_a_grid_of_one_point_is_an_error(model, rows):
    with pytest.raises(ValueError, match="resolution=1 must be at least 2"):
        draw(model, *rows, resolution=1)


def test_the_example_in_the_docstring_runs():
    results = doctest.testmod(gate_maps)
    assert results.attempted > 0
    assert results.failed == 0
