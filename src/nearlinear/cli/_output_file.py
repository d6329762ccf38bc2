"""Output files appear whole or not at all."""

import os
from contextlib import contextmanager
from pathlib import Path

from ._failure import CommandError


def check_writable(path: Path) -> None:
    """Refuse a path that cannot be written before, not after, a minute of work."""
    if path.parent.exists() and not path.parent.is_dir():
        raise CommandError(f"{path}: {path.parent} is a file, not a folder; name another place")
    if not path.parent.is_dir():
        raise CommandError(f"{path}: the folder {path.parent} does not exist; make it first")
    if path.is_dir():
        raise CommandError(f"{path} is a folder; name a file in it")
    if not os.access(path.parent, os.W_OK):
        raise CommandError(f"{path}: no permission to write in {path.parent}; name another folder")


@contextmanager
def replacing(path: Path):
    """Give a temporary name beside ``path``; rename it to ``path`` if the block succeeds."""
    # The suffix stays last: matplotlib and others choose the format by it.
    part = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
