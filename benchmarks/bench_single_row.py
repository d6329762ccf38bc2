"""One row at a time: ``compile()`` beside the ``predict`` of other models, and ONNX Runtime.

Median time of a call over test rows, float32, one thread, all models in turns. A prediction costs
the same however well the trees and anchors were learned, so they are trained briefly; the kernel
SVM and boosted trees, whose cost grows with what they learn, are trained as usual.
"""

import importlib.util
import time
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from benchmarks.quiet import disturbance, timed
from benchmarks.report import FOLDER, Result, publish
from benchmarks.shapes import split_of
from reproduce.ldkl.methods import STUDY
from reproduce.llc_sapl.methods import parameters_for
from reproduce.protocol import one_thread
from reproduce.written_out import ldkl_classifier, llc_sapl_classifier

SETS = ("letter", "ijcnn1")
MOST_MICROSECONDS = 5.0
EPOCHS = 2
SMOKE_ROWS = {"train_rows": 400, "test_rows": 50}


@dataclass(frozen=True)
class Turns:
    """How often every call is made: blocks of ``n_calls`` rows, ``n_blocks`` times in turns."""

    n_blocks: int = 40
    n_calls: int = 100
    budget: float = 4.0  # seconds; a slow model has seen enough rows by then


def has(module):
    return importlib.util.find_spec(module) is not None


def our_calls(name, split):
    """{title: function of a row} of our models, checked and compiled."""
    found = {}
    models = {
        "LLC-SAPL": llc_sapl_classifier(**parameters_for("llc_sapl", name), random_state=0),
        "LDKL": ldkl_classifier(**STUDY.parameters_for("ldkl", name), random_state=0),
    }
    scaler = StandardScaler().fit(split.X_train)
    for title, model in models.items():
        model.set_params(max_iter=EPOCHS).fit(split.X_train, split.y_train)
        scorer, scaled = model.compile(), model.compile(scaler)
        found[f"{title} compile()"] = scorer
        found[f"{title} compile().predict"] = scorer.predict
        found[f"{title} compile(scaler)"] = scaled
        found[f"{title} predict"] = lambda x, model=model: model.predict(x[None])
        if has("onnx") and has("onnxruntime"):
            found[f"{title} ONNX Runtime"] = onnx_call(model)
    return found


def onnx_call(model):
    import onnxruntime

    from nearlinear import to_onnx

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    text = to_onnx(model).SerializeToString()
    session = onnxruntime.InferenceSession(text, options, providers=["CPUExecutionProvider"])
    return lambda x: session.run(["label"], {"X": x[None]})


def other_calls(name, split):
    """{title: function of a row} of the models that ours stand beside."""
    models = {
        "LinearSVC": LinearSVC(C=0.1, tol=1e-3),
        "SVC": SVC(**parameters_for("kernel", name)),
    }
    found = {}
    for title, model in models.items():
        model.fit(split.X_train, split.y_train)
        found[f"{title} predict"] = lambda x, model=model: model.predict(x[None])
    if has("lightgbm"):
        from lightgbm import LGBMClassifier

        boosted = LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)
        booster = boosted.fit(split.X_train, split.y_train).booster_
        found["LightGBM Booster.predict"] = lambda x: booster.predict(x[None], num_threads=1)
    return found


def median_microseconds(calls, X, turns):
    """Median over all calls of each function, made in turns."""
    taken = {title: [] for title in calls}
    for block in range(turns.n_blocks):
        rows = [X[(block * turns.n_calls + i) % len(X)] for i in range(turns.n_calls)]
        for title, call in calls.items():
            if sum(taken[title]) > turns.budget * 1e9:
                continue
            for x in rows:
                start = time.perf_counter_ns()
                call(x)
                taken[title].append(time.perf_counter_ns() - start)
    return {title: float(np.median(times)) / 1e3 for title, times in taken.items()}


def results_for(name, smoke):
    split, is_real = split_of(name)
    if smoke:
        split = split.limited(**SMOKE_ROWS)
    turns = Turns(n_blocks=2, n_calls=10) if smoke else Turns()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calls = {**our_calls(name, split), **other_calls(name, split)}
        X = np.ascontiguousarray(split.X_test, dtype=np.float32)
        median_microseconds(calls, X, Turns(1, 5))  # what is compiled, is compiled here
        run = timed(lambda: median_microseconds(calls, X, turns))
    found = run.value
    case = f"{name} {X.shape[1]} features, {len(np.unique(split.y_train))} classes"
    note = ("" if is_real else "drawn rows of this shape") + disturbance(run.others)
    for title, microseconds in found.items():
        target = MOST_MICROSECONDS if title.endswith("compile()") else None
        yield Result(case, title, microseconds, "µs", target=target, note=note.lstrip("; "))
    for other in found:
        if other.startswith(("LLC-SAPL", "LDKL")):
            continue
        for ours in ("LLC-SAPL compile().predict", "LDKL compile().predict"):
            yield Result(case, f"{other} / {ours}", found[other] / found[ours], "×")


def run(smoke=False, folder=FOLDER):
    with one_thread():
        return [result for name in SETS for result in results_for(name, smoke)]


if __name__ == "__main__":
    publish("single_row", run())
