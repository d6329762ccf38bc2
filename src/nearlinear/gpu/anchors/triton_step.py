"""The three parts of a step as Triton kernels: one pass over memory each, no atomics.

The formulas are those of ``step``, line by line; a test compares the two.
"""

import torch
import triton
import triton.language as tl

from .step import LOG_RANGE

_ROWS = 4  # of a batch, in one program
_CHUNK = 1024  # features or models at once
_ANCHORS = 16  # whose squares one program sums
FEW_OUTPUTS, FEW_LANES = 16, 128  # a row's answers that fit into the registers of one warp
_FEW_NEIGHBORS = tl.constexpr(32)  # found without a loop, which for 500 would compile for minutes


def power(count):
    return max(16, triton.next_power_of_2(count))


def gather(state, block):
    layout = state.layout
    return gather_rows(state, block, layout.n_features, layout.n_rows, adds_one=True)


def gather_rows(state, block, n_features, n_rows, *, adds_one):
    """Rows of a batch as ``n_rows`` numbers, behind their features a constant if asked for."""
    device, labels = block.rows.device, block.labels
    made = torch.empty(block.batch, n_rows, dtype=state.dtype, device=device)
    own = torch.empty(block.batch, *labels.shape[1:], dtype=labels.dtype, device=device)
    share = torch.empty(block.batch, dtype=torch.float32, device=device)
    noise = block.weight if block.noise is None else block.noise
    _gather[(triton.cdiv(block.batch, _ROWS),)](
        block.rows, labels, block.weight, block.order, block.numbers, state.count, state.place,
        noise, made, own, share, block.rows.stride(0), block.batch, block.scale, n_features,
        N_ROWS=n_rows, N_LABELS=labels[:1].numel(), ADDS_ONE=adds_one,
        HAS_NOISE=block.noise is not None, R=_ROWS, CHUNK=min(_CHUNK, power(n_rows)),
    )  # fmt: skip
    return made, own, share


