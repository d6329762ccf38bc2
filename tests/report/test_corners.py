"""Between two corners a model is one piece: a line, where its kind has lines."""

import numpy as np
import pytest

from nearlinear import ClusteredSVMClassifier, LDKLRegressor, LLSVMClassifier, LocalForestRegressor
from nearlinear.predictors.additive import Additive
from nearlinear.predictors.averaged import Averaged
from nearlinear.predictors.hinges import Hinges
from nearlinear.report.corners import corners, is_of_lines


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return X, X[:, 0] * X[:, 1] + np.abs(X[:, 2])


def additive():
    knots, values = np.array([-0.5, 0.1, 0.8]), np.array([[0.0], [2.0], [-1.0]])
    return Additive(np.ones((3, 1)), np.zeros(1), np.array([0, 3, 3, 3]), knots, values)


def hinges():
    rng = np.random.default_rng(1)
    shapes = ((3, 5), (5, 4), (4, 1))
    return Hinges(
        tuple(rng.normal(size=shape) for shape in shapes),
        tuple(rng.normal(size=shape[1]) for shape in shapes),
    )


def forest():
    return LocalForestRegressor(8, max_leaves=5, pairs=2, random_state=0).fit(*rows()).predictor_


def tree():
    settings = {"depth": 2, "node_gate": "indicator", "max_iter": 20, "random_state": 0}
    return LDKLRegressor(**settings).fit(*rows()).predictor_


def nearest():
    X, y = rows()
    return LLSVMClassifier(6, n_neighbors=1, random_state=0).fit(X, y > 0).predictor_


def clusters():
    X, y = rows()
    return ClusteredSVMClassifier(4, random_state=0).fit(X, y > 0).predictor_


def averaged():
    return Averaged((additive(), hinges()), (0.3, 0.7))


@pytest.mark.parametrize(
    "make",
    [additive, hinges, forest, tree, nearest, clusters, averaged],
    ids=lambda one: one.__name__,
)
def test_pieces_are_lines(make):
    predictor, rng = make(), np.random.default_rng(2)
    many = 0
    for _ in range(5):
        start, step = rng.normal(size=3), 3.0 * rng.normal(size=3)
        found = np.concatenate([[0.0], corners(predictor, start, step), [1.0]])
        many += len(found) - 2
        wide = np.diff(found) > 1e-6
        shares = np.array([0.02, 0.27, 0.5, 0.81, 0.98])
        places = (found[:-1, None] + np.diff(found)[:, None] * shares)[wide]
        Z = (start + places.reshape(-1, 1) * step).astype(predictor.dtype)
        scores = predictor(Z).astype(np.float64).reshape(len(places), len(shares))
        low, high = scores[:, :1], scores[:, -1:]
        line = low + (high - low) * (shares - shares[0]) / (shares[-1] - shares[0])
        np.testing.assert_allclose(scores, line, atol=1e-5 * (1 + np.abs(scores).max()))
    assert many > 0
    assert is_of_lines(predictor)
