"""The front door at 5, 20 and 100 times the time of a linear model, beside everyone of the front.

Of each set one search is made with the largest budget, in microseconds of this machine; smaller
budgets are selected from it. Times are those of ``predict`` of float32 rows that are encoded, as
multiples of a linear model's in the same run; those of the others come from ``benchmarks front``,
where they were measured beside a linear model, too. One line for each set, seed and budget goes to
results/budgets_rows.jsonl at once, and what is there is not measured again.

    python -m benchmarks budgets
    python -m benchmarks budgets --tables banana magic04
"""

import json
import time
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.bench_front import ROWS as FRONT_ROWS
from benchmarks.bench_front import read
from benchmarks.front_measure import batch_microseconds, score_of
from benchmarks.front_models import OURS
from benchmarks.front_sets import front_set
from benchmarks.report import FOLDER, Result
from nearlinear import NearLinearClassifier
from reproduce.protocol import one_thread

ROWS, BUDGETS = "budgets_rows.jsonl", (5, 20, 100)
TABLES = ("banana", "magic04", "letter", "usps", "a9a", "ijcnn1", "skin", "covertype", "mnist")
NEAR = 0.2  # points that count as equal


def measure(name, seed, smoke):
    """A row for each budget."""
    found = front_set(name, seed, smoke)
    split, even = found.raw, found.even
    linear = LogisticRegression(max_iter=200).fit(even.X_train, even.y_train)
    unit = batch_microseconds(linear.predict, even.X_test, smoke)
    began = time.process_time()
    limits = {"max_us_per_row": max(BUDGETS) * unit, "random_state": seed, "n_jobs": 1}
    if smoke:
        limits["families"] = ["anchors"]
    model = NearLinearClassifier(**limits).fit(split.X_train, split.y_train)
    seconds = time.process_time() - began
    for times in BUDGETS:
        chosen = model.select(max_us_per_row=times * unit)
        Z = chosen.encoder_.transform(split.X_test).astype(np.float32)
        behind = chosen.best_estimator_[-1]
        (record,) = [one for one in chosen.record_ if one["is_chosen"]]
        us = batch_microseconds(behind.predict, Z, smoke)
        yield {
            "table": name, "seed": seed, "budget": times, "linear_us": unit, "us": us,
            "times_linear": us / unit, "score": score_of(found, behind.predict(Z), split.y_test),
            "held_out": record["score"], "model": record["model"], "n_bytes": record["n_bytes"],
            "fit_seconds": seconds, "n_train": len(split.y_train), "is_real": found.is_real,
        }  # fmt: skip


def run(smoke=False, folder=FOLDER, tables=None, seeds=None):
    path, known = folder / ROWS, {}
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            known[row["table"], row["seed"], row["budget"]] = row
    for seed in seeds or (0,):
        for name in tables or (TABLES[:1] if smoke else TABLES):
            if (name, seed, BUDGETS[0]) in known:
                continue
            with one_thread(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for row in measure(name, seed, smoke):
                    known[name, seed, row["budget"]] = row
                    with path.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
                    print(
                        f"  {name} {row['budget']} ×: {row['score']:.2f} at "
                        f"{row['times_linear']:.1f} ×, {row['model']}",
                        flush=True,
                    )
    return summary(list(known.values()), peers(folder))


def peers(folder):
    """{set: [(times linear, score, title)]} of everyone else of the front."""
    rows = [row for row in read(folder / FRONT_ROWS) if "failed" not in row]
    units = {
        (row["table"], row["seed"]): row["us"] for row in rows if row["model"] == "linear"
    }  # fmt: skip
    found = {}
    for row in rows:
        unit = units.get((row["table"], row["seed"]))
        if row["model"] not in OURS and unit is not None and row["seed"] == 0:
            point = row["us"] / unit, row["score"], f"{row['model']} {row['size']}".strip()
            found.setdefault(row["table"], []).append(point)
    return found


def summary(rows, others):
    found = []
    for times in BUDGETS:
        mine, n_near = [row for row in rows if row["budget"] == times], 0
        for row in sorted(mine, key=lambda row: TABLES.index(row["table"])):
            inside = [p for p in others.get(row["table"], ()) if p[0] <= max(times, 1.0)]
            best = max(inside, key=lambda p: p[1], default=(1.0, np.nan, "nobody"))
            n_near += not row["score"] < best[1] - NEAR
            note = (
                f"{row['model']} at {row['times_linear']:.1f} ×; best other {best[2]} {best[1]:.2f}"
            )
            found.append(Result(f"{times} × linear", row["table"], row["score"], "%", note=note))
        found.append(
            Result(f"{times} × linear", "near the best or better", n_near, "sets", 7, at_least=True)
        )
    return found
