"""Triton kernels of many anchors and neighbors: right, and no longer than those of few."""

import os

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from nearlinear.gpu.anchors.adam import AnchorTraining, _matrix
from nearlinear.gpu.anchors.step import Layout
from nearlinear.losses import LogLoss
from nearlinear.solvers.anchors.adam import batch_gradients
from nearlinear.solvers.solution import LocalModels


@pytest.mark.every_case
@pytest.mark.parametrize("n_neighbors", [5, 40])
@pytest.mark.parametrize("n_anchors", [60, 150])  # one row in a program, and several
def test_gradients_of_many_neighbors_are_those_of_the_numpy_solver(n_anchors, n_neighbors, place):
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((40, 4)), rng.integers(3, size=40)
    targets = np.where(labels[:, None] == np.arange(3), 1.0, -1.0)
    model = LocalModels(
        rng.standard_normal((n_anchors, 4)), 0.4, rng.standard_normal((n_anchors, 4, 3)),
        rng.standard_normal((n_anchors, 3)),
    )  # fmt: skip
    found = AnchorTraining(
        model, X, n_rows=40, n_batches=1, n_neighbors=n_neighbors, loss=LogLoss(), ridge=0.0,
        n_epochs=1, batch_size=40, learning_rate=0.1, jitter=0.0,
        learn_metric=True, rng=rng, device=place[0], form=place[1], dtype=torch.float32,
    )  # fmt: skip
    found.take(X, targets, np.ones(40))
    value, wanted = batch_gradients(X, targets, np.full(40, 1 / 40), model, n_neighbors, LogLoss())
    state = found._state
    matrix = _matrix(state.layout, wanted.anchors, wanted.weights, wanted.biases, "cpu")
    assert torch.allclose(10.0 * state.mean.cpu(), matrix, rtol=1e-4, atol=1e-5)
    assert float(state.losses[0]) == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("name", ["_middle", "_middle_of_row"])
def test_code_for_many_neighbors_is_no_longer_than_for_some(name):
    """Written out, the search for 500 of them compiled for more than a minute."""
    pytest.importorskip("triton", reason="there is no Triton")
    if os.environ.get("TRITON_INTERPRET") == "1":
        pytest.skip("the interpreter compiles nothing")
    from nearlinear.gpu.anchors import triton_step

    kernel = getattr(triton_step, name)
    some, many = (len(code_of(kernel, n_neighbors)) for n_neighbors in (40, 120))
    assert many < 1.1 * some


def code_of(kernel, n_neighbors):
    """What Triton makes of a kernel for one GPU, which need not be there."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    layout = Layout(50, 128, 2, 50)
    fixed = {"M": 128, "C": 2, "FIRST": layout.first, "N_COLUMNS": layout.n_columns,
             "K": n_neighbors, "LOSS": 2, "R": 4, "LANES": 128, "CLASSES": 2}  # fmt: skip
    numbers = dict.fromkeys(("labels", "batch", "n_features"), "i32") | {"labels": "*i32"}
    kinds = {one: "constexpr" if one in fixed else numbers.get(one, "*fp32")
             for one in kernel.arg_names}  # fmt: skip
    known = {(place,): fixed[one] for place, one in enumerate(kernel.arg_names) if one in fixed}
    made = triton.compile(ASTSource(kernel, kinds, known), target=GPUTarget("cuda", 90, 32))
    return made.asm["ttir"]
