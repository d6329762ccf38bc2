"""The refit of leaves on a device against the compiled one: the same passes to the last digits."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from nearlinear.gpu import forests
from nearlinear.gpu.forests import refit_leaves
from nearlinear.losses import AbsoluteError, LogLoss, SquaredError
from nearlinear.solvers.forests.refit import refit_leaves as refit_on_cpu

N_ROWS, N_TREES, N_LEAVES = 150, 3, 5
CASES = {
    "two classes": (LogLoss(), 1, 1),
    "a tree per class": (LogLoss(), 3, 1),
    "vector leaves": (LogLoss(), 3, 3),
    "squared": (SquaredError(), 1, 1),
}


def make(loss, n_outputs, n_told, n_slopes):
    rng = np.random.default_rng(0)
    leaves = rng.integers(0, N_LEAVES - 1, (N_ROWS, N_TREES)) + N_LEAVES * np.arange(N_TREES)
    targets = rng.standard_normal((N_ROWS, n_outputs))
    if isinstance(loss, LogLoss):
        targets = np.where(targets == targets.max(axis=1, keepdims=True), 1.0, -1.0)
        targets[: N_ROWS // 2] *= -1.0 if n_outputs == 1 else 1.0
    forest = (
        leaves.astype(np.int32), N_LEAVES * np.arange(N_TREES + 1),
        0.5 * rng.standard_normal((N_TREES * N_LEAVES, n_told)), np.arange(N_TREES) % n_outputs,
        0.1 * rng.standard_normal((N_ROWS, n_outputs)), targets, rng.uniform(0.5, 2.0, N_ROWS),
    )  # fmt: skip
    Z = rng.standard_normal((N_ROWS, n_slopes)).astype(np.float32) if n_slopes else None
    return forest, {"loss": loss, "Z": Z}


@pytest.mark.parametrize("n_slopes", [0, 2], ids=["constants", "slopes"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_passes_are_those_of_the_compiled_refit(case, n_slopes, place, monkeypatch):
    if place[1] not in ("plain",):
        pytest.skip("a refit has one form")
    monkeypatch.setattr(forests, "_PIECE", 8)  # leaves have several pieces, the last one partial
    forest, more = make(*case, n_slopes)
    settings = {"lam": 0.5, "max_passes": 100, "tol": 1e-9, **more}
    wanted = refit_on_cpu(*forest, **settings)
    found = refit_leaves(*forest, device=place[0], **settings)
    assert found.n_iter == wanted.n_iter and found.relative_gap <= 1e-9
    assert found.objective == pytest.approx(wanted.objective, rel=1e-10)
    for name in ("values", "slopes", "scores"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), atol=1e-9)


def test_a_loss_that_is_not_there_is_refused_in_a_sentence():
    forest, more = make(SquaredError(), 1, 1, 0)
    with pytest.raises(ValueError, match="leave device out"):
        refit_leaves(*forest, lam=1.0, device="cpu", **{**more, "loss": AbsoluteError()})
