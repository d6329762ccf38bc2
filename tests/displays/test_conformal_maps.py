"""The picture of the eight conformal maps."""

import doctest

import numpy as np
import pytest
from grids import in_one_test
from scipy.spatial.distance import pdist

from nearlinear import MLLKMClassifier
from nearlinear.displays import ConformalMapsDisplay, conformal_maps

PROFILES = ("exponential", "gaussian", "linear", "square")
NAMES = [*PROFILES, *(f"{profile}, per feature" for profile in PROFILES)]


@pytest.fixture(scope="module")
def display(moons):
    from matplotlib.figure import Figure

    return ConformalMapsDisplay.from_data(*moons, bandwidth=3.0, ax=nine_axes(Figure))


def nine_axes(figure_class):
    return figure_class(figsize=(12, 12)).subplots(3, 3)


def groups_of_points(ax):
    """Collections that show rows, without the spot at zero."""
    return [drawn for drawn in ax.collections if drawn.get_label().isdigit()]


def spots(ax):
    return [drawn for drawn in ax.collections if drawn not in groups_of_points(ax)]


def plain_image(X, anchor, profile, per_feature, bandwidth):
    """The map from its formula, row by row and feature by feature."""
    squared = np.median(pdist(X) ** 2)
    if per_feature:
        squared = 0.91 * np.mean([np.var(column) for column in X.T])
    scale = {
        "exponential": np.sqrt(squared),
        "gaussian": squared,
        "linear": 2 * np.sqrt(squared),
        "square": 2 * squared,
    }
    gamma = bandwidth / scale[profile]
    fade = {
        "exponential": lambda r: np.exp(-gamma * r),
        "gaussian": lambda r: np.exp(-gamma * r * r),
        "linear": lambda r: max(0.0, 1 - gamma * r),
        "square": lambda r: max(0.0, 1 - gamma * r * r),
    }[profile]
    image = []
    for x in X:
        away = [x[0] - anchor[0], x[1] - anchor[1]]
        r = (away[0] ** 2 + away[1] ** 2) ** 0.5
        image.append([fade(abs(a) if per_feature else r) * a for a in away])
    return np.array(image)


