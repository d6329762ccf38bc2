"""Slow teachers and their fast students: what is kept of the gain over a linear model.

Teachers are an SVC, LightGBM with 500 trees and a network of two layers of 512 units; their few
settings are chosen on held-out training rows. The student may take a fiftieth of the teacher's
measured time a row (CPU time of one thread), and is distilled from the training rows alone; big
sets are cut to ``MOST_ROWS`` of them for all. All get the same scaled rows. One line for each set
and teacher goes to results/distill_rows.jsonl at once, and what is there is not measured again.

    python -m benchmarks distill
    python -m benchmarks distill --tables banana magic04 --only SVC
"""

import importlib.util
import json
import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

import nearlinear
from benchmarks.front_sets import SHAPES, front_set, held_out_parts
from benchmarks.report import FOLDER, Result
from nearlinear.search.students.fidelity import microseconds
from reproduce.protocol import one_thread

SETS = ("banana", "magic04", "skin", "ijcnn1", "covertype", "a9a", "usps", "letter", "mnist")
SMOKE = ("banana", "usps")
MOST_ROWS = {
    "a9a": 6_000, "letter": 8_000, "ijcnn1": 10_000, "skin": 40_000, "covertype": 8_000,
    "mnist": 4_000,
}  # fmt: skip
MOST_TEST_ROWS = 10_000
ROWS = "distill_rows.jsonl"
SHARE, SPEED_UP, ENOUGH_SETS = 0.97, 50.0, 6
MARGIN = 0.8  # of the time is the model's own, the rest is for the checks of predict
TIME_LIMIT = {False: 600.0, True: 4.0}  # seconds of a student's fit, without and with --smoke


def teachers():
    """{name: models of which the best on held-out training rows is taken}."""
    found = {
        "SVC": [SVC(C=C, gamma=g, cache_size=800) for C in (1, 10) for g in ("scale", 1.0)],
        "MLP": [
            MLPClassifier((512, 512), alpha=a, early_stopping=True, random_state=0)
            for a in (1e-4, 1e-2)
        ],
    }
    if importlib.util.find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        settings = {"n_estimators": 500, "n_jobs": 1, "verbose": -1, "random_state": 0}
        found["LightGBM"] = [LGBMClassifier(learning_rate=r, **settings) for r in (0.03, 0.1)]
    return found


def measure(name, teacher_name, candidates, smoke):
    """One row: accuracies of the test part, what is kept, and at what share of the time."""
    split = front_set(name, smoke=smoke).even
    split = split.limited(MOST_ROWS.get(name), MOST_TEST_ROWS)
    X, y, X_test, y_test = split.X_train, split.y_train, split.X_test, split.y_test
    began = time.process_time()
    teacher = _best(candidates, X, y).fit(X, y)
    teacher_seconds = time.process_time() - began
    us = microseconds(teacher.predict, X_test)
    began = time.process_time()
    student = nearlinear.distill(
        teacher, X, y, encoder=None, max_us_per_row=MARGIN * us / SPEED_UP, random_state=0,
        time_limit=TIME_LIMIT[smoke],
    )  # fmt: skip
    seconds = time.process_time() - began
    linear = _best([LogisticRegression(C=C, max_iter=300) for C in (0.1, 1, 10)], X, y).fit(X, y)
    models = {"teacher": teacher, "student": student, "linear": linear}
    scores = {who: 100 * float(np.mean(m.predict(X_test) == y_test)) for who, m in models.items()}
    told = {key: student.report_[key] for key in ("agreement", "correlation", "n_new_rows")}
    return {
        "set": name, "model": teacher_name, "n_train": len(y), "n_test": len(y_test), **scores,
        "teacher_us": us, "student_us": microseconds(student.predict, X_test),
        "linear_us": microseconds(linear.predict, X_test),
        "teacher_bytes": student.report_["teacher_bytes"],
        "student_bytes": student.report_["student_bytes"], **told, "held_out": {
            key: student.report_[key] for key in ("teacher_score", "student_score", "linear_score")
        }, "targets": student.report_["targets"],
        "chosen": next(one["model"] for one in student.record_ if one["is_chosen"]),
        "settings": next(one["settings"] for one in student.record_ if one["is_chosen"]),
        "teacher_seconds": teacher_seconds, "distill_seconds": seconds,
    }  # fmt: skip


def _best(candidates, X, y):
    """The most accurate on a held-out part of at most 4,000 training rows."""
    rng = np.random.RandomState(0)
    some = rng.permutation(len(y))[:4000]
    fit, held = (some[places] for places in held_out_parts(y[some], 0)[0])
    scores = [clone(one).fit(X[fit], y[fit]).score(X[held], y[held]) for one in candidates]
    return clone(candidates[int(np.argmax(scores))])


def kept(row):
    """The student's gain over the linear model as a share of the teacher's."""
    gain = row["teacher"] - row["linear"]
    return (row["student"] - row["linear"]) / gain if gain > 0 else float("nan")


def is_kept(row):
    """Where the teacher gains nothing, its student has to be as good as it is."""
    share = kept(row)
    return row["student"] >= row["teacher"] if np.isnan(share) else share >= SHARE


def run(smoke=False, folder=FOLDER, tables=None, only=None):
    SHAPES.setdefault("banana", (3533, 1767, 2, 2))
    path, known = folder / ROWS, {}
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            known[row["set"], row["model"]] = row
    for teacher, candidates in teachers().items():
        for name in tables or (SMOKE if smoke else SETS):
            if (name, teacher) in known or (only and teacher not in only):
                continue
            with one_thread(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                row = known[name, teacher] = measure(name, teacher, candidates, smoke)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            told = f"{row['teacher']:.2f} {row['student']:.2f} {row['linear']:.2f}"
            times = f"{row['teacher_us']:.3g} / {row['student_us']:.3g} µs"
            print(f"  {teacher} {name}: {told}, {100 * kept(row):.1f} % kept, {times}", flush=True)
    return summary(list(known.values()))


def summary(rows):
    """What is kept and how much faster, set by set, and how many sets reach both."""
    found, reached = [], {}
    for row in rows:
        case, speed_up = f"{row['model']} on {row['set']}", row["teacher_us"] / row["student_us"]
        share = kept(row)
        found.append(Result(case, "gain kept", 100 * share, "%", 100 * SHARE, True, row["chosen"]))
        found.append(Result(case, "speed-up", speed_up, "×", SPEED_UP, True))
        reached.setdefault(row["model"], []).append(is_kept(row) and speed_up >= SPEED_UP)
    for name, sets in reached.items():
        note = f"of {len(sets)} measured"
        found.append(Result(name, "sets with both", sum(sets), "", ENOUGH_SETS, True, note))
    return found
