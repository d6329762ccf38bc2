"""Codes on a device against those of NumPy, for rows far from the origin, too."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from scipy.sparse import csr_matrix

from nearlinear.gates.anchors import (
    InverseDistance,
    ReconstructionCodes,
    SoftAssignment,
    default_sharpness,
)
from nearlinear.gpu.anchors import codes


@pytest.mark.every_case
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", [SoftAssignment, InverseDistance, ReconstructionCodes])
def test_codes_are_those_of_the_cpu(kind, dtype, monkeypatch, place):
    if place[1] != "plain":
        pytest.skip("there is one form")
    monkeypatch.setattr(codes, "_BLOCK_BYTES", 1)
    rng = np.random.default_rng(0)
    X = (3.0 + rng.standard_normal((600, 5))).astype(dtype)
    gate = kind(X[:12] + X.dtype.type(0.1), 4, *([0.7] if kind is SoftAssignment else []))
    digits = 1e-3 if dtype == "float32" else 1e-9
    wanted = gate(X)
    for rows in (X, csr_matrix(X)):
        indices, values = codes.codes_of(gate, rows, device=place[0])
        assert indices.dtype == np.int32 and values.dtype == X.dtype
        found = np.zeros_like(wanted)
        np.put_along_axis(found, indices, values, axis=1)
        np.testing.assert_allclose(found, wanted, atol=digits)
    usual = codes.default_sharpness(gate.anchors, 4, X, device=place[0])
    assert usual == pytest.approx(default_sharpness(gate.anchors, 4, X), rel=digits)
