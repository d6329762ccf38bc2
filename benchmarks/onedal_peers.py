"""Intel's oneDAL on the front: SVC of scikit-learn-intelex, and LightGBM's trees through daal4py.

scikit-learn-intelex patches and pins much, so it gets an environment of its own, whose Python is
named to ``benchmarks front`` by NEARLINEAR_ONEDAL_PYTHON:

    python3 -m venv onedal_env
    onedal_env/bin/pip install --group onedal        # pip 25.1 or newer, in the repository
    NEARLINEAR_ONEDAL_PYTHON=onedal_env/bin/python python -m benchmarks front

As a script (``onedal_env/bin/python benchmarks/onedal_peers.py FOLDER``) it reads what ``rows_of``
wrote to a folder, and prints one JSON line. It imports nothing of this project. It may take 12 GB
of memory: the conversion of large forests has taken 22, and is given up then.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

VARIABLE = "NEARLINEAR_ONEDAL_PYTHON"
# The child may not take the machine's whole memory.
MEMORY = 12 * 2**30
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TBB_NUM_THREADS")
REPEATS, LONG = 9, 2.0
PARTS = ("X_train", "y_train", "X_test", "y_test")


def rows_of(rows, entries):
    """Rows of the front for the kernel machine and the boosted trees among ``entries``.

    Nothing where no environment is named. The fit of a converted model is LightGBM's.
    """
    if not os.environ.get(VARIABLE):
        return
    import numpy as np

    for entry in entries:
        if entry.family not in ("SVC", "LightGBM") or entry.takes == "pairs" or entry.is_linear:
            continue
        with tempfile.TemporaryDirectory(prefix="nearlinear-onedal-") as name:
            folder = Path(name)
            parts = (*rows.part(entry.takes), rows.test(entry.takes), rows.found.raw.y_test)
            for part, values in zip(PARTS, parts):
                np.save(folder / f"{part}.npy", values)
            model = entry.make(**entry.settings[0])
            job = {"is_regression": bool(rows.found.is_regression)}
            if entry.family == "SVC":
                job["kernel"] = model.get_params()
            else:
                model.fit(*parts[:2]).booster_.save_model(folder / "booster.txt")
            (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
            yield {"model": f"{entry.family} (oneDAL)", "size": entry.size} | _asked(folder, rows)


def _asked(folder, rows):
    command = [os.environ[VARIABLE], __file__, str(folder)]
    environment = os.environ | dict.fromkeys(THREADS, "1")
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return {"failed": f"oneDAL ended with {done.returncode}"}
    # The last line: libraries may print before it.
    found = json.loads(done.stdout.splitlines()[-1])
    if rows.found.is_regression:
        found["score"] *= rows.found.unit**2
    return found


def main(folder):
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    import daal4py
    import numpy as np

    daal4py.daalinit(nthreads=1)
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    X_train, y_train, X_test, y_test = (np.load(folder / f"{part}.npy") for part in PARTS)
    fit_seconds = None
    if "kernel" in job:
        from sklearnex.svm import SVC, SVR

        start = time.process_time()
        model = (SVR if job["is_regression"] else SVC)(**job["kernel"]).fit(X_train, y_train)
        fit_seconds = time.process_time() - start
    else:
        import lightgbm

        model = daal4py.mb.convert_model(lightgbm.Booster(model_file=folder / "booster.txt"))
    times = []
    while len(times) < REPEATS and sum(times) < LONG * REPEATS:
        start = time.process_time()
        predicted = np.ravel(model.predict(X_test))
        times.append(time.process_time() - start)
    single = []
    for x in X_test[:200]:
        start = time.perf_counter()
        model.predict(x[None])
        single.append(time.perf_counter() - start)
    right = (predicted - y_test) ** 2 if job["is_regression"] else 100.0 * (predicted == y_test)
    found = {
        "score": float(np.mean(right)),
        "us": 1e6 * min(times) / len(X_test),
        "one_row_us": 1e6 * float(np.median(single)),
        "fit_seconds": fit_seconds,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