@pytest.mark.parametrize("m", range(8))
def test_images_are_the_formulas(moons, display, m):
    expected = plain_image(moons[0], display.anchor, PROFILES[m % 4], m >= 4, 3.0)
    np.testing.assert_allclose(display.images[m], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("m", range(8))
def test_a_bandwidth_means_what_it_means_to_the_estimator(moons, display, m):
    model = MLLKMClassifier(PROFILES[m % 4], m >= 4, bandwidths=[3.0], max_iter=1).fit(*moons)
    np.testing.assert_allclose(display.kernels[m].gamma, model.gammas_, rtol=1e-12)


def test_each_panel_bears_the_name_of_its_map(display):
    assert [ax.get_title(loc="left") for ax in display.axes_[1:]] == NAMES


def test_every_row_is_drawn_once_where_its_map_sends_it(moons, display):
    X, y = moons
    places = [X, *display.images]
    for ax, image in zip(display.axes_, places, strict=True):
        stays = image.any(axis=1) | (display.anchor == X).all(axis=1)
        for label, group in enumerate(groups_of_points(ax)):
            np.testing.assert_array_equal(group.get_offsets(), image[stays & (y == label)])
        assert len(groups_of_points(ax)) == 2


def test_rows_sent_to_zero_are_one_pale_spot_with_their_share(display):
    for name, ax, image in zip(NAMES, display.axes_[1:], display.images, strict=True):
        gone = display.vanished(image)
        if "linear" not in name and "square" not in name:
            assert not gone.any()
            assert (spots(ax), ax.get_xlabel()) == ([], "")
            continue
        (spot,) = spots(ax)
        assert spot.get_offsets().tolist() == [[0.0, 0.0]]
        assert ax.get_xlabel() == f"{round(100 * gone.mean())} % exactly at 0"
        red, green, blue, _ = spot.get_facecolor()[0]
        assert min(red, green, blue) > 0.7


def test_the_spot_grows_with_the_rows_in_it(display):
    whole, per_feature = display.axes_[3], display.axes_[7]
    shares = [display.vanished(display.images[m]).mean() for m in (2, 6)]
    sizes = [spots(ax)[0].get_sizes()[0] for ax in (whole, per_feature)]
    assert shares[0] > shares[1] > 0
    assert sizes[0] > sizes[1]


def test_the_anchor_is_no_vanished_row(moons):
    X = moons[0]
    display = ConformalMapsDisplay.from_data(X, anchor=X[7], bandwidth=3.0)
    assert all(not image[7].any() for image in display.images)
    assert not any(display.vanished(image)[7] for image in display.images)


def test_few_vanished_rows_are_not_rounded_to_none(rng):
    X = np.vstack([rng.standard_normal((400, 2)), [[100.0, 100.0]]])
    display = ConformalMapsDisplay.from_data(X, anchor=(0.0, 0.0), bandwidth=0.1)
    assert display.axes_[4].get_xlabel() == "< 1 % exactly at 0"


def test_the_anchor_is_marked_in_every_panel(display):
    marks = [[line for line in ax.lines if line.get_marker() == "+"] for ax in display.axes_]
    places = [np.ravel(mark.get_data()) for (mark,) in marks]
    np.testing.assert_array_equal(places[0], display.anchor)
    np.testing.assert_array_equal(places[1:], np.zeros((8, 2)))


def test_without_an_anchor_the_row_nearest_to_the_mean_is_taken(moons, display):
    X = moons[0]
    nearest = min(X, key=lambda x: np.linalg.norm(x - X.mean(axis=0)))
    np.testing.assert_array_equal(display.anchor, nearest)


def test_maps_share_one_scale_that_holds_all_images(display):
    limits = {(ax.get_xlim(), ax.get_ylim()) for ax in display.axes_[1:]}
    ((left, right), (bottom, top)) = limits.pop()
    assert not limits
    assert left == bottom == -right == -top
    assert right > max(np.abs(image).max() for image in display.images)


def test_classes_have_colors_and_marks_of_their_own(display):
    first, second = groups_of_points(display.axes_[0])
    assert tuple(first.get_facecolor()[0]) != tuple(second.get_facecolor()[0])
    assert len(first.get_paths()[0].vertices) != len(second.get_paths()[0].vertices)
    texts = [text.get_text() for text in display.axes_[0].get_legend().get_texts()]
    assert texts == ["0", "1"]


def test_without_labels_color_is_the_distance_from_the_anchor(moons):
    X = moons[0]
    display = ConformalMapsDisplay.from_data(X, anchor=(1.0, 0.5))
    away = np.linalg.norm(X - [1.0, 0.5], axis=1)
    assert display.axes_[0].get_legend() is None
    for ax in display.axes_[:3]:  # no bounded map: all rows are drawn
        (points,) = ax.collections
        np.testing.assert_allclose(points.get_array(), away)


def test_the_panels_do_not_write_over_each_other(moons):
    display = ConformalMapsDisplay.from_data(*moons, bandwidth=3.0)
    display.figure_.draw_without_rendering()
    for above, below in zip(display.axes_[1:5], display.axes_[5:]):
        note = above.xaxis.label.get_window_extent()
        assert not note.overlaps(below._left_title.get_window_extent())
    top = display.figure_.bbox.y1
    for ax in display.axes_[1:5]:
        formula, name = ax._right_title.get_window_extent(), ax._left_title.get_window_extent()
        assert formula.y1 <= top
        assert not formula.overlaps(name)


def test_a_figure_is_made_where_none_is_given(moons):
    display = ConformalMapsDisplay.from_data(moons[0])
    assert list(display.axes_) == display.figure_.axes
    assert len(display.axes_) == 9


def test_a_display_can_be_drawn_again_on_other_axes(moons):
    from matplotlib.figure import Figure

    other = nine_axes(Figure)
    again = ConformalMapsDisplay.from_data(*moons, bandwidth=3.0).plot(other)
    assert again.axes_[8] is other[2, 2]
    assert again.figure_ is other[0, 0].figure


@pytest.mark.parametrize("X", [np.full((5, 2), 3.0), [[1.0, 2.0]]])
def test_rows_in_one_place_are_drawn(X):
    display = ConformalMapsDisplay.from_data(X)
    assert not np.any(display.images)
    assert display.axes_[1].get_xlim() == (-1.0, 1.0)


def test_data_frames_are_drawn_as_arrays(moons):
    pandas = pytest.importorskip("pandas")
    display = ConformalMapsDisplay.from_data(pandas.DataFrame(moons[0], columns=["a", "b"]))
    np.testing.assert_array_equal(display.points, moons[0])


def test_rows_of_another_number_of_features_are_an_error(blobs):
    with pytest.raises(ValueError, match=r"draws rows of 2 features; X has 4\."):
        ConformalMapsDisplay.from_data(*blobs)


@in_one_test("bandwidth", [0.0, -1.0, np.inf, np.nan])
def test_a_bandwidth_that_is_none_is_an_error(moons, bandwidth):
    with pytest.raises(ValueError, match=rf"bandwidth={bandwidth} must be a number above 0\."):
        ConformalMapsDisplay.from_data(moons[0], bandwidth=bandwidth)


@in_one_test("anchor", [(1.0, 2.0, 3.0), 1.0, (np.nan, 0.0), [[0.0, 1.0]]])
def test_an_anchor_that_is_no_point_of_the_plane_is_an_error(moons, anchor):
    with pytest.raises(ValueError, match="anchor must be a point of 2 numbers, not"):
        ConformalMapsDisplay.from_data(moons[0], anchor=anchor)


def test_labels_of_another_length_are_an_error(moons):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ConformalMapsDisplay.from_data(moons[0], moons[1][:-1])


def test_more_classes_than_can_be_told_apart_are_an_error(moons):
    with pytest.raises(ValueError, match=r"tells 8 classes apart; y has 9\."):
        ConformalMapsDisplay.from_data(moons[0], np.arange(200) % 9)


def test_another_number_of_axes_is_an_error(moons):
    from matplotlib.figure import Figure

    with pytest.raises(ValueError, match=r"draws on 9 axes; ax has 1\."):
        ConformalMapsDisplay.from_data(moons[0], ax=Figure().subplots())


def test_the_example_in_the_docstring_runs():
    results = doctest.testmod(conformal_maps)
    assert results.attempted > 0
    assert results.failed == 0
