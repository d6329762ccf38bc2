"""Partitions of tables and of deformed digits, made by the worker that needs them.

Workers import this module, and so keep the base images once; nothing of the rows is sent.
"""

from functools import lru_cache

import numpy as np

from benchmarks.blocks_child import _digits


def part_of_file(path, bounds, block_info=None):
    """Rows of an .npy file between two bounds."""
    number = block_info[None]["chunk-location"][0]
    return np.array(np.load(path, mmap_mode="r")[bounds[number] : bounds[number + 1]])


def deformed(n_rows, part_rows, column, block_info=None):
    """Rows (column 0) or labels (column 1) of a part of ``n_rows`` deformed digits."""
    source = _source(n_rows, part_rows)
    return next(iter(source.part(block_info[None]["chunk-location"][0])))[column]


@lru_cache(1)
def _source(n_rows, part_rows):
    return _digits(n_rows, part_rows)[0]
