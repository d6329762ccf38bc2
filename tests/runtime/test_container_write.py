"""Writing a model file: it appears whole or not at all, whatever happens on the way."""

import errno
import os
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from nearlinear import _files as output_file
from nearlinear.runtime.container import ModelFileError, read, to_bytes, write

OLD, NEW = {"age": "old"}, {"age": "new"}
ARRAYS = [np.arange(100.0), np.arange(7)]


@pytest.fixture(params=["nothing before", "an older file"])
def path(request, tmp_path):
    """Where a file shall be written, with and without one that is there already."""
    path = tmp_path / "model.nlm"
    if request.param == "an older file":
        write(path, OLD, ARRAYS)
    return path


def assert_as_before(path):
    """The older file or none, and nothing beside it."""
    assert [entry.name for entry in path.parent.iterdir()] in ([], ["model.nlm"])
    if path.exists():
        assert read(path)[0] == OLD


def raise_in(module, name, error, monkeypatch, *, at_call=1):
    """The ``at_call``-th call of a function fails."""
    function, calls = getattr(module, name), []

    def fail(*args, **options):
        calls.append(name)
        if len(calls) == at_call:
            raise error
        return function(*args, **options)

    monkeypatch.setattr(module, name, fail)
    return calls


class FullDisk:
    """A file of which some write fails."""

    def __init__(self, file, error, at_write):
        self.file, self.error, self.left = file, error, at_write

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *details):
        self.file.close()

    def write(self, piece):
        self.left -= 1
        if self.left == 0:
            self.file.write(piece[: len(piece) // 2])
            raise self.error
        return self.file.write(piece)


def fill_disk(monkeypatch, error, at_write):
    def open_full(handle, *args, fdopen=os.fdopen, **options):
        return FullDisk(fdopen(handle, *args, **options), error, at_write)

    monkeypatch.setattr(output_file.os, "fdopen", open_full)


def test_what_is_written_is_what_to_bytes_gives(tmp_path):
    path = tmp_path / "model.nlm"
    write(path, NEW, ARRAYS)
    assert path.read_bytes() == to_bytes(NEW, ARRAYS)


def test_a_file_replaces_an_older_one(path):
    write(path, NEW, ARRAYS)
    assert read(path)[0] == NEW
    assert [entry.name for entry in path.parent.iterdir()] == ["model.nlm"]


@pytest.mark.parametrize("kind", [str, Path])
def test_paths_are_strings_or_path_objects(tmp_path, kind):
    path = kind(tmp_path / "model.nlm")
    write(path, NEW, ARRAYS)
    assert read(path)[0] == NEW


def test_a_path_without_folder_is_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("model.nlm", NEW, ARRAYS)
    assert read("model.nlm")[0] == NEW


@pytest.mark.parametrize("at_write", [1, 2, 3, 4, 5])
def test_a_full_disk_leaves_what_was_there(path, monkeypatch, at_write):
    fill_disk(monkeypatch, OSError(errno.ENOSPC, "No space left on device"), at_write)
    with pytest.raises(ModelFileError, match=r"cannot be written \(No space left on device\)"):
        write(path, NEW, ARRAYS)
    assert_as_before(path)


@pytest.mark.parametrize("at_write", [1, 2, 5])
def test_an_interruption_leaves_what_was_there(path, monkeypatch, at_write):
    fill_disk(monkeypatch, KeyboardInterrupt(), at_write)
    with pytest.raises(KeyboardInterrupt):
        write(path, NEW, ARRAYS)
    assert_as_before(path)


@pytest.mark.parametrize("name", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
def test_a_failure_before_the_new_name_leaves_what_was_there(path, monkeypatch, name, error):
    raise_in(output_file.os, name, error, monkeypatch)
    expected = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else ModelFileError
    with pytest.raises(expected):
        write(path, NEW, ARRAYS)
    assert_as_before(path)


def test_contents_are_on_the_disk_before_the_name(path, monkeypatch):
    order = []
    for name in ("fsync", "replace"):
        function = getattr(os, name)
        monkeypatch.setattr(
            output_file.os, name,
            lambda *args, name=name, function=function: (order.append(name), function(*args)),
        )  # fmt: skip
    write(path, NEW, ARRAYS)
    assert order[:2] == ["fsync", "replace"]


def test_a_folder_that_cannot_be_synced_is_no_failure(path, monkeypatch):
    calls = raise_in(
        output_file.os, "fsync", OSError(errno.EINVAL, "Invalid"), monkeypatch, at_call=2
    )
    write(path, NEW, ARRAYS)
    assert len(calls) == 2
    assert read(path)[0] == NEW


def test_what_cannot_be_written_leaves_what_was_there(path):
    with pytest.raises(TypeError):
        write(path, NEW, [*ARRAYS, np.array([None])])
    assert_as_before(path)


def test_the_error_says_that_the_older_file_is_unharmed(path, monkeypatch):
    raise_in(output_file.os, "replace", OSError(errno.EACCES, "Permission denied"), monkeypatch)
    with pytest.raises(ModelFileError, match="an earlier file of the name is as it was") as found:
        write(path, NEW, ARRAYS)
    assert str(path) in str(found.value)
    assert isinstance(found.value.__cause__, OSError)


@pytest.mark.parametrize("name", ["", ".", "none/model.nlm", "file/model.nlm", "x" * 300, "a\0b"])
def test_impossible_paths_are_refused_in_one_sentence(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_bytes(b"kept")
    with pytest.raises(ModelFileError) as found:
        write(name, NEW, ARRAYS)
    assert "\n" not in str(found.value)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"kept"


def test_a_folder_is_not_replaced(tmp_path):
    folder = tmp_path / "model.nlm"
    folder.mkdir()
    with pytest.raises(ModelFileError, match="cannot be written"):
        write(folder, NEW, ARRAYS)
    assert folder.is_dir()
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.nlm"]


@pytest.mark.parametrize("length", [1, 100, 250, 255])
def test_every_name_that_the_folder_takes_can_be_written(tmp_path, length):
    path = tmp_path / ("x" * length)
    write(path, NEW, ARRAYS)
    assert read(path)[0] == NEW


def test_a_file_that_cannot_be_made_leaves_what_was_there(path, monkeypatch):
    def refuse(path, flags, *args, open=os.open, **options):
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, "Permission denied")
        return open(path, flags, *args, **options)

    monkeypatch.setattr(output_file.os, "open", refuse)
    with pytest.raises(ModelFileError, match=r"cannot be written \(Permission denied\)"):
        write(path, NEW, ARRAYS)
    assert_as_before(path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may do all")
def test_a_folder_without_permission_is_named(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o500)
    try:
        with pytest.raises(ModelFileError, match=r"cannot be written \(Permission denied\)"):
            write(folder / "model.nlm", NEW, ARRAYS)
        assert list(folder.iterdir()) == []
    finally:
        folder.chmod(0o700)


@pytest.mark.skipif(os.name != "posix", reason="modes are a matter of POSIX")
def test_others_may_read_a_file_as_any_other_new_one(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    write(tmp_path / "model.nlm", NEW, ARRAYS)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "model.nlm")]
    assert modes[0] == modes[1]


def test_threads_that_write_one_path_leave_one_whole_file(tmp_path):
    path, start = tmp_path / "model.nlm", threading.Barrier(8)
    headers = [{"writer": k, "words": "x" * 40 * k} for k in range(8)]

    def save_and_read(header):
        start.wait()
        for _ in range(10):
            write(path, header, ARRAYS)
            assert read(path)[0] in headers

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(save_and_read, headers))
    assert read(path)[0] in headers
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.nlm"]


def test_processes_that_write_one_path_leave_one_whole_file(tmp_path):
    source = (
        "import sys, numpy\n"
        "from nearlinear.runtime.container import read, write\n"
        "for _ in range(50):\n"
        "    write(sys.argv[1], {'writer': int(sys.argv[2])}, [numpy.arange(2000.0)])\n"
        "    assert read(sys.argv[1])[0]['writer'] in range(3)\n"
    )
    path = tmp_path / "model.nlm"
    command = [sys.executable, "-c", source, str(path)]
    writers = [subprocess.Popen([*command, str(k)]) for k in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert read(path)[0]["writer"] in range(3)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.nlm"]
