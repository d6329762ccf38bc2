"""Deformed images made on a GPU: the rows of ``deformed_images.py``, up to a few last digits.

Places are computed in double precision, so that rounded rows are the same bytes but where sines of
two libraries differ and a value lies at the edge.
"""

import math

import torch
import triton
import triton.language as tl

from nearlinear.gpu.device import on

_AT_ONCE = 1 << 18  # rows whose numbers are drawn at once


def deformed_tensors(source, device="cuda", first=0, n_rows=None, out=None):
    """Rows and labels of a ``DeformedImages`` source as tensors on a device.

    Parameters
    ----------
    source : DeformedImages
        From ``deformed_images``; rows have its dtype.
    device : str
        Where rows are made.
    first, n_rows : int
        Which rows: so many from the first; None stands for those that are left. Rows beyond the
        source's own number are made alike.
    out : tensor of shape (n_rows, n_pixels) or None
        Memory for the rows: the next epoch's can take the place of the last one's.

    Returns
    -------
    X, positions : tensors
        Rows, and which of the source's images each comes from: ``source.labels[positions]`` are its
        labels.
    """
    n_rows = source.n_rows - first if n_rows is None else n_rows
    dtype = getattr(torch, source.dtype.name)
    X = (
        torch.empty(n_rows, source.images[0].size, dtype=dtype, device=device)
        if out is None
        else out
    )
    fields = torch.as_tensor(source.fields, device=device)
    images = torch.as_tensor(source.images, device=device)
    if dtype == torch.uint8 and bool((images == images.round()).all()) and images.max() < 256:
        images = images.to(torch.uint8)  # a quarter of what is read
    positions = torch.empty(n_rows, dtype=torch.int64, device=device)
    for start in range(0, n_rows, _AT_ONCE):
        rows = slice(start, min(start + _AT_ONCE, n_rows))
        numbers = torch.arange(first + rows.start, first + rows.stop, device=device)
        drawn = [uniform(source.seed, numbers, column) for column in range(10)]
        positions[rows] = (drawn[0] * len(images)).long()
        maps = _inverse_maps(source.ranges, source.images.shape[1:], drawn[1:7])
        pairs = (torch.stack(drawn[7:9], 1) * len(fields)).long()
        angle = 2.0 * math.pi * drawn[9]
        size = source.ranges["elastic"] * source.images.shape[2]
        shares = size * torch.stack([torch.cos(angle), torch.sin(angle)], 1)
        with on(device):
            deform(images, positions[rows], maps, fields, pairs, shares, X[rows])
    return X, positions


def _signed(word):
    return word - (1 << 64) if word >= 1 << 63 else word


def uniform(seed, numbers, column):
    """A number in [0, 1) for each row, by the hash of ``deformed_images.py``."""

    def shifted(word, bits):
        return (word >> bits) & ((1 << (64 - bits)) - 1)

    base = _signed(seed % 2**64 * 0xD1342543DE82EF95 % 2**64)
    word = (numbers * 16 + (column + 1)) * _signed(0x9E3779B97F4A7C15) + base
    word = (word ^ shifted(word, 30)) * _signed(0xBF58476D1CE4E5B9)
    word = (word ^ shifted(word, 27)) * _signed(0x94D049BB133111EB)
    return shifted(word ^ shifted(word, 31), 11).double() * 2.0**-53


def _inverse_maps(ranges, shape, drawn):
    turn, height, width, slant, *moves = (2.0 * one - 1.0 for one in drawn)
    angle = turn * ranges["rotation"] * (math.pi / 180.0)
    height, width = (torch.exp(math.log1p(ranges["scaling"]) * one) for one in (height, width))
    slant, moves = slant * ranges["shear"], [one * ranges["shift"] * shape[1] for one in moves]
    cos, sin = torch.cos(angle), torch.sin(angle)
    return torch.stack([
        cos / height, -sin / height, (sin + slant * cos) / width, (cos - slant * sin) / width,
        *moves,
    ], 1)  # fmt: skip


def deform(images, chosen, maps, fields, pairs, shares, out):
    """Fill the rows of ``out``, as ``deform`` of ``deformed_images.py`` does."""
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
