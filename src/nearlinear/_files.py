"""Files that appear whole or not at all.

A file is written under another name in the folder where it shall be, brought to the disk and
renamed. The other name cannot be guessed and is never followed as a link. An earlier file keeps
its mode and its owner; a link stays, and the file that it leads to is replaced. What is no file,
such as a pipe or a device, is written to as it is.

A writer that is killed leaves its part behind, and the next writer in the folder removes it. On
Unix, a writer holds a lock on its part, so a part without a lock has no writer. On Windows, an open
file cannot be removed, but a part is closed shortly before it is renamed: a part without a writer
is one that is closed and an hour old.
"""

import errno
import os
import re
import secrets
import stat
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from ._interrupt import uninterrupted

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_PART = re.compile(r"\.nearlinear-[0-9a-f]{32}\.part")
_STRAY_SECONDS = 3600.0  # age of a part without a writer, on Windows
# Virus scanners and search indexes keep files open for a moment on Windows. 1.3 seconds in total.
_RETRY_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)
_OURS_ALONE = os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@contextmanager
def replacing(path, mode="wb", **options):
    """An open file that takes the place of ``path`` when the block ends without an error.

    ``mode`` and ``options`` are those of ``open``.
    """
    with replacing_all([path], mode, **options) as (file,):
        yield file


@contextmanager
def replacing_all(paths, mode="wb", **options):
    """The same for several paths: none is replaced before all are written.

    Ctrl-C leaves either all earlier files or all new ones, and no temporary file.
    """
    outputs = []
    try:
        for path in paths:
            _open_output(path, mode, options, outputs)
        yield [output.file for output in outputs]
        for output in outputs:
            output.finish()
        with uninterrupted():
            for output in outputs:
                output.rename()
    finally:
        for output in outputs:
            output.discard()


def _open_output(path, mode, options, outputs):
    """Append an open output to ``outputs``."""
    try:
        old = os.stat(path)
    except FileNotFoundError:
        old = None
    if old is not None and stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(f"{path} is a folder")
    if old is not None and not stat.S_ISREG(old.st_mode):
        # opening a pipe waits for its reader, and must be interruptible
        outputs.append(_Direct(open(path, mode, **options)))  # noqa: SIM115
        return
    target = Path(os.path.realpath(path))
    _remove_strays(target.parent)
    with uninterrupted():
        outputs.append(_Replacement(target, old, mode, options))


class _Direct:
    """A pipe or a device: there is nothing to replace."""

    def __init__(self, file):
        self.file = file

    def finish(self):
        self.file.close()

    def rename(self):
        pass

    def discard(self):
        with suppress(OSError, ValueError):
            self.file.close()


class _Replacement:
    """A part, and the file whose place it takes."""

    def __init__(self, target, old, mode, options):
        self.target = target
        self.part, handle = _new_part(target.parent, 0o666 if old is None else 0o600)
        try:
            if old is not None and hasattr(os, "fchown"):  # Unix
                _keep_mode(handle, old)
            self.file = os.fdopen(handle, mode, **options)
        except BaseException:
            os.close(handle)
            _remove(self.part)
            raise

    def finish(self):
        self.file.flush()
        os.fsync(self.file.fileno())
        if fcntl is None:
            self.file.close()  # Windows does not rename what is open

    def rename(self):
        _replace(self.part, self.target)
        _sync_folder(self.target.parent)

    def discard(self):
        with uninterrupted():
            with suppress(OSError, ValueError):
                self.file.close()
            _remove(self.part)


def _new_part(folder, mode):
    """A locked file of an unguessable name, and its handle."""
    while True:
        part = folder / f".nearlinear-{secrets.token_hex(16)}.part"
        flags = os.O_RDWR | _OURS_ALONE | getattr(os, "O_BINARY", 0)
        handle = os.open(part, flags, mode)
        if fcntl is None:
            return part, handle
        with suppress(OSError):  # some file systems have no locks; parts stay there after a kill
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.path.lexists(part):  # else someone took it for a stray before it was locked
            return part, handle
        os.close(handle)


def _keep_mode(handle, old):
    mine = os.fstat(handle)
    if (mine.st_uid, mine.st_gid) != (old.st_uid, old.st_gid):
        with suppress(OSError):  # only some may give files away
            os.fchown(handle, old.st_uid, old.st_gid)
    with suppress(OSError):  # a disk without modes
        os.fchmod(handle, stat.S_IMODE(old.st_mode))


def _remove_strays(folder):
    """Remove parts whose writer is dead."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if _PART.fullmatch(name):
                _remove_stray(folder / name)


def _remove_stray(part):
    with suppress(OSError):
        if fcntl is None:
            if time.time() - part.stat().st_mtime > _STRAY_SECONDS:
                part.unlink()
            return
        handle = os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while a writer lives
            found = os.fstat(handle)
            if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
                part.unlink()
        finally:
            os.close(handle)


def _replace(part, target):
    """Rename ``part``. On Windows this fails as long as a program has ``target`` open."""
    for seconds in _RETRY_SECONDS if fcntl is None else ():
        with suppress(PermissionError):
            os.replace(part, target)
            return
        time.sleep(seconds)
    try:
        os.replace(part, target)
    except PermissionError as error:
        if fcntl is not None:
            raise
        reason = "it is open in another program or write-protected"
        raise PermissionError(errno.EACCES, reason, str(target)) from error


def _remove(part):
    with suppress(OSError, ValueError):
        part.unlink(missing_ok=True)


def _sync_folder(folder):
    """So that the new name survives a crash, too."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    # where a folder cannot be opened or synced, the file is there all the same
    with suppress(OSError):
        handle = os.open(folder, os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
