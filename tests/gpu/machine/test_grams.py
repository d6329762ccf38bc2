"""Gram matrices on a device against those of NumPy: every kernel, kept or computed."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from nearlinear.gpu.device import machine_bytes
from nearlinear.gpu.machine import grams as module
from nearlinear.gpu.machine.grams import Grams
from nearlinear.kernels.composite import Product, Scaled, UnitDiagonal
from nearlinear.kernels.gated_grams import GatedGrams
from nearlinear.kernels.grams import Grams as GramsOnCpu
from nearlinear.kernels.standard import Custom, Gaussian, Linear, OnColumns, Polynomial

KERNELS = [
    Gaussian(gamma=0.3), Scaled(Gaussian(gamma=5.0), 0.5), Linear(), Polynomial(3, 0.2),
    UnitDiagonal(Polynomial(2, 0.1)), OnColumns(Gaussian(gamma=0.7), (0, 2)),
    Product((Linear(), OnColumns(Gaussian(gamma=0.1), (1,)))),
]  # fmt: skip
WHICH = np.arange(len(KERNELS))


def make(device, dtype=np.float64, **more):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((60, 4)) + 3.0).astype(dtype)
    coef = rng.standard_normal(60) * (np.arange(60) % 3 > 0)
    own = Grams(KERNELS, X, device=device, dtype=dtype, **more)
    return own, GramsOnCpu(KERNELS, X, dtype=dtype), coef


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_kept", [0, 3, 7])
def test_sums_and_products_are_those_of_numpy(monkeypatch, place, dtype, n_kept):
    if place[1] == "compiled":
        pytest.skip("Gram matrices are not compiled")
    monkeypatch.setattr(module, "can_compile", lambda device: place[1] == "triton")
    monkeypatch.setattr(module, "_BLOCK_BYTES", 60 * 8 * 17)  # four blocks, the last one short
    size = 60**2 * np.dtype(dtype).itemsize
    own, wanted, coef = make(place[0], dtype, max_bytes=machine_bytes(60, 4) + n_kept * size)
    own.keep(WHICH)
    assert len(own._kept) == n_kept
    weights, tol = (
        np.array([0.5, 0.0, 1.0, 0.25, 2.0, 0.1, 0.3]),
        1e-4 if dtype == np.float32 else 0,
    )
    factors = {0: np.ones((60, 2), dtype), 3: np.abs(coef)[:, None].astype(dtype)}
    for found, right in (
        (own.weighted(weights).cpu().numpy(), wanted.weighted(weights)),
        (own.modulated(factors).cpu().numpy(), wanted.modulated(factors)),
        (own.products(coef, WHICH), wanted.products(coef, WHICH)),
        (own.products(coef, [5, 0], np.array([3, 1])), wanted.products(coef, [5, 0], [3, 1])),
        (own.quadratics(coef, WHICH), wanted.quadratics(coef, WHICH)),
        (own.in_double().products(coef, WHICH), wanted.in_double().products(coef, WHICH)),
    ):
        np.testing.assert_allclose(
            found, right, rtol=1e-9 + tol, atol=1e-9 + tol * np.abs(right).max()
        )


def test_gated_sums_are_those_of_numpy():
    own, wanted, coef = make("cpu")
    gates = np.random.default_rng(1).random((60, 3))
    pair = [GatedGrams(grams, [0, 2, 0], gates) for grams in (own, wanted)]
    found, right = (np.asarray(one.weighted(np.array([1.0, 2.0, 3.0]))) for one in pair)
    np.testing.assert_allclose(found, right, atol=1e-9)
    np.testing.assert_allclose(*(one.ungated_products(coef) for one in pair), atol=1e-9)


def test_a_kernel_that_is_not_there_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="no Custom: leave device out"):
        Grams([Custom(lambda X, Z: X @ Z.T)], np.ones((3, 2)), device="cpu")
