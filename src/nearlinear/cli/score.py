"""``nearlinear score``: how good a model is on a table whose answers are known."""

import argparse
import json

import numpy as np

from ._errors import CommandError
from ._models import load_scorer
from ._progress import counting
from .shown.figures import class_figures, never_found, value_figures
from .shown.foreign_text import shown
from .tables.columns import add_column_arguments, with_columns
from .tables.csv_format import add_csv_arguments, csv_format
from .tables.reading import pieces

_EXAMPLES = """\
examples:
  nearlinear score model.nlm test.csv --target label
  nearlinear score price.nlm test.csv --target price --json
"""
_ROWS = 20_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("model", help="model file (.nlm)")
    parser.add_argument("data", help="table, or - for CSV on standard input")
    parser.add_argument(
        "--target", metavar="COL", help="column with the answers (not for svmlight, npz)"
    )
    add_column_arguments(parser)
    add_csv_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    form = csv_format(arguments)
    model = load_scorer(arguments.model)
    y, answers = _answers(model, arguments, form)
    if model.file.classes is None:
        if y.dtype.kind not in "fiub":
            raise CommandError(
                f"{arguments.data}, column {arguments.target!r}: it holds no numbers, and the "
                "model predicts numbers"
            )
        found = value_figures(y.astype(float), answers)
    else:
        y, answers = _alike(y, answers)
        found = class_figures(y, answers)
        known = {str(label) for label in model.file.classes}
        found["unknown"] = [name for name in found["classes"] if name not in known]
    if arguments.json:
        print(json.dumps(found))
    else:
        _tell(found)


def _answers(model, arguments, form):
    """What is true, and what the model says."""
    options = {"n_rows": _ROWS, "n_features": model.n_features, "form": form}
    options["texts"] = model.texts
    truths, answers, total = [], [], 0
    with counting("rows") as count:
        for piece in pieces(arguments.data, target=arguments.target, **options):
            if piece.target is None:
                raise CommandError(
                    f"{arguments.data}: name the column with the answers with --target"
                )
            truths.append(piece.target)
            found = model.answers_to(with_columns(piece, arguments), arguments.data)
            answers.append(found["prediction"])
            total += len(piece.target)
            count(total)
    return np.concatenate(truths), np.concatenate(answers)


def _alike(y, answers):
    """Text and numbers are compared as they are written: 3 in a table may be '3' in another."""
    if (y.dtype.kind in "fiub") == (answers.dtype.kind in "fiub"):
        return (y, answers) if y.dtype.kind in "fiub" else (y.astype(str), answers.astype(str))
    return y.astype(str), answers.astype(str)


def _tell(found):
    if "classes" not in found:
        print(f"rows   {found['rows']:,}")
        print(f"R2     {'-' if found['R2'] is None else format(found['R2'], '.4f')}")
        print(f"MAE    {found['MAE']:.6g}   (by the mean: {found['baseline_MAE']:.6g})")
        print(f"RMSE   {found['RMSE']:.6g}   (by the mean: {found['baseline_RMSE']:.6g})")
        return
    print(f"rows               {found['rows']:,}")
    print(
        f"accuracy           {found['accuracy']:.4f}   "
        f"(by always {found['baseline_class']!r}: {found['baseline_accuracy']:.4f})"
    )
    print(
        f"balanced accuracy  {found['balanced_accuracy']:.4f}   "
        f"(by chance: {found['baseline_balanced_accuracy']:.4f})\n"
    )
    classes = {shown(name): row for name, row in found["classes"].items()}
    width = max(5, *map(len, classes))
    print(f"{'class':{width}}  {'rows':>8}  precision  recall      f1")
    for name, row in classes.items():
        print(
            f"{name:{width}}  {row['rows']:>8,}  {row['precision']:9.4f}  {row['recall']:6.4f}  "
            f"{row['f1']:6.4f}"
        )
    sentence = never_found(found)
    if sentence:
        print(f"\n{sentence}")
    if found["unknown"]:
        print(f"the model does not know: {', '.join(map(repr, found['unknown'][:20]))}")
