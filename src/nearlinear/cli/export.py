"""``nearlinear export``: a model file as C source, ONNX graph or JavaScript, with a check.

What is written is run on sample rows and held against the model where that can be done: the ONNX
graph by onnxruntime, the C source by a compiler, the JavaScript by Node, if they are there.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ._errors import CommandError
from ._models import load_model, load_scorer
from ._output_file import add_force, check_writable
from ._progress import progress

_EXAMPLES = """\
examples:
  nearlinear export model.nlm build/model.onnx
  nearlinear export model.nlm --to c build/model
  nearlinear export model.nlm build/small.c --dtype int8
  nearlinear export model.nlm --to js build/site
"""
_SAMPLE = 200
_NAMED = {".c": "c", ".onnx": "onnx"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.add_argument("model", help="model file (.nlm)")
    parser.add_argument(
        "out", type=Path, metavar="PATH",
        help="a file that ends in .onnx or .c (with .h and a test beside it), or a folder that "
        "gets model.onnx, model.c, or a page with nearlinear.js; folders are made",
    )  # fmt: skip
    parser.add_argument(
        "--to", choices=("c", "js", "onnx"), help="what to write; a file's name tells it"
    )
    parser.add_argument(
        "--dtype", default="float32", choices=("float32", "int8"),
        help="of C tables; an ONNX graph has the precision of the model (default: float32)",
    )  # fmt: skip
    add_force(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    place = _place(arguments)
    if place.to != "c" and arguments.dtype != "float32":
        what = "an ONNX graph" if place.to == "onnx" else "a model file"
        raise CommandError(
            f"--dtype {arguments.dtype}: is for C; {what} has the precision of the model"
        )
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
        if self.to == "onnx":
            return [self.folder / f"{self.name}.onnx"]
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
            raise CommandError(f"{out}: what is it to be? Give --to c, --to onnx or --to js")
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


def _sample(loaded):
    """Rows like those that the model was trained on."""
    from ..preparation.raw_rows import raw_rows

    file = loaded.scorer.file
    rows = np.random.default_rng(0).standard_normal((_SAMPLE, file.width))
    return rows if file.preparation is None else raw_rows(file.preparation, rows)


def _write_c(loaded, place, arguments):
    from nearlinear import to_c

    dtype = arguments.dtype
    rows = _sample(loaded)
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
    return found | {"check": _compiled_check(place)}


def _compiled_check(place):
    """Compile and run the generated test program, if the machine has a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return "not run: there is no C compiler"
    source, _, test, _ = place.files
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "check"
        options = ["-std=c99", "-O2", f"-I{place.folder}"]
        command = [compiler, *options, str(source), str(test), "-lm", "-o", program]
        built = subprocess.run(command, capture_output=True, text=True, check=False)
        if built.returncode:
            raise CommandError(f"{source}: the C source does not compile ({built.stderr[:200]})")
        ran = subprocess.run([program], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise CommandError(f"{source}: the C program's scores are not those of the model")
    return f"compiled by {Path(compiler).name}; all its scores are those of these tables"


def _write_onnx(loaded, place, arguments):
    from nearlinear import to_onnx

    (path,) = place.files
    place.folder.mkdir(parents=True, exist_ok=True)
    graph = to_onnx(loaded.model, path)
    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        "operators": len(graph.graph.node),
        "check": _onnx_check(path, loaded),
    }


def _onnx_check(path, loaded):
    """Run the graph on sample rows, if onnxruntime is there."""
    try:
        import onnxruntime
    except ImportError:
        return "not run: onnxruntime is not installed"
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    is_single = any(one.type == "tensor(float)" for one in session.get_inputs())
    rows = _sample(loaded)
    if rows.dtype != object:
        rows = rows.astype(np.float32 if is_single else np.float64)
    file, scores = loaded.scorer.file, loaded.scorer.scores(rows)
    wanted, name = scores[0], "variable" if file.classes is None else "scores"
    if file.outcome.is_calibrated:
        wanted, name = file.probabilities(scores), "probabilities"
    (got,) = session.run([name], _inputs(session, rows, file.feature_names))
    # a row within rounding of a border may fall on its other side
    apart = np.abs(got - wanted).max(axis=1) / max(float(np.abs(wanted).max()), 1e-300)
    if np.mean(apart > 1e-4) > 0.01:
        raise CommandError(f"{path}: the graph's {name} are not those of the model")
    return f"onnxruntime agrees to {np.quantile(apart, 0.99):.1e} of the largest of the {name}"


def _inputs(session, rows, names):
    """Rows as a graph takes them: whole or, where some columns hold text, each column by name."""
    inputs = session.get_inputs()
    if rows.dtype != object:
        return {inputs[0].name: rows}
    names = names or [f"x{d}" for d in range(rows.shape[1])]
    types = {"tensor(float)": np.float32, "tensor(double)": np.float64}
    found = {}
    for one in inputs:
        column = rows[:, [names.index(one.name)]]
        if one.type == "tensor(string)":
            column = np.where(column != column, "", column).astype(object)  # which is missing
        found[one.name] = column.astype(types.get(one.type, object))
    return found


def _write_js(loaded, place, arguments):
    from ..export.js import write_js

    made = write_js(Path(arguments.model).read_bytes(), place.folder, place.name)
    return {
        "files": ", ".join(str(path) for path in place.files),
        "bytes": made.n_bytes,
        "check": _node_check(made, loaded),
        "look": f"python -m http.server -d {place.folder}",
    }


_ASK_NODE = """
import { readFileSync } from "node:fs";
const [module, model, ask] = process.argv.slice(1);
const text = readFileSync(module).toString("base64"); // names in .js are no modules in Node 18
const { load } = await import(`data:text/javascript;base64,${text}`);
const rows = JSON.parse(readFileSync(0, "utf-8"));
process.stdout.write(JSON.stringify(load(readFileSync(model))[ask](rows)));
"""


def _node_check(made, loaded):
    """Score sample rows in Node, if it is there."""
    node = shutil.which("node")
    if node is None:
        return "not run: there is no Node.js"
    file, rows = loaded.scorer.file, _sample(loaded)
    scores = loaded.scorer.scores(rows)
    wanted, ask = scores[0], "decisionFunction"
    if file.outcome.is_calibrated:
        wanted, ask = file.probabilities(scores), "predictProba"
    cells = [[None if cell != cell else cell for cell in row] for row in rows.tolist()]
    command = [node, "--input-type=module", "-e", _ASK_NODE, made.module, made.model, ask]
    ran = subprocess.run(
        command, input=json.dumps(cells, default=str), capture_output=True, text=True, check=False
    )
    if ran.returncode:
        why = ran.stderr.strip().splitlines()
        raise CommandError(f"{made.module}: Node cannot score the model ({' '.join(why)[:200]})")
    got = np.array(json.loads(ran.stdout), dtype=np.float64).reshape(wanted.shape)
    apart = np.abs(got - wanted).max(axis=1) / max(float(np.abs(wanted).max()), 1e-300)
    # a row within rounding of a border may fall on its other side
    if np.mean(apart > 1e-4) > 0.01:
        raise CommandError(f"{made.module}: the scores in Node are not those of the model")
    return f"Node agrees to {np.quantile(apart, 0.99):.1e} of the largest score"


_WRITERS = {"c": _write_c, "onnx": _write_onnx, "js": _write_js}
