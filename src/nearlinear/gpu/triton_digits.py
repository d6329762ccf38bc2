"""Deformed images as one Triton kernel: a row is read between pixels and written once."""

import triton
import triton.language as tl


def deform(images, chosen, maps, fields, pairs, shares, out):
    """Fill the rows of ``out``, as ``digits._plain`` does."""
    height, width = images.shape[1:]
    _deform[(len(out),)](
        images, chosen, maps.contiguous(), fields, pairs, shares, out, height, width,
        IS_WHOLE=not out.dtype.is_floating_point, PIXELS=triton.next_power_of_2(height * width),
    )  # fmt: skip


@triton.jit
def _pixel(image, r, s, height, width, share, real):
    inside = real & (r >= 0) & (r < height) & (s >= 0) & (s < width)
    return share * tl.load(image + r * width + s, mask=inside, other=0).to(tl.float64)


@triton.jit
def _deform(
    images, chosen, maps, fields, pairs, shares, out, height, width, IS_WHOLE: tl.constexpr,
    PIXELS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    pixels = tl.arange(0, PIXELS)
    real = pixels < height * width
    r, s = pixels // width, pixels % width
    y = r.to(tl.float64) - 0.5 * (height - 1)
    x = s.to(tl.float64) - 0.5 * (width - 1)
    at = maps + row * 6
    place_r = tl.load(at) * y + tl.load(at + 1) * x + tl.load(at + 4) + 0.5 * (height - 1)
    place_s = tl.load(at + 2) * y + tl.load(at + 3) * x + tl.load(at + 5) + 0.5 * (width - 1)
    for k in tl.static_range(2):
        share = tl.load(shares + row * 2 + k)
        field = fields + (tl.load(pairs + row * 2 + k) * height * width + pixels) * 2
        place_r += share * tl.load(field, mask=real, other=0.0).to(tl.float64)
        place_s += share * tl.load(field + 1, mask=real, other=0.0).to(tl.float64)
    floor_r, floor_s = tl.floor(place_r), tl.floor(place_s)
    down, right = place_r - floor_r, place_s - floor_s
    r0, s0 = floor_r.to(tl.int32), floor_s.to(tl.int32)
    image = images + tl.load(chosen + row) * height * width
    value = _pixel(image, r0, s0, height, width, (1.0 - down) * (1.0 - right), real)
    value += _pixel(image, r0, s0 + 1, height, width, (1.0 - down) * right, real)
    value += _pixel(image, r0 + 1, s0, height, width, down * (1.0 - right), real)
    value += _pixel(image, r0 + 1, s0 + 1, height, width, down * right, real)
    if IS_WHOLE:
        value = (value + 0.5).to(tl.int32)
    tl.store(out + row * height * width + pixels, value.to(out.dtype.element_ty), mask=real)
