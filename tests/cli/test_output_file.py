"""Output files appear whole or not at all."""

import pytest

from nearlinear.cli._failure import CommandError
from nearlinear.cli._output_file import check_writable, replacing


def test_file_is_replaced_when_the_block_succeeds(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("old")
    with replacing(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_failure_leaves_the_old_file_and_no_part(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("old")
    with pytest.raises(RuntimeError), replacing(path) as part:
        part.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_part_keeps_the_suffix_that_chooses_the_format(tmp_path):
    with replacing(tmp_path / "picture.svg") as part:
        assert part.suffix == ".svg"
        part.touch()


@pytest.mark.parametrize("name", ["missing/file.png", "folder"])
def test_unwritable_path_is_named(name, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(CommandError, match=name):
        check_writable(tmp_path / name)
