"""Fits over Dask collections on a cluster of four processes, beside LightGBM and XGBoost.

Each runs calm, and with a worker killed every few seconds, in a process with a time limit: others
may hang.
"""

import json
import subprocess
import sys

from benchmarks.bench_blocks import child as one_process
from benchmarks.report import FOLDER, Result
from reproduce import datasets


def child(case, rows, *more, limit):
    """What a case has found, or a dict that says how it ended."""
    print(f"  {case} {' '.join(more)}, {rows:,} rows ...", flush=True)
    command = [sys.executable, "-m", "benchmarks.dask_child", case, "--rows", str(rows), *more]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"failure": f"no end within {limit} s"}
    if done.returncode:
        return {"failure": done.stderr.strip().splitlines()[-1][:120]}
    return json.loads(done.stdout.splitlines()[-1])


def kills(rows, every, limit, epochs):
    """What a killed worker costs."""
    case = f"covertype, {rows:,} rows, 4 processes, one killed every {every} s"
    more = {"ldkl": ("--epochs", str(epochs))}
    for name in ("ldkl", "forest", "lightgbm", "xgboost"):
        calm = child(name, rows, *more.get(name, ()), limit=limit)
        told = more.get(name, ())
        hurt = child(name, rows, *told, "--kill-every", str(every), limit=limit)
        if "failure" in calm:
            yield Result(case, f"{name}: calm", float("nan"), note=calm["failure"])
            continue
        yield Result(case, f"{name}: seconds, calm", calm["seconds"], "s")
        if "failure" in hurt:
            yield Result(case, f"{name}: seconds, killed", float("nan"), "s", note=hurt["failure"])
            continue
        same = "the same bits" if hurt["bits"] == calm["bits"] else "another model"
        note = f"{hurt['killed']} killed; {same}"
        yield Result(case, f"{name}: seconds, killed", hurt["seconds"], "s", note=note)
        if calm["rounds"]:
            note = f"{calm['rounds']} rounds"
            yield Result(case, f"{name}: bytes of a state", calm["state"], note=note)
            per_round = calm["between"] / calm["rounds"]
            yield Result(case, f"{name}: bytes between workers, a round", per_round)


def beside_one_process(case, child_case, alone, rows, limit, *more):
    found, one = child(child_case, rows, *more, limit=limit), one_process(alone, rows)
    if "failure" in found:
        return [Result(case, "points below one process", float("nan"), note=found["failure"])]
    lost, note = one["accuracy"] - found["accuracy"], f"{found['accuracy']:.2f} %"
    return [Result(case, "points below one process", lost, target=0.2, note=note)]


def run(smoke=False, folder=FOLDER):
    found, limit = [], 300 if smoke else 1800
    if datasets.is_available("covertype"):
        rows = 40_000 if smoke else 1_000_000
        found += kills(*((40_000, 2, limit, 2) if smoke else (200_000, 10, limit, 15)))
        found += beside_one_process(
            "covertype, LDKL, 15 epochs", "ldkl", "covertype_blocks", rows, limit
        )
    if datasets.is_available("mnist"):
        rows = 40_000 if smoke else 1_000_000
        case = f"{rows:,} deformed digits, one pass"
        found += beside_one_process(case, "digits", "digits", rows, limit)
    return found
