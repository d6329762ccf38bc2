"""Changed model files in Node: each is refused, or scored as the NumPy runtime scores it."""

import warnings
from collections import Counter

import numpy as np
from js.node import ask, job
from runtime import fuzz

from nearlinear import runtime

_LITTLE_MEMORY = ["--max-old-space-size=512"]


def try_changed(numbers, seeds, path):
    """Counts of what came of the cases, and a line for each that failed.

    Numbers of any size meet each other in such files, so that sums of one order may lose what those
    of another keep: scores that are "apart" are counted, and are no failure by themselves.
    """
    files = [fuzz.case(number, seeds) for number in numbers]
    wanted, jobs = [], []
    for data in files:
        path.write_bytes(data)
        rows, scores = _in_python(path)
        wanted.append(scores)
        jobs.append(job(data, [] if rows is None else rows, "decisionFunction", "predictProba"))
    counts, findings = Counter(), []
    for number, scores, found in zip(numbers, wanted, ask(jobs, _LITTLE_MEMORY), strict=True):
        came = _came_of(found, scores)
        counts[came] += 1
        if came == "failed":
            findings.append(f"case {number}, nearlinear.js: {found}; Python: {scores}")
    return counts, findings


def _came_of(found, scores):
    is_refused = found.get("name") == "ModelFileError"
    if is_refused != isinstance(scores, str) or (not is_refused and "error" in found):
        return "failed"
    if is_refused:
        return "refused"
    got = found["predictProba" if "error" in found["decisionFunction"] else "decisionFunction"]
    if scores is None or isinstance(got, dict):
        return "too large"
    return "scored" if np.allclose(got, scores, rtol=1e-4, atol=1e-4) else "apart"


def _in_python(path):
    """Rows and scores; a sentence where the file is refused, None where numbers are too large."""
    try:
        model = runtime.load(path)
    except runtime.ModelFileError as error:
        return None, str(error)
    rows = np.random.default_rng(0).standard_normal((5, model.n_features + model.n_gating_features))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            ask_for = model.predict_proba if model.others else model.decision_function
            return rows, ask_for(rows)
        except ValueError:
            return rows, None
