"""What rows in blocks take of memory, known before a block is there."""

from scipy.sparse import issparse

from ..checks import require_memory

SMALLER_BLOCKS = "give the source a smaller block_rows"
_PER_ROW = 24  # label, weight and a target
_BLOCKS = 2  # one is read while the other one is worked on


def row_bytes(X):
    """Of a row, with what belongs to it."""
    if issparse(X):
        return (X.data.nbytes + X.indices.nbytes) / max(1, X.shape[0]) + 8 + _PER_ROW
    return X.shape[1] * X.dtype.itemsize + _PER_ROW


def blocks_memory(block_rows, n_bytes):
    """Bytes of the blocks that are there at once."""
    return _BLOCKS * block_rows * n_bytes


def require_blocks(model, block_rows, n_bytes):
    """Refuse blocks that do not fit."""
    require_memory(blocks_memory(block_rows, n_bytes), SMALLER_BLOCKS)
