"""The picture of a model's kernel weights."""

import doctest
import subprocess
import sys

import numpy as np
import pytest
from grids import in_one_test
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from nearlinear import LDKLClassifier, SimpleMKLClassifier, SimpleMKLRegressor
from nearlinear.displays import KernelWeightsDisplay, kernel_weights
from nearlinear.kernels import (
    Custom,
    Family,
    Gaussian,
    Linear,
    OnColumns,
    Polynomial,
    Scaled,
    UnitDiagonal,
    WeightedSum,
)

BANK = Family((Gaussian(width=0.5), Gaussian(width=2.0), Polynomial(2), Linear()), columns="both")


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).standard_normal((80, 3))
    return X, np.where(X[:, 1] ** 2 + 0.5 * X[:, 2] > 0.6, 1, -1)


@pytest.fixture(scope="module")
def model(rows):
    return SimpleMKLClassifier(BANK, weight_solver="newton").fit(*rows)


def make_axes():
    from matplotlib.figure import Figure

    return Figure(figsize=(7, 4)).subplots()


def draw(model, **options):
    return KernelWeightsDisplay.from_estimator(model, **{"ax": make_axes(), **options})


def of_weights(weights, **options):
    """A display made by hand, of kernels a, b, c, ..."""
    n_kernels = np.shape(weights)[-1]
    options = {"labels": list("abcdefgh"[:n_kernels]), "kinds": ["Gaussian"] * n_kernels, **options}
    return KernelWeightsDisplay(weights=np.array(weights), **options)


def label_of(kernel, feature_names=None):
    """What a display calls a kernel."""
    model = SimpleMKLClassifier()
    model.kernel_weights_, model.kernels_ = np.array([1.0]), [kernel]
    model.n_features_in_ = 5
    return draw(model, feature_names=feature_names).labels[0]


