"""The picture of a tree from its root down."""

import doctest

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

from nearlinear import LDKLClassifier, LDKLRegressor
from nearlinear.displays import TreeDiagramDisplay, tree_diagram
from reference import tree

FEW = {"random_state": 0, "max_iter": 15}


@pytest.fixture(scope="module")
def model(blobs):
    return LDKLClassifier(depth=3, **FEW).fit(*blobs)


def make_axes(width=9, height=5):
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height)).subplots()


def draw(model, X, y, **options):
    options = {"ax": make_axes(), **options}
    return TreeDiagramDisplay.from_estimator(model, X, y, **options)


def bars(display):
    return [patch for patch in display.ax_.patches if type(patch).__name__ == "Rectangle"]


def bands(display):
    return [patch for patch in display.ax_.patches if type(patch).__name__ == "PathPatch"]


def texts(display):
    return [text.get_text() for text in display.ax_.texts]


def rows_of_node(node, X, predictor):
    """Mask of the rows that pass a node."""
    paths = [tree.path(np.append(x, 1.0), predictor.splits, predictor.depth) for x in X]
    return np.array([node in path for path in paths])


def test_traffic_of_children_adds_up_to_their_parents(model, blobs):
    traffic = draw(model, *blobs).traffic
    assert traffic[0] == 1.0
    for node in range(7):
        assert traffic[2 * node + 1] + traffic[2 * node + 2] == pytest.approx(traffic[node])


def test_traffic_is_the_share_of_rows_that_pass(model, blobs):
    display = draw(model, *blobs)
    shares = [rows_of_node(node, blobs[0], model.predictor_).mean() for node in range(15)]
    np.testing.assert_allclose(display.traffic, shares)


def test_quality_is_the_accuracy_among_the_rows_that_pass(model, blobs):
    X, y = blobs
    display = draw(model, X, y)
    assert display.quality[0] == pytest.approx(model.score(X, y))
    for node in range(15):
        passing = rows_of_node(node, X, model.predictor_)
        if passing.any():
            expected = np.mean(model.predict(X[passing]) == y[passing])
            assert display.quality[node] == pytest.approx(expected)


def test_quality_of_a_regressor_is_its_error_relative_to_the_variance(blobs):
    X, _ = blobs
    y = np.sin(X[:, 0]) + X[:, 1]
    model = LDKLRegressor(depth=2, **FEW).fit(X, y)
    display = draw(model, X, y)
    assert display.quality[0] == pytest.approx(1 - model.score(X, y))
    passing = rows_of_node(1, X, model.predictor_)
    error = np.mean((model.predict(X) - y)[passing] ** 2) / np.var(y)
    assert display.quality[1] == pytest.approx(error)
    assert display.colorbar_.ax.get_ylabel() == "MSE / variance of y"


def test_the_scale_ends_at_one_where_all_is_right(model, blobs):
    X = blobs[0]
    display = draw(model, X, model.predict(X))
    assert display.colorbar_.mappable.get_clim() == (0.995, 1.0)


def test_a_node_that_no_row_passes_has_no_quality_and_is_not_drawn(model, blobs):
    X, y = blobs
    display = draw(model, X[:1], y[:1])
    assert display.traffic[display.drawn_nodes_].tolist() == [1.0] * 4
    assert np.isnan(np.delete(display.quality, display.drawn_nodes_)).all()
    assert len(bars(display)) == 4


def test_bars_are_as_wide_as_the_traffic_and_colored_by_quality(model, blobs):
    display = draw(model, *blobs)
    drawn = bars(display)
    assert len(drawn) == len(display.drawn_nodes_)
    widths = [bar.get_width() / drawn[0].get_width() for bar in drawn]
    np.testing.assert_allclose(widths, display.traffic[display.drawn_nodes_])
    scale = display.colorbar_.mappable
    for bar, node in zip(drawn, display.drawn_nodes_):
        assert bar.get_facecolor() == scale.to_rgba(display.quality[node])


def test_every_node_but_the_root_hangs_on_a_band_as_wide_as_itself(model, blobs):
    display = draw(model, *blobs)
    assert len(bands(display)) == len(display.drawn_nodes_) - 1
    for band, bar in zip(bands(display), bars(display)[1:]):
        outline = band.get_path().vertices
        assert outline[-1, 0] - outline[0, 0] == pytest.approx(bar.get_width())
        assert outline[4, 0] - outline[3, 0] == pytest.approx(bar.get_width())


def test_strong_nodes_of_both_tasks_have_the_same_color(blobs):
    X, y = blobs
    fit = LDKLClassifier(depth=2, **FEW).fit(X, y), LDKLRegressor(depth=2, **FEW).fit(X, X[:, 0])
    classifier, regressor = draw(fit[0], X, y), draw(fit[1], X, X[:, 0])
    best = classifier.colorbar_.cmap(1.0), regressor.colorbar_.cmap(0.0)
    assert best[0] == best[1]


def test_max_depth_leaves_the_lower_levels_out(model, blobs):
    display = draw(model, *blobs, max_depth=1)
    assert display.drawn_nodes_.tolist() == [0, 1, 2]
    assert len(bars(display)) == 3
    assert len(display.traffic) == 15


def test_strengths_weigh_coefficients_with_the_spread_of_features(model, blobs):
    X, y = blobs
    display = draw(model, X, y)
    expected = model.predictor_.splits[:, :-1] * X.std(axis=0)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(display.strengths, expected)


