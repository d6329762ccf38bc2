"""Output files appear whole or not at all."""

import pytest

from nearlinear.cli._errors import CommandError
from nearlinear.cli._output_file import check_writable, replacing


def test_a_file_that_cannot_be_made_is_one_sentence(tmp_path):
    with pytest.raises(CommandError, match="cannot be written"), replacing(tmp_path / "no" / "x"):
        pass


@pytest.mark.parametrize("name", ["missing/file.png", "folder"])
def test_unwritable_path_is_named(name, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(CommandError, match=name):
        check_writable(tmp_path / name)
