"""What was exported is run on sample rows and held against the model, where that can be done.

The ONNX graph by onnxruntime, the C source by a compiler, the JavaScript by Node and the SQL by
DuckDB, if they are there.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from .._errors import CommandError

_SAMPLE = 200


def sample(loaded):
    """Rows like those that the model was trained on."""
    from ...preparation.raw_rows import raw_rows

    file = loaded.scorer.file
    rows = np.random.default_rng(0).standard_normal((_SAMPLE, file.width))
    return rows if file.preparation is None else raw_rows(file.preparation, rows)


def _apart(got, wanted):
    """How far scores are apart, beside the largest; None if they are others.

    A row within rounding of a border may fall on its other side.
    """
    apart = np.abs(got - wanted).max(axis=1) / max(float(np.abs(wanted).max()), 1e-300)
    return None if np.mean(~(apart <= 1e-4)) > 0.01 else float(np.quantile(apart, 0.99))


def _run(command, **options):
    """The finished process; compilers and Node write UTF-8 on every system."""
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", check=False, **options
    )


def c_check(folder, source, test):
    """Compile and run the generated test program, if the machine has a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return "not run: there is no C compiler"
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "check"
        options = ["-std=c99", "-O2", f"-I{folder}"]
        libraries = ["-lm"] if os.name == "posix" else []  # a part of the C library elsewhere
        command = [compiler, *options, str(source), str(test), *libraries, "-o", program]
        built = _run(command)
        if built.returncode:
            raise CommandError(f"{source}: the C source does not compile ({built.stderr[:200]})")
        ran = _run([program])
    if ran.returncode:
        raise CommandError(f"{source}: the C program's scores are not those of the model")
    return f"compiled by {Path(compiler).name}; all its scores are those of these tables"


def onnx_check(path, loaded):
    """Run the graph on sample rows, if onnxruntime is there."""
    try:
        import onnxruntime
    except ImportError:
        return "not run: onnxruntime is not installed"
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    is_single = any(one.type == "tensor(float)" for one in session.get_inputs())
    rows = sample(loaded)
    if rows.dtype != object:
        rows = rows.astype(np.float32 if is_single else np.float64)
    file, scores = loaded.scorer.file, loaded.scorer.scores(rows)
    wanted, name = scores[0], "variable" if file.classes is None else "scores"
    if file.outcome.is_calibrated:
        wanted, name = file.probabilities(scores), "probabilities"
    (got,) = session.run([name], _inputs(session, rows, file.feature_names))
    apart = _apart(got, wanted)
    if apart is None:
        raise CommandError(f"{path}: the graph's {name} are not those of the model")
    return f"onnxruntime agrees to {apart:.1e} of the largest of the {name}"


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


_ASK_NODE = """
import { readFileSync } from "node:fs";
const [module, model, ask] = process.argv.slice(1);
const text = readFileSync(module).toString("base64"); // names in .js are no modules in Node 18
const { load } = await import(`data:text/javascript;base64,${text}`);
const rows = JSON.parse(readFileSync(0, "utf-8"));
process.stdout.write(JSON.stringify(load(readFileSync(model))[ask](rows)));
"""


def node_check(made, loaded):
    """Score sample rows in Node, if it is there."""
    node = shutil.which("node")
    if node is None:
        return "not run: there is no Node.js"
    file, rows = loaded.scorer.file, sample(loaded)
    scores = loaded.scorer.scores(rows)
    wanted, ask = scores[0], "decisionFunction"
    if file.outcome.is_calibrated:
        wanted, ask = file.probabilities(scores), "predictProba"
    cells = [[None if cell != cell else cell for cell in row] for row in rows.tolist()]
    command = [node, "--input-type=module", "-e", _ASK_NODE, made.module, made.model, ask]
    ran = _run(command, input=json.dumps(cells, default=str))
    if ran.returncode:
        why = ran.stderr.strip().splitlines()
        raise CommandError(f"{made.module}: Node cannot score the model ({' '.join(why)[:200]})")
    got = np.array(json.loads(ran.stdout), dtype=np.float64).reshape(wanted.shape)
    apart = _apart(got, wanted)
    if apart is None:
        raise CommandError(f"{made.module}: the scores in Node are not those of the model")
    return f"Node agrees to {apart:.1e} of the largest score"


def sql_check(text, loaded):
    """Run the statement for the table ``rows`` on sample rows, if DuckDB is there."""
    try:
        import duckdb
    except ImportError:
        return "not run: the package duckdb is not installed"
    file, rows = loaded.scorer.file, sample(loaded)
    scores = loaded.scorer.scores(rows)
    wanted, word = scores[0], "value" if file.classes is None else "score"
    if file.outcome.is_calibrated:
        wanted, word = file.probabilities(scores), "probability"
    with duckdb.connect() as base:
        _fill(base, file, rows)
        found = base.execute(text).fetchnumpy()
    columns = [np.ma.filled(found[name], np.nan) for name in found if name.startswith(word)]
    apart = _apart(np.stack(columns, axis=1), wanted)
    if apart is None:
        raise CommandError(f"the {word}s in DuckDB are not those of the model")
    return f"DuckDB agrees to {apart:.1e} of the largest {word}"


def _fill(base, file, rows):
    """A table of sample rows: numbers, and texts where the model reads texts."""
    names = [*(file.feature_names or ())]
    names += [f"x{d}" for d in range(len(names), rows.shape[1])]
    texts = () if file.preparation is None else file.preparation.texts
    columns = [
        '"' + name.replace('"', '""') + '" ' + ("VARCHAR" if d in texts else "DOUBLE")
        for d, name in enumerate(names)
    ]
    base.execute(f"CREATE TABLE rows ({', '.join(columns)})")
    cells = [[None if cell != cell else cell for cell in row] for row in rows.tolist()]
    places = ", ".join("?" * len(columns))
    base.executemany(f"INSERT INTO rows VALUES ({places})", cells)
