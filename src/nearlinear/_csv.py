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
            text = _Text("".join(head), file, _RowLengths(name_of(source), options["sep"]))
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
            raise ValueError(f"{name_of(source)}: invalid CSV file ({error})") from error
        n_columns, line, n_values = map(int, found.groups())
        raise _row_length_error(name_of(source), line - 1, n_values, n_columns) from error
    except UnicodeError as error:
        raise ValueError(
            f"{name_of(source)}: the encoding is not {csv_format.encoding or 'utf-8'} from row "
            f"{n_before + 1} on"
        ) from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{name_of(source)}: invalid gzip file ({error})") from error


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

    def __init__(self, head, file, row_lengths):
        self._next, self._file, self._row_lengths, self._blank = head, file, row_lengths, []

    def read(self, size=-1):
        while True:
            text = self._next or self._file.read(size)
            self._next = ""
            self._row_lengths.check(text)
            if not text:
                return ""
            body = text.rstrip("\r\n")
            if body:
                before, self._blank = self._blank, [text[len(body) :]]
                return "".join([*before, body])
            self._blank.append(text)


class _RowLengths:
    """Raises an error for a row with fewer values than the header, which pandas fills up silently.

    Blank lines are rows of missing values. An empty text is the end of the file. Checks end at a
    line of more than a megabyte.
    """

    def __init__(self, name, delimiter):
        self._name, self._delimiter = name, delimiter
        self._unfinished, self._row, self._n_columns = "", 0, None
        self._is_off = delimiter == " "  # several spaces are one delimiter

    def check(self, text):
        if self._is_off:
            return
        body, end, rest = (self._unfinished + text).rpartition("\n")
        n_lines = body.count("\n") + 1
        # pandas raises an error for longer lines, so equal totals mean that no line is shorter
        is_plain = self._n_columns and text and end and '"' not in body and '"' not in rest
        if is_plain and body.count(self._delimiter) == n_lines * (self._n_columns - 1):
            self._unfinished, self._row = rest, self._row + n_lines
            return
        *lines, self._unfinished = (self._unfinished + text).split("\n")
        if not text:
            lines, self._unfinished = [self._unfinished], ""
        for line in lines if '"' not in text else self._records(lines):
            n_values = line.count(self._delimiter) + 1
            if n_values < (self._n_columns or n_values + 1) or '"' in line:
                n_values = self._n_values(line)
            self._n_columns = self._n_columns or n_values
            if n_values < self._n_columns and line.strip():
                raise _row_length_error(self._name, self._row, n_values, self._n_columns)
            self._row += 1
        self._is_off = len(self._unfinished) > _LONGEST_LINE

    def _records(self, lines):
        """Lines, joined where a line ends within quotes."""
        record = ""
        for line in lines:
            record += line
            if self._is_open(record):
                record += "\n"
            else:
                yield record
                record = ""
        self._unfinished = record + self._unfinished

    def _is_open(self, record):
        if '"' not in record:
            return False
        try:
            next(self._reader(record, strict=True), None)
        except csv.Error as error:
            return "unexpected end" in str(error)
        return False

    def _n_values(self, record):
        try:
            return len(next(self._reader(record), []))
        except csv.Error:
            return self._n_columns or 0

    def _reader(self, record, **options):
        return csv.reader([record], delimiter=self._delimiter, skipinitialspace=True, **options)


def _row_length_error(name, row, n_values, n_columns):
    return ValueError(f"{name}, row {row}: it has {n_values} values, the header {n_columns} names")


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
