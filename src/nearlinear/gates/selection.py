"""The nearest anchors of many rows at once, without a branch on data.

Entry j of a row is offsets[j] − cross[j]: half a squared distance up to a constant of the row.
Rows are walked 128 in lock-step, so that every comparison is one vector instruction for eight of
them. Entries are compared as 64-bit integers that carry the number of their anchor in the last
bits, so a comparison moves value and number at once.
"""

import numpy as np

from .._compile import compiled

_LANES = 128
_BLOCK = 256  # rows in one matrix product: what it writes is read again from the nearest cache
_LARGEST = np.iinfo(np.int64).max


def smallest_of_rows(X, directions, offsets, n_smallest):
    """Numbers and values of the smallest offsets[j] − ⟨x, directions[j]⟩ of each dense row.

    Two arrays of shape (n_rows, n_smallest), smallest first; of equal entries the first wins.
    float32 is exact; float64 gives up as many of its last bits as the numbers need (for a hundred
    anchors, a relative 10⁻¹⁴).
    """
    n_rows = len(X)
    if n_rows < _LANES:
        X = np.pad(X, ((0, _LANES - n_rows), (0, 0)))
    cross = np.empty((len(directions), min(_BLOCK, len(X))), dtype=X.dtype)
    run = _rows_at_most_eight if n_smallest <= 8 else _rows_any_number
    numbers, smallest, rest = _workspace(len(X), n_smallest, offsets)
    run(X, directions, offsets, cross, *rest)
    return numbers[:n_rows], smallest[:n_rows]


def smallest_in_columns(cross, offsets, n_smallest):
    """The same where the products are there already, shape (n_anchors, n_rows)."""
    n_rows = cross.shape[1]
    if n_rows < _LANES:
        cross = np.pad(cross, ((0, 0), (0, _LANES - n_rows)))
    run = _select_at_most_eight if n_smallest <= 8 else _select_any_number
    numbers, smallest, rest = _workspace(cross.shape[1], n_smallest, offsets)
    run(cross, offsets, 0, *rest)
    return numbers[:n_rows], smallest[:n_rows]


