"""The walk of rows down the trees of a forest, as one Triton kernel."""

import torch
import triton
import triton.language as tl

_ROWS = 128


def leaves(rows, columns, thresholds, children, missing_left, roots):
    """The leaf of each row in every tree, (n_rows, n_trees); rows have their pair columns."""
    found = torch.empty(len(rows), len(roots), dtype=torch.int64, device=rows.device)
    # the second dimension of a grid has no room for 65,536 trees
    _walk[(triton.cdiv(len(rows), _ROWS) * len(roots),)](
        rows, rows.stride(0), len(rows), columns, thresholds, children, missing_left, roots, found,
        len(roots), ROWS=_ROWS, num_warps=4,
    )  # fmt: skip
    return found


@triton.jit
def _walk(
    rows, stride, n_rows, columns, thresholds, children, missing_left, roots, found, n_trees,
    ROWS: tl.constexpr,
):  # fmt: skip
    """Some rows and one tree, until all have a leaf, whose column is below 0."""
    n_blocks = tl.cdiv(n_rows, ROWS)
    block, tree = tl.program_id(0) % n_blocks, tl.program_id(0) // n_blocks
    at = block * ROWS + tl.arange(0, ROWS)
    inside = at < n_rows
    begin = rows + at.to(tl.int64) * stride
    node = tl.zeros([ROWS], tl.int32) + tl.load(roots + tree)
    column = tl.load(columns + node)
    going = inside & (column >= 0)
    while tl.max(going.to(tl.int32), axis=0) > 0:
        value = tl.load(begin + column, mask=going, other=0.0)
        is_below = value <= tl.load(thresholds + node)
        left = tl.where(value == value, is_below, tl.load(missing_left + node) != 0)
        below = tl.load(children + node) + tl.where(left, 0, 1)
        node = tl.where(going, below, node)
        column = tl.load(columns + node)
        going = inside & (column >= 0)
    tl.store(found + at.to(tl.int64) * n_trees + tree, tl.load(children + node), mask=inside)
