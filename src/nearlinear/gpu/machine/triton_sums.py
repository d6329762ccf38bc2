"""Sums of modulated kernels as a Triton kernel: a matrix is read once, and factors in no other."""

import triton
import triton.language as tl

_ROWS, _COLUMNS = 4, 1024  # of a program


def add_modulated(total, values, left, right):
    """total += (left rightᵀ) ∘ values, of one shape and without gaps."""
    n_rows, n_columns = values.shape
    grid = triton.cdiv(n_columns, _COLUMNS), triton.cdiv(n_rows, _ROWS)
    _add[grid](
        total, values, left.contiguous(), right.contiguous(), n_rows, n_columns,
        RANK=left.shape[1], ROWS=_ROWS, COLUMNS=_COLUMNS,
    )  # fmt: skip


@triton.jit
def _add(
    total, values, left, right, n_rows, n_columns, RANK: tl.constexpr, ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    share = tl.zeros((ROWS, COLUMNS), total.dtype.element_ty)
    for q in range(RANK):
        one = tl.load(left + rows * RANK + q, mask=rows < n_rows, other=0.0)
        other = tl.load(right + columns * RANK + q, mask=columns < n_columns, other=0.0)
        share += one[:, None] * other[None, :]
    at = rows[:, None].to(tl.int64) * n_columns + columns[None, :]
    inside = (rows < n_rows)[:, None] & (columns < n_columns)[None, :]
    found = tl.load(total + at, mask=inside, other=0.0)
    found += share * tl.load(values + at, mask=inside, other=0.0)
    tl.store(total + at, found, mask=inside)
