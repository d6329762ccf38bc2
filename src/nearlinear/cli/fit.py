"""``nearlinear fit``: a model from a table.

Reads the table as it is and searches for the most accurate model inside a budget; with --method
it fits that one. The model file holds what was done to the columns, too.
"""

import argparse
import json
import sys
import tempfile
import time
from contextlib import contextmanager, redirect_stdout
from functools import partial
from pathlib import Path

from .._config import config_context
from .._csv import name_of
from ._errors import CommandError, Interrupted
from ._methods import find_methods
from ._output_file import STANDARD, add_force, check_standard_output, check_writable
from ._progress import progress
from .fitting.blocks import (
    add_memory_argument,
    fit_in_blocks,
    is_too_large,
    search_in_blocks,
)
from .fitting.budgets import add_budget_arguments, search_settings
from .fitting.held_out import held_out
from .fitting.one_method import models_of, name_features, pipeline_of, suiting
from .fitting.search import fit_search, fit_search_or_best
from .fitting.told import Made, facts, search_facts, tell_method, tell_search
from .tables.cells import check_texts, refused
from .tables.columns import add_column_arguments, input_first, with_columns
from .tables.csv_format import add_csv_arguments, csv_format
from .tables.reading import whole
from .tables.target import RULE, add_task_argument, check_classes, task_of

