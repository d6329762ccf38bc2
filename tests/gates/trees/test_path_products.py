"""Directions in whole vectors."""

import numpy as np
import pytest

from nearlinear.gates.trees.balanced import pad

each_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@each_type
@pytest.mark.parametrize("vector_bytes", [32, 64])
@pytest.mark.parametrize("n_columns", [1, 8, 16, 17])
def test_padded_directions_are_as_many_whole_vectors_as_they_need(dtype, vector_bytes, n_columns):
    lanes = vector_bytes // np.dtype(dtype).itemsize
    width = pad(np.ones((2, 3, n_columns), dtype=dtype), vector_bytes).shape[2]
    assert width % lanes == 0
    assert 0 <= width - n_columns < lanes


@each_type
def test_padding_adds_zeros_only(rng, dtype):
    directions = rng.standard_normal((2, 3, 5)).astype(dtype)
    padded = pad(directions, 64)
    np.testing.assert_array_equal(padded[..., :5], directions)
    assert not padded[..., 5:].any()
    assert padded.dtype == dtype
