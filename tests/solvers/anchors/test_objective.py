"""The training objective on all rows."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.losses import LOSSES
from nearlinear.solvers.anchors.objective import training_objective
from nearlinear.solvers.solution import LocalModels
from reference import codes, kronecker


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("width", [3, 0], ids=["affine", "constant"])
@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_objective_is_the_weighted_mean_loss_and_the_norm(rng, loss, width, as_rows):
    X, weight = rng.standard_normal((20, 3)), rng.uniform(0.5, 2.0, 20)
    targets = np.where(rng.integers(3, size=20)[:, None] == np.arange(3), 1.0, -1.0)
    anchors = rng.standard_normal((5, 3))
    weights, biases = rng.standard_normal((5, width, 3)), rng.standard_normal((5, 3))
    model = LocalModels(anchors, 0.7, weights, biases)
    found = training_objective(as_rows(X), targets, weight, model, 2, LOSSES[loss], 4.0)
    gamma = codes.soft(X, anchors, 2, 0.7)
    values = LOSSES[loss].value(kronecker.scores(X[:, :width], gamma, weights, biases), targets)
    norm = 0.5 * (np.sum(weights**2) + np.sum(biases**2))
    # C times the sum of the losses plus the norm, per unit of C and weight
    assert found == pytest.approx((4.0 * weight @ values + norm) / (4.0 * weight.sum()))
