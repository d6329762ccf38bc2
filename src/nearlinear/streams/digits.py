"""Deformed copies of small images, as many as wanted: rotated, scaled, sheared, bent.

The way of MNIST8m (Loosli, Canu, Bottou, "Training invariant support vector machines using
selective sampling", 2007): every row is one of some base images under a random affine map and a
random smooth displacement of its pixels (Simard, Steinkraus, Platt, 2003). A displacement is a
mixture of two fields of a bank, which is made once. Pixels are read between four neighbors.
"""

import numpy as np

from .._compile import compiled
from .arrays import checked_rows
from .blocks import Block, usual_rows

_FIELDS = 128  # of smooth displacements, of which any two are mixed
_SMOOTHNESS = 0.15  # width of the smoothing, as a share of the image's


class DeformedImages:
    """Rows of deformed images. Block ``number`` depends on the seed and on its number alone."""

    def __init__(self, images, labels, n_rows, block_rows, seed, ranges, dtype):
        self._images, self._labels, self.n_rows = images, labels, n_rows
        self.block_rows, self.seed, self._ranges, self.dtype = block_rows, seed, ranges, dtype
        self.n_parts = -(-n_rows // block_rows)
        self.row_bytes = images[0].size * dtype.itemsize
        self._fields = _smooth_fields(images.shape[1:], np.random.default_rng([seed, 0]))

    def part(self, number):
        n_rows = min(self.block_rows, self.n_rows - number * self.block_rows)
        rng = np.random.default_rng([self.seed, 1, number])
        chosen = rng.integers(len(self._images), size=n_rows)
        maps = _inverse_maps(self._ranges, self._images.shape[1:], n_rows, rng)
        fields = rng.integers(len(self._fields), size=(n_rows, 2))
        angle = rng.uniform(0.0, 2.0 * np.pi, n_rows)
        size = self._ranges["elastic"] * self._images.shape[2]
        shares = size * np.column_stack([np.cos(angle), np.sin(angle)])
        X = np.empty((n_rows, self._images[0].size), dtype=self.dtype)
        deform(self._images, chosen, maps, self._fields, fields, shares, X)
        yield Block(X, self._labels[chosen])

    def __iter__(self):
        for number in range(self.n_parts):
            yield from self.part(number)


def deformed_images(
    images,
    labels,
    n_rows,
    *,
    rotation=15.0,
    scaling=0.15,
    shear=0.15,
    shift=0.03,
    elastic=0.04,
    seed=0,
    block_rows=None,
    dtype="float32",
):
    """A source of deformed copies of images, one to a row.

    Parameters
    ----------
    images : array of shape (n_images, height, width)
        Base images.
    labels : array of shape (n_images,)
        What each shows.
    n_rows : int
        Rows in all.
    rotation : float
        The largest angle, in degrees.
    scaling : float
        The largest change of height and of width, as a share of them.
    shear : float
        The largest slant, as a share of the height.
    shift : float
        The largest move, as a share of the width.
    elastic : float
        How far pixels are displaced (root mean square), as a share of the width.
    seed : int
        The same seed gives the same rows.
    block_rows : int or None
        Rows of a block. None stands for 64 MB.
    dtype : dtype
        Precision in which rows are given out.

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


def _inverse_maps(ranges, shape, n_rows, rng):
    """(a, b, c, d, e, f): pixel (r, s) of a row is the image at (a r + b s + e, c r + d s + f).

    r and s are counted from the image's middle.
    """
    angle = np.deg2rad(rng.uniform(-1.0, 1.0, n_rows) * ranges["rotation"])
    height, width = np.exp(np.log1p(ranges["scaling"]) * rng.uniform(-1.0, 1.0, (2, n_rows)))
    slant = rng.uniform(-1.0, 1.0, n_rows) * ranges["shear"]
    moves = rng.uniform(-1.0, 1.0, (2, n_rows)) * ranges["shift"] * shape[1]
    cos, sin = np.cos(angle), np.sin(angle)
    # the rotation, then the slant, then the two scales
    return np.column_stack([
        cos / height, -sin / height, (sin + slant * cos) / width, (cos - slant * sin) / width,
        *moves,
    ])  # fmt: skip


def _smooth_fields(shape, rng):
    """Displacements of pixels with a root mean square of 1, (n_fields, height, width, 2)."""
    from scipy.ndimage import gaussian_filter1d

    fields = rng.uniform(-1.0, 1.0, (_FIELDS, *shape, 2))
    for axis in (1, 2):
        fields = gaussian_filter1d(fields, _SMOOTHNESS * shape[1], axis=axis, mode="wrap")
    fields /= np.sqrt(np.mean(fields**2, axis=(1, 2, 3), keepdims=True))
    return fields.astype(np.float32)


@compiled
def deform(images, chosen, maps, fields, pairs, shares, out):
    """Fill the rows of ``out``; what lies outside of an image is 0."""
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
                out[i, r * width + s] = value
