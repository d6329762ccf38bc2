"""How good scores are on held-out rows."""

import numpy as np
import pytest
from sklearn.metrics import r2_score

from nearlinear.estimators._base.target_units import TargetUnits
from nearlinear.estimators._base.task import Classification, Regression

accuracy = Classification(np.arange(2)).score
explained = Regression(TargetUnits()).score


def test_one_score_is_right_if_it_has_the_sign_of_its_target():
    scores, targets = np.array([[2.0], [-1.0], [0.0], [3.0]]), np.array([[1], [-1], [-1], [-1]])
    assert accuracy(scores, targets, np.ones(4)) == 0.75
    assert accuracy(scores, targets, np.array([1.0, 1.0, 1.0, 5.0])) == pytest.approx(3 / 8)


def test_several_scores_are_right_if_that_of_the_class_is_the_highest():
    scores = np.array([[0.1, 0.3, 0.2], [-1.0, -2.0, -3.0]])
    targets = np.array([[-1, 1, -1], [-1, -1, 1]])
    assert accuracy(scores, targets, np.array([3.0, 1.0])) == 0.75


def test_what_is_explained_is_the_coefficient_of_determination(rng):
    values, weight = rng.standard_normal((20, 1)), rng.uniform(1, 3, 20)
    guesses = values + 0.3 * rng.standard_normal((20, 1))
    assert explained(guesses, values, weight) == pytest.approx(
        r2_score(values, guesses, sample_weight=weight)
    )


def test_guesses_of_a_constant_are_compared_by_their_error():
    values = np.ones((5, 1))
    assert explained(values, values, np.ones(5)) == 0.0
    assert explained(values + 0.1, values, np.ones(5)) > explained(values + 1.0, values, np.ones(5))
