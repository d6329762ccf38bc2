"""Which columns of a table are features: ``--drop`` and ``--features``."""

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ..._csv import STDIN, name_of
from .._errors import CommandError
from .._output_file import OutputExistsError
from .reading import first_row, places


def add_column_arguments(parser):
    parser.add_argument(
        "--drop", action="append", default=[], metavar="COL[,COL]",
        help="columns that are no features, such as ids and texts",
    )  # fmt: skip
    parser.add_argument(
        "--features", action="append", default=[], metavar="COL[,COL]",
        help="columns that are features (default: all but the target)",
    )  # fmt: skip


def with_columns(piece, arguments):
    """A piece with the columns that were asked for."""
    if not arguments.drop and not arguments.features:
        return piece
    check_named(piece, arguments, "--drop" if arguments.drop else "--features")
    left_out = listed(arguments.drop, piece.names)
    wanted = listed(arguments.features, piece.names) or piece.names
    places([*left_out, *wanted], piece.names, arguments.data)
    kept = [name for name in wanted if name not in left_out]
    frame = piece.values.iloc[:, places(kept, piece.names, arguments.data)]
    return replace(piece, values=frame, names=kept)


@contextmanager
def input_first(arguments, form):
    """What is wrong with the input is told before an output that exists."""
    try:
        yield
    except OutputExistsError:
        if arguments.data != STDIN and not Path(arguments.data).is_dir():
            with_columns(first_row(arguments.data, arguments.target, form), arguments)
        raise


def check_named(piece, arguments, option):
    if piece.names is None:
        raise CommandError(
            f"{name_of(arguments.data)}: its columns have no names; {option} is for CSV and Parquet"
        )


def listed(texts, names):
    """The columns that some options list; a name may have commas of its own."""
    found = []
    for text in texts:
        found += [text] if text in names else [name.strip() for name in text.split(",") if name]
    return found
