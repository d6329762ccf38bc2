"""Deformed images made on a device: the rows of ``streams/digits.py``, to the last digit but a few.

Places are computed in double precision, so that rounded rows are the same bytes but where sines of
two libraries differ and a value lies at the edge.
"""

import math

import torch

from .anchors.forms import can_compile
from .device import on

_AT_ONCE = 1 << 18  # rows whose numbers are drawn at once


def deformed_tensors(source, device="cuda", first=0, n_rows=None, out=None):
    """Rows and labels of a ``DeformedImages`` source as tensors on a device.

    Parameters
    ----------
    source : DeformedImages
        What ``nearlinear.streams.deformed_images`` gives; its dtype is that of the rows.
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
    deform = _by_triton if can_compile(device) else _plain
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
    """A number in [0, 1) for each row, by the hash of ``streams/digits.py``."""

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


def _plain(images, chosen, maps, fields, pairs, shares, out):
    """Fill ``out`` by the formula of ``streams.digits.deform``, all pixels of some rows at once."""
    height, width = images.shape[1:]
    y = torch.arange(height, device=out.device).double()[:, None] - 0.5 * (height - 1)
    x = torch.arange(width, device=out.device).double()[None, :] - 0.5 * (width - 1)
    for start in range(0, len(out), 4096):
        rows = slice(start, start + 4096)
        a, b, c, d, e, f = (one[:, None, None] for one in maps[rows].T)
        bend = torch.einsum("if,ifrsc->irsc", shares[rows], fields[pairs[rows]].double())
        place_r = a * y + b * x + e + 0.5 * (height - 1) + bend[..., 0]
        place_s = c * y + d * x + f + 0.5 * (width - 1) + bend[..., 1]
        r0, s0 = place_r.floor(), place_s.floor()
        down, right = place_r - r0, place_s - s0
        value = torch.zeros_like(place_r)
        for r, by_r in ((r0, 1.0 - down), (r0 + 1, down)):
            for s, by_s in ((s0, 1.0 - right), (s0 + 1, right)):
                inside = (r >= 0) & (r < height) & (s >= 0) & (s < width)
                at = r.clamp(0, height - 1).long(), s.clamp(0, width - 1).long()
                pixel = images[chosen[rows][:, None, None], *at].double()
                value += torch.where(inside, by_r * by_s * pixel, 0.0)
        if not out.dtype.is_floating_point:
            value += 0.5
        out[rows] = value.flatten(1).to(out.dtype)


def _by_triton(images, chosen, maps, fields, pairs, shares, out):
    from .triton_digits import deform

    deform(images, chosen, maps, fields, pairs, shares, out)
