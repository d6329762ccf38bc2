"""Which anchors matter: the score without one of them, and models on those that stay."""

import numpy as np
import pytest

from nearlinear.gates.anchors import SoftAssignment
from nearlinear.predictors.locally_linear import LocallyLinear
from nearlinear.solvers.anchors.pruning import anchor_effects, keep_anchors, most_effective
from nearlinear.solvers.solution import LocalModels


@pytest.fixture
def problem(rng):
    X = rng.standard_normal((60, 3))
    models = LocalModels(
        rng.standard_normal((6, 3)),
        0.5,
        rng.standard_normal((6, 3, 2)),
        rng.standard_normal((6, 2)),
    )
    return X, rng.uniform(0.5, 2.0, 60), models


def test_effects_are_how_scores_change_without_an_anchor(problem):
    X, weight, models = problem
    indices, codes = models.gate(6).codes(X)
    found = anchor_effects(X, indices, codes, models.weights, models.biases, weight)
    shares, scores = models.gate(6)(X), LocallyLinear(models.gate(6), models.weights, models.biases)
    for j in range(6):
        kept = np.delete(np.arange(6), j)
        without = LocallyLinear(
            SoftAssignment(models.anchors[kept], 5, 0.5), models.weights[kept], models.biases[kept]
        )
        change = np.abs(scores(X) - without(X)).sum(axis=1) * (1.0 - shares[:, j])
        assert found[j] == pytest.approx(weight @ change, rel=1e-10)


def test_anchors_that_answer_as_their_neighbors_do_go_first(problem):
    X, weight, models = problem
    models.weights[[1, 4]], models.biases[[1, 4]] = models.weights[[0]], models.biases[[0]]
    models.weights[2], models.biases[2] = models.weights[0], models.biases[0]
    predictor = LocallyLinear(models.gate(6), models.weights, models.biases)
    kept = most_effective(X, weight, predictor, 2)
    np.testing.assert_array_equal(kept, [3, 5])


def test_models_that_stay_are_as_they_were_and_reach_further(problem):
    X, _, models = problem
    found = keep_anchors(models, np.array([0, 3]), 2, X)
    np.testing.assert_array_equal(found.anchors, models.anchors[[0, 3]])
    np.testing.assert_array_equal(found.weights, models.weights[[0, 3]])
    assert found.sharpness < models.sharpness
