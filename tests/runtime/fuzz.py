"""Thousands of changed model files with right checksums, each loaded and scored.

Run in a process of its own: what a case does to memory ends there.
"""

import json
import os
import re
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np
from runtime import crafted
from runtime.child import limit_memory
from runtime.damage import damage_content

import nearlinear
from nearlinear import runtime
from nearlinear.runtime.container import from_bytes, to_bytes

READERS = {"runtime": runtime.load, "nearlinear": nearlinear.load}
# What a model may say of rows that are too large for its numbers.
_NO_SCORES = re.compile("are not finite|are too large|too large for dtype")
# A child process with a memory limit; it is told the numbers of its cases and two folders.
CHILD = f"""
import sys
import numpy as np
from runtime import crafted, fuzz
{limit_memory(3 << 28)}
first, count, work, folder = sys.argv[1:]
fuzz.run(int(first), int(count), folder, work)
"""


def checked(folder):
    """The environment of a child that checks bounds.

    numba does not tell checked code in its cache from other code: it gets a folder of its own.
    """
    return {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(folder)}


def fitted():
    """Files of real fits, with all that these have beside a predictor."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

    rng = np.random.default_rng(2)
    X = rng.standard_normal((40, crafted.N_FEATURES))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    models = [
        make_pipeline(StandardScaler(), nearlinear.LLSVMClassifier(n_anchors=4, random_state=0)),
        nearlinear.LDKLClassifier(depth=1, max_iter=2, random_state=0),
        nearlinear.LMKLClassifier("gaussian", n_copies=2, max_iter=2, random_state=0),
        make_pipeline(StandardScaler(), nearlinear.MLLKMClassifier(n_anchors=8, random_state=0)),
        nearlinear.SwMKLClassifier(["linear", "gaussian"], blend="pairwise"),
        make_pipeline(
            ColumnTransformer(
                [
                    ("numbers", make_pipeline(SimpleImputer(), MinMaxScaler(clip=True)), [2, 0]),
                    ("codes", OneHotEncoder(handle_unknown="ignore", drop=[0.0]), [1]),
                ]
            ),
            nearlinear.LLSVMClassifier(n_anchors=4, random_state=0),
        ),
    ]
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        path = Path(folder) / "model.nlm"
        for model in models:
            is_coded = "columntransformer" in getattr(model, "named_steps", {})
            rows = np.column_stack([X[:, 0], np.rint(X[:, 1]) == 0, X[:, 2]]) if is_coded else X
            nearlinear.save(model.fit(rows, y), path)
            yield path.read_bytes()


def originals(folder):
    """Models made by hand, of every kind and both precisions, and the files of a folder."""
    made = [crafted.make(name) for name in crafted.MODELS]
    made += [crafted.make(name, np.float32) for name in crafted.MODELS]
    made += [*crafted.wrapped()]
    files = sorted(Path(folder).glob("*.nlm")) if folder else []
    return made + [from_bytes(path.read_bytes()) for path in files]


def case(seed, seeds):
    """The changed file of a number."""
    rng = np.random.default_rng(seed)
    return to_bytes(*damage_content(*seeds[rng.integers(len(seeds))], rng))


def outcome(load, path):
    """One of "refused", "scored", "too large"; anything else is raised."""
    try:
        model = load(path)
    except runtime.ModelFileError as error:
        assert "\n" not in str(error) and len(str(error)) < 400, str(error)
        return "refused"
    width, more = _width(model)
    rows = np.random.default_rng(0).standard_normal((5, width + more))
    try:
        ask = _question(model)
        is_file = isinstance(model, runtime.FileModel)
        scores = ask(rows) if more or is_file else ask(rows[:, :width])
        model.predict(rows)
    except ValueError as error:
        assert _NO_SCORES.search(str(error)), "".join(traceback.format_exception(error))
        return "too large"
    assert np.all(np.isfinite(scores)), "scores are not finite"
    return "scored"


def _question(model):
    """What gives numbers: scores, or probabilities where there are no scores in common."""
    has_scores = hasattr(model, "decision_function") and not getattr(model, "others", ())
    if has_scores:
        return model.decision_function
    return getattr(model, "predict_proba", model.predict)


def _width(model):
    if isinstance(model, runtime.FileModel):
        return model.n_features, model.n_gating_features
    last = model[-1] if hasattr(model, "steps") else model
    return model.n_features_in_, getattr(last, "n_gating_features_", 0)


def run(first, count, folder, work):
    """Try ``count`` cases from the number ``first`` on; prints failures, then counts of outcomes.

    The number of a case stands in the file ``last`` of the folder ``work`` while it is tried.
    """
    seeds, found = originals(folder), {}
    path, last = Path(work) / "case.nlm", os.open(Path(work) / "last", os.O_CREAT | os.O_RDWR)
    for seed in range(first, first + count):
        os.pwrite(last, b"%20d" % seed, 0)
        path.write_bytes(case(seed, seeds))
        for name, load in READERS.items():
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    result = outcome(load, path)
            except Exception:
                print(f"case {seed}, {name}:\n{traceback.format_exc()}", flush=True)
                result = "failed"
            found[result] = found.get(result, 0) + 1
    print(json.dumps(found))
