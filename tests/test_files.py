"""Output files: whole or not at all, with the mode, the links and the pipes that were there."""

import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from nearlinear import _files as output_file
from nearlinear._files import replacing, replacing_all

posix = pytest.mark.skipif(os.name != "posix", reason="modes and links are a matter of POSIX")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("old")
    return path


def write(path, text="new"):
    with replacing(path, "w") as file:
        file.write(text)


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_a_file_is_replaced_when_the_block_succeeds(path):
    with replacing(path, "w") as file:
        file.write("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(path.parent) == ["scores.csv"]


def test_a_failure_leaves_the_old_file_and_no_part(path):
    with pytest.raises(RuntimeError), replacing(path, "w") as file:
        file.write("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert names(path.parent) == ["scores.csv"]


def test_of_several_files_none_is_replaced_before_all_are_written(path):
    paths = [path, path.with_name("folder")]
    paths[1].mkdir()
    with pytest.raises(IsADirectoryError), replacing_all(paths, "w"):
        pass
    assert path.read_text() == "old"
    assert names(path.parent) == ["folder", "scores.csv"]


@posix
def test_a_file_keeps_its_mode(path):
    path.chmod(0o600)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@posix
def test_what_is_being_written_is_no_more_open_than_the_old_file(path):
    path.chmod(0o600)
    with replacing(path, "w") as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600


@posix
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_leads_to_the_new_file(exists, path):
    link = path.with_name("link")
    link.symlink_to(path)
    if not exists:
        path.unlink()
    write(link)
    assert link.is_symlink() and path.read_text() == "new"


@posix
def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write(pipe)
    reader.join(10)
    assert found == ["new"] and stat.S_ISFIFO(pipe.stat().st_mode)


@posix
def test_a_device_is_written_to_and_stays_one():
    """A terminal of our own: a fault must not cost the machine its /dev/null."""
    ours, theirs = os.openpty()
    try:
        write(os.ttyname(theirs))
        assert os.read(ours, 10) == b"new"
        assert stat.S_ISCHR(os.stat(os.ttyname(theirs)).st_mode)
    finally:
        os.close(ours)
        os.close(theirs)


@posix
def test_a_planted_link_is_not_followed(path, monkeypatch):
    """Even where a name is guessed, the file that it leads to is not written to."""
    prey = path.with_name("prey")
    prey.write_text("kept")
    monkeypatch.setattr(output_file.secrets, "token_hex", lambda n: "0" * 2 * n)
    path.with_name(f".nearlinear-{'0' * 32}.part").symlink_to(prey)
    with pytest.raises(FileExistsError):
        write(path)
    assert (path.read_text(), prey.read_text()) == ("old", "kept")


KILLED = """
import os, signal, sys
from nearlinear._files import replacing
with replacing(sys.argv[1], "w") as file:
    file.write("half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()
"""


@posix
def test_the_part_of_a_killed_writer_is_removed_and_that_of_a_living_one_is_not(path):
    command = [sys.executable, "-c", KILLED, str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    writers = [subprocess.Popen(command, **pipes) for _ in range(2)]
    for writer in writers:
        assert writer.stdout.readline().strip() == b"writing"
    assert len(names(path.parent)) == 3
    writers[0].send_signal(signal.SIGKILL)
    writers[0].communicate()
    write(path)
    assert len(names(path.parent)) == 2
    assert path.read_text() == "new"
    writers[1].communicate()
    assert writers[1].returncode == 0
    assert names(path.parent) == ["scores.csv"] and path.read_text() == "half"


def test_files_of_others_that_look_alike_stay(path):
    for name in (".nearlinear-1.part", ".0123456789abcdef0123456789abcdef.part", "scores.csv.part"):
        path.with_name(name).write_text("kept")
    write(path)
    assert len(names(path.parent)) == 4


def test_ctrl_c_between_two_files_replaces_both(tmp_path, monkeypatch):
    paths = [tmp_path / "model.c", tmp_path / "model.h"]
    for path in paths:
        path.write_text("old")
    replace = os.replace

    def interrupted(*arguments):
        replace(*arguments)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(os, "replace", interrupted)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), replacing_all(paths, "w") as files:
            for file in files:
                file.write("new")
    finally:
        signal.signal(signal.SIGINT, handler)
    assert {path.read_text() for path in tmp_path.iterdir()} == {"new"}
