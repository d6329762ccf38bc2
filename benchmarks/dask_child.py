"""Fits on a cluster of four processes: a calm one, and then one with workers that are killed.

``python -m benchmarks.dask_child ldkl --rows 100000 --kill-every 10`` prints figures as JSON, a
line for each fit. Seconds are those of the clock: processes come and go.
"""

import argparse
import json
import os
import signal
import tempfile
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import nearlinear
from benchmarks.blocks_child import TABLE_ANCHORS, _covertype, _digits
from benchmarks.dask_parts import deformed, part_of_file
from nearlinear.dask import DaskLDKLClassifier, DaskLLCSAPLClassifier, DaskLocalForestClassifier

N_WORKERS, _N_PARTS, _ROWS_OF_PART = 4, 16, 5000


def ldkl(options, folder):
    model = DaskLDKLClassifier(9, max_iter=options.epochs, random_state=0)
    _fits(model, _table(options, folder), options)


def sapl(options, folder):
    model = DaskLLCSAPLClassifier(TABLE_ANCHORS, max_iter=options.epochs, random_state=0)
    _fits(model, _table(options, folder), options)


def forest(options, folder):
    model = DaskLocalForestClassifier(
        options.trees, max_leaves=31, pairs=0, leaf_penalty=1.0, random_state=0
    )
    with nearlinear.config_context(max_memory=1.8e8):
        _fits(model, _table(options, folder), options)


def digits(options, folder):
    """Rows are made where they are needed; nothing of them is sent."""
    _, X_test, y_test = _digits(options.rows)
    starts = range(0, options.rows, _ROWS_OF_PART)
    chunks = tuple(min(_ROWS_OF_PART, options.rows - start) for start in starts)
    X, y = (
        da.map_blocks(
            partial(deformed, options.rows, _ROWS_OF_PART, column),
            chunks=(chunks, *width), dtype=dtype, meta=np.empty((0,) * (1 + len(width)), dtype),
        )
        for column, width, dtype in ((0, ((784,),), np.float32), (1, (), np.int64))
    )  # fmt: skip
    model = DaskLLCSAPLClassifier(100, max_iter=1, random_state=0)
    _fits(model, (X, y, X_test, y_test), options)


def lightgbm(options, folder):
    from lightgbm import DaskLGBMClassifier

    model = DaskLGBMClassifier(n_estimators=options.trees, random_state=0, verbose=-1)
    _fits(model, _table(options, folder), options)


def xgboost(options, folder):
    from xgboost.dask import DaskXGBClassifier

    model = DaskXGBClassifier(n_estimators=options.trees, random_state=0, tree_method="hist")
    _fits(model, _table(options, folder), options)


CASES = {one.__name__: one for one in (ldkl, sapl, forest, digits, lightgbm, xgboost)}


def _table(options, folder):
    """Covertype, each partition read from files by who needs it."""
    X, y, X_test, y_test = _covertype(options.rows)
    center, scale = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-6)
    np.save(folder / "X.npy", (X - center) / scale)
    np.save(folder / "y.npy", np.searchsorted(np.unique(y), y))
    bounds = np.linspace(0, len(X), _N_PARTS + 1).astype(int)
    chunks = tuple(np.diff(bounds).tolist())
    rows, labels = (
        da.map_blocks(
            partial(part_of_file, str(folder / f"{name}.npy"), bounds),
            chunks=(chunks, *width), dtype=dtype, meta=np.empty((0,) * (1 + len(width)), dtype),
        )
        for name, width, dtype in (("X", (X.shape[1:],), np.float32), ("y", (), np.int64))
    )  # fmt: skip
    return rows, labels, (X_test - center) / scale, np.searchsorted(np.unique(y_test), y_test)


def _fits(model, data, options):
    cluster = LocalCluster(
        n_workers=N_WORKERS, threads_per_worker=1, memory_limit=0, dashboard_address=None
    )
    # a cluster gives workers up that are not back after 15 s: a busy machine takes longer
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "600s"})
    with patient, cluster, Client(cluster) as client:
        calm_and_killed(model, data, options, client)


def calm_and_killed(model, data, options, client):
    """Print the figures of a fit and, if workers are to be killed, of another one."""
    model.client = client
    calm = _fit(model, data, options)
    _say("calm", model, data, calm, between=sum(client.run(_received).values()))
    if not options.kill_every:
        return
    if options.twice:
        again = _fit(model, data, options)
        _say("again", model, data, again, difference=_difference(again, calm))
    stop, killed = threading.Event(), []
    threading.Thread(target=_kill, args=(client.cluster, options, stop, killed)).start()
    try:
        hurt = _fit(model, data, options, killed)
    finally:
        stop.set()
    _say("killed", model, data, hurt, killed=len(killed), difference=_difference(hurt, calm))


def _difference(one, other):
    return float(np.abs(one[1] - other[1]).max())


def _fit(model, data, options, killed=()):
    """Seconds, and class probabilities of the test rows; ``killed`` has an entry for each kill."""
    X, y, X_test, _ = data
    told = (f"no end within {options.limit:g} s", killed)
    timer = threading.Timer(options.limit, _give_up, args=told)
    timer.start()
    began = time.perf_counter()
    try:
        model.fit(X, y)
    except Exception as error:
        _give_up(f"{type(error).__name__}: {error}".splitlines()[0][:120], killed)
    timer.cancel()
    seconds = time.perf_counter() - began
    if hasattr(model, "get_booster"):  # XGBoost has no model that is free of Dask
        answers, total = model.get_booster().inplace_predict(X_test), 1.0
    else:
        local = model.to_local()
        answers = getattr(local, "predict_proba", local.decision_function)(X_test)
        total = 0.0  # of two margins
    return seconds, np.column_stack([total - answers, answers]) if answers.ndim == 1 else answers


def _give_up(failure, killed):
    """End the process: what hangs in a fit, or after one that failed, cannot be stopped."""
    print(json.dumps({"failure": f"{len(killed)} killed; {failure}"}), flush=True)
    os._exit(1)


def _say(kind, model, data, fitted, **more):
    seconds, answers = fitted
    rounds = getattr(model, "round_bytes_", [])
    told = {
        "fit": kind, "seconds": seconds,
        "accuracy": 100 * float(np.mean(answers.argmax(axis=1) == data[-1])),
        "rounds": len(rounds), "state": max(rounds, default=0),
    }  # fmt: skip
    print(json.dumps(told | more), flush=True)


def _kill(cluster, options, stop, killed):
    rng = np.random.default_rng(0)
    while not stop.wait(options.kill_every):
        alive = [nanny.pid for nanny in cluster.workers.values() if nanny.pid]
        if alive:
            with suppress(ProcessLookupError):
                os.kill(int(rng.choice(alive)), signal.SIGKILL)
                killed.append(None)


def _received(dask_worker):
    """Bytes that a worker has got from others."""
    return sum(one["total"] for one in dask_worker.transfer_incoming_log)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dask_child")
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--kill-every", type=float, default=0.0)
    parser.add_argument("--twice", action="store_true", help="two calm fits: do they differ?")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds of a fit")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        CASES[options.case](options, Path(folder))


if __name__ == "__main__":
    main()
