"""Deformed images made on a device are those of the CPU."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from sklearn.datasets import load_digits

from nearlinear.gpu.digits import deformed_tensors
from nearlinear.streams import deformed_images


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_rows_of_a_device_are_those_of_the_cpu(dtype, place):
    if place[1] != "plain":
        pytest.skip("rows are made in one form")
    images, labels = load_digits(return_X_y=True)
    source = deformed_images(15 * images.reshape(-1, 8, 8), labels, 500, seed=3, dtype=dtype)
    ((X, y, _),) = source
    found, positions = deformed_tensors(source, place[0])
    assert np.array_equal(labels[positions.cpu()], y)
    np.testing.assert_allclose(found.cpu().numpy(), X, atol=1e-4)
    rest, _ = deformed_tensors(source, place[0], first=200)
    assert torch.equal(rest, found[200:])


def test_rows_take_the_memory_that_is_given():
    images, labels = load_digits(return_X_y=True)
    source = deformed_images(images.reshape(-1, 8, 8), labels, 60)
    room = torch.empty(30, 64)
    found, _ = deformed_tensors(source, "cpu", first=30, out=room)
    assert found is room and torch.equal(room, deformed_tensors(source, "cpu")[0][30:])
