"""Tiles of rows down the trees of a forest: the compiled passes.

Row by row, a path is a chain of loads: the next node is known only when the last one is read. So
rows go together, in tiles of 64. First all of them meet the top of a tree, up to 31 nodes: a row
that goes right at a node crosses out the leaves on its left, and the first leaf that is left in the
end is the one it reaches. That is a few vector instructions a node, and no row waits for another.
From there on eight rows walk at once, which keeps the processor busy while each waits for its node.
Oblivious trees, all of whose nodes on a level have one split, take one comparison a level.
"""

import numpy as np

from ..._compile import compiled


@compiled
def all_float32(values):
    exact = True
    for i in range(len(values)):
        x = values[i]
        exact &= (np.float64(np.float32(x)) == x) | (x != x)
    return exact


@compiled
def fill_dense(X, used, tiles):
    kind = tiles.dtype.type
    n_fours = len(X) // 4 * 4
    for i in range(0, n_fours, 4):  # four rows at once: one column of them is one store
        tile, lane = tiles[i // 64], i % 64
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        for s in range(len(used)):
            c, lanes = used[s], tile[s]
            lanes[lane], lanes[lane + 1] = kind(x0[c]), kind(x1[c])
            lanes[lane + 2], lanes[lane + 3] = kind(x2[c]), kind(x3[c])
    for i in range(n_fours, len(X)):
        for s in range(len(used)):
            tiles[i // 64, s, i % 64] = kind(X[i, used[s]])


@compiled
def fill_sparse(indptr, indices, data, place, n_used, tiles):
    kind = tiles.dtype.type
    for i in range(len(indptr) - 1):
        tile, lane = tiles[i // 64], i % 64
        for s in range(n_used):
            tile[s, lane] = kind(0.0)
        for t in range(indptr[i], indptr[i + 1]):
            s = place[indices[t]]
            if s >= 0:
                tile[s, lane] = kind(data[t])


@compiled
def add_pairs(tiles, n_tiles, pairs, factors, first):
    """fl(fl(a x_i) + fl(b x_j)): every target rounds in these places."""
    for i in range(n_tiles):
        for p in range(len(pairs)):
            one, two = tiles[i, pairs[p, 0]], tiles[i, pairs[p, 1]]
            a, b, sums = factors[p, 0], factors[p, 1], tiles[i, first + p]
            for k in range(64):
                sums[k] = one[k] * a + two[k] * b


@compiled
def to_keys(keys):
    """Bits of floats become whole numbers in the floats' order; whether some are missing."""
    missing = False
    for i in range(len(keys)):
        bits = keys[i]
        bits = np.int32(0) if bits == np.int32(-0x80000000) else bits  # −0 is 0
        missing |= np.int32(bits & np.int32(0x7FFFFFFF)) > np.int32(0x7F800000)
        keys[i] = np.int32(bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF)))
    return missing


@compiled
def split_missing(keys, both):
    """Missing values as the largest number, and beside that as the smallest."""
    width = keys.shape[1]
    for i in range(len(keys)):
        for s in range(width):
            for k in range(64):
                key = keys[i, s, k]
                bits = np.int32(key ^ ((key >> np.int32(31)) & np.int32(0x7FFFFFFF)))
                missing = np.int32(bits & np.int32(0x7FFFFFFF)) > np.int32(0x7F800000)
                both[i, s, k] = np.int32(0x7FFFFFFF) if missing else key
                both[i, width + s, k] = np.int32(-0x80000000) if missing else key


@compiled
def _meet_top(tile, columns, keys, masks, first, last, left, found, bits, entries, places):
    """Where each row of a tile is below the top of a tree."""
    every = np.int32(-1)
    for k in range(64):
        left[k] = every
    for q in range(first, last):
        key, mask, values = keys[q], masks[q], tile[columns[q]]
        for k in range(64):
            left[k] = np.int32(left[k] & (mask if values[k] > key else every))
    for k in range(64):
        found[k] = np.float32(np.uint32(left[k] & -left[k]))  # its exponent is the place of the bit
    for k in range(64):
        places[k] = entries[(bits[k] >> 23) - 127]


@compiled
def _meet_levels(tile, columns, keys, first, last, places):
    """The leaf of each row of a tile in an oblivious tree: the children of node j follow 2 j."""
    for k in range(64):
        places[k] = np.int32(0)
    for q in range(first, last):
        key, values = keys[q], tile[columns[q]]
        for k in range(64):
            right = np.int32(1) if values[k] > key else np.int32(0)
            places[k] = np.int32(2 * places[k] + np.int32(1) + right)


@compiled
def _step(tree, keys, j, lane):
    node = tree[j]
    key = keys[((node >> 22) & 0x3FF) * 64 + lane]
    return (node & 0x3FFFFF) + (1 if key > (node >> 32) else 0)


@compiled
def walk_narrow(
    tiles, n_tiles, nodes, starts, top_starts, columns, keys, masks, entries, ends_there, ends
):
    left, places = np.empty(64, dtype=np.int32), np.empty(64, dtype=np.int32)
    found = np.empty(64, dtype=np.float32)
    bits = found.view(np.int32)
    for t in range(len(starts) - 1):
        tree, first, last = nodes[starts[t] : starts[t + 1]], top_starts[t], top_starts[t + 1]
        for i in range(n_tiles):
            tile, end = tiles[i], ends[t, 64 * i : 64 * i + 64]
            if ends_there[t] == 2:
                _meet_levels(tile, columns, keys, first, last, end)
                continue
            _meet_top(
                tile, columns, keys, masks, first, last, left, found, bits, entries[t], places
            )
            if ends_there[t] == 1:
                for k in range(64):
                    end[k] = places[k]
                continue
            flat = tile.ravel()
            for h in range(0, 64, 8):
                x = flat[h:]
                a0, a1 = np.int64(places[h]), np.int64(places[h + 1])
                a2, a3 = np.int64(places[h + 2]), np.int64(places[h + 3])
                a4, a5 = np.int64(places[h + 4]), np.int64(places[h + 5])
                a6, a7 = np.int64(places[h + 6]), np.int64(places[h + 7])
                moved = 1
                while moved != 0:
                    a0, a1 = _step(tree, x, a0, 0), _step(tree, x, a1, 1)
                    a2, a3 = _step(tree, x, a2, 2), _step(tree, x, a3, 3)
                    a4, a5 = _step(tree, x, a4, 4), _step(tree, x, a5, 5)
                    a6, a7 = _step(tree, x, a6, 6), _step(tree, x, a7, 7)
                    b0, b1 = _step(tree, x, a0, 0), _step(tree, x, a1, 1)
                    b2, b3 = _step(tree, x, a2, 2), _step(tree, x, a3, 3)
                    b4, b5 = _step(tree, x, a4, 4), _step(tree, x, a5, 5)
                    b6, b7 = _step(tree, x, a6, 6), _step(tree, x, a7, 7)
                    moved = (a0 ^ b0) | (a1 ^ b1) | (a2 ^ b2) | (a3 ^ b3)
                    moved |= (a4 ^ b4) | (a5 ^ b5) | (a6 ^ b6) | (a7 ^ b7)
                    a0, a1, a2, a3, a4, a5, a6, a7 = b0, b1, b2, b3, b4, b5, b6, b7
                end[h], end[h + 1], end[h + 2], end[h + 3] = a0, a1, a2, a3
                end[h + 4], end[h + 5], end[h + 6], end[h + 7] = a4, a5, a6, a7


@compiled
def _goes_left(x, threshold, missing_left, number, categories):
    if number >= 0:
        if x > -1.0 and x < 32.0 * categories.shape[1]:
            category = np.int64(x)
            word = np.int64(categories[number, category >> 5])
            return (word >> (category & 31)) & 1 == 1
        return missing_left == 1
    return missing_left == 1 if x != x else x <= threshold


@compiled
def walk_wide(
    tiles, n_rows, columns, thresholds, children, missing_left, sets, categories, starts, ends
):
    has_sets = len(sets) > 0
    for t in range(len(starts) - 1):
        root = starts[t]
        for i in range(n_rows):
            values, lane = tiles[i // 64], i % 64
            j, moved = root, True
            while moved:
                number = sets[j] if has_sets else np.int32(-1)
                left = _goes_left(
                    values[columns[j], lane], thresholds[j], missing_left[j], number, categories
                )
                after = root + children[j] + (0 if left else 1)
                moved = after != j
                j = after
            ends[t, i] = j - root
