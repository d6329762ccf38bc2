"""Scores of rows by their nearest anchors alone, as three Triton kernels.

A row needs the models of its k nearest anchors, so that of the answers of all models few count. The
first kernel has a block of rows, and finds their k nearest anchors and how far these are. Pairs of
a row and an anchor are then sorted by anchor, and the second kernel has a block of pairs of one
anchor: it reads their rows once more, which are in the cache, and takes their product with one
model. The third adds up what a row's anchors say, each with its share. No atomics: the same rows
give the same bits.

Bytes are bfloat16 numbers without rounding, and a float32 number is the sum of three of them: three
fast products are as good as the slow one. Of other rows, products are by three parts in TF32.
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from .triton_step import FEW_LANES, power

_PARTS = 3  # bfloat16 numbers that add up to one of float32
_NARROW, _WIDEST = 64, 128  # columns of a model that fit beside a block of rows
# rows, pairs and columns at once
_ROWS, _PAIRS, _DEPTH, _SUMS = 128, 128, 64, 64


class Groups(NamedTuple):
    """Anchors and models as kernels read them."""

    anchors: torch.Tensor  # (n_parts, n_features, lanes)
    offsets: torch.Tensor
    models: torch.Tensor  # (n_anchors, n_features, width); the parts of an output lie apart
    biases: torch.Tensor  # (n_anchors, width)
    intercept: torch.Tensor
    sharpness: float
    n_neighbors: int


def fits(n_anchors, n_outputs, n_neighbors):
    """Whether blocks find room in registers, and few enough of the anchors count."""
    is_small = n_anchors <= FEW_LANES and _PARTS * n_outputs <= _WIDEST
    return is_small and 2 * n_neighbors <= n_anchors


def groups_of(directions, offsets, weights, biases, intercept, sharpness, n_neighbors, dtype):
    """Of anchors (n_anchors, n_features) and weights (n_anchors, n_features, n_outputs).

    ``dtype`` is that of the rows.
    """
    n_anchors, n_features, n_outputs = weights.shape
    n_parts = _PARTS if dtype == torch.uint8 else 1
    lanes, width = power(n_anchors), power(n_parts * n_outputs)
    anchors = torch.zeros(n_parts, n_features, lanes, device=weights.device)
    models = torch.zeros(n_anchors, n_features, width, device=weights.device)
    bias = torch.zeros(n_anchors, width, device=weights.device)
    bias[:, :n_outputs] = biases
    for part, (near, local) in enumerate(
        zip(_parts(directions.T, n_parts), _parts(weights, n_parts), strict=True)
    ):
        anchors[part, :, :n_anchors] = near
        models[:, :, part * n_outputs : (part + 1) * n_outputs] = local
    kind = torch.bfloat16 if n_parts > 1 else torch.float32
    return Groups(
        anchors.to(kind), offsets.contiguous(), models.to(kind), bias, intercept,
        float(sharpness), n_neighbors,
    )  # fmt: skip


def _parts(values, n_parts):
    """Numbers that add up to ``values``, the largest first; all but a single one are bfloat16."""
    found = []
    for _ in range(n_parts - 1):
        found.append(values.bfloat16().float())
        values = values - found[-1]
    return [*found, values]


def scores(rows, groups):
    """(n_rows, n_outputs) of rows that are bytes or float32."""
    n_rows, n_features = rows.shape
    n_anchors, _, width = groups.models.shape
    n_parts, _, lanes = groups.anchors.shape
    k, n_outputs, device = groups.n_neighbors, len(groups.intercept), rows.device
    picked = torch.empty(n_rows, k, dtype=torch.uint8, device=device)
    far, least = torch.empty(n_rows, k, device=device), torch.empty(n_rows, device=device)
    shared = {"D": n_features, "K": k, "PARTS": n_parts, "LANES": lanes, "DEPTH": _DEPTH}
    _nearest[(triton.cdiv(n_rows, _ROWS),)](
        rows, rows.stride(0), n_rows, groups.anchors, groups.offsets, picked, far, least,
        M=n_anchors, ROWS=_ROWS, **shared, num_warps=8,
    )  # fmt: skip
    known, order = picked.view(-1).sort(stable=True)
    edges = torch.arange(n_anchors + 1, dtype=torch.int32, device=device)
    starts = torch.searchsorted(known.int(), edges, out_int32=True)
    answers = torch.empty(n_rows * k, width, device=device)
    _answers[(n_rows * k // _PAIRS + n_anchors,)](
        rows, rows.stride(0), groups.models, groups.biases, starts, order, answers,
        M=n_anchors, WIDTH=width, PAIRS=_PAIRS, **shared, num_warps=4 if width <= _NARROW else 8,
    )  # fmt: skip
    out = torch.empty(n_rows, n_outputs, device=device)
    _sums[(triton.cdiv(n_rows, _SUMS),)](
        answers, far, least, groups.sharpness, groups.intercept, n_rows, out, C=n_outputs,
        CLASSES=power(n_outputs), K=k, PARTS=n_parts, WIDTH=width, ROWS=_SUMS,
    )  # fmt: skip
    return out


@triton.jit
def _add_product(total, x, values, PARTS: tl.constexpr):
    """total + x @ values; bytes are exact in bfloat16."""
    if PARTS > 1:
        total = tl.dot(x.to(tl.float32).to(tl.bfloat16), values, total)
    else:
        total = tl.dot(x, values, total, input_precision="tf32x3")
    return total


@triton.jit
def _nearest(
    rows, stride, n_rows, anchors, offsets, picked, far, least, M: tl.constexpr,
    ROWS: tl.constexpr, D: tl.constexpr, K: tl.constexpr, PARTS: tl.constexpr,
    LANES: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside, lanes = at < n_rows, tl.arange(0, LANES)
    total = tl.zeros((ROWS, LANES), tl.float32)
    for start in range(0, D, DEPTH):
        d = start + tl.arange(0, DEPTH)
        place = rows + at[:, None].to(tl.int64) * stride + d[None, :]
        x = tl.load(place, mask=inside[:, None] & (d < D)[None, :], other=0)
        for part in tl.static_range(PARTS):
            place = anchors + (part * D + d[:, None]) * LANES + lanes[None, :]
            total = _add_product(total, x, tl.load(place, mask=(d < D)[:, None], other=0.0), PARTS)
    half = tl.load(offsets + lanes, mask=lanes < M, other=0.0)[None, :] - total
    # whole numbers in the same order, whose last bits say which they are: ties go to the first
    bits = half.to(tl.int32, bitcast=True)
    keys = ((bits ^ ((bits >> 31) & 0x7FFFFFFF)) & ~(LANES - 1)) | lanes[None, :]
    keys = tl.where((lanes < M)[None, :], keys, 0x7FFFFFFF)
    # of those that are picked: of two that are all but equal the farther one may be
    lowest = tl.full((ROWS,), float("inf"), tl.float32)
    for slot in tl.static_range(K):
        key = tl.min(keys, axis=1)
        best = keys == key[:, None]
        found = tl.sum(tl.where(best, half, 0.0), axis=1)
        tl.store(picked + at * K + slot, (key & (LANES - 1)).to(tl.uint8), mask=inside)
        tl.store(far + at * K + slot, found, mask=inside)
        keys = tl.where(best, 0x7FFFFFFF, keys)
        lowest = tl.minimum(lowest, found)
    tl.store(least + at, lowest, mask=inside)


@triton.jit
def _answers(
    rows, stride, models, biases, starts, order, answers, M: tl.constexpr,
    WIDTH: tl.constexpr, PAIRS: tl.constexpr, D: tl.constexpr, K: tl.constexpr,
    PARTS: tl.constexpr, LANES: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """What one anchor's model says of a block of the pairs that it is in."""
    block, lanes, columns = tl.program_id(0), tl.arange(0, LANES), tl.arange(0, WIDTH)
    begin = tl.load(starts + lanes, mask=lanes < M, other=0)
    end = tl.load(starts + lanes + 1, mask=lanes < M, other=0)
    n_blocks = (end - begin + PAIRS - 1) // PAIRS
    anchor = tl.sum((tl.cumsum(n_blocks, axis=0) <= block).to(tl.int32), axis=0)
    if anchor < M:
        before = tl.sum(tl.where(lanes < anchor, n_blocks, 0), axis=0)
        at = tl.load(starts + anchor) + (block - before) * PAIRS + tl.arange(0, PAIRS)
        inside = at < tl.load(starts + anchor + 1)
        pair = tl.load(order + at, mask=inside, other=0)
        row, total = pair // K, tl.zeros((PAIRS, WIDTH), tl.float32)
        for start in range(0, D, DEPTH):
            d = start + tl.arange(0, DEPTH)
            place = rows + row[:, None] * stride + d[None, :]
            x = tl.load(place, mask=inside[:, None] & (d < D)[None, :], other=0)
            place = models + (anchor * D + d[:, None]) * WIDTH + columns[None, :]
            total = _add_product(total, x, tl.load(place, mask=(d < D)[:, None], other=0.0), PARTS)
        total += tl.load(biases + anchor * WIDTH + columns)[None, :]
        tl.store(answers + pair[:, None] * WIDTH + columns[None, :], total, mask=inside[:, None])


