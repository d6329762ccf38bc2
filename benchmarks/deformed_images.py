"""Deformed copies of small images, any number of them: rotated, scaled, sheared, bent.

The method of MNIST8m (Loosli, Canu, Bottou, "Training invariant support vector machines using
selective sampling", 2007): every row is one of some base images under a random affine map and a
random smooth displacement of its pixels (Simard, Steinkraus, Platt, 2003). A displacement is a
mixture of two fields of a bank, which is made once. Pixels are read between four neighbors. The
random numbers of a row are hashes of the seed and the row's number: every row can be made alone,
and on a GPU (``gpu_digits.py``).
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nearlinear._compile import compiled
from nearlinear.streams.arrays import checked_rows
from nearlinear.streams.blocks import Block, usual_rows

_FIELDS = 128  # of smooth displacements, of which any two are mixed
_SMOOTHNESS = 0.15  # width of the smoothing, as a share of the image's


class DeformedImages:
    """Rows of deformed images. A row depends on the seed and on its number alone."""

    def __init__(self, images, labels, n_rows, block_rows, seed, ranges, dtype):
        self.images, self.labels, self.n_rows = images, labels, n_rows
        self.block_rows, self.seed, self.ranges, self.dtype = block_rows, seed, ranges, dtype
        self.n_parts = -(-n_rows // block_rows)
        self.row_bytes = images[0].size * dtype.itemsize
        self.fields = _smooth_fields(images.shape[1:], np.random.default_rng([seed, 0]))

    def part(self, number):
        first = number * self.block_rows
        numbers = np.arange(first, min(first + self.block_rows, self.n_rows))
        drawn = [_uniform(self.seed, numbers, column) for column in range(N_DRAWN)]
        chosen = (drawn[0] * len(self.images)).astype(np.intp)
        maps = _inverse_maps(self.ranges, self.images.shape[1:], drawn[1:7])
        fields = (np.column_stack(drawn[7:9]) * len(self.fields)).astype(np.intp)
        angle = 2.0 * np.pi * drawn[9]
        size = self.ranges["elastic"] * self.images.shape[2]
        shares = size * np.column_stack([np.cos(angle), np.sin(angle)])
        X = np.empty((len(numbers), self.images[0].size), dtype=self.dtype)
        lift = 0.5 if self.dtype.kind in "iu" else 0.0
        deform(self.images, chosen, maps, self.fields, fields, shares, lift, X)
        yield Block(X, self.labels[chosen])

    def __iter__(self):
        for number in range(self.n_parts):
            yield from self.part(number)


def deformed_images(
    images: ArrayLike,
    labels: ArrayLike,
    n_rows: int,
    *,
    rotation: float = 15.0,
    scaling: float = 0.15,
    shear: float = 0.15,
    shift: float = 0.03,
    elastic: float = 0.04,
    seed: int = 0,
    block_rows: int | None = None,
    dtype: Any = "float32",
) -> DeformedImages:
    """A source of deformed copies of images, one to a row.

    Parameters
    ----------
    images : array of shape (n_images, height, width)
        Base images.
    labels : array of shape (n_images,)
        What each shows.
    n_rows : int
        Rows in all.
    rotation : float, default=15.0
        The largest angle, in degrees.
    scaling : float, default=0.15
        The largest change of height and of width, as a share of them.
    shear : float, default=0.15
        The largest slant, as a share of the height.
    shift : float, default=0.03
        The largest move, as a share of the width.
    elastic : float, default=0.04
        How far pixels are displaced (root mean square), as a share of the width.
    seed : int, default=0
        The same seed gives the same rows.
    block_rows : int or None, default=None
        Rows of a block. None stands for 64 MB.
    dtype : dtype, default="float32"
        Precision in which rows are given out; whole numbers are rounded.

    Returns
    -------
    DeformedImages
        Can be iterated again and again; ``fit`` of a method that streams takes it.
    """
    images, labels = np.asarray(images), np.asarray(labels)
    if images.ndim != 3 or labels.shape != images.shape[:1] or not images.size:
        raise ValueError(
            f"images must have the shape (n_images, height, width), and labels one for each; they "
            f"have {images.shape} and {labels.shape}."
        )
    if not (int(n_rows) == n_rows and n_rows >= 1):
        raise ValueError(f"n_rows={n_rows!r} must be a whole number of 1 or more.")
    dtype = np.dtype(dtype)
    rows = checked_rows(block_rows) or usual_rows(images[0].size, dtype.itemsize)
    ranges = {"rotation": rotation, "scaling": scaling, "shear": shear, "shift": shift}
    ranges["elastic"] = elastic
    for name, value in ranges.items():
        if not 0.0 <= value < np.inf:
            raise ValueError(f"{name}={value!r} must be a number of 0 or more.")
    images = np.ascontiguousarray(images, dtype=np.float32)
    return DeformedImages(images, labels, int(n_rows), rows, int(seed), ranges, dtype)


def _inverse_maps(ranges, shape, drawn):
    """(a, b, c, d, e, f): pixel (r, s) of a row is the image at (a r + b s + e, c r + d s + f).

    r and s are counted from the image's middle; ``drawn`` are six numbers in [0, 1) for each row.
    """
    turn, height, width, slant, *moves = (2.0 * one - 1.0 for one in drawn)
    angle = np.deg2rad(turn * ranges["rotation"])
    height, width = (np.exp(np.log1p(ranges["scaling"]) * one) for one in (height, width))
    slant, moves = slant * ranges["shear"], [one * ranges["shift"] * shape[1] for one in moves]
    cos, sin = np.cos(angle), np.sin(angle)
    # the rotation, then the slant, then the two scales
    return np.column_stack([
        cos / height, -sin / height, (sin + slant * cos) / width, (cos - slant * sin) / width,
        *moves,
    ])  # fmt: skip


N_DRAWN = 10  # random numbers of a row


def _uniform(seed, numbers, column):
    """A number in [0, 1) for each row: the last step of SplitMix64 on seed, row and column."""
    with np.errstate(over="ignore"):
        word = np.uint64(seed % 2**64) * np.uint64(0xD1342543DE82EF95)
        word = word + (numbers.astype(np.uint64) * np.uint64(16) + np.uint64(column + 1)) * (
            np.uint64(0x9E3779B97F4A7C15)
        )
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        word = word ^ (word >> np.uint64(31))
    return (word >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _smooth_fields(shape, rng):
    """Displacements of pixels with a root mean square of 1, (n_fields, height, width, 2)."""
    from scipy.ndimage import gaussian_filter1d

    fields = rng.uniform(-1.0, 1.0, (_FIELDS, *shape, 2))
    for axis in (1, 2):
        fields = gaussian_filter1d(fields, _SMOOTHNESS * shape[1], axis=axis, mode="wrap")
    fields /= np.sqrt(np.mean(fields**2, axis=(1, 2, 3), keepdims=True))
    return fields.astype(np.float32)


@compiled
def deform(images, chosen, maps, fields, pairs, shares, lift, out):
    """Fill the rows of ``out``, raised by ``lift``; what lies outside of an image is 0."""
    height, width = images.shape[1], images.shape[2]
    middle_r, middle_s = 0.5 * (height - 1), 0.5 * (width - 1)
    for i in range(len(chosen)):
        image = images[chosen[i]]
        first, second = fields[pairs[i, 0]], fields[pairs[i, 1]]
        for r in range(height):
            for s in range(width):
                y, x = r - middle_r, s - middle_s
                from_r = maps[i, 0] * y + maps[i, 1] * x + maps[i, 4] + middle_r
                from_s = maps[i, 2] * y + maps[i, 3] * x + maps[i, 5] + middle_s
                from_r += shares[i, 0] * first[r, s, 0] + shares[i, 1] * second[r, s, 0]
                from_s += shares[i, 0] * first[r, s, 1] + shares[i, 1] * second[r, s, 1]
                value = 0.0
                if -1.0 < from_r < height and -1.0 < from_s < width:
                    r0, s0 = int(np.floor(from_r)), int(np.floor(from_s))
                    down, right = from_r - r0, from_s - s0
                    if r0 >= 0 and s0 >= 0:
                        value += (1.0 - down) * (1.0 - right) * image[r0, s0]
                    if r0 >= 0 and s0 + 1 < width:
                        value += (1.0 - down) * right * image[r0, s0 + 1]
                    if r0 + 1 < height and s0 >= 0:
                        value += down * (1.0 - right) * image[r0 + 1, s0]
                    if r0 + 1 < height and s0 + 1 < width:
                        value += down * right * image[r0 + 1, s0 + 1]
                out[i, r * width + s] = value + lift
