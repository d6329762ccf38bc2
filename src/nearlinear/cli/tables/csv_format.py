"""Options of CSV files: delimiter, encoding and decimal sign."""

import io

from ..._csv import CsvFormat
from .._errors import CommandError

_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}


def add_csv_arguments(parser):
    parser.add_argument(
        "--delimiter", metavar="CHAR",
        help="between the values of a CSV file: a character, or tab, comma, semicolon, pipe, space "
        "(default: found from the first lines)",
    )  # fmt: skip
    parser.add_argument(
        "--encoding", metavar="NAME", help="of a CSV file, such as latin-1 (default: utf-8)"
    )
    parser.add_argument(
        "--decimal", default=".", metavar="CHAR", help="decimal sign of a CSV file (default: .)"
    )


def csv_format(arguments):
    delimiter, decimal = arguments.delimiter, arguments.decimal
    if delimiter is not None:
        delimiter = _NAMED.get(delimiter.lower(), delimiter)
        if len(delimiter) != 1 or delimiter in '"\r\n' or delimiter.isalnum():
            raise CommandError(
                f"--delimiter {arguments.delimiter}: a single sign, or {', '.join(_NAMED)}"
            )
    if decimal not in (".", ","):
        raise CommandError(f"--decimal {decimal}: a point or a comma")
    if delimiter == decimal:
        raise CommandError(f"--delimiter and --decimal are both {decimal!r}; they must differ")
    try:
        if arguments.encoding is not None:
            io.TextIOWrapper(io.BytesIO(), arguments.encoding)
    except (LookupError, ValueError) as error:
        raise CommandError(
            f"--encoding {arguments.encoding}: unknown; such as utf-8, latin-1 or cp1252"
        ) from error
    return CsvFormat(delimiter, arguments.encoding, decimal)