def tick_labels(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def heading(display):
    return display.ax_.get_title(loc="left")


def test_bars_are_the_weights_from_the_largest_down(model):
    display = draw(model, top=None)
    expected = np.sort(model.kernel_weights_[model.kernel_weights_ > 0])[::-1]
    np.testing.assert_array_equal([bar.get_width() for bar in display.bars_], expected)
    bottom, top = display.ax_.get_ylim()
    assert bottom > top  # the first bar is the uppermost


def test_each_bar_bears_the_name_of_its_kernel(model):
    display = draw(model, top=None)
    heaviest = int(np.argmax(model.kernel_weights_))
    assert display.drawn_kernels_[0] == heaviest
    assert tick_labels(display) == [display.labels[m] for m in display.drawn_kernels_]


def test_equal_weights_keep_the_order_of_the_kernels():
    assert tick_labels(of_weights([0.2, 0.3, 0.2, 0.3]).plot()) == ["b", "d", "a", "c"]


def test_kernels_of_weight_zero_are_counted_but_not_drawn():
    display = of_weights([0.0, 0.7, 0.0, 0.3, 0.0]).plot()
    assert tick_labels(display) == ["b", "d"]
    assert heading(display) == "2 of 5 kernels in use, 3 with weight zero"


def test_no_more_than_top_kernels_are_drawn_and_the_heading_says_so():
    display = of_weights([0.1, 0.0, 0.4, 0.2, 0.3]).plot(top=2)
    assert tick_labels(display) == ["c", "e"]
    assert heading(display) == "4 of 5 kernels in use, 1 with weight zero; the 2 largest"
    assert heading(display.plot(top=1)).endswith("; the largest")


def test_a_title_stands_above_the_count():
    display = of_weights([0.0, 1.0]).plot(title="Wine")
    assert heading(display).strip() == "Wine"
    assert "1 of 2 kernels in use, 1 with weight zero" in [t.get_text() for t in display.ax_.texts]


def test_weights_that_are_all_zero_are_an_empty_picture():
    display = of_weights([0.0, 0.0]).plot()
    assert len(display.drawn_kernels_) == 0
    assert display.bars_ is None
    assert heading(display) == "0 of 2 kernels in use, 2 with weight zero"


def test_kinds_have_their_colors_and_their_total_in_the_legend():
    display = of_weights(
        [0.5, 0.125, 0.25, 0.125], kinds=["Gaussian", "Polynomial", "Gaussian", "Linear"]
    ).plot(top=2)
    assert display.total_by_kind() == {"Gaussian": 0.75, "Polynomial": 0.125, "Linear": 0.125}
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["Gaussian 0.75", "Polynomial 0.12", "Linear 0.12"]
    by_kind = of_weights([0.5, 0.3, 0.2], kinds=["Gaussian", "Linear", "Gaussian"]).plot().bars_
    first, second, third = (bar.get_facecolor() for bar in by_kind)
    assert first == third != second


def test_one_kind_needs_no_legend():
    assert of_weights([0.5, 0.5]).plot().ax_.get_legend() is None


@in_one_test(
    ("kernel", "label"),
    [
        (Gaussian(width=0.5), "Gaussian, width 0.5, all features"),
        (Gaussian(gamma=0.25), "Gaussian, gamma 0.25, all features"),
        (Linear(), "Linear, all features"),
        (Polynomial(3), "Polynomial 3, all features"),
        (Polynomial(3, gamma=2.0, coef0=0.0), "Polynomial 3, gamma 2, coef0 0, all features"),
        (OnColumns(Polynomial(2), (3,)), "Polynomial 2 on feature 3"),
        (OnColumns(Gaussian(width=2), (3,)), "Gaussian on feature 3, width 2"),
        (OnColumns(Linear(), (0, 3, 4)), "Linear on features 0, 3 and 4"),
        (OnColumns(Linear(), (0, 1, 2, 3)), "Linear on 4 features"),
        (OnColumns(OnColumns(Linear(), (1,)), (0, 4)), "Linear on feature 4"),
        (Scaled(Linear(), 2.0), "Linear, × 2, all features"),
        (UnitDiagonal(Polynomial(2)), "Polynomial 2, unit diagonal, all features"),
        (WeightedSum((Linear(), Gaussian()), (1.0, 1.0)), "Sum of 2 kernels, all features"),
        (Custom(np.dot), "dot, all features"),
    ],
)
def test_kernels_are_named_in_words(kernel, label):
    assert label_of(kernel) == label


def test_a_kernel_of_the_users_own_class_bears_the_name_of_the_class():
    class Laplacian:
        def from_pairs(self, pairs):
            return pairs.products

    assert label_of(Laplacian()) == "Laplacian, all features"


def test_features_bear_their_names_where_given_and_long_ones_are_cut():
    names = ["age", "height", "c", "d", "a name that is longer than a picture is wide"]
    assert label_of(OnColumns(Polynomial(2), (0,)), names) == "Polynomial 2 on age"
    assert label_of(OnColumns(Linear(), (0, 1)), names) == "Linear on age and height"
    assert label_of(OnColumns(Linear(), (4,)), names) == "Linear on a name that is longer t…"


def test_a_data_frame_names_the_features(rows):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(rows[0], columns=["age", "height", "weight"])
    kernels = [OnColumns(Linear(), (1,)), Gaussian()]
    named = SimpleMKLClassifier(kernels).fit(X, rows[1])
    assert draw(named).labels[0] == "Linear on height"
    scaled = make_pipeline(StandardScaler(), SimpleMKLClassifier(kernels)).fit(X, rows[1])
    assert draw(scaled).labels[0] == "Linear on height"


def test_a_pipeline_step_that_cannot_name_features_leaves_them_numbered(rows):
    last = SimpleMKLClassifier([OnColumns(Linear(), (1,)), Gaussian()])
    display = draw(make_pipeline(FunctionTransformer(np.abs), last).fit(*rows))
    assert display.labels[0] == "Linear on feature 1"


def test_precomputed_kernels_are_numbered(rows):
    X, y = rows
    stack = np.stack([X @ X.T, np.exp(-((X[:, None] - X) ** 2).sum(axis=2))], axis=2)
    display = draw(SimpleMKLClassifier("precomputed").fit(stack, y))
    assert display.labels == ["Precomputed kernel 0", "Precomputed kernel 1"]


def test_a_regressor_has_bars(rows):
    model = SimpleMKLRegressor("gaussians").fit(rows[0], rows[0][:, 0] ** 2)
    assert len(draw(model).bars_) == np.count_nonzero(model.kernel_weights_)


def test_several_classes_are_a_heat_map_of_kernels_and_classes(rows):
    X, _ = rows
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = SimpleMKLClassifier(BANK, weight_solver="newton").fit(X, y)
    display = draw(model, top=None)
    assert display.bars_ is None
    weights = model.kernel_weights_
    total = weights.sum(axis=0)[display.drawn_kernels_]
    assert (np.diff(total) <= 0).all()
    np.testing.assert_array_equal(
        display.heat_.get_array().filled(0.0), weights[:, display.drawn_kernels_].T
    )
    shown = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert shown == ["high", "low", "middle"]  # classes_ is sorted
    n_in_use = np.count_nonzero(weights.any(axis=0))
    assert heading(display).startswith(f"{n_in_use} of 16 kernels in use, {16 - n_in_use} with")


def test_cells_of_weight_zero_are_blank():
    display = of_weights([[0.5, 0.0], [0.25, 0.75]], classes=[0, 1]).plot()
    assert display.heat_.get_array().mask.sum() == 1
    assert sorted(text.get_text() for text in display.ax_.texts) == ["0.25", "0.5", "0.75"]


def test_many_classes_have_a_scale_instead_of_numbers():
    weights = np.full((20, 3), 1 / 3)
    display = of_weights(weights, classes=np.arange(20)).plot()
    assert len(display.ax_.texts) == 0
    assert len(display.figure_.axes) == 2  # the map and the scale


def test_a_display_can_be_drawn_again_on_other_axes(model):
    display, other = draw(model), make_axes()
    assert display.plot(other, top=1).ax_ is other
    assert len(display.bars_) == 1


def test_a_figure_is_made_where_none_is_given(model):
    display = draw(model, ax=None)
    assert display.figure_.axes == [display.ax_]


def test_a_model_that_was_not_fitted_is_an_error():
    with pytest.raises(NotFittedError, match="SimpleMKLClassifier instance is not fitted yet"):
        draw(SimpleMKLClassifier())


@pytest.mark.parametrize("other", [SVC(), LDKLClassifier(depth=1, max_iter=2)])
def test_a_model_without_kernel_weights_is_an_error(other, rows):
    name = type(other).__name__
    with pytest.raises(TypeError, match=rf"draws the kernel weights of MKL models, not {name}\."):
        draw(make_pipeline(StandardScaler(), other).fit(*rows))


def test_names_of_another_number_are_an_error(model):
    with pytest.raises(ValueError, match="feature_names has 2 names and the kernels see 3 feature"):
        draw(model, feature_names=["a", "b"])


def test_no_kernels_to_draw_is_an_error(model):
    with pytest.raises(ValueError, match=r"top=0 must be at least 1, or None for all kernels\."):
        draw(model, top=0)


def test_importing_the_display_does_not_import_matplotlib():
    source = "import sys, nearlinear.displays; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_the_example_in_the_docstring_runs():
    results = doctest.testmod(kernel_weights)
    assert results.attempted > 0
    assert results.failed == 0
