"""``nearlinear demo``: the main job on data that ships with scikit-learn.

Fits our models and the alternatives on digits and breast cancer, prints what each scores and costs,
and draws accuracy against prediction cost.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ..displays.cost_front import ModelPoint, draw_cost_fronts
from ._contenders import REFERENCE, contenders
from ._errors import CommandError
from ._measure import Measurement, Split, measure
from ._output_file import add_force, check_writable, replacing
from ._progress import progress

DATA_SETS = {"digits": load_digits, "breast cancer": load_breast_cancer}
SEED = 0

_PICTURES = (".png", ".pdf", ".svg")
_LEGEND = """\
µs/row: best of several predictions of {n_timed:,} rows (the test part, repeated), one thread.
× linear: that time as a multiple of LinearSVC's. bytes: the arrays that prediction reads.
fit: one thread, after a first small fit that is not timed (it loads or compiles what is needed)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("nearlinear-demo.png"),
        metavar="PATH",
        help="where the picture goes (default: %(default)s; the suffix chooses the format)",
    )
    add_force(parser)
    parser.add_argument("--no-picture", action="store_true", help="print the tables only")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a few hundred rows of each set, in seconds; the figures then mean little",
    )


def run(arguments: argparse.Namespace) -> None:
    if not arguments.no_picture:
        _check_picture(arguments.out, arguments.force)
    n_rows, n_timed = (300, 2_000) if arguments.quick else (None, 20_000)
    splits = {name: _split(load, n_rows, n_timed) for name, load in DATA_SETS.items()}
    tables = _measure_all(splits)
    for name, rows in tables.items():
        print(f"\n{name}: {_describe(splits[name])}\n\n{format_table(rows)}")
    print("\n" + _LEGEND.format(n_timed=n_timed))
    if not arguments.no_picture:
        _draw(tables, arguments.out)


def _check_picture(path, force):
    if path.suffix not in _PICTURES:
        raise CommandError(f"{path}: a picture's name ends in {', '.join(_PICTURES)}")
    check_writable(path, force=force)


def _split(load, n_rows, n_timed):
    X, y = load(return_X_y=True)
    if n_rows is not None:
        X, _, y, _ = train_test_split(X, y, train_size=n_rows, stratify=y, random_state=SEED)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=SEED
    )
    scaler = StandardScaler().fit(X_train)
    X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    return Split(X_train, y_train, X_test, y_test, X_test[np.arange(n_timed) % len(X_test)])


def _measure_all(splits):
    entrants = contenders(SEED)
    tables = {name: [] for name in splits}
    # No refreshes: they would take time from the models that are being timed.
    with progress(len(splits) * len(entrants), refreshes=0) as begin, threadpool_limits(1):
        for name, split in splits.items():
            for contender in entrants:
                begin(f"{name}: {contender.name}")
                tables[name].append(measure(contender, split))
    return tables


def _describe(split):
    return (
        f"{len(split.X_train)} training rows, {len(split.X_test)} test rows, "
        f"{split.X_train.shape[1]} features, {len(np.unique(split.y_train))} classes"
    )


def format_table(rows: Sequence[Measurement]) -> str:
    """Our models above a line, the alternatives below it, numbers right-aligned."""
    linear = next(row.us_per_row for row in rows if row.name == REFERENCE)
    header = ("model", "accuracy", "µs/row", "× linear", "bytes", "fit")
    cells = [
        (
            row.name,
            f"{100 * row.accuracy:.2f} %",
            f"{row.us_per_row:.3g}" if row.us_per_row < 100 else f"{row.us_per_row:.0f}",
            f"{row.us_per_row / linear:.1f}",
            _format_bytes(row.n_bytes),
            f"{row.fit_seconds:.2f} s",
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(header, *cells)]
    lines = [_format_line(line, widths) for line in (header, *cells)]
    rule = "─" * len(lines[0])
    n_ours = sum(row.ours for row in rows)
    return "\n".join([lines[0], rule, *lines[1 : 1 + n_ours], rule, *lines[1 + n_ours :]])


def _format_line(line, widths):
    name, *numbers = (
        cell.rjust(width) if i else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(line, widths))
    )
    return "   ".join([name, *numbers])


def _format_bytes(n_bytes):
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.1f} kB"


def _draw(tables: Mapping[str, Sequence[Measurement]], path: Path):
    try:
        figure = draw_cost_fronts(
            {
                name: [
                    ModelPoint(row.name, row.us_per_row, 100 * row.accuracy, row.ours)
                    for row in rows
                ]
                for name, rows in tables.items()
            }
        )
    except ImportError:
        print("\nno picture: matplotlib is not installed (pip install 'nearlinear[plot]')")
        return
    with replacing(path) as file:
        figure.savefig(file, dpi=160, format=path.suffix.lstrip(".") or None)
    print(f"\npicture: {path}")
