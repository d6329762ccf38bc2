"""``nearlinear demo``: the whole job on tables that come with the package.

Penguins are a raw table with texts and missing cells; digits ship with scikit-learn. Each is
searched, and what was found stands beside the alternatives. The model of the penguins is written to
a file, and exported to ONNX and C.
"""

import argparse
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from .. import NearLinearClassifier, NearLinearRegressor, save
from . import export
from ._errors import CommandError
from ._output_file import add_force, check_writable
from .compare import tell_comparison
from .comparing.comparison import LEGEND, Parts, check_picture, compare, draw
from .fitting.told import front_table, search_facts
from .tables.reading import import_pandas

SEED = 0
PENGUINS = Path(__file__).parent / "data" / "penguins.csv"
_QUICK = {"families": ["anchors"]}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=Path, default=Path("nearlinear-demo"), metavar="FOLDER",
        help="where the model, its exports and the picture go (default: %(default)s)",
    )  # fmt: skip
    add_force(parser)
    parser.add_argument("--no-picture", action="store_true", help="print the tables only")
    parser.add_argument(
        "--quick", action="store_true",
        help="a few rows and one family of models, in seconds; the figures then mean little",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> None:
    model_file, picture = arguments.out / "penguins.nlm", arguments.out / "front.png"
    _make_folder(arguments)
    check_writable(model_file, force=arguments.force)
    if not arguments.no_picture:
        check_picture(picture, force=arguments.force)
    n_rows = 150 if arguments.quick else None
    settings = {"random_state": SEED, **(_QUICK if arguments.quick else {})}
    found = {}
    for name, (told, parts, model) in _jobs(n_rows, settings).items():
        print(f"{name}: {told}", flush=True)
        found[name] = compare(model, parts, SEED)
        front = search_facts(model, parts.X_train, False)["front"]
        task = "regression" if parts.is_regression else "classification"
        print(f"\nthe front of the search, held-out scores:\n{front_table(front, task)}\n")
        tell_comparison(found[name])
        print(flush=True)
    print(LEGEND)
    save(found["penguins"].model, model_file)
    print(f"\nmodel: {model_file}, {model_file.stat().st_size:,} bytes")
    for ending in ("onnx", "c"):
        _export(model_file, model_file.with_suffix(f".{ending}"), arguments.force)
    if not arguments.no_picture:
        print(f"\n{draw(picture, found)}")


def _make_folder(arguments):
    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{arguments.out}: cannot be made ({error.strerror})") from error


def _jobs(n_rows, settings):
    """Tables by name: a line about each, its two parts, and the search for it."""
    pandas = import_pandas()
    penguins = pandas.read_csv(PENGUINS).dropna(subset="body_mass_g")
    masses = penguins.pop("body_mass_g").to_numpy()
    images, digits = load_digits(return_X_y=True, as_frame=True)
    return {
        "penguins": (
            "how heavy is a penguin? A raw table with texts and missing cells (CC0)",
            _parts(penguins, masses, n_rows, None), NearLinearRegressor(**settings),
        ),
        "digits": (
            "which digit is it? 8 x 8 images, from scikit-learn",
            _parts(images, digits.to_numpy(), n_rows, digits), NearLinearClassifier(**settings),
        ),
    }  # fmt: skip


def _parts(X, y, n_rows, strata):
    split = {"random_state": SEED, "stratify": strata}
    if n_rows is not None:
        X, _, y, _ = train_test_split(X, y, train_size=n_rows, **split)
        split["stratify"] = None if strata is None else y
    return Parts(*train_test_split(X, y, test_size=0.3, **split), strata is None)


def _export(model_file, out, force):
    print(f"\n$ nearlinear export {model_file} {out}")
    words = {"model": str(model_file), "out": out, "to": None, "dtype": "float32"}
    words |= {"table": None, "keep": None}
    try:
        export.run(argparse.Namespace(**words, force=force, json=False))
    except CommandError as error:
        print(error)  # such as onnx, which is not installed
