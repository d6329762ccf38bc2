"""Slopes of the loss with respect to local models and gate, by differences."""

from dataclasses import replace

import numpy as np
import pytest

from nearlinear.losses import LOSSES
from nearlinear.solvers.anchors.adam import batch_gradients
from reference.local_problem import N_NEIGHBORS, make_problem


def value(problem, model, loss):
    X, targets, row_weight, _ = problem
    return batch_gradients(X, targets, row_weight, model, N_NEIGHBORS, loss)[0]


def difference(problem, loss, name, entry, step=1e-6):
    """Central difference of the batch's loss in one number of the model."""
    model, ends = problem[3], []
    for sign in (1, -1):
        array = np.array(getattr(model, name), dtype=float)
        if name == "sharpness":
            array *= np.exp(sign * step)  # the derivative is with respect to log β
            ends.append(value(problem, replace(model, sharpness=float(array)), loss))
        elif name == "metric":
            array[entry] *= np.exp(sign * step)
            ends.append(value(problem, replace(model, metric=array), loss))
        else:
            array[entry] += sign * step
            ends.append(value(problem, replace(model, **{name: array}), loss))
    return (ends[0] - ends[1]) / (2 * step)


def in_each_case(test):
    test = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)(test)
    test = pytest.mark.parametrize("n_outputs", [1, 3], ids=["binary", "three classes"])(test)
    test = pytest.mark.parametrize("local_model", ["affine", "constant"])(test)
    return pytest.mark.passes(test)


# A loss of about 100, known to 1e-14, divided by a step of 1e-6.
TOLERANCE = {"rtol": 1e-6, "atol": 1e-6}


@in_each_case
@pytest.mark.parametrize(
    "position, name", [(0, "anchors"), (2, "weights"), (3, "biases"), (4, "metric")]
)
def test_gradient_is_the_derivative_of_the_batch_loss(loss, n_outputs, local_model, position, name):
    problem = make_problem(n_outputs, local_model)
    _, gradients = batch_gradients(*problem, N_NEIGHBORS, loss)
    shape = getattr(problem[3], name).shape
    assert gradients[position].shape == shape
    entries = list(np.ndindex(*shape))[::5]  # every fifth is enough
    numeric = [difference(problem, loss, name, entry) for entry in entries]
    found = [gradients[position][entry] for entry in entries]
    np.testing.assert_allclose(found, numeric, **TOLERANCE)


@in_each_case
def test_gradient_of_the_log_sharpness_is_its_derivative(loss, n_outputs, local_model):
    problem = make_problem(n_outputs, local_model)
    _, gradients = batch_gradients(*problem, N_NEIGHBORS, loss)
    np.testing.assert_allclose(
        gradients[1], difference(problem, loss, "sharpness", None), **TOLERANCE
    )


@in_each_case
def test_loss_of_a_batch_is_the_weighted_sum_over_its_rows(loss, n_outputs, local_model):
    X, targets, row_weight, model = make_problem(n_outputs, local_model)
    squares = (model.metric * (X[:, None] - model.anchors) ** 2).sum(axis=2)
    gamma = np.exp(-model.sharpness * squares)
    gamma[squares > np.sort(squares, axis=1)[:, N_NEIGHBORS - 1 : N_NEIGHBORS]] = 0.0
    gamma /= gamma.sum(axis=1, keepdims=True)
    read = X[:, : model.weights.shape[1]]
    scores = np.einsum("im,id,mdc->ic", gamma, read, model.weights) + gamma @ model.biases
    found, _ = batch_gradients(X, targets, row_weight, model, N_NEIGHBORS, loss)
    assert found == pytest.approx(row_weight @ loss.value(scores, targets))


def test_an_anchor_that_nobody_has_among_its_nearest_gets_no_gradient():
    X, targets, row_weight, model = make_problem(1, "affine")
    model.anchors[2] = 100.0
    _, (anchors, _, weights, biases, _) = batch_gradients(
        X, targets, row_weight, model, N_NEIGHBORS, LOSSES["log_loss"]
    )
    assert not anchors[2].any()
    assert not weights[2].any()
    assert not biases[2].any()


def test_no_metric_is_a_metric_of_ones():
    X, targets, row_weight, model = make_problem(3, "affine")
    ones, none = replace(model, metric=np.ones(4)), replace(model, metric=None)
    for given, left_out in zip(
        batch_gradients(X, targets, row_weight, ones, N_NEIGHBORS, LOSSES["log_loss"])[1],
        batch_gradients(X, targets, row_weight, none, N_NEIGHBORS, LOSSES["log_loss"])[1],
    ):
        np.testing.assert_array_equal(given, left_out)
