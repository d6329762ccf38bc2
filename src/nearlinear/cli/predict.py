"""``nearlinear predict``: labels and scores of a table, in constant memory.

Rows are read, scored and written in pieces, so that a table may be larger than memory.
"""

import argparse
import csv
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ._errors import CommandError
from ._models import load_scorer
from ._output_file import add_force, check_standard_output, check_writable, replacing
from ._progress import counting
from .shown.foreign_text import shown
from .tables.columns import add_column_arguments, check_named, listed, with_columns
from .tables.csv_format import add_csv_arguments, csv_format
from .tables.reading import STDIN, pieces, places

_EXAMPLES = """\
examples:
  nearlinear predict model.nlm new.csv --out labels.csv
  nearlinear predict model.nlm new.csv --keep id --scores --out labels.csv
  nearlinear predict model.nlm new.csv --proba --out chances.csv
  cat new.csv | nearlinear predict model.nlm - --scores > scores.csv
"""
_MOST_ROWS = 10**9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("model", help="model file (.nlm)")
    parser.add_argument("data", help="table, or - for CSV on standard input")
    parser.add_argument(
        "--out", "--output", "-o", default=STDIN, metavar="PATH", help="CSV (default: - , stdout)"
    )
    add_force(parser)
    parser.add_argument(
        "--keep", action="append", default=[], metavar="COL[,COL]",
        help="columns to write before the answers, such as ids",
    )  # fmt: skip
    parser.add_argument("--scores", action="store_true", help="write the scores beside the labels")
    parser.add_argument("--proba", action="store_true", help="write the probability of each class")
    parser.add_argument("--rows", type=int, default=20_000, help="rows at a time (default: 20000)")
    add_column_arguments(parser)
    add_csv_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    if not 1 <= arguments.rows <= _MOST_ROWS:
        raise CommandError(f"--rows {arguments.rows}: at least 1, at most {_MOST_ROWS:,}")
    form, inputs = csv_format(arguments), (arguments.data, arguments.model)
    if arguments.out == STDIN:
        check_standard_output(inputs=inputs)
    else:
        check_writable(Path(arguments.out), inputs=inputs, force=arguments.force)
    model = load_scorer(arguments.model)
    wanted = _wanted(arguments, model)
    options = {"n_rows": arguments.rows, "n_features": model.n_features, "form": form}
    options["as_text"] = _as_text(arguments, model)
    options["texts"] = model.texts
    # on one terminal, answers and a count would get in each other's way
    is_apart = arguments.out != STDIN or not sys.stdout.isatty()
    with counting("rows", shown=is_apart) as count, _output(arguments.out) as file:
        writer, total = csv.writer(file, lineterminator="\n"), 0
        for piece in pieces(arguments.data, **options):
            names, kept = _kept(piece, arguments)
            features = _features(with_columns(piece, arguments), arguments, model)
            answers = model.answers_to(features, arguments.data, **wanted)
            rows = _rows(kept, answers)
            total += len(rows)
            if total == len(rows):
                _check_header(names, answers)
                rows.insert(0, [_cell(name) for name in (*names, *answers)])
            _write(writer, rows, file, arguments.out)
            count(total)


def _wanted(arguments, model):
    """What is written beside the labels."""
    if arguments.scores and model.file.others:
        raise CommandError(
            f"--scores: {arguments.model} averages {1 + len(model.file.others)} calibrated models, "
            "which have no scores in common; give --proba"
        )
    if arguments.proba and not model.file.gives_probabilities:
        raise CommandError(
            f"--proba: {arguments.model} gives no probabilities; give --scores, or fit again "
            "without --method, or with --set loss=log_loss"
        )
    return {"with_scores": arguments.scores, "with_probabilities": arguments.proba}


def _as_text(arguments, model):
    """Kept columns that are no features stay as they are written: 007 is an id."""
    words = {*arguments.keep, *listed(arguments.keep, ())}
    if model.names is not None:
        return words - set(model.used)
    if arguments.features:
        return words - set(listed(arguments.features, ()))
    return words & set(listed(arguments.drop, ()))


def _features(piece, arguments, model):
    """A piece without the columns that are only kept, which are no extra features."""
    if not arguments.keep or model.names is None or piece.names is None:
        return piece
    only_kept = {*listed(arguments.keep, piece.names)} - {*model.names}
    positions = [k for k, name in enumerate(piece.names) if name not in only_kept]
    names = [piece.names[k] for k in positions]
    return replace(piece, values=piece.values.iloc[:, positions], names=names)


def _kept(piece, arguments):
    """Names of the kept columns, and their cells, a list a row."""
    if not arguments.keep:
        return [], None
    check_named(piece, arguments, "--keep")
    names = listed(arguments.keep, piece.names)
    frame = piece.values.iloc[:, places(names, piece.names, arguments.data)]
    return names, frame.astype(object).where(frame.notna(), "").to_numpy().tolist()


def _check_header(names, header):
    for name in names:
        if name in header:
            raise CommandError(f"--keep {name}: the answers are written under this name; rename it")


def _write(writer, rows, file, name):
    try:
        writer.writerows(rows)
        file.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        where = "standard output" if name == STDIN else name
        raise CommandError(f"{where}: cannot be written ({error.strerror or error})") from error


def _rows(kept, answers):
    columns = (column.tolist() for column in answers.values())
    rows = [[_cell(label), *more] for label, *more in zip(*columns, strict=True)]
    return rows if kept is None else [[*first, *row] for first, row in zip(kept, rows, strict=True)]


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
