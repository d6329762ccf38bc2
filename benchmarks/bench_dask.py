"""Fits over Dask collections on a cluster of four processes, beside LightGBM and XGBoost.

Each runs calm, and then with a worker killed every few seconds, in a process with a time limit:
others may hang. ``python -m benchmarks dask --only ldkl --rows 100000`` measures a part of it.
"""

import json
import math
import subprocess
import sys

from benchmarks.bench_blocks import child as one_process
from benchmarks.report import FOLDER, Result, earlier
from reproduce import datasets

_EVERY, _LIMIT = 10, 180  # seconds between kills, and of a fit
_MORE = {
    "ldkl": ("--epochs", "3"), "forest": ("--trees", "30"),
    "lightgbm": ("--trees", "2000", "--twice"), "xgboost": ("--trees", "1000", "--twice"),
}  # fmt: skip
# of the table: the case here and in one process, and epochs
_TABLE = {"LDKL": ("ldkl", "covertype_blocks", 3), "LLC-SAPL": ("sapl", "sapl_blocks", 2)}


def child(case, rows, *more, limit):
    """What fits have found, one dict each, and how the last one failed."""
    print(f"  {case} {' '.join(more)}, {rows:,} rows ...", flush=True)
    told = ("--rows", str(rows), "--limit", str(limit), *more)
    command = [sys.executable, "-m", "benchmarks.dask_child", case, *told]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    failures = [line["failure"] for line in lines if "failure" in line]
    if done.returncode and not failures:
        failures = [done.stderr.strip().splitlines()[-1][:120]]
    return [line for line in lines if "failure" not in line], "".join(failures)


def killed(name, rows, every, limit):
    """What killed workers cost."""
    more = (*_MORE[name], "--kill-every", str(every))
    found, failure = child(name, rows, *more, limit=limit)
    case = f"{name}, covertype, {rows:,} rows, 4 processes, one killed every {every:g} s"
    return list(results_of(case, " ".join(_MORE[name][:2]), found, failure))


def results_of(case, settings, found, failure):
    """What calm fits and one with killed workers have found, as far as they came."""
    found = {one["fit"]: one for one in found}
    if not found:
        yield Result(case, "seconds, calm", math.nan, "s", note=failure)
        return
    calm, quantity = found["calm"], "largest difference of a class probability"
    note = f"{settings}; {calm['accuracy']:.2f} %"
    yield Result(case, "seconds, calm", calm["seconds"], "s", note=note)
    if "again" in found:
        yield Result(case, f"{quantity}, two calm fits", found["again"]["difference"])
    if "killed" in found:
        hurt = found["killed"]
        note = f"{hurt['killed']} killed; {hurt['accuracy']:.2f} %"
        yield Result(case, "seconds, killed", hurt["seconds"], "s", note=note)
        yield Result(case, quantity, hurt["difference"], target=1e-6)
    else:
        yield Result(case, "seconds, killed", math.nan, "s", note=failure)
    if calm["rounds"]:
        note = f"{calm['rounds']} rounds"
        yield Result(case, "bytes of a state", calm["state"], note=note)
        yield Result(case, "bytes between workers, a round", calm["between"] / calm["rounds"])


def beside_one_process(case, child_case, alone, rows, *more):
    """Points that a cluster loses, on the same rows."""
    found, failure = child(child_case, rows, *more, limit=1800)
    one = one_process(alone, rows, *more)
    if not found:
        return [Result(case, "points below one process", math.nan, note=failure)]
    accuracy = found[0]["accuracy"]
    note = f"{accuracy:.2f} % and {one['accuracy']:.2f} %; {found[0]['rounds']} rounds"
    lost = one["accuracy"] - accuracy
    return [
        Result(case, "points below one process", lost, target=0.2, note=note),
        Result(case, "seconds, four processes", found[0]["seconds"], "s"),
        Result(case, "seconds, one process", one["wall"], "s"),
    ]


def run(smoke=False, folder=FOLDER, only=None, rows=None, every=None):
    limit, every = _LIMIT, every or (2 if smoke else _EVERY)
    wanted, found = only or [*_MORE, "covertype", "digits"], []
    if datasets.is_available("covertype"):
        of_kills = rows or (40_000 if smoke else 200_000)
        for name in _MORE:
            if name in wanted:
                found += killed(name, of_kills, every, limit)
        for name, (here, alone, epochs) in _TABLE.items():
            if "covertype" in wanted or name in wanted:
                n = rows or (40_000 if smoke else 1_000_000)
                case = f"covertype, {name}, {epochs} epochs" + (f", {rows:,} rows" if rows else "")
                found += beside_one_process(case, here, alone, n, "--epochs", str(epochs))
    if datasets.is_available("mnist") and "digits" in wanted:
        n = rows or (40_000 if smoke else 1_000_000)
        case = f"{n:,} deformed digits, one pass, LLC-SAPL with 100 anchors"
        found += beside_one_process(case, "digits", "digits", n)
    replaced = {result.case for result in found}
    kept = [old for old in earlier("dask", folder, None) if old.case not in replaced]
    return kept + found
