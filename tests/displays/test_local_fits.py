"""The picture of a localized regressor on one feature."""

import doctest

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVR

from nearlinear import LMKLClassifier, LMKLRegressor, SimpleMKLRegressor
from nearlinear.displays import LocalFitsDisplay, local_fits

SETTINGS = {"n_copies": 2, "epsilon": 0.1, "gate_penalty": 0.01, "random_state": 0}


@pytest.fixture(scope="module")
def rows():
    """A line up and a line down."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-2.0, 2.0, 80))
    return x[:, None], 2.0 - np.abs(x) + 0.1 * rng.standard_normal(80)


@pytest.fixture(scope="module")
def model(rows):
    return LMKLRegressor(tol=1e-6, **SETTINGS).fit(*rows)


@pytest.fixture(scope="module")
def height(rows):
    """Half of the tube's, in the unit of the values."""
    return 0.1 * rows[1].std()


@pytest.fixture(scope="module")
def display(model, rows):
    return draw(model, *rows)


def draw(model, X, y, **options):
    from matplotlib.figure import Figure

    options = {"resolution": 60, "ax": Figure(figsize=(7, 5)).subplots(), **options}
    return LocalFitsDisplay.from_estimator(model, X, y, **options)


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_the_curve_is_the_prediction(model, display):
    x, curve = display.curve_.get_data()
    np.testing.assert_array_equal(curve, model.predict(x[:, None]))
    assert len(x) == 60


def test_the_tube_is_epsilon_spreads_above_and_below_the_curve(display, height):
    corners = display.tube_.get_paths()[0].vertices
    for x, middle in zip(display.x[1:-1], display.curve[1:-1]):
        heights = corners[corners[:, 0] == x, 1]
        np.testing.assert_allclose(sorted(heights), [middle - height, middle + height])


def test_gates_are_dashed_on_an_axis_of_their_own(model, display):
    expected = model.gate_(display.x[:, None])
    shown = [line.get_ydata() for line in display.gates_]
    np.testing.assert_array_equal(np.transpose(shown), expected)
    assert all(line.axes is display.gate_ax_ for line in display.gates_)
    assert {line.get_linestyle() for line in display.gates_} == {"--"}
    assert display.gate_ax_.get_ylabel() == "gate"


def test_local_fits_are_the_components_own_lines(model, display):
    predictor = model.predictor_
    slopes, offsets = predictor.weights[:, 0, 0], predictor.biases[:, 0] + predictor.intercept[0]
    assert len(display.local_) == 2
    for q, fit in enumerate(display.local_):
        ends = np.concatenate(fit.get_segments())
        np.testing.assert_allclose(ends[:, 1], ends[:, 0] * slopes[q] + offsets[q])


@pytest.mark.parametrize("kernels", ["affine", "gaussian"])
def test_local_fits_blended_by_their_gates_make_the_curve(rows, kernels):
    model = LMKLRegressor(kernels, **SETTINGS).fit(*rows)
    display = draw(model, *rows)
    np.testing.assert_allclose((display.gates * display.local).sum(axis=1), display.curve)


def test_a_local_fit_is_as_strong_as_its_gate_is_open(model, display):
    for q, fit in enumerate(display.local_):
        middles = np.mean(fit.get_segments(), axis=1)[:, :1]
        strength = fit.get_edgecolor()[:, 3]
        np.testing.assert_allclose(strength, model.gate_(middles)[:, q], atol=0.02)


def test_a_local_fit_is_not_drawn_where_its_gate_is_shut(model, rows):
    display = draw(model, *rows, margin=3.0)
    for q, fit in enumerate(display.local_):
        shut = display.gates[:, q] == 0.0
        drawn = np.concatenate(fit.get_segments())[:, 0]
        assert 5 < shut.sum() < 55
        beside = shut & np.roll(shut, 1) & np.roll(shut, -1)
        assert not np.isin(display.x[beside], drawn).any()
        assert np.isin(display.x[~shut], drawn).all()


def test_a_component_and_its_gate_have_one_color_unlike_the_others(display):
    from matplotlib.colors import to_rgb

    colors = [to_rgb(line.get_color()) for line in display.gates_]
    assert colors[0] != colors[1]
    for color, fit in zip(colors, display.local_, strict=True):
        shades = fit.get_edgecolor()[:, :3]
        np.testing.assert_allclose(shades, np.tile(color, (len(shades), 1)))