@triton.jit
def _sums(
    answers, far, least, sharpness, intercept, n_rows, out, C: tl.constexpr, CLASSES: tl.constexpr,
    K: tl.constexpr, PARTS: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """The small parts first, and the anchors of a row in the order of their distance."""
    at = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, CLASSES)
    inside = at < n_rows
    mask = inside[:, None] & (columns < C)[None, :]
    lowest = tl.load(least + at, mask=inside, other=0.0)
    total, shares = tl.zeros((ROWS, CLASSES), tl.float32), tl.zeros((ROWS,), tl.float32)
    for slot in tl.static_range(K):
        distance = tl.load(far + at * K + slot, mask=inside, other=0.0) - lowest
        code = tl.exp(-2.0 * sharpness * distance)
        said = tl.zeros((ROWS, CLASSES), tl.float32)
        for part in tl.static_range(PARTS - 1, -1, -1):
            place = (at.to(tl.int64) * K + slot)[:, None] * WIDTH + part * C + columns[None, :]
            said += tl.load(answers + place, mask=mask, other=0.0)
        total += code[:, None] * said
        shares += code
    total /= shares[:, None]
    total += tl.load(intercept + columns, mask=columns < C, other=0.0)[None, :]
    tl.store(out + at[:, None] * C + columns[None, :], total, mask=mask)