_LEAST_SHARE = 0.1  # of a time limit that was over before a search began
SEARCHES = ["NearLinearClassifier", "NearLinearRegressor"]  # of which the target chooses one
_EXAMPLES = f"""\
classes or values:
  {RULE.replace(chr(10), chr(10) + "  ")}

examples:
  nearlinear fit train.csv --target price --out price.nlm
  nearlinear fit train.csv --target label --max-us-per-row 1 --max-bytes 64kB --time-limit 2m
  nearlinear fit train.csv.gz --target price --delimiter ';' --decimal , --encoding latin-1
  nearlinear fit train.parquet --target label --method ldkl --set C=10 --set depth=4
  nearlinear fit train.csv --target label --report report.html
  nearlinear fit large.parquet --target label --max-memory 2GB
  nearlinear fit train.csv --target label --out - | ssh host 'cat > model.nlm'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "data",
        help="table: .csv, .tsv (also .gz), .parquet, .svmlight or .npz (X and y), a folder of "
        "tables, or -",
    )
    parser.add_argument("--target", metavar="COL", help="column to predict (not for svmlight, npz)")
    add_task_argument(parser)
    add_column_arguments(parser)
    add_budget_arguments(parser)
    parser.add_argument(
        "--method", metavar="NAME",
        help="fit this one, without a search, in any case, short or long: nearlinear methods lists "
        "them",
    )  # fmt: skip
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="settings",
        help="a parameter of the estimator; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--out", "--output", "-o", default="model.nlm", metavar="PATH",
        help="model file, or - for standard output (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--report", type=Path, metavar="PATH",
        help="also write a page about the model, judged on the rows that --hold-out holds out; it "
        "opens in any browser, and runs the model",
    )  # fmt: skip
    add_force(parser)
    parser.add_argument(
        "--hold-out", type=float, metavar="SHARE",
        help="share of the rows to try the model on before it is fitted to all (default: 0.2 with "
        "--method or --report; the search has held-out rows of its own)",
    )  # fmt: skip
    parser.add_argument(
        "--no-scaling", action="store_true", help="with --method: features are scaled already"
    )
    add_memory_argument(parser)
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers (default: 0)")
    add_csv_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    form = csv_format(arguments)
    with input_first(arguments, form):
        _check(arguments)
    if arguments.max_memory is None:
        _fit(arguments, form)
    else:
        with config_context(max_memory=arguments.max_memory):
            _fit(arguments, form)


def _fit(arguments, form):
    settings = search_settings(arguments)
    start = time.perf_counter()
    is_large = is_too_large(arguments)
    if arguments.method:
        if settings:
            raise CommandError(f"--{next(iter(settings)).replace('_', '-')}: is for the search; "
                               "leave --method out")  # fmt: skip
        made = _fit_large(arguments, form) if is_large else _fit_method(arguments, form)
    elif is_large:
        with refusing(arguments):
            held_to = partial(limited, start=start)
            made = search_in_blocks(arguments, form, settings, SEARCHES, held_to)
    else:
        made = _fit_search(arguments, form, settings, start)
    n_bytes = _save(made.model, arguments.out)
    found = facts(made, time.perf_counter() - start, n_bytes) | {"model": arguments.out}
    if arguments.report is not None:
        found["report"] = str(arguments.report)
        write_page(arguments, made.model, made.held.X, made.held.y, judge=made.held.model)
    # standard output holds the model, if that was asked for
    stream = sys.stderr if arguments.out == STANDARD else sys.stdout
    if arguments.json:
        print(json.dumps(found), file=stream)
    elif arguments.method:
        tell_method(found, arguments.method == found["method"], stream)
    else:
        tell_search(found, stream)
    if arguments.report is not None and not arguments.json:
        print(f"report: {arguments.report}, opens in any browser", file=stream)
    if found.get("interrupted"):
        place = "standard output" if arguments.out == STANDARD else arguments.out
        raise Interrupted(f"interrupted; the best model so far was written to {place}")


def _check(arguments):
    """What can be said before the table is read."""
    if arguments.out == STANDARD:
        if sys.stdout.isatty():
            raise CommandError("--out -: a model is no text for a terminal; name a file or a pipe")
        check_standard_output(inputs=[arguments.data])
    else:
        check_writable(Path(arguments.out), inputs=[arguments.data], force=arguments.force)
    check_seed(arguments)
    check_report(arguments)
    arguments.hold_out_was_given = arguments.hold_out is not None
    if arguments.hold_out is None:
        arguments.hold_out = 0.2 if arguments.method or arguments.report else 0.0
    if arguments.report is not None and arguments.hold_out == 0.0:
        raise CommandError("--report: needs rows that judge the model; give --hold-out above 0")
    if not 0.0 <= arguments.hold_out < 1.0:
        raise CommandError(f"--hold-out {arguments.hold_out}: a share from 0 to below 1")
    if arguments.no_scaling and not arguments.method:
        raise CommandError("--no-scaling: is for --method; the search looks at the columns itself")


def check_report(arguments):
    """Refuse a report that cannot be written before any work."""
    if arguments.report is None:
        return
    if arguments.report.suffix not in (".html", ".htm"):
        raise CommandError(f"{arguments.report}: a report's name ends in .html")
    out = getattr(arguments, "out", None)
    if out is not None and Path(out) == arguments.report:
        raise CommandError(f"{arguments.report}: is --out already; name another file")
    check_writable(arguments.report, inputs=[arguments.data], force=arguments.force)


def write_page(arguments, model, X, y, **more):
    """A page about a fitted model or pipeline, with the names that the command knows."""
    from ..report.page import write_report
    from ..report.subject import Whole

    whole, out = Whole.of(model), getattr(arguments, "out", None)
    try:
        write_report(
            whole.model, X, y, arguments.report, preparation=whole.preparation,
            target=arguments.target, data=str(arguments.data),
            file=None if out in (None, STANDARD) else str(out), **more,
        )  # fmt: skip
    except OSError as error:
        kept = "" if out is None else f"; the model is in {out}"
        reason = error.strerror or error
        raise CommandError(f"{arguments.report}: cannot be written ({reason}){kept}") from error
    except (ValueError, TypeError) as error:
        raise CommandError(f"{arguments.report}: {error}") from error


def check_seed(arguments):
    if not 0 <= arguments.seed < 2**32:
        raise CommandError(f"--seed {arguments.seed}: a whole number from 0 to 2^32 - 1")


def _fit_method(arguments, form):
    names = find_methods(arguments.method)
    models = models_of(names, arguments)
    with progress(3 if arguments.hold_out else 2, plain=not arguments.json) as begin:
        piece, task = read_table(arguments, form, begin)
        name = suiting(names, piece.target, task, arguments)
        estimator = models.get(name) or models_of([name], arguments)[name]
        model, X = pipeline_of(estimator, piece, arguments)

        def fit(tried, X, y, n_rows):
            begin(f"trying {name} on {n_rows:,} held-out rows")
            return tried.fit(X, y)

        with refusing(arguments):
            held = held_out(model, X, piece.target, arguments, fit)
            begin(f"fitting {name} to all {X.shape[0]:,} rows")
            model.fit(X, piece.target)
    if held is not None:
        measure = "R2" if "R2" in held.figures else "accuracy"
        estimator.validation_score_ = held.figures[measure]
    name_features(model, piece.names)
    return Made(model, estimator, task, X.shape, held, {})


def _fit_large(arguments, form):
    with progress(2, plain=not arguments.json) as begin, refusing(arguments):
        return fit_in_blocks(arguments, form, begin)


def _fit_search(arguments, form, settings, start):
    models = models_of(SEARCHES, arguments, **settings)
    plain = not arguments.json
    with progress(1, plain=plain) as begin:
        piece, task = read_table(arguments, form, begin)
        X, y = piece.values, piece.target
        check_texts(X, piece.names, arguments.data, piece.first)
        name = suiting(SEARCHES, y, task, arguments)
        model = models.get(name) or models_of([name], arguments, **settings)[name]
        if not task.is_regression:
            check_classes(y, arguments)

    def fit_first(model, X, y, n_rows):
        return fit_search(model, X, y, plain=plain, title="first search, for the held-out score: ")

    with refusing(arguments), limited(model, start, share=0.5):
        held = held_out(model, X, y, arguments, fit_first)
    title = "second search, on all rows: " if held is not None else ""
    with refusing(arguments), limited(model, start):
        was_cut = fit_search_or_best(model, X, y, plain=plain, title=title)
    model.validation_score_ = next(one["score"] for one in model.record_ if one["is_chosen"])
    return Made(model, model, task, X.shape, held, search_facts(model, X, was_cut))


@contextmanager
def limited(model, start, share=1.0):
    """A time limit is that of the whole command: the search inside has a share of what is left."""
    limit = model.time_limit
    if limit is not None:
        left = limit - (time.perf_counter() - start)
        model.time_limit = share * max(left, _LEAST_SHARE * limit)
    try:
        yield
    finally:
        model.time_limit = limit


def read_table(arguments, form, begin):
    """All rows, and what their target asks for."""
    begin(f"reading {name_of(arguments.data)}")
    piece = with_columns(whole(arguments.data, arguments.target, form), arguments)
    if piece.values.shape[1] == 0:
        raise CommandError(f"{arguments.data}: there is no column beside {arguments.target!r}")
    return piece, task_of(piece.target, arguments)


@contextmanager
def refusing(arguments):
    """What the library refuses is a sentence about the table."""
    try:
        # standard output is for the model or the result, not for what verbose=1 tells
        with redirect_stdout(sys.stderr):
            yield
    except (ValueError, TypeError, MemoryError) as error:
        raise refused(error, arguments.data) from error


def _save(model, out):
    """Write the model file; gives its size."""
    import nearlinear

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.nlm" if out == STANDARD else Path(out)
        try:
            nearlinear.save(model, path)
        except ValueError as error:
            raise CommandError(str(error)) from error
        if out == STANDARD:
            sys.stdout.buffer.write(path.read_bytes())
            sys.stdout.flush()
        return path.stat().st_size
