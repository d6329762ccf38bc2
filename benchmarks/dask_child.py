"""One fit on a cluster of four processes, calm or with workers that are killed.

``python -m benchmarks.dask_child ldkl --rows 100000 --kill-every 10`` prints figures as JSON.
Seconds are those of the clock: processes come and go.
"""

import argparse
import hashlib
import json
import os
import signal
import threading
import time
import warnings

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from benchmarks.blocks_child import _covertype, _digits
from nearlinear.dask import DaskLDKLClassifier, DaskLLCSAPLClassifier, DaskLocalForestClassifier

N_WORKERS, _N_PARTS = 4, 16


def ldkl(options):
    model = DaskLDKLClassifier(9, max_iter=options.epochs, random_state=0)
    return _fitted(model, _table(options), options)


def forest(options):
    model = DaskLocalForestClassifier(
        30, max_leaves=31, pairs=0, leaf_penalty=1.0, random_state=0, max_memory=1.8e8
    )
    return _fitted(model, _table(options), options)


def digits(options):
    """Rows are made where they are needed; nothing of them is sent."""
    source, X_test, y_test = _digits(options.rows)
    make = dask.delayed(lambda number: next(iter(source.part(number))), pure=False)
    blocks = [make(number) for number in range(source.n_parts)]
    X = da.concatenate([
        da.from_delayed(block[0], (np.nan, 784), dtype=np.float32) for block in blocks
    ])  # fmt: skip
    y = da.concatenate([da.from_delayed(block[1], (np.nan,), dtype=int) for block in blocks])
    model = DaskLLCSAPLClassifier(100, max_iter=1, random_state=0)
    return _fitted(model, (X, y, X_test, y_test), options)


def lightgbm(options):
    from lightgbm import DaskLGBMClassifier

    model = DaskLGBMClassifier(n_estimators=options.trees, random_state=0, verbose=-1)
    return _fitted(model, _table(options), options)


def xgboost(options):
    from xgboost.dask import DaskXGBClassifier

    model = DaskXGBClassifier(n_estimators=options.trees, random_state=0, tree_method="hist")
    return _fitted(model, _table(options), options)


CASES = {one.__name__: one for one in (ldkl, forest, digits, lightgbm, xgboost)}


def _table(options):
    X, y, X_test, y_test = _covertype(options.rows)
    center, scale = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-6)
    n_chunk, y = -(-len(X) // _N_PARTS), np.searchsorted(np.unique(y), y)
    X, X_test = (X - center) / scale, (X_test - center) / scale
    y_test = np.searchsorted(np.unique(y_test), y_test)
    lazy = da.from_array(X, chunks=(n_chunk, -1)), da.from_array(y, chunks=n_chunk)
    return *lazy, X_test, y_test


def _fitted(model, data, options):
    X, y, X_test, y_test = data
    cluster = LocalCluster(
        n_workers=N_WORKERS, threads_per_worker=1, memory_limit=0, dashboard_address=None
    )
    with cluster, Client(cluster) as client:
        model.client = client
        stop, killed = threading.Event(), []
        if options.kill_every:
            keeper = threading.Thread(target=_kill, args=(cluster, options, stop, killed))
            keeper.start()
        began = time.perf_counter()
        try:
            model.fit(X, y)
        finally:
            seconds = time.perf_counter() - began
            stop.set()
        sent = client.run(_received) if not options.kill_every else {}
        local = model.to_local() if hasattr(model, "to_local") else model
        scores = local.predict_proba(X_test) if hasattr(local, "predict_proba") else None
        answers = local.predict(X_test) if scores is None else scores
        answers = np.asarray(answers.compute() if hasattr(answers, "compute") else answers)
        said = answers if answers.ndim == 1 else answers.argmax(axis=1)
        rounds = getattr(model, "round_bytes_", [])
        return {
            "seconds": seconds, "killed": len(killed),
            "accuracy": 100 * float(np.mean(said == y_test)),
            "bits": hashlib.sha256(np.ascontiguousarray(answers).tobytes()).hexdigest(),
            "rounds": len(rounds), "state": max(rounds, default=0), "between": sum(sent.values()),
        }  # fmt: skip


def _kill(cluster, options, stop, killed):
    rng = np.random.default_rng(0)
    while not stop.wait(options.kill_every):
        alive = [nanny.pid for nanny in cluster.workers.values() if nanny.pid]
        if alive:
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
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", message="Sending large graph")
    print(json.dumps({"rows": options.rows, **CASES[options.case](options)}))


if __name__ == "__main__":
    main()