@triton.jit
def _gather(
    raw, labels, weight, order, numbers, count, place, noise, made, own_labels, shares, stride,
    batch, scale, n_features, N_ROWS: tl.constexpr, N_LABELS: tl.constexpr,
    ADDS_ONE: tl.constexpr, HAS_NOISE: tl.constexpr, R: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    slots = tl.program_id(0) * R + tl.arange(0, R)
    inside = slots < batch
    start = tl.load(place) * batch
    n_left = tl.minimum(tl.load(numbers) - start, batch)
    chosen = tl.load(order + start + slots, mask=inside, other=0).to(tl.int64)
    value = tl.load(weight + chosen, mask=inside, other=0.0) / n_left.to(tl.float32)
    tl.store(shares + slots, tl.where(slots < n_left, value, 0.0), mask=inside)
    for column in tl.static_range(N_LABELS):
        label = tl.load(labels + chosen * N_LABELS + column, mask=inside, other=0)
        tl.store(own_labels + slots * N_LABELS + column, label, mask=inside)
    for begin in range(0, N_ROWS, CHUNK):  # unrolled, wide rows would compile for minutes
        columns = begin + tl.arange(0, CHUNK)
        real = inside[:, None] & (columns < n_features)[None, :]
        rows = tl.load(raw + chosen[:, None] * stride + columns[None, :], mask=real, other=0)
        rows = rows.to(tl.float32) * scale
        if HAS_NOISE:
            seed = tl.load(numbers + 1) + tl.load(count) * 0x9E3779B9
            word = (slots[:, None] * N_ROWS + columns[None, :]).to(tl.uint32) ^ seed.to(tl.uint32)
            word = (word ^ (word >> 16)) * 0x7FEB352D
            word = (word ^ (word >> 15)) * 0x846CA68B
            word = word ^ (word >> 16)
            first = ((word >> 16).to(tl.float32) + 0.5) / 65536.0
            second = (word & 0xFFFF).to(tl.float32) / 65536.0
            normal = tl.sqrt(-2.0 * tl.log(first)) * tl.cos(6.283185307179586 * second)
            spread = tl.load(noise + columns, mask=columns < n_features, other=0.0)
            rows = rows + spread[None, :] * normal
        rows = tl.where((columns < n_features)[None, :], rows, 0.0)
        if ADDS_ONE:
            rows = tl.where((columns == n_features)[None, :], 1.0, rows)
        to = made + slots[:, None] * N_ROWS + columns[None, :]
        tl.store(
            to, rows.to(made.dtype.element_ty), mask=inside[:, None] & (columns < N_ROWS)[None, :]
        )


def middle(state, product, labels, share):
    layout, batch = state.layout, len(product)
    slopes = torch.empty(product.shape, dtype=state.dtype, device=product.device)
    lanes, n_classes = power(layout.n_anchors), triton.next_power_of_2(layout.n_outputs)
    if n_classes <= FEW_OUTPUTS and lanes <= FEW_LANES:
        sums = torch.empty(batch, 2, device=product.device)
        _middle_of_row[(batch,)](
            product, slopes, state.values[layout.n_features], state.offsets, state.gate, labels,
            share, sums, layout.n_features, M=layout.n_anchors, C=layout.n_outputs,
            FIRST=layout.first, N_COLUMNS=layout.n_columns, K=state.n_neighbors, LOSS=state.loss,
            LANES=lanes, CLASSES=n_classes, num_warps=1,
        )  # fmt: skip
        return slopes, sums
    n_programs = triton.cdiv(batch, _ROWS)
    sums = torch.empty(n_programs, 2, device=product.device)
    _middle[(n_programs,)](
        product, slopes, state.values[layout.n_features], state.offsets, state.gate, labels, share,
        sums, batch, layout.n_features, M=layout.n_anchors, C=layout.n_outputs, FIRST=layout.first,
        N_COLUMNS=layout.n_columns, K=state.n_neighbors, LOSS=state.loss, R=_ROWS,
        LANES=lanes,
    )  # fmt: skip
    return slopes, sums


@triton.jit
def codes_of_rows(
    half, sharpness, anchors, real, K: tl.constexpr, LANES: tl.constexpr, AXIS: tl.constexpr
):
    """Gate values, half distances less the smallest, and which anchors are near, along an axis."""
    bits = half.to(tl.int32, bitcast=True)
    keys = ((bits ^ ((bits >> 31) & 0x7FFFFFFF)) & ~(LANES - 1)) | anchors
    keys = tl.where(real, keys, 0x7FFFFFFE)
    if K <= _FEW_NEIGHBORS:
        for _ in tl.static_range(K):
            keys = _without_least(keys, AXIS)
    else:
        for _ in range(K):
            keys = _without_least(keys, AXIS)
    is_near = keys == 0x7FFFFFFF
    half = half - tl.min(tl.where(is_near, half, float("inf")), axis=AXIS, keep_dims=True)
    codes = tl.where(is_near, tl.exp(-2.0 * sharpness * half), 0.0)
    return codes / tl.sum(codes, axis=AXIS, keep_dims=True), half, is_near


@triton.jit
def _without_least(keys, AXIS: tl.constexpr):
    return tl.where(keys == tl.min(keys, axis=AXIS, keep_dims=True), 0x7FFFFFFF, keys)


@triton.jit
def loss_and_slope(scores, label, classes, C: tl.constexpr, LOSS: tl.constexpr):
    """Of one row: the value, and the slope of each output. ``label`` is a class, or values."""
    is_class = classes < C
    if LOSS == 3:
        slope = tl.where(is_class, scores - label, 0.0)
        value = 0.5 * tl.sum(slope * slope, axis=0)
    else:
        is_own = (classes == 0) & (label == 1) if C == 1 else label == classes
        sign = tl.where(is_own, 1.0, -1.0)
        margin = sign * scores
        if LOSS == 2:
            if C > 1:
                top = tl.max(tl.where(is_class, scores, float("-inf")), axis=0)
                powers = tl.where(is_class, tl.exp(scores - top), 0.0)
                total = tl.sum(powers, axis=0)
                value = top + tl.log(total) - tl.sum(tl.where(is_own, scores, 0.0), axis=0)
                slope = powers / total - tl.where(is_own, 1.0, 0.0)
            else:
                small = tl.exp(-tl.abs(margin))
                value = tl.sum(tl.maximum(-margin, 0.0) + tl.log(1.0 + small), axis=0)
                slope = -sign * tl.where(margin > 0.0, small, 1.0) / (1.0 + small)
        else:
            slack = tl.where(is_class, tl.maximum(1.0 - margin, 0.0), 0.0)
            if LOSS == 1:
                value = tl.sum(slack * slack, axis=0)
                slope = -2.0 * sign * slack
            else:
                value = tl.sum(slack, axis=0)
                slope = tl.where(slack > 0.0, -sign, 0.0)
    return value, slope


@triton.jit
def _middle_of_row(
    product, slopes, biases, offsets, gate, labels, shares, sums, n_features, M: tl.constexpr,
    C: tl.constexpr, FIRST: tl.constexpr, N_COLUMNS: tl.constexpr, K: tl.constexpr,
    LOSS: tl.constexpr, LANES: tl.constexpr, CLASSES: tl.constexpr,
):  # fmt: skip
    """One row in one warp: all its answers are read once, and stay in registers."""
    row, anchors = tl.program_id(0).to(tl.int64), tl.arange(0, LANES)
    classes, real = tl.arange(0, CLASSES), anchors < M
    begin = product + row * N_COLUMNS
    places = FIRST + classes[:, None] * M + anchors[None, :]
    mask = (classes < C)[:, None] & real[None, :]
    local = tl.load(begin + places, mask=mask, other=0.0)
    cross = tl.load(begin + anchors, mask=real, other=0.0)
    half = tl.load(offsets + anchors, mask=real, other=0.0) - cross
    local += tl.load(biases + places, mask=mask, other=0.0)
    sharpness = tl.exp(tl.load(gate + n_features))
    codes, half, is_near = codes_of_rows(half, sharpness, anchors, real, K, LANES, AXIS=0)
    label, share = tl.load(labels + row), tl.load(shares + row)
    scores = tl.sum(codes[None, :] * local, axis=1)
    value, slope = loss_and_slope(scores, label, classes, C, LOSS)
    slope = slope * share
    pull = tl.sum(slope[:, None] * (local - scores[:, None]), axis=0)
    pull = tl.where(is_near, codes * pull, 0.0)
    out = slopes + row * N_COLUMNS
    tl.store(out + places, (codes[None, :] * slope[:, None]).to(slopes.dtype.element_ty), mask=mask)
    pulled = (2.0 * sharpness * pull).to(slopes.dtype.element_ty)
    tl.store(out + anchors, pulled, mask=anchors < FIRST)
    for begin_of in tl.static_range(FIRST + C * M, N_COLUMNS):  # padding
        tl.store(out + begin_of, 0.0)
    tl.store(sums + 2 * row, share * value)
    tl.store(
        sums + 2 * row + 1, -2.0 * sharpness * tl.sum(tl.where(is_near, pull * half, 0.0), axis=0)
    )


@triton.jit
def _middle(
    product, slopes, biases, offsets, gate, labels, shares, sums, batch, n_features,
    M: tl.constexpr, C: tl.constexpr, FIRST: tl.constexpr, N_COLUMNS: tl.constexpr,
    K: tl.constexpr, LOSS: tl.constexpr, R: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    rows, anchors = (tl.program_id(0) * R + tl.arange(0, R)).to(tl.int64), tl.arange(0, LANES)
    inside = rows < batch
    real = anchors < M
    mask = inside[:, None] & real[None, :]
    at = rows[:, None] * N_COLUMNS + anchors[None, :]
    sharpness = tl.exp(tl.load(gate + n_features))
    cross = tl.load(product + at, mask=mask, other=0.0)
    half = tl.load(offsets + anchors, mask=real, other=0.0)[None, :] - cross
    codes, half, is_near = codes_of_rows(
        half, sharpness, anchors[None, :], real[None, :], K, LANES, AXIS=1
    )
    label = tl.load(labels + rows, mask=inside, other=0)
    share = tl.load(shares + rows, mask=inside, other=0.0)
    pull = tl.zeros([R, LANES], dtype=tl.float32)
    value = tl.zeros([R], dtype=tl.float32)
    top = tl.full([R], float("-inf"), dtype=tl.float32)
    total = tl.zeros([R], dtype=tl.float32)
    if (LOSS == 2) & (C > 1):
        for c in range(C):
            local = tl.load(product + at + FIRST + c * M, mask=mask, other=0.0)
            local += tl.load(biases + FIRST + c * M + anchors, mask=real, other=0.0)[None, :]
            score = tl.sum(codes * local, axis=1)
            value -= tl.where(label == c, score, 0.0)
            higher = tl.maximum(top, score)
            total = total * tl.exp(top - higher) + tl.exp(score - higher)
            top = higher
        value += top + tl.log(total)
    for c in range(C):
        local = tl.load(product + at + FIRST + c * M, mask=mask, other=0.0)
        local += tl.load(biases + FIRST + c * M + anchors, mask=real, other=0.0)[None, :]
        score = tl.sum(codes * local, axis=1)
        is_own = label == 1 if C == 1 else label == c
        sign = tl.where(is_own, 1.0, -1.0)
        margin = sign * score
        if LOSS == 2:
            if C > 1:
                slope = tl.exp(score - top) / total - tl.where(is_own, 1.0, 0.0)
            else:
                small = tl.exp(-tl.abs(margin))
                value += tl.maximum(-margin, 0.0) + tl.log(1.0 + small)
                slope = -sign * tl.where(margin > 0.0, small, 1.0) / (1.0 + small)
        else:
            slack = tl.maximum(1.0 - margin, 0.0)
            if LOSS == 1:
                value += slack * slack
                slope = -2.0 * sign * slack
            else:
                value += slack
                slope = tl.where(slack > 0.0, -sign, 0.0)
        slope = slope * share
        pull += slope[:, None] * (local - score[:, None])
        tl.store(
            slopes + at + FIRST + c * M,
            (codes * slope[:, None]).to(slopes.dtype.element_ty),
            mask=mask,
        )
    pull = codes * pull
    ahead = inside[:, None] & (anchors < FIRST)[None, :]
    tl.store(slopes + at, (2.0 * sharpness * pull).to(slopes.dtype.element_ty), mask=ahead)
    for begin in tl.static_range(FIRST + C * M, N_COLUMNS):  # padding
        nothing = tl.zeros([R], dtype=slopes.dtype.element_ty)
        tl.store(slopes + rows * N_COLUMNS + begin, nothing, mask=inside)
    moved = tl.where(is_near & inside[:, None], pull * half, 0.0)
    tl.store(sums + 2 * tl.program_id(0), tl.sum(tl.where(inside, share * value, 0.0), axis=0))
    tl.store(
        sums + 2 * tl.program_id(0) + 1, -2.0 * sharpness * tl.sum(tl.sum(moved, axis=1), axis=0)
    )


def update(state, slices, sums):
    layout = state.layout
    lanes = power(layout.n_anchors)
    n_chunks = triton.cdiv(layout.n_columns - layout.first, _CHUNK)
    center = state.values if state.center is None else state.center
    _update[(layout.n_rows, 1 + n_chunks)](
        state.values, state.mean, state.square, state.average, center, state.packed, slices,
        state.gate, state.gate_start, state.gate_mean, state.gate_square, state.gate_average,
        state.rates, state.schedule, state.count, layout.n_features, layout.width, LOG_RANGE,
        M=layout.n_anchors, FIRST=layout.first, N_MODELS=layout.n_models,
        N_COLUMNS=layout.n_columns, N_ROWS=layout.n_rows, N_SLICES=slices.shape[0],
        HAS_CENTER=state.center is not None, LANES=lanes, CHUNK=_CHUNK,
    )  # fmt: skip
    _finish[(1 + triton.cdiv(layout.n_anchors, _ANCHORS),)](
        state.packed, state.offsets, state.gate, state.gate_start, state.gate_mean,
        state.gate_square, state.gate_average, sums, state.rates, state.schedule, state.losses,
        state.count, state.place, sums.shape[0], layout.n_features, LOG_RANGE, M=layout.n_anchors,
        N_COLUMNS=layout.n_columns, ANCHORS=_ANCHORS, AT_ONCE=256,
    )  # fmt: skip


@triton.jit
def adam(values, means, squares, averages, at, real, value, slope, rate, keep):
    """Adam's step of some numbers, which it gives; the moments and the average follow."""
    mean = 0.9 * tl.load(means + at, mask=real, other=0.0) + 0.1 * slope
    square = 0.999 * tl.load(squares + at, mask=real, other=0.0) + 0.001 * slope * slope
    moved = value - rate * mean / (tl.sqrt(square) + 1e-8)
    average = tl.load(averages + at, mask=real, other=0.0)
    tl.store(means + at, mean, mask=real)
    tl.store(squares + at, square, mask=real)
    tl.store(values + at, moved, mask=real)
    tl.store(averages + at, keep * average + (1.0 - keep) * moved, mask=real)
    return moved


@triton.jit
def _update(
    values, means, squares, averages, centers, packed, slices, gate, gate_start, gate_mean,
    gate_square, gate_average, rates, schedule, count, n_features, width, log_range,
    M: tl.constexpr, FIRST: tl.constexpr, N_MODELS: tl.constexpr, N_COLUMNS: tl.constexpr,
    N_ROWS: tl.constexpr, N_SLICES: tl.constexpr, HAS_CENTER: tl.constexpr, LANES: tl.constexpr,
    CHUNK: tl.constexpr,
):  # fmt: skip
    row, part = tl.program_id(0), tl.program_id(1)
    now = tl.load(count)
    size, keep = tl.load(schedule + 2 * now), tl.load(schedule + 2 * now + 1)
    if part == 0:
        if row < n_features:
            columns = tl.arange(0, LANES)
            real = columns < M
            at = row * N_COLUMNS + columns
            weighted = tl.zeros([LANES], dtype=tl.float32)
            total = tl.zeros([LANES], dtype=tl.float32)
            for s in tl.static_range(N_SLICES):
                begin = slices + s * N_ROWS * N_COLUMNS
                weighted += tl.load(begin + at, mask=real, other=0.0)
                total += tl.load(begin + n_features * N_COLUMNS + columns, mask=real, other=0.0)
            log_metric = tl.load(gate + row)
            gate_memory, gate_scale = tl.load(gate_mean + row), tl.load(gate_square + row)
            gate_before, begun = tl.load(gate_average + row), tl.load(gate_start + row)
            metric = tl.exp(log_metric)
            anchors = tl.load(values + at, mask=real, other=0.0)
            lean = tl.sum((2.0 * weighted - total * anchors) * anchors, axis=0)
            # all warps read the gate's numbers, and one writes the new ones: not before all have
            tl.debug_barrier()
            slope = metric * (weighted - total * anchors)
            rate = size * tl.load(rates + 1)
            moved = adam(values, means, squares, averages, at, real, anchors, slope, rate, keep)
            slope = 0.5 * metric * lean
            mean = 0.9 * gate_memory + 0.1 * slope
            square = 0.999 * gate_scale + 0.001 * slope * slope
            now_log = log_metric - size * tl.load(rates + 3) * mean / (tl.sqrt(square) + 1e-8)
            average = keep * gate_before + (1.0 - keep) * now_log
            now_log = tl.minimum(tl.maximum(now_log, begun - log_range), begun + log_range)
            tl.store(gate_mean + row, mean)
            tl.store(gate_square + row, square)
            tl.store(gate_average + row, average)
            tl.store(gate + row, now_log)
            tl.store(packed + at, (tl.exp(now_log) * moved).to(packed.dtype.element_ty), mask=real)
    else:
        if (row < width) | (row == n_features):
            columns = FIRST + (part - 1) * CHUNK + tl.arange(0, CHUNK)
            real = columns < FIRST + N_MODELS
            at = row * N_COLUMNS + columns
            slope = tl.zeros([CHUNK], dtype=tl.float32)
            for s in tl.static_range(N_SLICES):
                slope += tl.load(slices + s * N_ROWS * N_COLUMNS + at, mask=real, other=0.0)
            value = tl.load(values + at, mask=real, other=0.0)
            pulled = value
            if HAS_CENTER:
                pulled = value - tl.load(centers + at, mask=real, other=0.0)
            slope += tl.load(rates + 4) * pulled
            rate = size * tl.load(rates)
            moved = adam(values, means, squares, averages, at, real, value, slope, rate, keep)
            if row < width:
                tl.store(packed + at, moved.to(packed.dtype.element_ty), mask=real)


@triton.jit
def _finish(
    packed, offsets, gate, gate_start, gate_mean, gate_square, gate_average, sums, rates, schedule,
    losses, count, place, n_sums, n_features, log_range, M: tl.constexpr, N_COLUMNS: tl.constexpr,
    ANCHORS: tl.constexpr, AT_ONCE: tl.constexpr,
):  # fmt: skip
    """½ Σ μ v² of a few anchors in each program; the first one moves log β and the counters."""
    part = tl.program_id(0)
    if part > 0:
        columns = (part - 1) * ANCHORS + tl.arange(0, ANCHORS)
        rows = tl.arange(0, AT_ONCE)
        squares = tl.zeros([AT_ONCE, ANCHORS], dtype=tl.float32)
        for begin in range(0, n_features, AT_ONCE):
            here = begin + rows
            mask = (here < n_features)[:, None] & (columns < M)[None, :]
            at = here[:, None] * N_COLUMNS + columns[None, :]
            one = tl.load(packed + at, mask=mask, other=0.0).to(tl.float32)
            metric = tl.exp(tl.load(gate + here, mask=here < n_features, other=0.0))
            squares += one * one / metric[:, None]
        tl.store(offsets + columns, 0.5 * tl.sum(squares, axis=0), mask=columns < M)
    else:
        value = tl.zeros([1024], dtype=tl.float32)
        slope = tl.zeros([1024], dtype=tl.float32)
        lanes = tl.arange(0, 1024)
        for begin in range(0, n_sums, 1024):
            here = begin + lanes
            value += tl.load(sums + 2 * here, mask=here < n_sums, other=0.0)
            slope += tl.load(sums + 2 * here + 1, mask=here < n_sums, other=0.0)
        now = tl.load(count)
        size, keep = tl.load(schedule + 2 * now), tl.load(schedule + 2 * now + 1)
        total = tl.sum(slope, axis=0)
        mean = 0.9 * tl.load(gate_mean + n_features) + 0.1 * total
        square = 0.999 * tl.load(gate_square + n_features) + 0.001 * total * total
        moved = tl.load(gate + n_features)
        moved = moved - size * tl.load(rates + 2) * mean / (tl.sqrt(square) + 1e-8)
        average = keep * tl.load(gate_average + n_features) + (1.0 - keep) * moved
        begun = tl.load(gate_start + n_features)
        tl.store(gate_mean + n_features, mean)
        tl.store(gate_square + n_features, square)
        tl.store(gate_average + n_features, average)
        moved = tl.minimum(tl.maximum(moved, begun - log_range), begun + log_range)
        tl.store(gate + n_features, moved)
        tl.store(losses + now, tl.sum(value, axis=0))
        tl.store(count, now + 1)
        tl.store(place, tl.load(place) + 1)
