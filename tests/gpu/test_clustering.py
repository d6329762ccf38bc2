"""k-means on a device."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from nearlinear.gates import anchors
from nearlinear.gpu.clustering import default_sharpness, fit_anchors


def test_anchors_lie_in_the_middle_of_their_clusters():
    rng = np.random.default_rng(0)
    centers = 100.0 + 20.0 * np.array([[0, 0], [1, 0], [0, 1], [3, 3]])
    X = np.repeat(centers, 50, axis=0) + rng.standard_normal((200, 2))
    weight = torch.tensor(rng.uniform(0.5, 2.0, 200)).float()
    rows = torch.tensor(X).float()
    found = fit_anchors(rows, 4, torch.Generator().manual_seed(0), weight)
    order = np.lexsort(np.round(found.numpy(), -1).T)
    means = np.array([
        np.average(X[k : k + 50], axis=0, weights=weight[k : k + 50]) for k in range(0, 200, 50)
    ])  # fmt: skip
    np.testing.assert_allclose(
        found.numpy()[order], means[np.lexsort(np.round(means, -1).T)], atol=1e-3
    )


def anchors_of(X, n_anchors, weight):
    weight, generator = torch.tensor(weight).float(), torch.Generator().manual_seed(0)
    anchors = fit_anchors(torch.tensor(X).float(), n_anchors, generator, weight).numpy()
    return anchors[np.lexsort(anchors.T)]


def test_rows_without_weight_get_no_anchor():
    X = np.repeat([[0.0], [1.0], [100.0]], 10, axis=0)
    found = anchors_of(X, 4, np.repeat([1.0, 2.0, 0.0], 10))  # more anchors than places
    assert len(found) == 4 and found.max() < 1.1


def test_there_are_no_more_anchors_than_rows_with_weight():
    X = np.arange(6.0)[:, None]
    found = anchors_of(X, 9, np.array([1, 0, 1, 1, 1, 0]))
    np.testing.assert_allclose(found[:, 0], [0.0, 2.0, 3.0, 4.0], atol=1e-5)


def test_the_default_sharpness_is_that_of_the_cpu():
    rng = np.random.default_rng(0)
    X, own = rng.standard_normal((100, 3)), rng.standard_normal((10, 3))
    found = default_sharpness(torch.tensor(own).float(), 4, torch.tensor(X).float())
    assert found == pytest.approx(anchors.default_sharpness(own, 4, X), rel=1e-4)
