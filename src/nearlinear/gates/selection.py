"""Selection of the smallest entries of each column of a matrix, without a branch on data.

Data rows are the columns here: 64 of them are walked in lock-step, and every comparison is one
vector instruction for eight. Entries are compared as 64-bit integers that carry the number of
their row in the last bits, so a comparison moves value and number at once.
"""

import numpy as np

from .._compile import compiled

_LANES = 64
_LARGEST = np.iinfo(np.int64).max


def smallest_in_columns(values, n_smallest):
    """Row numbers and values of the smallest entries of each column, smallest first.

    Two arrays of shape (n_columns, n_smallest). Of equal entries the upper one wins. float32 is
    exact; float64 gives up as many of its last bits as the row numbers need (for a hundred rows,
    a relative 10⁻¹⁴).
    """
    n_rows, n_columns = values.shape
    if n_columns < _LANES:
        values = np.pad(values, ((0, 0), (0, _LANES - n_columns)))
    bits = np.int32 if values.dtype == np.float32 else np.int64
    shift, number_bits = (32, 32) if bits == np.int32 else (0, max(1, (n_rows - 1).bit_length()))
    mask = -(1 << number_bits)
    tile = np.empty((8, _LANES), dtype=values.dtype)
    best = np.empty((-(-n_smallest // 8) * 8, _LANES), dtype=np.int64)
    numbers = np.empty((values.shape[1], n_smallest), dtype=np.int32)
    smallest = np.empty((values.shape[1], n_smallest), dtype=values.dtype)
    select = _select_at_most_eight if n_smallest <= 8 else _select_any_number
    select(values, shift, mask, tile, tile.view(bits), best, numbers, smallest.view(bits))
    return numbers[:n_columns], smallest[:n_columns]


@compiled
def _key(bits, number, shift, mask):
    """An integer that is ordered as the float of these bits, its last bits the row number."""
    key = np.int64(bits) << shift
    # negative floats are ordered backwards as integers: flip all but the sign
    key ^= (key >> 63) & _LARGEST
    return (key & mask) | number


@compiled
def _load_tile(values, first, start, tile):
    """Eight rows by 64 columns; rows past the end come last, even after undefined values."""
    n_lanes = tile.shape[1]
    for i in range(8):
        if first + i < values.shape[0]:
            for lane in range(n_lanes):
                tile[i, lane] = values[first + i, start + lane]
        else:
            tile[i, :] = np.nan


@compiled
def _merge_eight(bits, first, shift, mask, best):
    """Merge eight more keys of each column into its sorted eight best.

    The new keys are sorted by Batcher's network of 19 comparisons; the smaller of each crosswise
    pair and a bitonic merge give the new best: about nine vector instructions a key, all in
    registers, where insertion needs sixteen and a branch. One loop over lanes with straight-line
    code is what the vectoriser takes whole.
    """
    n_lanes = best.shape[1]
    for lane in range(n_lanes):
        n0 = _key(bits[0, lane], first + 0, shift, mask)
        n1 = _key(bits[1, lane], first + 1, shift, mask)
        n2 = _key(bits[2, lane], first + 2, shift, mask)
        n3 = _key(bits[3, lane], first + 3, shift, mask)
        n4 = _key(bits[4, lane], first + 4, shift, mask)
        n5 = _key(bits[5, lane], first + 5, shift, mask)
        n6 = _key(bits[6, lane], first + 6, shift, mask)
        n7 = _key(bits[7, lane], first + 7, shift, mask)
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
            moving[lane] = _key(bits[i, lane], first + i, shift, mask)
        for p in range(n_best):
            for lane in range(n_lanes):
                kept, new = best[p, lane], moving[lane]
                best[p, lane] = min(kept, new)
                moving[lane] = max(kept, new)


@compiled
def _store(best, start, shift, mask, numbers, smallest_bits):
    """Take the keys apart again."""
    n_lanes = best.shape[1]
    for lane in range(n_lanes):
        for p in range(numbers.shape[1]):
            key = best[p, lane]
            numbers[start + lane, p] = key & ~mask
            key &= mask
            smallest_bits[start + lane, p] = (key ^ ((key >> 63) & _LARGEST & mask)) >> shift


@compiled
def _select_at_most_eight(values, shift, mask, tile, bits, best, numbers, smallest_bits):
    n_columns, n_lanes = values.shape[1], tile.shape[1]
    for block in range((n_columns + n_lanes - 1) // n_lanes):
        start = min(block * n_lanes, n_columns - n_lanes)  # the last block overlaps
        best[:, :] = _LARGEST
        for first in range(0, values.shape[0], 8):
            _load_tile(values, first, start, tile)
            _merge_eight(bits, first, shift, mask, best)
        _store(best, start, shift, mask, numbers, smallest_bits)


@compiled
def _select_any_number(values, shift, mask, tile, bits, best, numbers, smallest_bits):
    n_columns, n_lanes = values.shape[1], tile.shape[1]
    moving = np.empty(n_lanes, dtype=np.int64)
    for block in range((n_columns + n_lanes - 1) // n_lanes):
        start = min(block * n_lanes, n_columns - n_lanes)  # the last block overlaps
        best[:, :] = _LARGEST
        for first in range(0, values.shape[0], 8):
            _load_tile(values, first, start, tile)
            _insert_eight(bits, first, shift, mask, best, moving)
        _store(best, start, shift, mask, numbers, smallest_bits)