def _workspace(n_rows, n_smallest, offsets):
    """Results, and the arguments that all compiled selections share."""
    bits = np.int32 if offsets.dtype == np.float32 else np.int64
    number_bits = max(1, (len(offsets) - 1).bit_length())
    shift, number_bits = (32, 32) if bits == np.int32 else (0, number_bits)
    tile = np.empty((8, _LANES), dtype=offsets.dtype)
    best = np.empty((-(-n_smallest // 8) * 8, _LANES), dtype=np.int64)
    numbers = np.empty((n_rows, n_smallest), dtype=np.int32)
    smallest = np.empty((n_rows, n_smallest), dtype=offsets.dtype)
    mask = -(1 << number_bits)
    flip = np.iinfo(bits).max  # all bits but the sign
    rest = (shift, mask, flip, tile, tile.view(bits), best, numbers, smallest.view(bits))
    return numbers, smallest, rest


@compiled
def _load_tile(cross, offsets, first, start, flip, tile, bits):
    """Eight entries of 128 rows as integers that are ordered as the floats.

    Entries past the end come last, even after undefined values.
    """
    n_lanes = tile.shape[1]
    sign = 8 * bits.itemsize - 1
    for i in range(8):
        if first + i < len(offsets):
            offset, row = offsets[first + i], cross[first + i, start : start + n_lanes]
            for lane in range(n_lanes):
                tile[i, lane] = offset - row[lane]
            # negative floats are ordered backwards as integers: flip all but the sign
            for lane in range(n_lanes):
                bits[i, lane] ^= (bits[i, lane] >> sign) & flip
        else:
            bits[i, :] = flip


@compiled
def _merge_eight(bits, first, shift, mask, best):
    """Merge eight more keys of each column into its sorted eight best.

    The new keys are sorted by Batcher's network of 19 comparisons; the smaller of each crosswise
    pair and a bitonic merge give the new best: about nine vector instructions a key, all in
    registers, where insertion needs sixteen and a branch. One loop over lanes with straight-line
    code is what the vectorizer takes whole.
    """
    n_lanes = best.shape[1]
    for lane in range(n_lanes):
        n0 = ((np.int64(bits[0, lane]) << shift) & mask) | (first + 0)
        n1 = ((np.int64(bits[1, lane]) << shift) & mask) | (first + 1)
        n2 = ((np.int64(bits[2, lane]) << shift) & mask) | (first + 2)
        n3 = ((np.int64(bits[3, lane]) << shift) & mask) | (first + 3)
        n4 = ((np.int64(bits[4, lane]) << shift) & mask) | (first + 4)
        n5 = ((np.int64(bits[5, lane]) << shift) & mask) | (first + 5)
        n6 = ((np.int64(bits[6, lane]) << shift) & mask) | (first + 6)
        n7 = ((np.int64(bits[7, lane]) << shift) & mask) | (first + 7)
        n0, n1 = min(n0, n1), max(n0, n1)
        n2, n3 = min(n2, n3), max(n2, n3)
        n4, n5 = min(n4, n5), max(n4, n5)
        n6, n7 = min(n6, n7), max(n6, n7)
        n0, n2 = min(n0, n2), max(n0, n2)
        n1, n3 = min(n1, n3), max(n1, n3)
        n4, n6 = min(n4, n6), max(n4, n6)
        n5, n7 = min(n5, n7), max(n5, n7)
        n1, n2 = min(n1, n2), max(n1, n2)
        n5, n6 = min(n5, n6), max(n5, n6)
        n0, n4 = min(n0, n4), max(n0, n4)
        n1, n5 = min(n1, n5), max(n1, n5)
        n2, n6 = min(n2, n6), max(n2, n6)
        n3, n7 = min(n3, n7), max(n3, n7)
        n2, n4 = min(n2, n4), max(n2, n4)
        n3, n5 = min(n3, n5), max(n3, n5)
        n1, n2 = min(n1, n2), max(n1, n2)
        n3, n4 = min(n3, n4), max(n3, n4)
        n5, n6 = min(n5, n6), max(n5, n6)
        b0 = min(best[0, lane], n7)
        b1 = min(best[1, lane], n6)
        b2 = min(best[2, lane], n5)
        b3 = min(best[3, lane], n4)
        b4 = min(best[4, lane], n3)
        b5 = min(best[5, lane], n2)
        b6 = min(best[6, lane], n1)
        b7 = min(best[7, lane], n0)
        b0, b4 = min(b0, b4), max(b0, b4)
        b1, b5 = min(b1, b5), max(b1, b5)
        b2, b6 = min(b2, b6), max(b2, b6)
        b3, b7 = min(b3, b7), max(b3, b7)
        b0, b2 = min(b0, b2), max(b0, b2)
        b1, b3 = min(b1, b3), max(b1, b3)
        b4, b6 = min(b4, b6), max(b4, b6)
        b5, b7 = min(b5, b7), max(b5, b7)
        b0, b1 = min(b0, b1), max(b0, b1)
        b2, b3 = min(b2, b3), max(b2, b3)
        b4, b5 = min(b4, b5), max(b4, b5)
        b6, b7 = min(b6, b7), max(b6, b7)
        best[0, lane] = b0
        best[1, lane] = b1
        best[2, lane] = b2
        best[3, lane] = b3
        best[4, lane] = b4
        best[5, lane] = b5
        best[6, lane] = b6
        best[7, lane] = b7


@compiled
def _insert_eight(bits, first, shift, mask, best, moving):
    """The same for any number of best keys: each new key bubbles through the sorted list."""
    n_best, n_lanes = best.shape
    for i in range(8):
        for lane in range(n_lanes):
            moving[lane] = ((np.int64(bits[i, lane]) << shift) & mask) | (first + i)
        for p in range(n_best):
            for lane in range(n_lanes):
                kept, new = best[p, lane], moving[lane]
                best[p, lane] = min(kept, new)
                moving[lane] = max(kept, new)


@compiled
def _store(best, start, shift, mask, flip, numbers, smallest_bits):
    """Take the keys apart again."""
    n_lanes = best.shape[1]
    for lane in range(n_lanes):
        for p in range(numbers.shape[1]):
            key = best[p, lane]
            numbers[start + lane, p] = key & ~mask
            key = (key & mask) >> shift
            smallest_bits[start + lane, p] = key ^ ((key >> 63) & flip & (mask >> shift))


@compiled
def _select_at_most_eight(
    cross, offsets, first_row, shift, mask, flip, tile, bits, best, numbers, smallest_bits
):
    n_columns, n_lanes = cross.shape[1], tile.shape[1]
    for block in range((n_columns + n_lanes - 1) // n_lanes):
        start = min(block * n_lanes, n_columns - n_lanes)  # the last block overlaps
        best[:, :] = _LARGEST
        for first in range(0, len(offsets), 8):
            _load_tile(cross, offsets, first, start, flip, tile, bits)
            _merge_eight(bits, first, shift, mask, best)
        _store(best, first_row + start, shift, mask, flip, numbers, smallest_bits)


@compiled
def _select_any_number(
    cross, offsets, first_row, shift, mask, flip, tile, bits, best, numbers, smallest_bits
):
    n_columns, n_lanes = cross.shape[1], tile.shape[1]
    moving = np.empty(n_lanes, dtype=np.int64)
    for block in range((n_columns + n_lanes - 1) // n_lanes):
        start = min(block * n_lanes, n_columns - n_lanes)  # the last block overlaps
        best[:, :] = _LARGEST
        for first in range(0, len(offsets), 8):
            _load_tile(cross, offsets, first, start, flip, tile, bits)
            _insert_eight(bits, first, shift, mask, best, moving)
        _store(best, first_row + start, shift, mask, flip, numbers, smallest_bits)


@compiled
def _rows_at_most_eight(
    X, directions, offsets, cross, shift, mask, flip, tile, bits, best, numbers, smallest_bits
):
    n_rows, width = len(X), cross.shape[1]
    for block in range((n_rows + width - 1) // width):
        start = min(block * width, n_rows - width)  # the last block overlaps
        np.dot(directions, X[start : start + width].T, cross)
        _select_at_most_eight(
            cross, offsets, start, shift, mask, flip, tile, bits, best, numbers, smallest_bits
        )


@compiled
def _rows_any_number(
    X, directions, offsets, cross, shift, mask, flip, tile, bits, best, numbers, smallest_bits
):
    n_rows, width = len(X), cross.shape[1]
    for block in range((n_rows + width - 1) // width):
        start = min(block * width, n_rows - width)  # the last block overlaps
        np.dot(directions, X[start : start + width].T, cross)
        _select_any_number(
            cross, offsets, start, shift, mask, flip, tile, bits, best, numbers, smallest_bits
        )
