"""``fit`` of tables that are larger than the memory they may take: in blocks."""

import os
from pathlib import Path

from .._errors import CommandError
from .._methods import find_methods
from ..shown.amounts import n_bytes
from ..tables.cells import refused
from ..tables.columns import listed
from ..tables.target import check_classes, task_of
from .one_method import models_of, suiting
from .told import Made

# Where no method is named: a search needs all rows at once.
USUAL = ["LDKLClassifier", "LDKLRegressor"]
_SHARE = 0.25  # of the machine's memory, where nobody says how much a table may take
_KINDS = {".parquet": "table", ".pq": "table", ".csv": "table", ".tsv": "table",
          ".svmlight": "svmlight", ".libsvm": "svmlight", ".svm": "svmlight"}  # fmt: skip
_LOOKED_AT = 100_000  # rows of the target
_BLOCKS = 16  # that --max-memory holds: two, a sample, and what is made of them


def add_memory_argument(parser):
    parser.add_argument(
        "--max-memory", type=n_bytes, metavar="SIZE",
        help="bytes that the table may take; a larger one is read in blocks, by a method that "
        "learns so (default: a quarter of the machine's memory)",
    )  # fmt: skip


def is_too_large(arguments):
    """Whether a table is to be read in blocks; a folder always is."""
    path = Path(arguments.data)
    if path.is_dir():
        return True
    if not path.is_file() or path.suffix.lower() not in _KINDS:
        return False
    most = arguments.max_memory
    if most is None:
        most = _SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return _table_bytes(path) > most


def _table_bytes(path):
    if path.suffix.lower() not in (".parquet", ".pq"):
        return path.stat().st_size  # a number takes about as much as its text
    try:
        from pyarrow import ArrowException, parquet

        found = parquet.read_metadata(path)
    except (ImportError, ArrowException, OSError):  # who reads the table will say what is wrong
        return 0
    return 8 * found.num_rows * found.num_columns


def fit_in_blocks(arguments, form, begin):
    """A scaler and a method that learns from blocks behind it, fitted."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    from nearlinear.streams import fit_pipeline

    _check(arguments, form)
    names = find_methods(arguments.method) if arguments.method else USUAL
    begin(f"reading {arguments.data} in blocks")
    try:
        y = _some_targets(arguments, form)
        task = task_of(y, arguments)
        name = suiting(names, y, task, arguments)
        estimator = models_of([name], arguments)[name]
        if not hasattr(estimator, "_learn_blocks"):
            raise CommandError(
                f"{arguments.data}: it is larger than --max-memory, and {name} learns from tables "
                "in memory; choose --method ldkl, llcsapl or llsvm, or raise --max-memory"
            )
        if not task.is_regression:
            check_classes(y, arguments)
        source = _source(arguments, form)
        scaler = StandardScaler() if hasattr(source, "columns") else MaxAbsScaler()
        model = make_pipeline("passthrough" if arguments.no_scaling else scaler, estimator)
        begin(f"fitting {name} to blocks of {source.block_rows:,} rows")
        fit_pipeline(model, source)
    except (ValueError, TypeError, MemoryError, OSError, ImportError) as error:
        raise refused(error, arguments.data) from error
    shape = estimator._training.n_rows, estimator.n_features_in_
    return Made(model, estimator, task, shape, None, {"blocks_of_rows": source.block_rows})


def _check(arguments, form):
    if form.decimal != "." or form.encoding not in (None, "utf-8"):
        raise CommandError(
            f"{arguments.data}: tables in blocks are UTF-8 with decimal points; raise --max-memory"
        )
    if arguments.report is not None:
        raise CommandError("--report: is for tables in memory; leave it out")
    if arguments.hold_out and arguments.hold_out_was_given:
        raise CommandError("--hold-out: is for tables in memory; score other rows afterwards")


def _source(arguments, form, only_target=False):
    from nearlinear.streams import from_svmlight, from_tables
    from nearlinear.streams.tables import column_names

    path = arguments.data
    if _KINDS.get(Path(path).suffix.lower()) == "svmlight":
        if arguments.target not in (None, "y"):
            raise CommandError(f"{path}: the target of an svmlight file is its first number")
        return from_svmlight(path)
    if arguments.target is None:
        raise CommandError(f"{path}: name the column to predict with --target")
    known = [name for name in column_names(path, form.delimiter) if name != arguments.target]
    wanted = listed(arguments.features, known) or known
    columns = [name for name in wanted if name not in listed(arguments.drop, known)]
    rows = None
    if arguments.max_memory is not None:
        rows = max(256, int(arguments.max_memory / _BLOCKS / (4 * max(1, len(columns)))))
    if only_target:
        columns = columns[:1]
    return from_tables(
        path, arguments.target, columns=columns, block_rows=rows, delimiter=form.delimiter
    )


def _some_targets(arguments, form):
    """Targets of rows from everywhere: a file may be sorted by them."""
    from nearlinear.streams.blocks import Parted
    from nearlinear.streams.survey import survey_rows

    source = Parted(_source(arguments, form, only_target=True))
    found = survey_rows(source, lambda block: _LOOKED_AT, arguments.seed, lambda block, row: block)
    return found.sample.y
