"""The three parts of a step on trees as Triton kernels: one pass over memory each, no atomics.

The formulas are those of ``step``, line by line; a test compares the two. One program has one row
of one tree: all levels of the tree stay in registers, from the root to the leaves and back.
"""

import torch
import triton
import triton.language as tl

from ..anchors.triton_step import adam, gather_rows, loss_and_slope
from .step import UNIT_ROWS

_DEEPEST, _MOST = 10, 4096  # levels, and answers of one level for all outputs
_OF_A_WARP = 512  # of these, as many as a warp's registers have room for
_UNIT_NUMBERS, _CHUNK, _SUMS = 4096, 1024, 8192  # read at once
_ROWS = 64  # that go down a tree together


def fits(layout):
    """Whether the levels of a tree find room in registers."""
    return layout.depth <= _DEEPEST and _answers(layout) <= _MOST


def _answers(layout):
    return triton.next_power_of_2(layout.n_outputs) * 2**layout.depth


def gather(state, block):
    layout = state.layout
    return gather_rows(state, block, layout.width, layout.n_rows, adds_one=False)


def middle(state, product, labels, share):
    layout, n_rows = state.layout, len(product)
    device, T = product.device, layout.n_trees
    slopes = torch.empty(product.shape, dtype=state.dtype, device=device)
    sums = torch.empty(n_rows, T, device=device)
    units = torch.empty(T, device=device)
    if layout.depth and not state.is_hard:
        lanes = triton.next_power_of_2(layout.n_splits)
        _units[(T,)](
            product, units, min(n_rows, UNIT_ROWS), N_COLUMNS=layout.n_columns,
            N_SPLITS=layout.n_splits, LANES=lanes, ROWS=max(1, _UNIT_NUMBERS // lanes),
        )  # fmt: skip
    (_, splits), (slope, slope_end), (weight, weight_end) = layout.parts
    _middle[(T * n_rows,)](  # a grid has room for many programs in its first dimension alone
        product, slopes, sums, units, labels, share, state.schedule, state.count, T, layout.sigma,
        DEPTH=layout.depth, C=layout.n_outputs, CLASSES=triton.next_power_of_2(layout.n_outputs),
        HAS_SLOPES=layout.has_slopes, IS_HARD=state.is_hard, LOSS=state.loss, SPLIT_END=splits,
        SLOPE=slope, SLOPE_END=slope_end, WEIGHT=weight, WEIGHT_END=weight_end,
        N_COLUMNS=layout.n_columns, num_warps=max(1, min(8, _answers(layout) // _OF_A_WARP)),
    )  # fmt: skip
    return slopes, sums


@triton.jit
def _units(
    product, units, n_rows, N_COLUMNS: tl.constexpr, N_SPLITS: tl.constexpr, LANES: tl.constexpr,
    ROWS: tl.constexpr,
):  # fmt: skip
    """Mean distance of some rows from the splits of a tree."""
    tree, lanes = tl.program_id(0), tl.arange(0, LANES)
    total = tl.zeros((ROWS, LANES), tl.float32)
    for begin in range(0, n_rows, ROWS):
        rows = begin + tl.arange(0, ROWS)
        at = rows[:, None] * N_COLUMNS + tree * N_SPLITS + lanes[None, :]
        inside = (rows < n_rows)[:, None] & (lanes < N_SPLITS)[None, :]
        total += tl.abs(tl.load(product + at, mask=inside, other=0.0))
    mean = tl.sum(tl.sum(total, axis=1), axis=0) / (n_rows * N_SPLITS)
    tl.store(units + tree, tl.maximum(mean, 1e-12))


@triton.jit
def _tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def _middle(
    product, slopes, sums, units, labels, shares, schedule, count, n_trees, sigma,
    DEPTH: tl.constexpr, C: tl.constexpr, CLASSES: tl.constexpr, HAS_SLOPES: tl.constexpr,
    IS_HARD: tl.constexpr, LOSS: tl.constexpr, SPLIT_END: tl.constexpr, SLOPE: tl.constexpr,
    SLOPE_END: tl.constexpr, WEIGHT: tl.constexpr, WEIGHT_END: tl.constexpr,
    N_COLUMNS: tl.constexpr,
):  # fmt: skip
    tree, row = tl.program_id(0) % n_trees, (tl.program_id(0) // n_trees).to(tl.int64)
    classes = tl.arange(0, CLASSES)
    begin, out = product + row * N_COLUMNS, slopes + row * N_COLUMNS
    kind = slopes.dtype.element_ty
    n_splits, n_nodes = 2**DEPTH - 1, 2 ** (DEPTH + 1) - 1
    split, slope_of = tree * n_splits, SLOPE + tree * n_nodes
    weight = WEIGHT + (classes * n_trees + tree)[:, None] * n_nodes
    is_class = (classes < C)[:, None]
    sharpness = 1.0
    if (DEPTH > 0) & (not IS_HARD):
        sharpness = tl.load(schedule + 3 * tl.load(count) + 2) / tl.load(units + tree)
    membership = tl.full([1], 1.0, tl.float32)
    memberships, turns, features = (membership,), (), ()
    scores = tl.zeros([CLASSES], tl.float32)
    for level in tl.static_range(DEPTH + 1):
        nodes = 2**level - 1 + tl.arange(0, 2**level)
        feature = tl.full([2**level], 1.0, tl.float32)
        if HAS_SLOPES:
            feature = _tanh(sigma * tl.load(begin + slope_of + nodes))
        features = features + (feature,)  # noqa: RUF005 - Triton unpacks no tuples
        local = tl.load(begin + weight + nodes[None, :], mask=is_class, other=0.0)
        scores += tl.sum((membership * feature)[None, :] * local, axis=1)
        if level < DEPTH:
            distance = tl.load(begin + split + nodes)
            if IS_HARD:
                turn = tl.where(distance > 0.0, 1.0, -1.0)
            else:
                turn = _tanh(sharpness * distance)
            left = membership * (0.5 + 0.5 * turn)
            membership = tl.interleave(left, membership - left)
            turns = turns + (turn,)  # noqa: RUF005
            memberships = memberships + (membership,)  # noqa: RUF005
    if LOSS == 3:
        label = tl.load(labels + row * C + classes, mask=classes < C, other=0.0)
    else:
        label = tl.load(labels + row)
    share = tl.load(shares + row)
    value, slope = loss_and_slope(scores, label, classes, C, LOSS)
    tl.store(sums + row * n_trees + tree, share * value / n_trees)
    slope = (slope * share)[:, None]
    below = membership
    for level in tl.static_range(DEPTH, -1, -1):
        nodes = 2**level - 1 + tl.arange(0, 2**level)
        membership, feature = memberships[level], features[level]
        gate = membership * feature
        local = tl.load(begin + weight + nodes[None, :], mask=is_class, other=0.0)
        force = tl.sum(slope * local, axis=0)
        tl.store(out + weight + nodes[None, :], (slope * gate[None, :]).to(kind), mask=is_class)
        if HAS_SLOPES:
            found = membership * force * sigma * (1.0 - feature * feature)
            tl.store(out + slope_of + nodes, found.to(kind))
        own = gate * force
        if level < DEPTH:
            if IS_HARD:
                tl.store(out + split + nodes, tl.zeros([2**level], kind))
            else:
                left, right = tl.split(tl.reshape(below, [2**level, 2]))
                found = sharpness * (left * (1.0 - turns[level]) - right * (1.0 + turns[level]))
                tl.store(out + split + nodes, found.to(kind))
                below = own + left + right
        else:
            below = own
    if tree == 0:  # padding
        for column in tl.static_range(SPLIT_END, SLOPE):
            tl.store(out + column, 0.0)
        for column in tl.static_range(SLOPE_END, WEIGHT):
            tl.store(out + column, 0.0)
        for column in tl.static_range(WEIGHT_END, N_COLUMNS):
            tl.store(out + column, 0.0)


def hard_scores(layout, product):
    """Scores along hard paths, (n_rows, n_trees, n_outputs), of a product with all directions."""
    n_rows, C = len(product), layout.n_outputs
    classes = triton.next_power_of_2(C)
    n_together = max(1, min(_ROWS, _SUMS // classes))
    out = torch.empty(n_rows, layout.n_trees, C, device=product.device)
    _hard_scores[(triton.cdiv(n_rows, n_together), layout.n_trees)](
        product, out, n_rows, layout.n_trees, layout.sigma, DEPTH=layout.depth, C=C,
        CLASSES=classes, HAS_SLOPES=layout.has_slopes, SLOPE=layout.parts[1][0],
        WEIGHT=layout.parts[2][0], N_COLUMNS=layout.n_columns, ROWS=n_together,
    )  # fmt: skip
    return out


@triton.jit
def _hard_scores(
    product, out, n_rows, n_trees, sigma, DEPTH: tl.constexpr, C: tl.constexpr,
    CLASSES: tl.constexpr, HAS_SLOPES: tl.constexpr, SLOPE: tl.constexpr, WEIGHT: tl.constexpr,
    N_COLUMNS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Some rows and one tree: of all nodes those on the way are read."""
    rows, tree = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.program_id(1)
    classes, inside = tl.arange(0, CLASSES), rows < n_rows
    begin = product + rows.to(tl.int64) * N_COLUMNS
    real = inside[:, None] & (classes < C)[None, :]
    n_nodes = 2 ** (DEPTH + 1) - 1
    node = tl.zeros([ROWS], tl.int32)
    scores = tl.zeros([ROWS, CLASSES], tl.float32)
    for level in tl.static_range(DEPTH + 1):
        place = WEIGHT + (classes[None, :] * n_trees + tree) * n_nodes + node[:, None]
        local = tl.load(begin[:, None] + place, mask=real, other=0.0)
        if HAS_SLOPES:
            slope = tl.load(begin + SLOPE + tree * n_nodes + node, mask=inside, other=0.0)
            local = local * _tanh(sigma * slope)[:, None]
        scores += local
        if level < DEPTH:
            split = tree * (2**DEPTH - 1) + node
            distance = tl.load(begin + split, mask=inside, other=0.0)
            node = 2 * node + tl.where(distance > 0.0, 1, 2)
    place = (rows[:, None].to(tl.int64) * n_trees + tree) * C + classes[None, :]
    tl.store(out + place, scores, mask=real)


def update(state, slices, sums):
    layout = state.layout
    center = state.values if state.center is None else state.center
    _update[(layout.n_rows, triton.cdiv(layout.n_columns, _CHUNK))](
        state.values, state.mean, state.square, state.average, center, state.packed, slices,
        state.rates, state.ridges, state.schedule, state.count,
        FIRST=layout.parts[0][1] if state.is_hard else 0, N_ROWS=layout.n_rows,
        N_COLUMNS=layout.n_columns, N_SLICES=slices.shape[0],
        HAS_CENTER=state.center is not None, CHUNK=_CHUNK,
    )  # fmt: skip
    _finish[(1,)](
        sums, state.losses, state.count, state.place, sums.numel(), AT_ONCE=_SUMS, num_warps=8
    )


@triton.jit
def _update(
    values, means, squares, averages, centers, packed, slices, rates, ridges, schedule, count,
    FIRST: tl.constexpr, N_ROWS: tl.constexpr, N_COLUMNS: tl.constexpr, N_SLICES: tl.constexpr,
    HAS_CENTER: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """Columns before ``FIRST`` stay: the splits of hard paths."""
    now = tl.load(count)
    size, keep = tl.load(schedule + 3 * now), tl.load(schedule + 3 * now + 1)
    columns = tl.program_id(1) * CHUNK + tl.arange(0, CHUNK)
    real = (columns >= FIRST) & (columns < N_COLUMNS)
    at = tl.program_id(0).to(tl.int64) * N_COLUMNS + columns
    slope = tl.zeros([CHUNK], dtype=tl.float32)
    for part in tl.static_range(N_SLICES):
        slope += tl.load(slices + part * N_ROWS * N_COLUMNS + at, mask=real, other=0.0)
    value = tl.load(values + at, mask=real, other=0.0)
    pulled = value
    if HAS_CENTER:
        pulled = value - tl.load(centers + at, mask=real, other=0.0)
    slope += tl.load(ridges + columns, mask=real, other=0.0) * pulled
    rate = size * tl.load(rates)
    moved = adam(values, means, squares, averages, at, real, value, slope, rate, keep)
    tl.store(packed + at, moved.to(packed.dtype.element_ty), mask=real)


@triton.jit
def _finish(sums, losses, count, place, n_sums, AT_ONCE: tl.constexpr):
    """The loss of the step; counters go on."""
    value = tl.zeros([AT_ONCE], dtype=tl.float32)
    for begin in range(0, n_sums, AT_ONCE):
        here = begin + tl.arange(0, AT_ONCE)
        value += tl.load(sums + here, mask=here < n_sums, other=0.0)
    now = tl.load(count)
    tl.store(losses + now, tl.sum(value, axis=0))
    tl.store(count, now + 1)
    tl.store(place, tl.load(place) + 1)
