"""Rows kept in files without names."""

import numpy as np
import pytest

from nearlinear.streams import spool


def test_rows_come_back_in_parts_and_by_number():
    rng = np.random.default_rng(0)
    X, y, weight = rng.random((100, 3)).astype(np.float32), np.arange(100), rng.random(100)
    kept = spool.Spool(np.float32, np.int32, 64)
    for rows in (slice(0, 37), slice(37, 100)):
        kept.append(X[rows], y[rows], weight[rows])
    assert kept.n_parts == 13 and kept.part_starts[1] == 8
    assert np.array_equal(np.concatenate([block.X for block in kept]), X)
    assert np.array_equal(np.concatenate([block.weight for block in kept]), weight)
    assert np.array_equal(kept.rows(np.array([3, 4, 50, 99])), X[[3, 4, 50, 99]])
    kept.rescale(np.ones(3), np.full(3, 2.0))
    assert np.allclose(kept.stretch(10, 5).X, (X[10:15] - 1) / 2)
    assert np.array_equal(kept.stretch(10, 5).y, y[10:15])


def test_a_full_disk_is_one_sentence(monkeypatch):
    monkeypatch.setattr(spool, "_SPARE", 1 << 62)
    with pytest.raises(OSError, match="no room left for encoded rows"):
        spool.Spool(np.float32, np.int32, 8).append(np.ones((2, 2)), np.ones(2), None)