def test_rows_are_drawn_and_those_on_the_tube_or_outside_are_circled(model, display, rows, height):
    X, y = rows
    np.testing.assert_array_equal(display.rows_.get_offsets(), np.column_stack([X, y]))
    held = np.abs(y - model.predict(X)) >= 0.999 * height
    np.testing.assert_array_equal(
        display.support_.get_offsets(), np.column_stack([X[held], y[held]])
    )
    assert len(display.support_.get_facecolor()) == 0  # the row inside stays visible


def test_circles_are_the_support_rows_of_the_fit(model, display):
    assert abs(int(display.is_support.sum()) - model.n_support_) <= 1


def test_without_a_tube_every_row_holds_the_fit(rows):
    model = LMKLRegressor(**{**SETTINGS, "epsilon": 0.0, "max_iter": 1}).fit(*rows)
    assert draw(model, *rows).is_support.all()


def test_the_legend_counts_the_support_rows(display, height):
    assert legend(display) == [
        "row", f"support rows: {display.is_support.sum()} of 80", "fit", f"± {height:.3g}",
        "local fit, as far as open", "its gate",
    ]  # fmt: skip


def test_gates_lie_below_rows_and_curve(display, rows):
    low, high = display.ax_.get_ylim()
    share = (min(rows[1].min(), display.curve.min() - 0.1) - low) / (high - low)
    assert 1.0 / display.gate_ax_.get_ylim()[1] < share
    assert display.ax_.get_yticks().min() >= rows[1].min() - 0.3
    assert high > max(rows[1].max(), display.curve.max())


def test_local_fits_that_answer_are_in_the_picture_and_end_above_the_gates(display):
    steep = LocalFitsDisplay(**{**vars_of(display), "local": 1.3 * display.local}).plot()
    low, high = steep.ax_.get_ylim()
    answering = steep.local[steep.gates > 0.5]
    assert low < answering.min() < answering.max() < high
    _, gates_end = steep.gate_ax_.transData.transform((0.0, steep.gates.max()))
    assert all(fit.get_clip_box().y0 > gates_end for fit in steep.local_)


def test_rows_are_drawn_before_the_gates(display):
    assert display.ax_.get_zorder() > display.gate_ax_.get_zorder()
    assert not display.ax_.patch.get_visible()  # or it would hide them


def test_gates_larger_than_one_stay_in_the_picture(display):
    other = LocalFitsDisplay(**{**vars_of(display), "gates": 3.0 * display.gates}).plot()
    most = 3.0 * display.gates.max()
    np.testing.assert_allclose(other.gate_ax_.get_yticks(), [0.0, most / 2, most])
    assert most < other.gate_ax_.get_ylim()[1]


def vars_of(display):
    return {name: value for name, value in vars(display).items() if not name.endswith("_")}


def test_more_components_than_colors_are_drawn(rows):
    model = LMKLRegressor(**{**SETTINGS, "n_copies": 10, "max_iter": 1}).fit(*rows)
    assert len(draw(model, *rows).gates_) == 10


def test_curves_reach_a_margin_beyond_the_rows(model, rows):
    display = draw(model, *rows, margin=0.5)
    low, high = rows[0].min(), rows[0].max()
    room = 0.5 * (high - low)
    np.testing.assert_allclose(display.ax_.get_xlim(), [low - room, high + room])
    np.testing.assert_allclose(display.x[[0, -1]], [low - room, high + room])


def test_rows_that_the_model_has_not_seen_can_be_shown(model):
    display = draw(model, [[5.0], [6.0]], [0.0, 1.0])
    assert display.x[0] < 5.0 < 6.0 < display.x[-1]
    np.testing.assert_allclose(display.rows_.get_offsets(), [[5.0, 0.0], [6.0, 1.0]])
    # one component answers there, and the other is shut
    assert sorted(len(fit.get_segments()) for fit in display.local_) == [0, 59]


def test_a_pipeline_is_drawn_in_the_units_of_its_rows(rows):
    X, y = 10 * rows[0] + 100, rows[1]
    pipeline = make_pipeline(StandardScaler(), LMKLRegressor(**SETTINGS)).fit(X, y)
    display = draw(pipeline, X, y)
    seen = pipeline[0].transform(display.x[:, None])
    np.testing.assert_allclose(display.gates, pipeline[-1].gate_(seen))
    np.testing.assert_allclose(display.local, local_lines(pipeline[-1], seen))


