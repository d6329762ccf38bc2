"""The picture of a tree on two features."""

import doctest

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from nearlinear import LDKLClassifier, LDKLRegressor
from nearlinear.displays import TreeCellsDisplay, tree_cells
from reference import tree

FEW = {"random_state": 0, "max_iter": 15}


@pytest.fixture(scope="module")
def binary(moons):
    return LDKLClassifier(depth=2, **FEW).fit(*moons)


def draw(model, X, y=None, **options):
    from matplotlib.figure import Figure

    options = {"resolution": 40, "ax": Figure().subplots(), **options}
    return TreeCellsDisplay.from_estimator(model, X, y, **options)


def drawn_points(display):
    return sum(len(group.get_offsets()) for group in display.ax_.collections)


def grid_rows(display):
    return np.column_stack([display.xx0.ravel(), display.xx1.ravel()])


@pytest.mark.parametrize("node_gate", ["tanh", "compositional", "indicator"])
def test_cells_are_the_hard_paths_on_the_grid(moons, node_gate):
    model = LDKLClassifier(depth=2, node_gate=node_gate, **FEW).fit(*moons)
    display = draw(model, *moons, resolution=12)
    splits = model.predictor_.splits
    leaves = [tree.path(np.append(x, 1.0), splits, 2)[-1] for x in grid_rows(display)]
    assert display.cells.ravel().tolist() == leaves


def test_the_grid_holds_the_models_own_answers(binary, moons):
    display = draw(binary, *moons)
    rows = grid_rows(display)
    np.testing.assert_array_equal(display.response.ravel(), binary.predict(rows))
    np.testing.assert_array_equal(display.scores.ravel(), binary.decision_function(rows))


def test_the_grid_reaches_a_margin_beyond_the_rows(binary, moons):
    display = draw(binary, *moons, margin=0.1)
    low, high = moons[0].min(axis=0), moons[0].max(axis=0)
    room = 0.1 * (high - low)
    ends = [[grid.min(), grid.max()] for grid in (display.xx0, display.xx1)]
    np.testing.assert_allclose(ends, np.column_stack([low - room, high + room]))


def test_borders_are_drawn_thinner_at_each_level(binary, moons):
    display = draw(binary, *moons)
    drawn = display.borders_.get_segments()
    np.testing.assert_array_equal(drawn, display.borders)
    assert display.border_nodes.tolist()[0] == 0
    widths = display.borders_.get_linewidths()
    assert len(widths) == len(display.borders) > 1
    assert widths[0] == max(widths) > min(widths)


def test_the_boundary_runs_where_the_prediction_changes(binary, moons):
    display = draw(binary, *moons, resolution=200)
    (curve,) = display.boundaries_
    points = np.vstack([path.vertices for path in curve.get_paths()])
    step = display.xx0[0, 1] - display.xx0[0, 0]
    around = 1.5 * step * np.array([[0, 0], [1, 1], [1, -1], [-1, 1], [-1, -1]])
    seen = np.array([binary.predict(points + shift) for shift in around])
    assert (seen.min(axis=0) < seen.max(axis=0)).mean() > 0.99


def test_every_row_is_drawn_in_the_color_of_its_class(binary, moons):
    X, y = moons
    display = draw(binary, X, y)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "class 0", "class 1",
    ]  # fmt: skip
    points = [group for group in display.ax_.collections if len(group.get_offsets()) > 1]
    assert [len(group.get_offsets()) for group in points] == np.bincount(y).tolist()
    first, second = (tuple(group.get_facecolor()[0]) for group in points)
    assert first != second


def test_rows_without_labels_are_drawn_without_a_legend(binary, moons):
    display = draw(binary, moons[0])
    assert display.targets is None
    assert display.ax_.get_legend() is None
    assert drawn_points(display) >= len(moons[0])


def test_several_classes_have_their_own_colors_and_boundaries(moons):
    X, _ = moons
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = LDKLClassifier(depth=1, **FEW).fit(X, y)
    display = draw(model, X, y)
    assert display.scores.shape == (40, 40, 3)
    assert len(display.boundaries_) == 3
    assert len({tuple(color) for color in display.surface_.get_array().reshape(-1, 3)}) == 3


def test_more_classes_than_hand_picked_colors_are_told_apart(rng):
    X, y = rng.standard_normal((120, 2)), np.arange(120) % 12
    display = draw(LDKLClassifier(depth=1, **FEW).fit(X, y), X, y)
    colors = {tuple(color) for color in display.surface_.get_array().reshape(-1, 3)}
    assert len(colors) == len(np.unique(display.response))


def test_a_regressor_shows_its_surface_with_a_scale(moons):
    X, _ = moons
    y = np.sin(2 * X[:, 0])
    model = LDKLRegressor(depth=2, **FEW).fit(X, y)
    display = draw(model, X, y)
    np.testing.assert_array_equal(display.surface_.get_array(), display.response)
    assert display.boundaries_ == []
    assert len(display.figure_.axes) == 2  # the picture and the scale
    np.testing.assert_allclose(display.surface_.get_clim(), np.quantile(y, [0.01, 0.99]))


