"""Soft and hard phase: sharpness, noise, projection and gradients of one batch."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.gates.trees.balanced import hard_paths
from nearlinear.losses import LOSSES
from nearlinear.solvers.minibatch import RowNoise
from nearlinear.solvers.trees.paths import path_gradients
from nearlinear.solvers.trees.phases import Annealing, HardPhase, SoftPhase, soft_gradients
from nearlinear.solvers.trees.soft import SoftPass
from reference.tree_problem import make_projected, make_rows, make_tree

each_kind = pytest.mark.parametrize("kind", ["tanh", "compositional", "indicator"])
LOSS = LOSSES["log_loss"]


def soft_phase(model, Z, jitter=0.0, compare=None):
    noise = RowNoise(model.rows(Z), jitter, np.random.default_rng(0))
    return SoftPhase(SoftPass(model, len(Z)), noise, LOSS, Annealing(2.0, 20.0, 0.0), compare, None)


def hard_phase(model, Z, jitter=0.0):
    return HardPhase(RowNoise(model.rows(Z), jitter, np.random.default_rng(0)), LOSS)


def test_sharpness_grows_by_a_constant_factor_from_first_to_last():
    annealing = Annealing(0.5, 50.0, 0.0)
    found = [annealing.sharpness(progress) for progress in (0.0, 0.25, 0.5, 0.75, 1.0)]
    np.testing.assert_allclose(found, 0.5 * 100.0 ** np.linspace(0.0, 1.0, 5))


@each_kind
@pytest.mark.parametrize("progress", [0.0, 0.3])
def test_a_soft_step_has_the_gradients_of_its_sharpness(kind, progress):
    model, rows = make_tree(kind, 2, 3), make_rows(3)
    soft = SoftPass(model, len(rows[0]))
    sharpness = 2.0 * 10.0**progress / soft.mean_distance(model, rows[0])
    expected_value, expected = soft.gradients(model, *rows, sharpness, LOSS)
    value, found = soft_phase(model, rows[0]).gradients(model, *rows, progress)
    assert value == pytest.approx(expected_value)
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-13)
    np.testing.assert_allclose(found.splits, expected.splits, atol=1e-13)


@each_kind
def test_a_hard_step_has_the_gradients_along_the_paths(kind):
    model, rows = make_tree(kind, 2, 3), make_rows(3)
    paths = hard_paths(rows[0], model.splits, 2)
    expected_value, expected = path_gradients(model, rows[0], paths, *rows[1:], LOSS)
    value, found = hard_phase(model, rows[0]).gradients(model, *rows, 0.5)
    assert value == expected_value
    np.testing.assert_array_equal(found.weights, expected.weights)
    np.testing.assert_array_equal(found.slopes, expected.slopes)


@pytest.mark.parametrize("make_phase", [soft_phase, hard_phase])
def test_both_phases_add_noise_to_what_the_tree_sees(make_phase):
    model, (Z, *rest) = make_projected("tanh"), make_rows(n_features=5)
    quiet, noisy = (make_phase(model, Z, jitter) for jitter in (0.0, 0.3))
    rows = quiet.rows(model, Z)
    one, other = (phase.gradients(model, rows, *rest, 0.0)[0] for phase in (quiet, noisy))
    assert one != pytest.approx(other, rel=1e-3)


def test_rows_are_projected_once_only_when_the_projection_stays():
    model, (Z, _, _) = make_projected("tanh"), make_rows(n_features=5)
    assert soft_phase(model, Z).rows(model, Z) is Z
    np.testing.assert_array_equal(hard_phase(model, Z).rows(model, Z), model.rows(Z))


def test_only_the_soft_phase_compares_soft_and_hard_splits():
    model, rows = make_tree("tanh"), make_rows()
    asked = []

    def compare(tree, sharpness):
        asked.append(sharpness)
        return {"soft": 0.25}

    phase = soft_phase(model, rows[0], compare=compare)
    phase.gradients(model, *rows, 1.0)
    assert phase.figures(model) == {"soft": 0.25}
    # with the sharpness of the last step
    unit = SoftPass(model, len(rows[0])).mean_distance(model, rows[0])
    assert asked == [pytest.approx(20.0 / unit)]
    assert soft_phase(model, rows[0]).figures(model) == {}
    assert hard_phase(model, rows[0]).figures(model) == {}


@each_kind
@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])
def test_the_gradient_of_the_projection_is_the_derivative_of_the_loss(kind, form):
    model, (Z, targets, weight) = make_projected(kind, 3), make_rows(3, n_features=5)
    loss, soft = LOSS, SoftPass(model, len(Z))
    _, found = soft_gradients(soft, model, form(Z), model.rows(form(Z)), targets, weight, 1.3, loss)
    for entry in np.ndindex(model.projection.shape):
        ends = []
        for sign in (1, -1):
            projection = model.projection.copy()
            projection[entry] += 1e-6 * sign
            rows = replace(model, projection=projection).rows(Z)
            ends.append(weight @ loss.value(soft.scores(model, rows, 1.3), targets))
        # a loss of about 100, known to 1e-14, divided by a step of 1e-6
        assert found.projection[entry] == pytest.approx(
            (ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-6
        )
