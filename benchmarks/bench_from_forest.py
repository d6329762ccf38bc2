"""Forests of other libraries through ``from_forest``, beside the libraries' own predictors.

Models are fitted to a part of covertype, and give raw scores of all test rows in float32, on one
thread, all in turns: CPU nanoseconds of a row, the best of several. ONNX Runtime gives labels.
Then one row at a time: median microseconds of a call. treelite, tl2cgen, lleaves and onnxmltools
take part where they are installed; what their converters refuse is said in a note.
"""

import time
import warnings

import numpy as np

from benchmarks.bench_single_row import Turns, median_microseconds
from benchmarks.bench_tree_fit import tree_split_of
from benchmarks.forest_peers import forests, n_leaves_of, other_predictors, own_predictor
from benchmarks.quiet import best_of, disturbance, say_load, timed
from benchmarks.report import FOLDER, Result, publish
from nearlinear import from_forest
from nearlinear.kinds import known
from reproduce.protocol import one_thread

OURS, THEIRS = "nearlinear", "the library"
REPEATS = 7


def results_for(title, model, n_rows, split, smoke):
    X = np.ascontiguousarray(split.X_test, dtype=np.float32)
    model.fit(split.X_train[:n_rows].astype(np.float32), split.y_train[:n_rows])
    start = time.process_time()
    forest = from_forest(model)
    read = time.process_time() - start
    same = 100 * float(np.mean(np.ravel(model.predict(X)) == forest.predict(X)))
    n_leaves = n_leaves_of(forest)
    case = f"{title}, {n_leaves} leaves"
    yield Result(case, "labels that are equal", same, "%", target=100.0, at_least=True)
    yield Result(case, "from_forest", read, "s")
    others, missing = other_predictors(title, model, X.shape[1], n_leaves)
    calls = {OURS: forest.decision_function, THEIRS: own_predictor(title, model), **others}
    for name in others:
        try:
            calls[name](X[:100])
        except Exception as error:  # as above: what others refuse is said in a note
            missing[name] = f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"
            del calls[name]
    batches = {name: lambda call=call: call(X) for name, call in calls.items()}
    run = timed(lambda: best_of(batches, 2 if smoke else REPEATS, 4.0, "cpu_seconds"))
    note = disturbance(run.others).lstrip("; ")
    batch = {name: 1e9 * one.cpu_seconds / len(X) for name, one in run.value.items()}
    rows = {name: lambda x, call=call: call(x[None]) for name, call in calls.items()}
    if known("row", "Forest") is not None:
        rows[f"{OURS} compile()"] = forest.compile()
    turns = Turns(2, 10) if smoke else Turns(20, 50, 2.0)
    median_microseconds(rows, X, Turns(1, 5))
    single = median_microseconds(rows, X, turns)
    for kind, unit, found in (("batch", "ns", batch), ("one row", "µs", single)):
        for name, value in found.items():
            yield Result(case, f"{name}, {kind}", value, unit, note=note)
        ours = min(value for name, value in found.items() if name.startswith(OURS))
        for name, value in found.items():
            if not name.startswith(OURS):
                yield Result(case, f"{name} / {OURS}, {kind}", value / ours, "×")
    for name, reason in missing.items():
        yield Result(case, f"{name}: not measured", 0.0, note=reason)


def run(smoke=False, folder=FOLDER):
    split, _ = tree_split_of("covertype", smoke)
    say_load()
    found = []
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for title, model, n_rows in forests(smoke):
            print(f"  {title}", flush=True)
            found += results_for(title, model, n_rows, split, smoke)
    return found


if __name__ == "__main__":
    publish("from_forest", run())
