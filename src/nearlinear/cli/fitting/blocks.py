"""``fit`` of tables that are larger than the memory they may take: in blocks."""

from pathlib import Path

from ..._config import allowed_memory, config_context, get_config
from .._errors import CommandError
from .._methods import find_methods
from ..shown.amounts import n_bytes
from ..tables.cells import refused
from ..tables.columns import listed
from ..tables.target import check_classes, task_of
from .one_method import models_of, suiting
from .search import fit_blocks_or_best
from .told import Made, search_facts

_MEMORY_FRACTION = 0.25  # of the memory limit: the largest table that is read at once
_KINDS = {".parquet": "table", ".pq": "table", ".csv": "table", ".tsv": "table",
          ".svmlight": "svmlight", ".libsvm": "svmlight", ".svm": "svmlight"}  # fmt: skip
_LOOKED_AT = 100_000  # rows of the target
_CELL_BYTES = 64  # of a raw table, on its way to a number
_BLOCKS = 16  # blocks within the memory limit: two, a sample, and what is made of them


def add_memory_argument(parser):
    parser.add_argument(
        "--max-memory", type=n_bytes, metavar="SIZE",
        help="memory that the fit may use, as nearlinear.set_config(max_memory=...) sets it; a "
        "table larger than a quarter of it is read in blocks: the search uses a sample, and the "
        "chosen model is fitted to all rows (default: the environment variable "
        "NEARLINEAR_MAX_MEMORY, or the available memory)",
    )  # fmt: skip


def is_too_large(arguments):
    """Whether a table is to be read in blocks; a folder always is."""
    path = Path(arguments.data)
    if path.is_dir():
        return True
    if not path.is_file() or path.suffix.lower() not in _KINDS:
        return False
    return _table_bytes(path) > _MEMORY_FRACTION * allowed_memory()


def _table_bytes(path):
    if path.suffix.lower() not in (".parquet", ".pq"):
        return path.stat().st_size  # a number takes about as much as its text
    try:
        from pyarrow import ArrowException, parquet, types

        found = parquet.read_metadata(path)
        kinds = found.schema.to_arrow_schema().types
    except (ImportError, ArrowException, OSError):  # who reads the table will say what is wrong
        return 0
    return found.num_rows * sum(8 if types.is_primitive(kind) else _CELL_BYTES for kind in kinds)


def fit_in_blocks(arguments, form, begin):
    """A scaler and a method that learns from blocks behind it, fitted."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    from nearlinear.streams import fit_pipeline

    _check(arguments)
    names = find_methods(arguments.method)
    begin(f"reading {arguments.data} in blocks")
    try:
        y = _some_targets(arguments, form)
        task = task_of(y, arguments)
        name = suiting(names, y, task, arguments)
        estimator = models_of([name], arguments)[name]
        if not hasattr(estimator, "_learn_blocks"):
            raise CommandError(
                f"{arguments.data}: it is too large for the memory limit, and {name} learns from "
                "tables in memory; choose --method ldkl, llcsapl or localforest, or raise "
                "--max-memory"
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


def search_in_blocks(arguments, form, settings, names, limited):
    """A front door, fitted to a raw table in blocks; ``limited(model)`` holds its time limit."""
    _check(arguments)
    try:
        y = _some_targets(arguments, form)
        task = task_of(y, arguments)
        name = suiting(names, y, task, arguments)
        model = models_of([name], arguments, **settings)[name]
        if not task.is_regression:
            check_classes(y, arguments)
        source = _raw_source(arguments, form)
        limit = get_config()["max_memory"] or _MEMORY_FRACTION * allowed_memory()
        with limited(model), config_context(max_memory=limit):
            was_cut = fit_blocks_or_best(model, source, plain=not arguments.json)
    except (ValueError, TypeError, MemoryError, OSError, ImportError) as error:
        raise refused(error, arguments.data) from error
    model.validation_score_ = next(one["score"] for one in model.record_ if one["is_chosen"])
    shape = model._training.n_rows, model.n_features_in_
    first = next(iter(source))[0]
    more = search_facts(model, first, was_cut) | {"blocks_of_rows": source.block_rows}
    return Made(model, model, task, shape, None, more)


def _check(arguments):
    if arguments.report is not None:
        raise CommandError("--report: is for tables in memory; leave it out")
    if arguments.hold_out and arguments.hold_out_was_given:
        raise CommandError("--hold-out: is for tables in memory; score other rows afterwards")


def _source(arguments, form):
    """Rows of numbers."""
    from nearlinear.streams import from_svmlight
    from nearlinear.streams.tables import numeric_blocks, open_tables

    path = arguments.data
    if _is_svmlight(arguments):
        return from_svmlight(path)
    tables = open_tables(path, form)
    columns = _columns(arguments, tables.names)
    rows = _block_rows(4 * len(columns))
    return numeric_blocks(tables, path, arguments.target, columns, block_rows=rows)


def _raw_source(arguments, form, only_target=False):
    """Rows as they are, with texts, dates and gaps."""
    from nearlinear.streams import from_svmlight
    from nearlinear.streams.tables import data_frame_blocks, open_tables

    path = arguments.data
    if _is_svmlight(arguments):
        return from_svmlight(path)
    tables = open_tables(path, form)
    columns = _columns(arguments, tables.names)
    rows = _block_rows(_CELL_BYTES * len(columns))
    if only_target:
        columns = columns[:1]
    return data_frame_blocks(tables, path, arguments.target, columns, block_rows=rows)


def _is_svmlight(arguments):
    if _KINDS.get(Path(arguments.data).suffix.lower()) != "svmlight":
        return False
    if arguments.target not in (None, "y"):
        raise CommandError(f"{arguments.data}: the target of an svmlight file is its first number")
    return True


def _columns(arguments, names):
    """Names of the features."""
    if arguments.target is None:
        raise CommandError(f"{arguments.data}: name the column to predict with --target")
    known = [name for name in names if name != arguments.target]
    wanted = listed(arguments.features, known) or known
    return [name for name in wanted if name not in listed(arguments.drop, known)]


def _block_rows(row_bytes):
    """Rows of a block under the configured memory limit; None if there is none."""
    limit = get_config()["max_memory"]
    return None if limit is None else max(256, int(min(limit, 1e18) / _BLOCKS / max(1, row_bytes)))


def _some_targets(arguments, form):
    """Targets of rows from everywhere: a file may be sorted by them."""
    from nearlinear.streams.blocks import Parted
    from nearlinear.streams.survey import survey_rows

    source = Parted(_raw_source(arguments, form, only_target=True))
    found = survey_rows(source, lambda block: _LOOKED_AT, arguments.seed, lambda block, row: block)
    return found.sample.y
