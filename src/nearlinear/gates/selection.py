"""Selection of the smallest entries of each column of a matrix, without a branch on data.

Rows of the data are the columns here, so that many of them are walked in lock-step and every
comparison is one vector instruction for eight of them.
"""

import numpy as np

from .._compile import compiled

# Columns walked in lock-step: 64 int64 keys are eight AVX-512 registers, and 104 × 64 keys (a
# hundred anchors) stay in the first-level cache's neighbourhood.
_LANES = 64
_LARGEST = np.iinfo(np.int64).max
_MOST_ROWS = 1 << 16


def smallest_in_columns(values, n_smallest):
    """Row numbers of the ``n_smallest`` smallest entries of each column, smallest first.

    Of equal entries the upper one wins. Entries are compared as float64 without their last 16
    bits (a relative 10⁻¹¹), which carry the row number; ``values`` has at most 65,536 rows.
    """
    n_rows, n_columns = values.shape
    if n_rows > _MOST_ROWS:
        raise ValueError(f"selection is limited to {_MOST_ROWS} rows, got {n_rows}")
    if n_columns < _LANES:
        values = np.pad(values, ((0, 0), (0, _LANES - n_columns)))
    keys = np.full((-(-n_rows // 8) * 8, _LANES), _LARGEST)
    rows = np.empty((values.shape[1], n_smallest), dtype=np.int32)
    best = np.empty((max(n_smallest, 8), _LANES), dtype=np.int64)
    select = _select_at_most_eight if n_smallest <= 8 else _select_any_number
    select(values, keys, keys.view(np.float64), best, rows)
    return rows[:n_columns]


@compiled
def _fill_keys(values, start, keys, key_values):
    """Order-preserving integers of a float64, its last 16 bits replaced by the row number."""
    n_rows, n_lanes = values.shape[0], keys.shape[1]
    for j in range(n_rows):
        for lane in range(n_lanes):
            key_values[j, lane] = values[j, start + lane]
        for lane in range(n_lanes):
            bits = keys[j, lane]
            # negative floats are ordered backwards as integers: flip all but the sign
            bits ^= (bits >> 63) & 0x7FFFFFFFFFFFFFFF
            keys[j, lane] = (bits & ~0xFFFF) | j


@compiled
def _merge_runs_of_eight(keys, best):
    """The eight smallest keys of each column, sorted.

    Runs of eight keys are sorted by a network of 19 comparisons (Batcher) and merged into the
    eight best so far: the smaller of each crosswise pair, then a bitonic merge. All in registers,
    about 9 vector instructions for each key where insertion needs 16 and a branch.
    """
    n_lanes = keys.shape[1]
    best[:, :] = _LARGEST
    for run in range(keys.shape[0] // 8):
        first = run * 8
        # One loop over lanes with straight-line code: the vectoriser takes it whole.
        for lane in range(n_lanes):
            n0 = keys[first + 0, lane]
            n1 = keys[first + 1, lane]
            n2 = keys[first + 2, lane]
            n3 = keys[first + 3, lane]
            n4 = keys[first + 4, lane]
            n5 = keys[first + 5, lane]
            n6 = keys[first + 6, lane]
            n7 = keys[first + 7, lane]
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
def _insert_one_by_one(keys, best):
    """The len(best) smallest keys of each column: each key bubbles through the sorted list."""
    n_best, n_lanes = best.shape
    best[:, :] = _LARGEST
    for j in range(keys.shape[0]):
        for p in range(n_best):
            for lane in range(n_lanes):
                kept, moving = best[p, lane], keys[j, lane]
                best[p, lane] = min(kept, moving)
                keys[j, lane] = max(kept, moving)


@compiled
def _store_rows(best, start, rows):
    n_lanes = best.shape[1]
    for lane in range(n_lanes):
        for p in range(rows.shape[1]):
            rows[start + lane, p] = best[p, lane] & 0xFFFF


@compiled
def _select_at_most_eight(values, keys, key_values, best, rows):
    n_columns, n_lanes = values.shape[1], keys.shape[1]
    for block in range((n_columns + n_lanes - 1) // n_lanes):
        start = min(block * n_lanes, n_columns - n_lanes)  # the last block overlaps
        _fill_keys(values, start, keys, key_values)
        _merge_runs_of_eight(keys, best)
        _store_rows(best, start, rows)


@compiled
def _select_any_number(values, keys, key_values, best, rows):
    n_columns, n_lanes = values.shape[1], keys.shape[1]
    for block in range((n_columns + n_lanes - 1) // n_lanes):
        start = min(block * n_lanes, n_columns - n_lanes)  # the last block overlaps
        keys[:, :] = _LARGEST  # the insertion shuffles keys, padding included
        _fill_keys(values, start, keys, key_values)
        _insert_one_by_one(keys, best)
        _store_rows(best, start, rows)