def test_strengths_of_projected_rows_are_those_of_the_features(blobs):
    X, y = blobs
    model = LDKLClassifier(depth=2, n_components=2, **FEW).fit(X, y)
    display = draw(model, X, y)
    assert display.strengths.shape == (3, 4)
    # along a split's own gradient in the space of the rows, in units of their spread
    turns = [
        model.predictor_.map(X + step) @ model.predictor_.predictor.splits[:3, :-1].T
        for step in np.vstack([np.zeros(4), np.diag(X.std(axis=0))])
    ]
    slopes = np.array([(turn - turns[0])[0] for turn in turns[1:]]).T
    expected = slopes / np.linalg.norm(slopes, axis=1, keepdims=True)
    np.testing.assert_allclose(display.strengths, expected, atol=1e-9)


def test_a_label_names_the_strongest_features_with_their_signs():
    display = TreeDiagramDisplay(
        traffic=np.ones(3) / 2,
        quality=np.ones(3),
        strengths=np.array([[0.1, -0.9, 0.3, 0.0]]),
        is_classifier=True,
        names=["age", "income", "a name of very many letters", "none"],
    )
    assert display.split_label(0) == "−income +a name of very ma…"
    assert display.split_label(0, n_features=1) == "−income"
    assert display.split_label(0, n_features=9).split()[-1] == "+age"


def test_labels_stand_where_they_fit(model, blobs):
    wide = draw(model, *blobs, feature_names=["age", "pay", "size", "tax"])
    assert wide.split_label(0, 3) in texts(wide)
    assert any(text.startswith("all rows: ") for text in texts(wide))
    narrow = draw(model, *blobs, ax=make_axes(width=1.2))
    assert len(texts(narrow)) < len(texts(wide))


def test_no_text_stands_on_another(model, blobs):
    display = draw(model, *blobs)
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


def deep_display(depth):
    """A tree that parts its rows in halves, with one feature."""
    traffic = np.concatenate([np.full(2**level, 0.5**level) for level in range(depth + 1)])
    return TreeDiagramDisplay(
        traffic=traffic,
        quality=np.linspace(0.5, 1.0, len(traffic)),
        strengths=np.ones((2**depth - 1, 1)),
        is_classifier=True,
        names=["x"],
    )


def test_levels_below_the_sixth_are_drawn_without_text():
    display = deep_display(7).plot(make_axes(300, 8))
    assert len(bars(display)) == 255
    heights = [text.get_position()[1] for text in display.ax_.texts]
    assert min(heights) == -6


def test_levels_too_low_for_a_line_of_text_have_none():
    assert texts(deep_display(3).plot(make_axes(9, 2))) == []
    assert len(texts(deep_display(3).plot(make_axes(9, 5)))) > 15


def test_a_tree_without_splits_is_one_bar(blobs):
    display = draw(LDKLClassifier(depth=0, **FEW).fit(*blobs), *blobs)
    assert len(bars(display)) == 1
    assert bands(display) == []


@pytest.mark.parametrize("node_gate", ["tanh", "compositional", "indicator"])
def test_sparse_rows_give_the_same_numbers_as_dense_ones(blobs, node_gate):
    X, y = blobs
    model = LDKLClassifier(depth=2, node_gate=node_gate, **FEW).fit(X, y)
    dense, sparse = draw(model, X, y), draw(model, csr_matrix(X), y)
    np.testing.assert_array_equal(sparse.traffic, dense.traffic)
    np.testing.assert_array_equal(sparse.quality, dense.quality)
    np.testing.assert_allclose(sparse.strengths, dense.strengths)
    assert dense.strengths.shape == (3, 4)


def test_rows_pass_the_steps_of_a_pipeline_first(blobs):
    X, y = 5 * blobs[0] + 100, blobs[1]
    model = make_pipeline(StandardScaler(), LDKLClassifier(depth=2, **FEW)).fit(X, y)
    display = draw(model, X, y)
    scaled = model[0].transform(X)
    shares = [rows_of_node(node, scaled, model[-1].predictor_).mean() for node in range(7)]
    np.testing.assert_allclose(display.traffic, shares)
    assert display.names == ["x0", "x1", "x2", "x3"]


def test_a_data_frame_names_the_features(blobs):
    pandas = pytest.importorskip("pandas")
    X, y = pandas.DataFrame(blobs[0], columns=list("pqrs")), blobs[1]
    plain = LDKLClassifier(depth=1, **FEW).fit(X, y)
    scaled = make_pipeline(StandardScaler(), LDKLClassifier(depth=1, **FEW)).fit(X, y)
    assert draw(plain, X, y).names == draw(scaled, X, y).names == list("pqrs")


def test_features_of_steps_that_give_no_names_are_numbered(blobs):
    model = make_pipeline(FunctionTransformer(np.tanh), LDKLClassifier(depth=1, **FEW)).fit(*blobs)
    assert draw(model, *blobs).names == ["x0", "x1", "x2", "x3"]


def test_a_figure_is_made_where_none_is_given(model, blobs):
    display = draw(model, *blobs, ax=None, title="Blobs")
    assert display.figure_.axes == [display.ax_, display.colorbar_.ax]
    assert display.ax_.get_title(loc="left") == "Blobs"


def test_a_wrong_number_of_names_is_an_error(model, blobs):
    with pytest.raises(ValueError, match="has 2 names and the tree has 4 features"):
        draw(model, *blobs, feature_names=["a", "b"])


def test_another_kind_of_model_is_an_error(blobs):
    with pytest.raises(TypeError, match="draws the trees of LDKL models, not LinearSVC"):
        draw(LinearSVC().fit(*blobs), *blobs)


def test_labels_of_another_length_are_an_error(model, blobs):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        draw(model, blobs[0], blobs[1][:-1])


def test_the_example_in_the_docstring_runs():
    results = doctest.testmod(tree_diagram)
    assert results.attempted > 0
    assert results.failed == 0
