"""CSV tables, read with pandas."""

import csv
import gzip
import io
import re
import sys
import zlib
from contextlib import contextmanager, nullcontext
from pathlib import Path

from .._errors import CommandError
from .csv_format import guessed_delimiter

STDIN = "-"
_LOOKED_AT = 20  # lines, to find the delimiter
_LONGEST_LINE = 1 << 20


def csv_frames(source, n_rows, form, as_text=(), texts=()):
    """Frames of at most ``n_rows`` rows; the columns ``as_text`` are not turned into numbers.

    Nor are ``texts``, but that their empty cells, NA and the like are missing.
    """
    pandas = pandas_or_error()
    n_before = 0
    try:
        with _opened(source, form.encoding) as file:
            head = [file.readline(_LONGEST_LINE) for _ in range(_LOOKED_AT)]
            options = {"sep": form.delimiter or _delimiter(source, head, form.decimal)}
            options |= {"decimal": form.decimal, "skipinitialspace": True, "low_memory": False}
            options["skip_blank_lines"] = False  # or later answers would belong to other rows
            options["chunksize"] = n_rows or 1 << 62  # in pieces always: they close the file
            options["dtype"] = dict.fromkeys(texts, str)
            # a sign before them: pandas would take texts such as NA for gaps
            options["converters"] = dict.fromkeys(as_text, "=".__add__)
            text = _Text("".join(head), file, _Widths(name_of(source), options["sep"]))
            with pandas.read_csv(text, **options) as frames:
                for frame in frames:
                    if n_before == 0:
                        _check_header(frame, source)
                    for name in frame.columns.intersection(list(as_text)):
                        frame[name] = frame[name].str[1:]
                    yield frame
                    n_before += len(frame)
    except pandas.errors.EmptyDataError as error:
        raise CommandError(f"{name_of(source)}: the table is empty") from error
    except pandas.errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found is None:
            raise CommandError(f"{name_of(source)}: no readable CSV ({error})") from error
        wanted, line, has = map(int, found.groups())
        raise _uneven(name_of(source), line - 1, has, wanted) from error
    except UnicodeError as error:
        raise CommandError(
            f"{name_of(source)}: it is not {form.encoding or 'UTF-8'} from row {n_before + 1} on; "
            "name its encoding, such as --encoding latin-1"
        ) from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise CommandError(f"{name_of(source)}: no readable gzip file ({error})") from error


def pandas_or_error():
    try:
        import pandas
    except ImportError as error:
        raise CommandError(
            "CSV and Parquet tables are read with pandas: pip install 'nearlinear[cli]'"
        ) from error
    return pandas


def name_of(source):
    return "standard input" if source == STDIN else source


class _Text(io.TextIOBase):
    """What was looked at, then the rest of a file, less the blank lines at its very end."""

    def __init__(self, head, file, widths):
        self._next, self._file, self._widths, self._blank = head, file, widths, []

    def read(self, size=-1):
        while True:
            text = self._next or self._file.read(size)
            self._next = ""
            self._widths.see(text)
            if not text:
                return ""
            body = text.rstrip("\r\n")
            if body:
                before, self._blank = self._blank, [text[len(body) :]]
                return "".join([*before, body])
            self._blank.append(text)


class _Widths:
    """Refuses a row with fewer values than the header has names: pandas fills it up in silence.

    Blank lines are rows of missing cells. Text comes in pieces; an empty one is the end. Lines that
    are longer than a megabyte are not looked at, nor is what comes after them.
    """

    def __init__(self, name, sign):
        self._name, self._sign = name, sign
        self._begun, self._row, self._wanted = "", 0, None
        self._is_over = sign == " "  # of which several in a row are one

    def see(self, text):
        if self._is_over:
            return
        *lines, self._begun = (self._begun + text).split("\n")
        if not text:
            lines, self._begun = [self._begun], ""
        for line in lines if '"' not in text else self._whole(lines):
            has = line.count(self._sign) + 1
            if has < (self._wanted or has + 1) or '"' in line:
                has = self._count(line)
            self._wanted = self._wanted or has
            if has < self._wanted and line.strip():
                raise _uneven(self._name, self._row, has, self._wanted)
            self._row += 1
        self._is_over = len(self._begun) > _LONGEST_LINE

    def _whole(self, lines):
        """Lines that end outside of quotes; one that does not goes on with the next."""
        begun = ""
        for line in lines:
            begun += line
            if not self._is_open(begun):
                yield begun
                begun = ""
            else:
                begun += "\n"
        self._begun = begun + self._begun

    def _is_open(self, line):
        if '"' not in line:
            return False
        try:
            next(csv.reader([line], delimiter=self._sign, skipinitialspace=True, strict=True), None)
        except csv.Error as error:
            return "unexpected end" in str(error)
        return False

    def _count(self, line):
        try:
            return len(next(csv.reader([line], delimiter=self._sign, skipinitialspace=True), []))
        except csv.Error:
            return self._wanted or 0


def _uneven(name, row, has, wanted):
    return CommandError(f"{name}, row {row}: it has {has} values, the header {wanted} names")


@contextmanager
def _opened(source, encoding):
    with _bytes_of(source) as binary:
        text = io.TextIOWrapper(binary, encoding or "utf-8", newline="")
        try:
            yield text
        finally:
            text.detach()


def _bytes_of(source):
    if source == STDIN:
        if sys.stdin is None:
            raise CommandError("standard input is closed: name a file, or pipe a table in")
        return nullcontext(sys.stdin.buffer)
    return (gzip.open if Path(source).suffix.lower() == ".gz" else open)(source, "rb")


def _delimiter(source, head, decimal):
    is_tabbed = str(source).lower().removesuffix(".gz").endswith(".tsv")
    return "\t" if is_tabbed else guessed_delimiter(head, decimal)


def _check_header(frame, source):
    """pandas takes what has no name for an index, and numbers for names."""
    if type(frame.index).__name__ != "RangeIndex":
        n_names, n_values = frame.shape[1], frame.shape[1] + frame.index.nlevels
        raise CommandError(
            f"{name_of(source)}, row 1: it has {n_values} values, the header {n_names} names"
        )
    if frame.shape[1] and all(_is_number(name) for name in frame.columns):
        raise CommandError(
            f"{name_of(source)}: the first line holds numbers where the names of the columns belong"
        )


def _is_number(text):
    try:
        float(re.sub(r"\.\d+$", "", str(text)) if str(text).count(".") > 1 else text)
    except ValueError:
        return False
    return True
