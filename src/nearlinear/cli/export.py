"""``nearlinear export``: a model file as C source, ONNX graph, JavaScript or SQL, with a check."""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

from ._errors import CommandError
from ._models import load_model, load_scorer
from ._output_file import add_force, check_writable
from ._progress import progress
from .exporting.checks import c_check, node_check, onnx_check, sample, sql_check

_EXAMPLES = """\
examples:
  nearlinear export model.nlm build/model.onnx
  nearlinear export model.nlm --to c build/model
  nearlinear export model.nlm build/small.c --dtype int8
  nearlinear export model.nlm --to js build/site
  nearlinear export model.nlm score.sql --table trips --keep id
"""
_NAMED = {".c": "c", ".onnx": "onnx", ".sql": "sql"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("model", help="model file (.nlm)")
    parser.add_argument(
        "out", type=Path, metavar="PATH",
        help="a file that ends in .onnx, .sql or .c (with .h and a test beside it), or a folder "
        "that gets model.onnx, model.sql, model.c, or a page with nearlinear.js; folders are made",
    )  # fmt: skip
    parser.add_argument(
        "--to", choices=("c", "js", "onnx", "sql"), help="what to write; a file's name tells it"
    )
    parser.add_argument(
        "--dtype", default="float32", choices=("float32", "int8"),
        help="of C tables; an ONNX graph has the precision of the model (default: float32)",
    )  # fmt: skip
    parser.add_argument(
        "--table", metavar="NAME", help="of SQL: the table or file that is scored (default: rows)"
    )
    parser.add_argument(
        "--keep", action="append", default=[], metavar="COLUMN",
        help="of SQL: a column of the table that the result has, too; may be given again",
    )  # fmt: skip
    add_force(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    place = _place(arguments)
    if place.to != "c" and arguments.dtype != "float32":
        what = {"onnx": "an ONNX graph", "js": "a model file", "sql": "an SQL text"}[place.to]
        raise CommandError(
            f"--dtype {arguments.dtype}: is for C; {what} has the precision of the model"
        )
    if place.to != "sql" and (arguments.table or arguments.keep):
        raise CommandError("--table and --keep: are for SQL; give --to sql, or leave them out")
    with progress(2, plain=False) as begin:
        begin(f"reading {arguments.model}")
        loaded = _Loaded(load_model(arguments.model), load_scorer(arguments.model))
        _check_place(place, arguments)
        begin(f"writing and checking {arguments.out}")
        try:
            found = _WRITERS[place.to](loaded, place, arguments)
        except (ValueError, ImportError, OSError) as error:
            raise CommandError(str(error)) from error
    if arguments.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name.replace('_', ' '):20} {value}")


@dataclass(frozen=True)
class _Place:
    """What is written, and where: files of one name in a folder."""

    to: str
    folder: Path
    name: str

    @property
    def files(self):
        if self.to in ("onnx", "sql"):
            return [self.folder / f"{self.name}.{self.to}"]
        if self.to == "js":
            names = ("nearlinear.js", "nearlinear.d.ts", f"{self.name}.nlm", "index.html")
            return [self.folder / name for name in names]
        ends = (".c", ".h", "_test.c", "_cost.txt")
        return [self.folder / f"{self.name}{end}" for end in ends]


def _place(arguments):
    out, to = arguments.out, arguments.to
    told = None if out.is_dir() else _NAMED.get(out.suffix.lower())
    if told is None:
        if to is None:
            raise CommandError(
                f"{out}: what is it to be? Give --to c, --to onnx, --to js or --to sql"
            )
        return _Place(to, out, "model")
    if to not in (None, told):
        raise CommandError(f"{out}: the name is that of {told.upper()}, but --to is {to}")
    return _Place(told, out.parent, out.stem)


def _check_place(place, arguments):
    if place.folder.exists() and not place.folder.is_dir():
        raise CommandError(f"{place.folder} is a file, not a folder; name another place")
    if place.folder.is_dir():
        for path in place.files:
            check_writable(path, inputs=[arguments.model], force=arguments.force)


@dataclass(frozen=True)
class _Loaded:
    """The model, and the scorer of its file."""

    model: object
    scorer: object


def _write_c(loaded, place, arguments):
    from nearlinear import to_c

    dtype = arguments.dtype
    rows = sample(loaded)
    made = to_c(loaded.model, place.folder, dtype=dtype, sample=rows, name=place.name)
    found = {
        "files": ", ".join(str(path) for path in place.files),
        "tables": dtype,
        "flash_bytes": made.flash_bytes,
        "ram_bytes": made.ram_bytes,
        "multiply_adds": made.multiply_adds,
        "largest_difference": float(made.largest_difference),
        "largest_score": float(made.largest_score),
    }
    if made.agreement is not None:
        found["same_labels"] = f"{100 * made.agreement:.1f} % of {made.n_rows} drawn rows"
    return found | {"check": c_check(place.folder, *place.files[::2])}


def _write_onnx(loaded, place, arguments):
    from nearlinear import to_onnx

    (path,) = place.files
    place.folder.mkdir(parents=True, exist_ok=True)
    graph = to_onnx(loaded.model, path)
    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        "operators": len(graph.graph.node),
        "check": onnx_check(path, loaded),
    }


def _write_js(loaded, place, arguments):
    from ..export.js import write_js

    made = write_js(Path(arguments.model).read_bytes(), place.folder, place.name)
    return {
        "files": ", ".join(str(path) for path in place.files),
        "bytes": made.n_bytes,
        "check": node_check(made, loaded),
        "look": f"python -m http.server -d {place.folder}",
    }


def _write_sql(loaded, place, arguments):
    from nearlinear import to_sql

    (path,) = place.files
    check = sql_check(to_sql(loaded.model), loaded)
    place.folder.mkdir(parents=True, exist_ok=True)
    table = arguments.table or "rows"
    text = to_sql(loaded.model, table, keep=arguments.keep, path=path)
    return {"file": str(path), "bytes": len(text.encode()), "table": table, "check": check}


_WRITERS = {"c": _write_c, "onnx": _write_onnx, "js": _write_js, "sql": _write_sql}
