"""Output files: never an input, never an earlier file unasked, whole or not at all."""

import os
import stat
import sys
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path

from .. import _files as output_file
from ._errors import CommandError

STANDARD = "-"


class OutputExistsError(CommandError):
    """An earlier file would be replaced, unasked."""


def add_force(parser) -> None:
    parser.add_argument("--force", action="store_true", help="replace an output that exists")


def check_writable(path: Path, *, inputs=(), force=False) -> None:
    """Refuse a path that cannot or should not be written before, not after, a minute of work."""
    if path.parent.exists() and not path.parent.is_dir():
        raise CommandError(f"{path}: {path.parent} is a file, not a folder; name another place")
    if not path.parent.is_dir():
        raise CommandError(f"{path}: the folder {path.parent} does not exist; make it first")
    if path.is_dir():
        raise CommandError(f"{path} is a folder; name a file in it")
    if not os.access(path.parent, os.W_OK):
        raise CommandError(f"{path}: no permission to write in {path.parent}; name another folder")
    found = _status(path)
    if found is None or not stat.S_ISREG(found.st_mode):
        return
    _check_no_input(found, path, inputs)
    if not force:
        when = datetime.fromtimestamp(found.st_mtime).strftime("%Y-%m-%d %H:%M")
        raise OutputExistsError(
            f"{path} exists ({found.st_size:,} bytes, of {when}): give --force to replace it, or "
            "another name"
        )


def check_standard_output(*, inputs=()) -> None:
    """Refuse a shell's ``>>`` to a file that is read."""
    with suppress(OSError, ValueError, AttributeError):  # closed, or no file
        found = os.fstat(sys.stdout.fileno())
        if stat.S_ISREG(found.st_mode):
            _check_no_input(found, "standard output", inputs)


def _check_no_input(found, name, inputs):
    for source in inputs:
        other = _status(source)
        if other is not None and os.path.samestat(found, other):
            read = "standard input" if str(source) == STANDARD else source
            raise CommandError(
                f"{name} is the input {read}, which is never overwritten; name another file"
            )


def _status(path):
    """Of a file, through links; of standard input; None of what is not there."""
    with suppress(OSError, ValueError, AttributeError):
        return os.fstat(sys.stdin.fileno()) if str(path) == STANDARD else os.stat(path)


@contextmanager
def replacing(path: Path, mode="wb", **options):
    """An open file that takes the place of ``path`` if the block succeeds."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(output_file.replacing(path, mode, **options))
        except OSError as error:
            raise CommandError(f"{path}: cannot be written ({error.strerror or error})") from error
        yield file