def test_steps_may_make_more_features_of_one(rows):
    pipeline = make_pipeline(
        PolynomialFeatures(2, include_bias=False), LMKLRegressor(**SETTINGS, max_iter=2)
    )
    display = draw(pipeline.fit(*rows), *rows)
    seen = np.column_stack([display.x, display.x**2])
    np.testing.assert_allclose(display.local, local_lines(pipeline[-1], seen))


def local_lines(machine, rows):
    predictor = machine.predictor_
    answers = rows @ predictor.weights[:, :, 0].T + predictor.biases[:, 0]
    return answers + predictor.intercept[0]


def test_a_data_frame_names_the_axis(rows):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(rows[0], columns=["time"])
    display = draw(LMKLRegressor(**SETTINGS, max_iter=2).fit(X, rows[1]), X, rows[1])
    assert display.ax_.get_xlabel() == "time"


def test_single_precision_is_drawn(rows):
    X = rows[0].astype(np.float32)
    display = draw(LMKLRegressor(**SETTINGS, max_iter=2).fit(X, rows[1]), X, rows[1])
    assert display.local.shape == (60, 2)


def test_equal_values_are_drawn():
    X, y = np.linspace(0.0, 1.0, 10)[:, None], np.full(10, 3.0)
    display = draw(LMKLRegressor(**{**SETTINGS, "epsilon": 0.0}).fit(X, y), X, y)
    low, high = display.ax_.get_ylim()
    assert low < 3.0 < high


def test_a_figure_is_made_where_none_is_given(model, rows):
    display = draw(model, *rows, ax=None, title="A roof")
    assert display.figure_.axes == [display.ax_, display.gate_ax_]
    assert display.ax_.get_title(loc="left") == "A roof"


def test_the_legend_stands_below_the_axis(model, rows):
    display = draw(model, *rows, ax=None)
    display.figure_.draw_without_rendering()
    box = display.ax_.get_legend().get_window_extent()
    assert not box.overlaps(display.ax_.xaxis.label.get_window_extent())
    assert box.y0 >= 0
    assert 0 <= box.x0 < box.x1 <= display.figure_.bbox.x1


def test_a_display_can_be_drawn_again_on_other_axes(model, rows):
    from matplotlib.figure import Figure

    display, other = draw(model, *rows), Figure().subplots()
    display.plot(other)
    assert display.ax_ is other
    assert [len(display.local_), len(display.gates_)] == [2, 2]


def test_a_model_that_was_not_fitted_is_an_error(rows):
    with pytest.raises(NotFittedError):
        draw(LMKLRegressor(), *rows)


@pytest.mark.parametrize(
    "other", [SVR(), SimpleMKLRegressor("gaussian")], ids=lambda model: type(model).__name__
)
def test_another_kind_of_model_is_an_error(rows, other):
    name = type(other).__name__
    with pytest.raises(ValueError, match=rf"LocalFitsDisplay draws LMKLRegressor, not {name}\."):
        draw(other.fit(*rows), *rows)


def test_a_classifier_is_an_error(rows):
    X, y = rows[0], rows[1] > 1.0
    model = LMKLClassifier(n_copies=2, max_iter=1).fit(X, y)
    with pytest.raises(ValueError, match=r"draws LMKLRegressor, not LMKLClassifier\."):
        draw(model, X, y)


def test_another_number_of_features_is_an_error(rows):
    X = np.column_stack([rows[0], rows[0] ** 2])
    model = LMKLRegressor(**SETTINGS, max_iter=1).fit(X, rows[1])
    with pytest.raises(ValueError, match=r"LocalFitsDisplay draws rows of 1 feature; X has 2\."):
        draw(model, X, rows[1])


def test_values_of_another_length_are_an_error(model, rows):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        draw(model, rows[0], rows[1][:-1])


def test_a_curve_of_one_point_is_an_error(model, rows):
    with pytest.raises(ValueError, match="resolution=1 must be at least 2"):
        draw(model, *rows, resolution=1)


def test_the_example_in_the_docstring_runs():
    results = doctest.testmod(local_fits)
    assert results.attempted > 0
    assert results.failed == 0
