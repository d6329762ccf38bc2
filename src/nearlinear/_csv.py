"""CSV tables, read with pandas in blocks of rows.

Errors name the file and the row. Rows are counted from 1, without the header.
"""

import csv
import gzip
import io
import re
import sys
import zlib
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

STDIN = "-"
_HEAD_LINES = 20  # from which the delimiter is inferred
_LONGEST_LINE = 1 << 20
_DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class CsvFormat:
    """Delimiter, encoding and decimal sign of a CSV file; None means that it is inferred."""

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str = "."


DEFAULT_FORMAT = CsvFormat()


def csv_frames(source, n_rows, csv_format, as_text=(), texts=()):
    """Data frames of at most ``n_rows`` rows, or one of all rows if ``n_rows`` is None.

    Columns in ``as_text`` and ``texts`` are strings. Empty cells, NA and the like are missing
    values in ``texts`` and strings in ``as_text``.
    """
    pandas = pandas_or_error()
    n_before = 0
    try:
        with _opened(source, csv_format.encoding) as file:
            head = [file.readline(_LONGEST_LINE) for _ in range(_HEAD_LINES)]
            decimal = csv_format.decimal
            options = {"sep": csv_format.delimiter or _delimiter(source, head, decimal)}
            options |= {"decimal": decimal, "skipinitialspace": True, "low_memory": False}
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
        raise ValueError(f"{name_of(source)}: the table is empty") from error
    except pandas.errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found is None:
            raise ValueError(f"{name_of(source)}: no readable CSV ({error})") from error
        wanted, line, has = map(int, found.groups())
        raise _uneven(name_of(source), line - 1, has, wanted) from error
    except UnicodeError as error:
        raise ValueError(
            f"{name_of(source)}: the encoding is not {csv_format.encoding or 'utf-8'} from row "
            f"{n_before + 1} on"
        ) from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{name_of(source)}: no readable gzip file ({error})") from error


def pandas_or_error():
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "CSV and Parquet tables are read with pandas: pip install 'nearlinear[cli]'"
        ) from error
    return pandas


def name_of(source):
    return "standard input" if source == STDIN else source


class _Text(io.TextIOBase):
    """The head of a file, then its rest, without the blank lines at its end."""

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
        whole, end, rest = (self._begun + text).rpartition("\n")
        n_lines = whole.count("\n") + 1
        # longer lines are an error of pandas, so equal totals mean that no line is shorter
        is_plain = self._wanted and text and end and '"' not in whole and '"' not in rest
        if is_plain and whole.count(self._sign) == n_lines * (self._wanted - 1):
            self._begun, self._row = rest, self._row + n_lines
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
    return ValueError(f"{name}, row {row}: it has {has} values, the header {wanted} names")


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
            raise ValueError("standard input is closed; give a file name or pipe a table in")
        return nullcontext(sys.stdin.buffer)
    return (gzip.open if Path(source).suffix.lower() == ".gz" else open)(source, "rb")


def _delimiter(source, head, decimal):
    """The sign that splits all lines into equally many values, and into most of them."""
    is_tabbed = str(source).lower().removesuffix(".gz").endswith(".tsv")
    if is_tabbed:
        return "\t"
    counts = {sign: _value_counts(head, sign) for sign in _DELIMITERS if sign != decimal}
    even = [sign for sign, seen in counts.items() if len(set(seen)) == 1 and seen[0] > 1]
    return max(even or counts, key=lambda sign: counts[sign][0])


def _value_counts(lines, sign):
    """The number of values in each line that is not blank."""
    try:
        rows = [len(row) for row in csv.reader(lines, delimiter=sign, skipinitialspace=True) if row]
    except csv.Error:
        rows = []
    return rows or [0]


def _check_header(frame, source):
    """Raise an error for values without a name (pandas: an index) and for numeric names."""
    if type(frame.index).__name__ != "RangeIndex":
        n_names, n_values = frame.shape[1], frame.shape[1] + frame.index.nlevels
        raise ValueError(
            f"{name_of(source)}, row 1: it has {n_values} values, the header {n_names} names"
        )
    if frame.shape[1] and all(map(_is_number, frame.columns)):
        raise ValueError(
            f"{name_of(source)}: the first line holds numbers where the names of the columns belong"
        )


def _is_number(name):
    """Whether a column name is a number; pandas adds .1 to a name that is there twice."""
    try:
        float(re.sub(r"\.\d+$", "", name) if name.count(".") > 1 else name)
    except ValueError:
        return False
    return True
