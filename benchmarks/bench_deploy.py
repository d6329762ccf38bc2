"""One model on every target: bytes, processor microseconds a row, how near its scores are.

Batches are of 10,000 rows, on one thread. Targets whose tools are missing are left out: gcc,
arm-none-eabi-gcc and qemu-system-arm, node, onnxruntime, duckdb. What a bundle weighs and how long
its first answer takes is measured by ``python -m benchmarks bundles``.
"""

import importlib.util
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.deploy_model import c_results, made_task, per_call
from benchmarks.report import FOLDER, Result, publish
from nearlinear import load, row_scorer, runtime, save, to_onnx, to_sql
from nearlinear.export.js import module_text
from reproduce.protocol import one_thread


def run(smoke=False, folder=FOLDER):
    with one_thread(), tempfile.TemporaryDirectory(prefix="nearlinear-deploy-") as place:
        task = made_task(100 if smoke else 10_000)
        return list(_results(task, Path(place), smoke))


def _results(task, place, smoke):
    seconds = 0.01 if smoke else 0.5
    yield Result("the model", "accuracy", 100 * task.model.score(task.rows, task.labels), "%")
    yield from _in_python(task, place, seconds)
    if importlib.util.find_spec("onnxruntime"):
        yield from _in_onnx(task, place, seconds)
    yield from c_results(task, place)
    if shutil.which("node"):
        yield from _in_node(task, place)
    if importlib.util.find_spec("duckdb"):
        yield from _in_sql(task)


def _compared(case, task, scores, labels):
    yield Result(case, "difference", task.difference(scores), "%", note="of the largest score")
    yield Result(case, "labels", task.agreement(labels), "%")


def _timed(case, batch, one, many, seconds):
    """Microseconds a row of all rows together, and of each of some rows alone."""
    yield Result(case, "batch", per_call(lambda: batch(many), len(many), seconds), "µs")
    some = list(many[:200])
    alone = per_call(lambda: [one(row) for row in some], len(some), seconds)
    yield Result(case, "one row", alone, "µs")


def _in_python(task, place, seconds):
    path = place / "model.nlm"
    save(task.model, path)
    model, plain = load(path), runtime.load(path)
    scorer = row_scorer(model)
    for case, found, one in (
        ("Python", model, scorer.predict),
        ("NumPy runtime", plain, lambda row: plain.predict(row[None])),
    ):
        yield Result(case, "size", path.stat().st_size / 1e3, "kB", note="model file")
        yield from _compared(
            case, task, found.decision_function(task.rows), found.predict(task.rows)
        )
        yield from _timed(case, found.predict, one, task.many, seconds)
    yield from _compared(
        "compile()", task, [scorer(row) for row in task.rows],
        [scorer.predict(row) for row in task.rows],
    )  # fmt: skip


def _in_onnx(task, place, seconds):
    import onnxruntime

    path, options = place / "model.onnx", onnxruntime.SessionOptions()
    to_onnx(task.model, path)
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    labels, scores = session.run(["label", "scores"], {"X": task.rows})
    yield Result("ONNX Runtime", "size", path.stat().st_size / 1e3, "kB")
    yield from _compared("ONNX Runtime", task, scores, labels)
    yield from _timed(
        "ONNX Runtime",
        lambda rows: session.run(["label"], {"X": rows}),
        lambda row: session.run(["label"], {"X": row[None]}),
        task.many,
        seconds,
    )


SCORE = """
import { readFileSync } from "node:fs";
import { load } from "./nearlinear.mjs";
const numbers = new Float32Array(readFileSync("given.f32").buffer.slice(0));
const model = load(readFileSync("model.nlm"));
process.stdout.write(JSON.stringify([model.decisionFunction(numbers), model.predict(numbers)]));
"""


def _in_node(task, place):
    module = place / "nearlinear.mjs"
    module.write_text(module_text(), "utf-8")
    task.rows.tofile(place / "given.f32")
    (place / "score.mjs").write_text(SCORE, "utf-8")
    scores, labels = json.loads(_node(["score.mjs"], place))
    n_bytes = module.stat().st_size + (place / "model.nlm").stat().st_size
    yield Result("JavaScript", "size", n_bytes / 1e3, "kB", note="module and model file")
    yield from _compared("JavaScript", task, scores, labels)
    task.many.tofile(place / "rows.f32")
    (place / "shape.json").write_text(json.dumps({"n_features": task.many.shape[1]}))
    script = Path(__file__).with_name("js_speed.mjs")
    found = json.loads(_node([script, place, module], place))["model"]["nearlinear.js"]
    yield Result("JavaScript", "batch", found["batch_us"], "µs")
    yield Result("JavaScript", "one row", found["one_us"], "µs")


def _node(words, place):
    words = [shutil.which("node"), *words]
    return subprocess.run(words, cwd=place, check=True, capture_output=True, text=True).stdout


def _in_sql(task):
    import duckdb

    names = [f"x{d}" for d in range(task.rows.shape[1])]
    text = to_sql(task.model)
    yield Result("SQL", "size", len(text.encode()) / 1e3, "kB", note="text of the statement")
    with duckdb.connect(config={"threads": 1}) as base:
        for title, rows in (("few", task.rows), ("many", task.many)):
            base.register("given", dict(zip(names, rows.T.copy())))
            base.execute("CREATE OR REPLACE TABLE rows AS SELECT * FROM given")
            if title == "few":
                found = base.execute(text).fetchnumpy()
                scores = np.column_stack([found[f"score_{label}"] for label in range(10)])
                yield from _compared("SQL", task, scores, found["label"])
        plan = per_call(lambda: base.execute("EXPLAIN " + text).fetchall())
        whole = per_call(lambda: base.execute(text).fetchnumpy())
    yield Result("SQL", "batch", (whole - plan) / len(task.many), "µs")
    yield Result("SQL", "the plan", plan / 1e6, "s", note="once for a query")


if __name__ == "__main__":
    publish("deploy", run())
