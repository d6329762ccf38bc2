"""Models as SQL in DuckDB: processor microseconds a row, beside the NumPy runtime and `predict`.

A prediction costs the same however well a model was learned, so they are trained briefly. Models
are float32, all on one thread. What DuckDB takes to read and plan a statement, once for a query of
any length, stands by itself.
"""

import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.report import FOLDER, Result, publish
from benchmarks.shapes import drawn
from nearlinear import LDKLClassifier, LLSVMClassifier, LocalForestClassifier, runtime, save, to_sql

N_FEATURES, N_TRAINED, N_SCORED = 30, 8000, 100_000
_PLAIN = {"pairs": 0, "linear_root": False, "leaf_model": "constant"}
MODELS = {
    "linear": lambda: LDKLClassifier(0, max_iter=3, random_state=0),
    "LDKL, depth 6": lambda: LDKLClassifier(6, max_iter=3, random_state=0),
    "LLSVM, 50 anchors": lambda: LLSVMClassifier(50, random_state=0),
    "forest of 100 × 31": lambda: LocalForestClassifier(
        100, max_leaves=31, **_PLAIN, random_state=0
    ),
    "forest of 20 large trees": lambda: _large_forest(),
}


def _large_forest():
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(20, max_leaf_nodes=4095, random_state=0)


def run(smoke=False, folder=FOLDER):
    return list(_results(smoke))


def _results(smoke):
    import duckdb

    from nearlinear import from_forest

    X, y = drawn(200 if smoke else N_TRAINED, N_FEATURES, n_classes=2)
    y = np.where(np.random.default_rng(1).random(len(y)) < 0.3, 1 - y, y)  # so that trees grow
    X = np.asarray(X, dtype=np.float32)
    rows = np.random.default_rng(0).choice(X, 100 if smoke else N_SCORED)
    rows += np.random.default_rng(1).standard_normal(rows.shape).astype(np.float32)
    names = [f"x{d}" for d in range(N_FEATURES)]
    base = duckdb.connect(config={"threads": 1})
    columns = dict(zip(names, rows.T.copy()))
    base.register("given", columns)
    base.execute("CREATE TABLE rows AS SELECT * FROM given")
    for title, make in MODELS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make().fit(X, y)
        model = model if hasattr(model, "predictor_") else from_forest(model)
        text = to_sql(model)
        plan, _ = _timed(lambda text=text: base.execute("EXPLAIN " + text).fetchall())
        whole, found = _timed(lambda text=text: base.execute(text).fetchnumpy())
        model.predict(rows[:1000])  # compiled
        ours, wanted = _timed(lambda model=model: model.predict(rows))
        with tempfile.TemporaryDirectory() as place:
            save(model, Path(place) / "model.nlm")
            plain = runtime.load(Path(place) / "model.nlm")
        some = rows[: len(rows) // 10]
        numpy, _ = _timed(lambda plain=plain, some=some: plain.predict(some))
        note = f"{len(text):,} bytes"
        row = 1e6 / len(rows)
        yield Result(title, "DuckDB: a row", (whole - plan) * row, "µs", note=note)
        yield Result(title, "DuckDB: the plan", plan, "s", note=note)
        yield Result(title, "compiled predict: a row", ours * row, "µs")
        yield Result(title, "NumPy runtime: a row", numpy * 1e6 / len(some), "µs")
        same = float(np.mean(np.asarray(found["label"]) == wanted))
        yield Result(title, "the same labels", 100 * same, "%")


def _timed(work):
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


if __name__ == "__main__":
    publish("sql", run())
