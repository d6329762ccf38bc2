"""Thousands of changed model files with right checksums, each loaded and scored.

Run in a process of its own: what a case does to memory ends there.
"""

import os
import re
import traceback
import warnings
from pathlib import Path

import numpy as np
from runtime import crafted
from runtime.damage import damage_content

import nearlinear
from nearlinear import runtime
from nearlinear.runtime.container import from_bytes, to_bytes

READERS = {"runtime": runtime.load, "nearlinear": nearlinear.load}
# What a model may say of rows that are too large for its numbers.
_NO_SCORES = re.compile("are not finite|are too large|too large for dtype")


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
    print(found)
