"""``nearlinear compare``: ours beside the alternatives, on one table."""

import argparse
import json
from pathlib import Path

from ._errors import CommandError
from ._output_file import add_force
from ._progress import progress
from .comparing.comparison import (
    LEGEND,
    Parts,
    as_facts,
    check_picture,
    compare,
    comparison_table,
    draw,
    verdict,
)
from .fit import SEARCHES, check_report, check_seed, read_table, refusing, write_page
from .fitting.budgets import add_budget_arguments, search_settings
from .fitting.one_method import models_of
from .fitting.told import tell_columns
from .tables.cells import check_texts
from .tables.columns import add_column_arguments, input_first
from .tables.csv_format import add_csv_arguments, csv_format
from .tables.target import add_task_argument, check_classes

_EXAMPLES = """\
examples:
  nearlinear compare train.csv --target label
  nearlinear compare train.csv --target price --max-us-per-row 1 --picture front.png
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "data", help="table: .csv, .tsv (also .gz), .parquet, .svmlight or .npz (X and y), or -"
    )
    parser.add_argument("--target", metavar="COL", help="column to predict (not for svmlight, npz)")
    add_task_argument(parser)
    add_column_arguments(parser)
    add_budget_arguments(parser)
    parser.add_argument(
        "--test-share", type=float, default=0.25, metavar="SHARE",
        help="share of the rows that no model sees before it is measured (default: 0.25)",
    )  # fmt: skip
    parser.add_argument(
        "--picture", type=Path, metavar="PATH",
        help="draw score against time; the suffix (.png, .pdf, .svg) chooses the format",
    )  # fmt: skip
    parser.add_argument(
        "--report", type=Path, metavar="PATH",
        help="also write a page about our model beside the others, judged on the test rows",
    )  # fmt: skip
    add_force(parser)
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers (default: 0)")
    add_csv_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    form, settings = csv_format(arguments), search_settings(arguments)
    check_seed(arguments)
    if not 0.0 < arguments.test_share < 1.0:
        raise CommandError(f"--test-share {arguments.test_share}: a share between 0 and 1")
    with input_first(arguments, form):
        check_report(arguments)
        if arguments.picture is not None:
            check_picture(arguments.picture, inputs=[arguments.data], force=arguments.force)
    arguments.settings = []
    models = models_of(SEARCHES, arguments, **settings)
    with progress(1, plain=not arguments.json) as begin:
        piece, task = read_table(arguments, form, begin)
        check_texts(piece.values, piece.names, arguments.data, piece.first)
        if not task.is_regression:
            check_classes(piece.target, arguments)
        parts = _split(piece, task, arguments)
    with refusing(arguments):
        model = models[SEARCHES[task.is_regression]]
        found = compare(model, parts, arguments.seed, plain=not arguments.json)
    told = None
    if arguments.picture is not None:
        told = draw(arguments.picture, {Path(arguments.data).name: found})
    if arguments.report is not None:
        peers = as_facts(found)["models"]
        write_page(arguments, found.model, parts.X_test, parts.y_test, peers=peers)
        told = "\n".join(filter(None, (told, f"report: {arguments.report}")))
    if arguments.json:
        print(json.dumps(as_facts(found)))
        return
    print(f"{task.reason}: a {task.name}")
    tell_comparison(found)
    print(f"\n{LEGEND}" + (f"\n\n{told}" if told else ""))


def _split(piece, task, arguments):
    from sklearn.model_selection import train_test_split

    strata = None if task.is_regression else piece.target
    try:
        parts = train_test_split(
            piece.values, piece.target, test_size=arguments.test_share, stratify=strata,
            random_state=arguments.seed,
        )  # fmt: skip
    except ValueError as error:
        raise CommandError(f"{arguments.data}: {error}") from error
    return Parts(*parts, task.is_regression)


def tell_comparison(found):
    """What was done to the columns, the table, leads and losses."""
    split = found.split
    print(
        f"{len(split.y_train):,} training rows, {len(split.y_test):,} test rows; "
        f"{split.X_train.shape[1]} columns behind the encoder"
    )
    tell_columns(found.model.encoder_.columns_)
    print(f"\n{comparison_table(found)}\n\n{verdict(found)}")