def test_constant_targets_still_have_a_scale(moons):
    X, _ = moons
    model = LDKLRegressor(depth=1, **FEW).fit(X, X[:, 0])
    assert draw(model, X, np.full(len(X), 3.0)).surface_.get_clim() == (3.0, 4.0)


def test_a_tree_without_splits_has_one_cell(moons):
    display = draw(LDKLClassifier(depth=0, **FEW).fit(*moons), *moons)
    assert np.unique(display.cells).tolist() == [0]
    assert len(display.borders) == 0


def test_a_pipeline_is_drawn_in_the_units_of_its_rows(moons):
    X, y = 10 * moons[0] + [100, 0], moons[1]
    model = make_pipeline(StandardScaler(), LDKLClassifier(depth=2, **FEW)).fit(X, y)
    display = draw(model, X, y, resolution=12)
    splits = model[-1].predictor_.splits
    rows = model[0].transform(grid_rows(display))
    leaves = [tree.path(np.append(x, 1.0), splits, 2)[-1] for x in rows]
    assert display.cells.ravel().tolist() == leaves
    for ends, node in zip(display.borders, display.border_nodes):
        middle = model[0].transform([ends.mean(axis=0)])[0]
        assert np.append(middle, 1.0) @ splits[node] == pytest.approx(0.0, abs=1e-9)


def test_cells_of_projected_rows_lie_between_their_borders(moons):
    model = LDKLClassifier(depth=2, n_components=3, **FEW).fit(*moons)
    display = draw(model, *moons, resolution=12)
    splits = model.predictor_.predictor.splits
    rows = model.predictor_.map(grid_rows(display))
    leaves = [tree.path(np.append(x, 1.0), splits, 2)[-1] for x in rows]
    assert display.cells.ravel().tolist() == leaves
    for ends, node in zip(display.borders, display.border_nodes):
        middle = model.predictor_.map(ends.mean(axis=0, keepdims=True))[0]
        assert np.append(middle, 1.0) @ splits[node] == pytest.approx(0.0, abs=1e-9)


def test_a_pipeline_that_bends_rows_is_refused(moons):
    X, y = moons
    bend = FunctionTransformer(np.exp)
    model = make_pipeline(bend, LDKLClassifier(depth=1, **FEW)).fit(X, y)
    with pytest.raises(ValueError, match="keep lines straight"):
        draw(model, X, y)


def test_a_data_frame_names_the_axes(moons):
    pandas = pytest.importorskip("pandas")
    X, y = pandas.DataFrame(moons[0], columns=["height", "weight"]), moons[1]
    display = draw(LDKLClassifier(depth=1, **FEW).fit(X, y), X, y)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("height", "weight")


def test_sparse_rows_are_drawn_as_dense_ones(binary, moons):
    display = draw(binary, csr_matrix(moons[0]), moons[1])
    np.testing.assert_array_equal(display.points, moons[0])


def test_names_and_title_can_be_given(binary, moons):
    display = draw(binary, *moons, feature_names=np.array(["left", "right"]), title="Moons")
    assert display.ax_.get_xlabel() == "left"
    assert display.ax_.get_title(loc="left") == "Moons"


def test_a_figure_is_made_where_none_is_given(binary, moons):
    display = draw(binary, *moons, ax=None)
    assert display.figure_.axes == [display.ax_]


def test_another_number_of_features_is_an_error(blobs):
    model = LDKLClassifier(depth=1, **FEW).fit(*blobs)
    with pytest.raises(ValueError, match=r"draws models of 2 features; this one was fitted on 4\."):
        draw(model, *blobs)


def test_another_kind_of_model_is_an_error(moons):
    model = LogisticRegression().fit(*moons)
    with pytest.raises(TypeError, match="draws the trees of LDKL models, not LogisticRegression"):
        draw(model, *moons)


def test_several_trees_are_an_error(moons):
    model = LDKLClassifier(depth=1, n_trees=2, **FEW).fit(*moons)
    with pytest.raises(ValueError, match=r"draws one tree; this model averages 2 \(n_trees\)"):
        draw(model, *moons)


def test_a_model_that_was_not_fitted_is_an_error(moons):
    with pytest.raises(NotFittedError):
        draw(LDKLClassifier(), *moons)


def test_a_label_that_the_model_does_not_know_is_an_error(binary, moons):
    with pytest.raises(ValueError, match="label 7, which the model does not know"):
        draw(binary, moons[0], np.where(moons[1] == 1, 7, 0))


def test_labels_of_another_length_are_an_error(binary, moons):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        draw(binary, moons[0], moons[1][:-1])


def test_a_grid_of_one_point_is_an_error(binary, moons):
    with pytest.raises(ValueError, match="resolution=1 must be at least 2"):
        draw(binary, *moons, resolution=1)


def test_the_example_in_the_docstring_runs():
    results = doctest.testmod(tree_cells)
    assert results.attempted > 0
    assert results.failed == 0
