"""Rows come to a device in a form that kernels read, whatever was interrupted before."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from nearlinear.gpu.device import full_precision
from nearlinear.gpu.feed import Feed


class Recorded:
    """Steps that keep the rows of their block, in its order."""

    def __init__(self, block):
        self.block = block

    def run(self, n_steps):
        n_rows = int(self.block.numbers[0])
        self.seen = self.block.rows[self.block.order[:n_rows].long()]


def feed_of(make_steps=Recorded):
    return Feed("cpu", 8, None, make_steps)


def told(feed, X):
    feed.run(X, torch.zeros(len(X)), np.ones(len(X)), torch.zeros(1), np.random.default_rng(0))
    return feed._steps.seen


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.uint8])
def test_rows_lie_one_after_another_in_one_block(dtype):
    X = torch.arange(60).view(5, 12).to(dtype)
    feed = feed_of()
    for rows in (X.T, X.T[:7], X.T[:, :5].contiguous()):  # columns first, a part, rows first
        found = told(feed, rows)
        assert sorted(found.tolist()) == sorted(rows.tolist())
        steps = feed._steps
        assert steps.block.rows.is_contiguous()
    assert feed._steps is steps  # asked for once


def test_rows_that_come_after_an_interruption_are_learned():
    """Steps are compiled for seconds, in which Ctrl-C may come."""
    calls = []

    def make_steps(block):
        calls.append(len(block.rows))
        if len(calls) in (1, 3):
            raise KeyboardInterrupt
        return Recorded(block)

    feed = feed_of(make_steps)
    for n_rows in (10, 30):
        X = torch.rand(n_rows, 3)
        with pytest.raises(KeyboardInterrupt):
            told(feed, X)
        assert sorted(told(feed, X).tolist()) == sorted(X.tolist())


def test_labels_of_several_outputs_lie_row_after_row():
    """Kernels read them so, in whatever order a user's values lie."""
    feed = Feed("cpu", 8, None, Recorded, labels_of=lambda targets: targets)
    targets = np.asfortranarray(np.arange(30.0).reshape(10, 3))
    feed.run(torch.rand(10, 4), targets, np.ones(10), torch.zeros(1), np.random.default_rng(0))
    assert feed._steps.block.labels.is_contiguous()
    np.testing.assert_array_equal(feed._steps.block.labels, targets)


@pytest.mark.parametrize("is_new", [False, True])
def test_users_may_have_asked_for_tf32_by_either_name(is_new):
    products = torch.backends.cuda.matmul
    if is_new and not hasattr(products, "fp32_precision"):
        pytest.skip("PyTorch before 2.9 has one name")
    before = products.fp32_precision if is_new else torch.get_float32_matmul_precision()
    try:
        if is_new:
            products.fp32_precision = "tf32"
        else:
            torch.set_float32_matmul_precision("high")
        with full_precision():
            assert not torch._C._get_cublas_allow_tf32()  # what a product asks; raises if unsure
        if is_new:
            assert products.fp32_precision == "tf32"
        else:
            assert torch.get_float32_matmul_precision() == "high"
    finally:
        if is_new:
            products.fp32_precision = before
        else:
            torch.set_float32_matmul_precision(before)
