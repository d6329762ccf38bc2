"""Intel's oneDAL on the front: LightGBM's trees through daal4py, and SVC of scikit-learn-intelex.

scikit-learn-intelex patches and pins much, so it gets an environment of its own, whose Python is
named to ``benchmarks tree_front`` by NEARLINEAR_ONEDAL_PYTHON:

    python3 -m venv onedal_env
    onedal_env/bin/pip install --group onedal        # pip 25.1 or newer, in the repository
    NEARLINEAR_ONEDAL_PYTHON=onedal_env/bin/python python -m benchmarks tree_front

As a script (``onedal_env/bin/python benchmarks/onedal_peers.py FOLDER``) it reads what
``measured`` wrote to a folder, and prints one JSON line. It imports nothing of this project.
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


def measured(split, boosters, kernel, repeats):
    """What oneDAL makes of the same rows, or nothing where its environment is not named.

    ``boosters`` are LightGBM's by name, ``kernel`` the parameters of SVC or None. A list of
    {"name", "accuracy", "seconds", "fit_seconds"}; the CPU seconds of one prediction of all test
    rows are the best of several, those of a converted model's fit are not given.
    """
    if not os.environ.get(VARIABLE):
        print(f"  {VARIABLE} is not set: nothing through oneDAL (see benchmarks/onedal_peers.py)")
        return []
    import numpy as np

    with tempfile.TemporaryDirectory(prefix="nearlinear-onedal-") as folder:
        folder = Path(folder)
        for part in ("X_train", "y_train", "X_test", "y_test"):
            np.save(folder / f"{part}.npy", getattr(split, part))
        files = {}
        for index, (name, booster) in enumerate(boosters.items()):
            files[name] = f"{index}.txt"
            booster.save_model(folder / files[name])
        job = {"boosters": files, "kernel": kernel, "repeats": repeats}
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        command = [os.environ[VARIABLE], __file__, str(folder)]
        environment = os.environ | dict.fromkeys(THREADS, "1")
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
    # The last line: libraries may print before it.
    return json.loads(done.stdout.splitlines()[-1])


def main(folder):
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    import daal4py
    import lightgbm
    import numpy as np
    from sklearnex.svm import SVC

    daal4py.daalinit(nthreads=1)
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    parts = ("X_train", "y_train", "X_test", "y_test")
    X_train, y_train, X_test, y_test = (np.load(folder / f"{part}.npy") for part in parts)
    models, fit_seconds = {}, {}
    for name, file in job["boosters"].items():
        booster = lightgbm.Booster(model_file=folder / file)
        models[name] = daal4py.mb.convert_model(booster)
    if job["kernel"] is not None:
        start = time.process_time()
        models["SVC"] = SVC(**job["kernel"]).fit(X_train, y_train)
        fit_seconds["SVC"] = time.process_time() - start
    seconds = {name: [] for name in models}
    for _ in range(job["repeats"]):
        for name, model in models.items():
            if seconds[name] and seconds[name][0] > 2:
                continue
            start = time.process_time()
            model.predict(X_test)
            seconds[name].append(time.process_time() - start)
    rows = [
        {
            "name": name,
            "accuracy": 100 * float(np.mean(np.ravel(model.predict(X_test)) == y_test)),
            "seconds": min(seconds[name]),
            "fit_seconds": fit_seconds.get(name),
        }
        for name, model in models.items()
    ]
    print(json.dumps(rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
