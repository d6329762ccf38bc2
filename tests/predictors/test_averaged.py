"""Means of predictors: of scores, and of probabilities as scores of the log loss."""

import numpy as np
from grids import in_one_test
from scipy.sparse import csr_matrix
from small_predictors import additive, averaged, calibrations

from nearlinear.predictors.averaged import Averaged
from nearlinear.runtime.outcome import LogLoss

D = 5


def rows(n_rows=60, dtype=np.float64):
    return np.random.default_rng(3).standard_normal((n_rows, D)).astype(dtype)


def mean_probabilities(model, X):
    parts = zip(model.calibrations, model.members)
    return np.average([part(one(X)) for part, one in parts], axis=0, weights=model.weights)


@in_one_test("form", [np.asarray, csr_matrix])
@in_one_test("n_outputs", [1, 3])
def test_the_log_loss_gives_the_mean_of_probabilities_back(n_outputs, form):
    X, model = rows(), averaged(D, n_outputs)
    found = LogLoss()(model(form(X)))
    np.testing.assert_allclose(found, mean_probabilities(model, X), atol=1e-13)
    np.testing.assert_allclose(model.plain(X), model(X), rtol=1e-9)


def test_values_are_averaged_by_weight():
    X, members = rows(), (additive(D, 2), additive(D, 2, seed=1))
    found = Averaged(members, (1.0, 3.0))(X)
    np.testing.assert_allclose(found, members[0](X) / 4 + 3 * members[1](X) / 4, rtol=1e-13)
    np.testing.assert_array_equal(Averaged(members[:1], (1.0,))(X), members[0](X))


@in_one_test("n_outputs", [1, 3])
@in_one_test("place", range(5))
def test_scores_are_finite_wherever_the_members_go(place, n_outputs):
    """Each way to calibrate alone, at rows that no fit has seen."""
    X = np.vstack([rows(), 1e4 * rows(), 1e30 * rows(), np.zeros((1, D))])
    for dtype in (np.float32, np.float64):
        member = additive(D, n_outputs, dtype=dtype)
        model = Averaged((member,), (1.0,), calibrations(n_outputs)[place : place + 1])
        scores = model(X.astype(dtype))
        assert scores.dtype == dtype and np.isfinite(scores).all()
        assert place == 1 or np.abs(scores).max() <= 14.0  # such scores are no shares


def test_members_of_two_precisions_see_rows_in_their_own():
    X, members = rows(), (additive(D, dtype=np.float32), additive(D, seed=1))
    model = Averaged(members, (1.0, 1.0))
    assert model.dtype == model(X).dtype == np.float64
    first = members[0](X.astype(np.float32)).astype(np.float64)
    np.testing.assert_allclose(model(X), (first + members[1](X)) / 2, rtol=1e-13)


def test_the_cost_is_that_of_all_members():
    model = averaged(D)
    costs = [member.cost for member in model.members]
    assert model.cost.multiply_adds == sum(cost.multiply_adds for cost in costs)
    assert model.cost.n_bytes == sum(cost.n_bytes for cost in costs)
