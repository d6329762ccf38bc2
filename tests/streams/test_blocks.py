"""Sources of blocks: every row once, in one size, read one block ahead, in the order of a seed."""

import threading

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.streams import from_arrays
from nearlinear.streams.blocks import Block, Parted, is_source, read_ahead, regrouped, shuffled


def numbered(n_rows, block_rows, form=np.array):
    """A source whose row i holds the number i, beside a column of ones."""
    X = form(np.column_stack([np.arange(n_rows), np.ones(n_rows)]).astype(np.float32))
    return from_arrays(X, np.arange(n_rows), block_rows=block_rows)


@pytest.mark.parametrize("form", [np.array, csr_matrix])
@pytest.mark.parametrize("sizes", [[3, 4, 5], [12], [1] * 12, [5, 7]])
def test_blocks_of_any_size_become_blocks_of_one_size(sizes, form):
    ends = np.cumsum(sizes)
    rows = [np.arange(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    blocks = [Block(form(part.astype(np.float32)[:, None]), part, part / 2) for part in rows]
    found = list(regrouped(blocks, 5))
    assert [block.X.shape[0] for block in found] == [5, 5, 2]
    for values in zip(*found, strict=True):
        values = [v.toarray()[:, 0] if hasattr(v, "toarray") else v for v in values]
        whole = np.concatenate([np.ravel(v) for v in values])
        assert np.array_equal(whole * 12 / (whole[-1] + whole[1] - whole[0]), np.arange(12))


@pytest.mark.parametrize("form", [np.array, csr_matrix])
def test_an_epoch_has_every_row_once_with_its_label(form):
    source, seen = Parted(numbered(1000, 64, form)), []
    for block in shuffled(source, 64, 3):
        X = block.X.toarray() if hasattr(block.X, "toarray") else block.X
        assert np.array_equal(X[:, 0], block.y)
        seen.append(block.y)
    assert [len(y) for y in seen[:-1]] == [64] * 15
    assert np.array_equal(np.sort(np.concatenate(seen)), np.arange(1000))


def test_the_order_is_that_of_the_seed_and_a_block_comes_from_several_places():
    source = Parted(numbered(1000, 64))
    one, again, other = (list(shuffled(source, 64, seed)) for seed in (1, 1, 2))
    assert all(np.array_equal(a.y, b.y) for a, b in zip(one, again, strict=True))
    assert not np.array_equal(one[0].y, other[0].y)
    assert np.count_nonzero(np.diff(one[0].y) != 1) >= 6


def test_two_blocks_are_held_at_most_and_reading_goes_on_while_the_caller_works():
    alive, most = set(), []
    read = [threading.Event() for _ in range(20)]

    class Counted:
        def __init__(self, number):
            self.number = number
            alive.add(number)
            most.append(len(alive))
            read[number].set()

        def __del__(self):
            alive.discard(self.number)

    for block in read_ahead(Counted(number) for number in range(20)):
        if block.number < 19:
            assert read[block.number + 1].wait(10.0)  # while this one is at work
        del block
    assert max(most) == 2


def test_what_fails_in_the_reader_is_raised_and_no_thread_is_left():
    def broken():
        yield 1
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(read_ahead(broken()))
    for _ in read_ahead(iter(range(5))):
        break
    assert not [t for t in threading.enumerate() if t.name == "nearlinear-reader"]


def test_sources_are_told_from_arrays_tables_and_lists_of_rows():
    X, y = np.ones((4, 2)), np.ones(4)
    pandas = pytest.importorskip("pandas")
    assert is_source([(X, y)]) and is_source(iter([(X, y)])) and is_source(from_arrays(X, y))
    assert not any(map(is_source, [X, csr_matrix(X), pandas.DataFrame(X), X.tolist(), [], "X"]))


def test_a_generator_is_refused_since_it_can_be_read_once():
    with pytest.raises(ValueError, match="yields its blocks once"):
        Parted(block for block in [(np.ones((2, 1)), np.ones(2))])


@pytest.mark.parametrize("block_rows", [0, 2.5, -1])
def test_a_number_of_rows_that_is_none_is_refused(block_rows):
    with pytest.raises(ValueError, match="block_rows"):
        numbered(10, block_rows)
