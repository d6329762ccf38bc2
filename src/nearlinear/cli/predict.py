"""``nearlinear predict``: labels and scores of a table, in constant memory.

Rows are read, scored and written in pieces, so that a table may be larger than memory.
"""

import argparse
import csv
import sys
from contextlib import contextmanager
from pathlib import Path

from ._failure import CommandError
from ._foreign_text import shown
from ._models import load_scorer
from ._output_file import check_writable, replacing
from ._tables import STDIN, numbers, pieces

_EXAMPLES = """\
examples:
  nearlinear predict model.nlm new.csv --out labels.csv
  cat new.csv | nearlinear predict model.nlm - --scores > scores.csv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("model", help="model file (.nlm)")
    parser.add_argument("data", help="table, or - for CSV on standard input")
    parser.add_argument("--out", default=STDIN, metavar="PATH", help="CSV (default: - , stdout)")
    parser.add_argument("--scores", action="store_true", help="write the scores beside the labels")
    parser.add_argument("--rows", type=int, default=20_000, help="rows at a time (default: 20000)")


def run(arguments: argparse.Namespace) -> None:
    if arguments.rows < 1:
        raise CommandError(f"--rows {arguments.rows}: at least 1")
    if arguments.out != STDIN:
        check_writable(Path(arguments.out))
    model = load_scorer(arguments.model)
    with _output(arguments.out) as file:
        writer, total = csv.writer(file, lineterminator="\n"), 0
        options = {"n_rows": arguments.rows, "n_features": model.n_features}
        for piece in pieces(arguments.data, **options):
            X = _columns(piece, model, arguments.data)
            labels, scores = _answers(model, X, piece, arguments.data)
            rows = _rows(labels, scores if arguments.scores else None)
            if total == 0:
                names = model.header(scores) if arguments.scores else ["prediction"]
                rows.insert(0, [_cell(name) for name in names])
            _write(writer, rows, file, arguments.out)
            total += len(labels)
            _progress(total)
    _progress(total, done=True)


def _answers(model, X, piece, source):
    try:
        return model.answers(X)
    except ValueError as error:
        last, reason = piece.first + X.shape[0] - 1, str(error).splitlines()[0]
        raise CommandError(f"{source}, rows {piece.first} to {last}: {reason}") from error


def _write(writer, rows, file, name):
    try:
        writer.writerows(rows)
        file.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        where = "standard output" if name == STDIN else name
        raise CommandError(f"{where}: cannot be written ({error.strerror or error})") from error


def _columns(piece, model, source):
    """The numbers that the model wants, by name where both have names."""
    if piece.names is None or model.names is None:
        X = numbers(piece.values, piece.names, source, piece.first)
        if X.shape[1] != model.n_features:
            raise CommandError(
                f"{source}: rows have {X.shape[1]} columns, the model takes {model.n_features}"
            )
        return X
    missing = [name for name in model.names if name not in piece.names]
    if missing:
        raise CommandError(f"{source}: there is no column {missing[0]!r}, which the model needs")
    frame = piece.values[[piece.values.columns[piece.names.index(name)] for name in model.names]]
    return numbers(frame, model.names, source, piece.first)


def _rows(labels, scores):
    if scores is None:
        return [[_cell(label)] for label in labels.tolist()]
    scores = scores.reshape(len(labels), -1)
    rows = zip(labels.tolist(), scores.tolist(), strict=True)
    return [[_cell(label), *row] for label, row in rows]


def _cell(label):
    return shown(label, keep="\t\r\n") if isinstance(label, str) else label


@contextmanager
def _output(name):
    """Standard output, or a file that appears whole or not at all."""
    if name == STDIN:
        yield sys.stdout
        return
    with replacing(Path(name), "w", newline="", encoding="utf-8") as file:
        yield file


def _progress(total, done=False):
    if sys.stderr.isatty():
        print(f"\r{total:,} rows", end="\n" if done else "", file=sys.stderr, flush=True)
