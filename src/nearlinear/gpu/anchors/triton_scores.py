"""Scores from rows × values as one Triton kernel: a row's answers are read once."""

import torch
import triton
import triton.language as tl

from .triton_step import FEW_LANES, FEW_OUTPUTS, codes_of_row, power


def fits(layout):
    """Whether a row's answers find room in the registers of one warp."""
    n_classes = triton.next_power_of_2(layout.n_outputs)
    return n_classes <= FEW_OUTPUTS and power(layout.n_anchors) <= FEW_LANES


def scores(layout, product, biases, offsets, sharpness, n_neighbors):
    """(n_rows, n_outputs); ``biases`` are (n_outputs, n_anchors)."""
    out = torch.empty(len(product), layout.n_outputs, device=product.device)
    _scores_of_row[(len(product),)](
        product, biases, offsets, sharpness, out, M=layout.n_anchors, C=layout.n_outputs,
        FIRST=layout.first, N_COLUMNS=layout.n_columns, K=n_neighbors,
        LANES=power(layout.n_anchors), CLASSES=triton.next_power_of_2(layout.n_outputs),
        num_warps=1,
    )  # fmt: skip
    return out


@triton.jit
def _scores_of_row(
    product, biases, offsets, sharpness, out, M: tl.constexpr, C: tl.constexpr,
    FIRST: tl.constexpr, N_COLUMNS: tl.constexpr, K: tl.constexpr, LANES: tl.constexpr,
    CLASSES: tl.constexpr,
):  # fmt: skip
    row, anchors, classes = tl.program_id(0), tl.arange(0, LANES), tl.arange(0, CLASSES)
    real = anchors < M
    begin = product + row.to(tl.int64) * N_COLUMNS
    places = classes[:, None] * M + anchors[None, :]
    mask = (classes < C)[:, None] & real[None, :]
    local = tl.load(begin + FIRST + places, mask=mask, other=0.0)
    local += tl.load(biases + places, mask=mask, other=0.0)
    cross = tl.load(begin + anchors, mask=real, other=0.0)
    half = tl.load(offsets + anchors, mask=real, other=0.0) - cross
    codes, _, _ = codes_of_row(half, sharpness, anchors, real, K, LANES)
    found = tl.sum(codes[None, :] * local, axis=1)
    tl.store(out + row * C + classes, found, mask=classes < C)
