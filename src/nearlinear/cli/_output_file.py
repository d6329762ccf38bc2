"""Output files appear whole or not at all."""

import os
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ..runtime import output_file
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
def replacing(path: Path, mode="wb", **options):
    """An open file that takes the place of ``path`` if the block succeeds."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(output_file.replacing(path, mode, **options))
        except OSError as error:
            raise CommandError(f"{path}: cannot be written ({error.strerror or error})") from error
        yield file
