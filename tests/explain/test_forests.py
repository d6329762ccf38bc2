"""Explanations of forests: what every split changes, to the last digit of the score."""

import matplotlib
import numpy as np
import pytest
from forests import FORESTS, forest_and_rows, held
from grids import in_one_test
from numpy.testing import assert_allclose
from scipy.sparse import csr_matrix
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from nearlinear.displays import ExplanationDisplay
from nearlinear.explain.explain import explain
from nearlinear.predictors.forest import filled


def parts_of(forest, x):
    """Parts and intercept of one row of one output, from the definition."""
    gate, n_outputs = forest.gate, forest.n_outputs
    parts = np.zeros((n_outputs, gate.n_features + len(gate.pairs)))
    intercept = forest.intercept.astype(np.float64)
    leaves_below = {}

    def leaves(node):
        if node not in leaves_below:
            child = gate.children[node]
            is_leaf = gate.columns[node] < 0
            leaves_below[node] = [child] if is_leaf else leaves(child) + leaves(child + 1)
        return leaves_below[node]

    def mean(node):
        below = leaves(node)
        weights = forest.covers[below].astype(np.float64)
        return weights @ forest.values[below].astype(np.float64) / weights.sum()

    seen = filled(x[None], forest.fill)[0].astype(np.float64)
    if forest.root.size:
        parts[:, : gate.n_features] += forest.root * seen
    for tree, leaf in enumerate(gate.plain(x[None])[0]):
        to = slice(None) if forest.values.shape[1] > 1 else forest.outputs[tree]
        node = gate.starts[tree]
        intercept[to] += mean(node) if forest.values.shape[1] > 1 else mean(node)[0]
        while gate.columns[node] >= 0:
            child = gate.children[node]
            child = child if leaf in leaves(child) else child + 1
            change = mean(child) - mean(node)
            parts[to, gate.columns[node]] += change if change.size > 1 else change[0]
            node = child
        slopes = forest.slopes[leaf] if forest.values.shape[1] > 1 else forest.slopes[leaf, 0]
        parts[to, forest.slope_columns] += slopes * seen[forest.slope_columns]
    return parts, intercept


@in_one_test("name", [name for name in FORESTS if name != "wide"])
def test_parts_are_those_of_the_definition_and_sum_to_the_score(name):
    forest, X = forest_and_rows(name, np.float64, n_rows=40)
    found = explain(forest, X)
    assert found.coefficients is None
    for i in range(5):
        parts, intercept = parts_of(forest, X[i])
        assert_allclose(found.contributions[i], parts, atol=1e-12)
        assert_allclose(found.intercepts[i], intercept, atol=1e-12)
    assert_allclose(found.scores, forest.plain(X), atol=1e-12)
    assert_allclose(explain(forest, csr_matrix(X), n_jobs=2).scores, found.scores, atol=1e-12)
    assert_allclose(found.active, forest.gate.plain(X))


def test_single_precision_is_explained_in_double():
    forest, X = forest_and_rows("slopes", np.float32)
    found = explain(forest, X)
    assert found.contributions.dtype == np.float64
    assert_allclose(found.scores, forest(X), rtol=1e-6, atol=1e-5)


def test_pair_columns_have_names_and_parts_of_their_own():
    forest, X = forest_and_rows("pairs", np.float64)
    gate = forest.gate
    gate.pairs[:3], gate.factors[:3] = [[3, 1], [0, 2], [4, 2]], [[1, -0.5], [-1, 2], [0.25, 1]]
    model = held(forest)
    found = model.explain(X)
    assert found.names[5:9] == ("x5", "x3 − 0.5·x1", "−x0 + 2·x2", "0.25·x4 + x2")
    assert found.importances.shape == (1, 11)
    model.feature_names_in_ = np.array(list("abcdef"), dtype=object)
    frame = held_with_names(model, X).to_frame()
    assert list(frame.columns[6:7]) == ["d − 0.5·b"]
    assert_allclose(frame["score"], frame.drop(columns="score").sum(axis=1))
    assert "parts (300, 1, 11)" in repr(found)


def held_with_names(model, X):
    from pandas import DataFrame

    return model.explain(DataFrame(X, columns=model.feature_names_in_))


def test_parts_stay_behind_a_scaler_and_are_of_components_behind_a_pca():
    forest, X = forest_and_rows("pairs", np.float64)
    X = X + 0.01  # on no threshold, where rounding decides
    scaler = StandardScaler().fit(X)
    scaler.mean_, scaler.scale_, model = np.full(6, 3.0), np.full(6, 2.0), held(forest)
    found = model.explain(2.0 * X + 3.0, preparation=scaler)
    assert_allclose(found.contributions, model.explain(X).contributions, atol=1e-12)
    assert_allclose(found.rows, 2.0 * X + 3.0)
    mixed = model.explain(X, preparation=PCA().fit(X))
    assert mixed.names[:2] == ("pca0", "pca1")
    assert_allclose(mixed.scores, forest.plain(PCA().fit(X).transform(X)), atol=1e-9)
    with pytest.raises(TypeError, match="Contributions of a forest are of its columns"):
        found.in_original_units(PCA().fit(X), X)


@in_one_test("name", ["slopes", "vector slopes", "three outputs"])
def test_an_explanation_is_drawn(name):
    matplotlib.use("Agg")
    forest, X = forest_and_rows(name, np.float64)
    found = ExplanationDisplay.from_estimator(held(forest), X[0])
    score = forest.plain(X[:1])[0]
    assert found.score == pytest.approx(score.max())
    trees = found.region.sum() + forest.intercept[score.argmax()]
    if not forest.root.size:
        assert found.score == pytest.approx(trees)
    assert found.region_labels[0].startswith("tree ")
    matplotlib.pyplot.close(found.figure_)
