"""``nearlinear export``: a model file as C source or as an ONNX graph, with a check.

What is written is run on sample rows and held against the model where that can be done: the ONNX
graph by onnxruntime, the C source by a compiler, if there is one.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ._failure import CommandError
from ._models import load_model, load_scorer

_EXAMPLES = """\
examples:
  nearlinear export model.nlm --to c build/model
  nearlinear export model.nlm --to c build/small --dtype int8
  nearlinear export model.nlm --to onnx build/model
"""
_SAMPLE = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("model", help="model file (.nlm)")
    parser.add_argument("--to", required=True, choices=("c", "onnx"), help="what to write")
    parser.add_argument("directory", type=Path, help="folder to write to; made if it is missing")
    parser.add_argument(
        "--dtype", default="float32", choices=("float32", "int8"), help="of C tables"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    loaded = _Loaded(load_model(arguments.model), load_scorer(arguments.model))
    write = _write_c if arguments.to == "c" else _write_onnx
    try:
        found = write(loaded, arguments)
    except (ValueError, ImportError, OSError) as error:
        raise CommandError(str(error)) from error
    if arguments.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name.replace('_', ' '):20} {value}")


@dataclass(frozen=True)
class _Loaded:
    """The model, and the scorer of its file."""

    model: object
    scorer: object


def _sample(loaded):
    """Rows like those that the model was trained on."""
    rows = np.random.default_rng(0).standard_normal((_SAMPLE, loaded.scorer.n_features))
    steps = getattr(loaded.model, "steps", None)
    if steps is not None:
        rows = steps[0][1].inverse_transform(rows)
    return rows


def _write_c(loaded, arguments):
    from nearlinear import to_c

    made = to_c(loaded.model, arguments.directory, dtype=arguments.dtype, sample=_sample(loaded))
    return {
        "directory": str(arguments.directory),
        "flash_bytes": made.flash_bytes,
        "ram_bytes": made.ram_bytes,
        "multiply_adds": made.multiply_adds,
        "largest_difference": float(made.largest_difference),
        "check": _compiled_check(arguments.directory),
    }


def _compiled_check(directory):
    """Compile and run the generated test program, if the machine has a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return "not run: there is no C compiler"
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "check"
        sources = [str(directory / "model.c"), str(directory / "model_test.c")]
        command = [compiler, "-std=c99", "-O2", f"-I{directory}", *sources, "-lm", "-o", program]
        built = subprocess.run(command, capture_output=True, text=True, check=False)
        if built.returncode:
            raise CommandError(f"{directory}: the C source does not compile ({built.stderr[:200]})")
        ran = subprocess.run([program], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise CommandError(f"{directory}: the C program's scores are not those of the model")
    return f"compiled by {Path(compiler).name}; all scores agree"


def _write_onnx(loaded, arguments):
    from nearlinear import to_onnx

    arguments.directory.mkdir(parents=True, exist_ok=True)
    path = arguments.directory / "model.onnx"
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
    is_single = session.get_inputs()[0].type == "tensor(float)"
    rows = _sample(loaded).astype(np.float32 if is_single else np.float64)
    name = "scores" if loaded.scorer.file.classes is not None else "variable"
    (got,) = session.run([name], {"X": rows})
    _, scores = loaded.scorer.answers(rows)
    wanted = np.asarray(scores).reshape(len(rows), -1)
    # a row within rounding of a border may fall on its other side
    apart = np.abs(got - wanted).max(axis=1) / max(float(np.abs(wanted).max()), 1e-300)
    if np.mean(apart > 1e-4) > 0.01:
        raise CommandError(f"{path}: the graph's scores are not those of the model")
    return f"onnxruntime agrees to {np.quantile(apart, 0.99):.1e} of the largest score"
