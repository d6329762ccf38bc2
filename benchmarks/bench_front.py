"""Accuracy against prediction time: all of ours beside the strongest alternatives.

Models of ``front_models``, most in several sizes, on the sets of ``front_sets``. One row for each
set, model and seed goes to results/front_rows.jsonl at once; rows that are there are not measured
again unless asked for, so a run can be stopped and continued. Then the asked and the measured, the
places where we lose (results/summary.jsonl), and the pictures (results/front_NAME.png and, of two
sets, results/front.png) are made from all rows.

Seconds are CPU seconds of one thread. A prediction is the ``predict`` of float32 rows that are
ready: scaled, or with pair columns, where a model wants that; the best of many, taken in turns by
the models of a run. One row goes through ``compile()`` (ours) or ``predict``: median microseconds.
What is not chosen, fitted and timed in ten CPU minutes is given up.

    python -m benchmarks front
    python -m benchmarks front --tables covertype --only LocalForest LightGBM --seeds 0 1 2
    python -m benchmarks front --targets        # nothing is measured
"""

import json
import os
import warnings

import nearlinear
from benchmarks import onedal_peers
from benchmarks.front_measure import (
    OverLimit,
    Rows,
    at_most,
    batch_microseconds,
    held_out_score,
    measure,
)
from benchmarks.front_models import FOREST, entries
from benchmarks.front_picture import draw_all
from benchmarks.front_sets import SHAPES, front_set
from benchmarks.front_targets import SUMMARY, results_of, summary
from benchmarks.quiet import say_load
from benchmarks.report import FOLDER, publish
from reproduce.protocol import one_thread

ROWS = "front_rows.jsonl"
LIMIT, ROUNDS = 600.0, 3
SMOKE_TABLES = ("magic04", "concrete")
SMOKE_ONLY = (
    f"{FOREST} 5 trees", "linear", "LightGBM 2 × 255",
    "LightGBM + pairs 2 × 255", "decision tree",
)  # fmt: skip


def is_asked(entry, only):
    """A family, or one of its models by its whole title."""
    return only is None or entry.family in only or entry.title in only


def measure_missing(path, tables, only, seeds, again, smoke):
    """Add the rows that are not in the file yet."""
    there = [] if again else read(path)
    done = {(row["table"], row["model"], row["size"], row["seed"]) for row in there}
    for seed in seeds:
        for name in tables:
            wanted = [
                entry
                for entry in entries(name)
                if is_asked(entry, only) and (name, entry.family, entry.size, seed) not in done
            ]
            if wanted:
                measure_set(path, name, wanted, seed, smoke)


def judge_missing(path, tables, only):
    """Held-out scores of rows that were measured before theirs were asked for; seed 0 alone."""
    for name in tables:
        judged = {entry.size: entry for entry in entries(name) if entry.is_judged}
        lacking = [
            row["size"]
            for row in read(path)
            if row["table"] == name and row["model"] == FOREST and row["seed"] == 0
            and row["size"] in judged and row.get("held_out", 0) is None
            and is_asked(judged[row["size"]], only)
        ]  # fmt: skip
        found = Rows(front_set(name), 0) if lacking else None
        for size in lacking:
            score = held_out_score(judged[size], judged[size].settings[0], found, False)
            print(f"  {name}: {FOREST} {size}: held out {score:.4g}", flush=True)
            rows = read(path)
            for row in rows:
                if (row["table"], row["model"], row["size"], row["seed"]) == (
                    name,
                    FOREST,
                    size,
                    0,
                ):
                    row["held_out"] = score
            write(path, rows)


def measure_set(path, name, wanted, seed, smoke):
    rows, there = Rows(front_set(name, seed, smoke), seed), []
    for entry in wanted:
        key = {"table": name, "model": entry.family, "size": entry.size, "seed": seed}
        try:
            with at_most(LIMIT), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = measure(entry, rows, smoke)
        except OverLimit:
            keep(path, key | {"failed": f"over {LIMIT:g} s of CPU"}, rows.found)
            continue
        there.append((key, fitted))
        tell(keep(path, key | fitted.numbers, rows.found))
    time_in_turns(path, there, rows.found, smoke)
    if not smoke:
        for row in onedal_peers.rows_of(rows, wanted):
            keep(path, {"table": name, "seed": seed} | row, rows.found)
    write(path, read(path))


def time_in_turns(path, there, found, smoke):
    """Once more, one after another: a busy minute hits all of them. The shortest time counts."""
    for _ in range(1 if smoke else ROUNDS):
        for _, fitted in there:
            us = batch_microseconds(fitted.model.predict, fitted.X, smoke)
            fitted.numbers["us"] = min(us, fitted.numbers["us"])
    for key, fitted in there:
        keep(path, key | fitted.numbers, found)


def keep(path, row, found):
    split = found.raw
    shape = {"n_train": len(split.y_train), "n_test": len(split.y_test), "is_real": found.is_real}
    # Times depend on what others do, and on who goes first.
    moment = {"load": round(os.getloadavg()[0], 1), "nice": os.nice(0)}
    row = row | shape | moment | {"version": nearlinear.__version__}
    with path.open("a", encoding="utf-8") as file:
        print(json.dumps(row, ensure_ascii=False), file=file)
    return row


def tell(row):
    title = f"{row['model']} {row['size']}".strip()
    print(
        f"  {row['table']}, seed {row['seed']}: {title}: {row['score']:.4g} at {row['us']:.3g} µs, "
        f"one row {row['one_row_us']:.3g} µs, fit {row['fit_seconds']:.3g} s",
        flush=True,
    )


def read(path):
    """The last row of each set, model and seed."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    last = {(row["table"], row["model"], row["size"], row["seed"]): row for row in rows}
    return list(last.values())


def write(path, rows):
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def run(smoke=False, folder=FOLDER, only=None, tables=None, seeds=None, again=False, targets=False):
    say_load()
    folder.mkdir(exist_ok=True)
    path = folder / ROWS
    only = only or (SMOKE_ONLY if smoke else None)
    tables = tables or (SMOKE_TABLES if smoke else tuple(SHAPES))
    if not targets:
        with one_thread():
            measure_missing(path, tables, only, seeds or (0,), again, smoke)
            judge_missing(path, tables, only)
    rows = [row for row in read(path) if "failed" not in row]
    draw_all(rows, folder)
    (folder / SUMMARY).write_text(summary(rows), encoding="utf-8")
    return list(results_of(rows))


if __name__ == "__main__":
    publish("front", run())
