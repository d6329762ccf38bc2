"""Seconds from the start of a new process to the first prediction of a model from a file.

Warm: compiled code lies in numba's cache. Cold: an empty cache folder, as in a new container that
was not warmed. What a process needs that only imports scikit-learn stands beside it.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quiet import disturbance, timed
from benchmarks.report import FOLDER, Result, publish
from benchmarks.shapes import drawn
from nearlinear import save
from reproduce.written_out import ldkl_classifier, llc_sapl_classifier

MODELS = {"LLC-SAPL": llc_sapl_classifier, "LDKL": ldkl_classifier}
N_ROWS, N_FEATURES = 2000, 22
MOST_SECONDS = {"warm": 1.5, "cold": 10.0}
REPEATS = {"warm": 9, "cold": 3}
PROGRAM = """
import sys
import numpy
import nearlinear

model = nearlinear.load(sys.argv[1])
model.predict(numpy.zeros((1, int(sys.argv[2])), dtype=numpy.float32))
"""
ALONE = "import numpy, scipy.sparse, sklearn.base, sklearn.pipeline, sklearn.preprocessing"


@dataclass(frozen=True)
class Start:
    """Wall-clock and processor seconds of a process from its start to its end."""

    seconds: float
    cpu_seconds: float


def started(program, arguments, cache):
    words = [sys.executable, "-c", program, *arguments]
    return started_command(words, {"NUMBA_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1"})


def started_command(words, environment, folder=None):
    before, start = _children(), time.perf_counter()
    environment = {**os.environ, **environment}
    subprocess.run(words, env=environment, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    return Start(time.perf_counter() - start, _children() - before)


def _children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def model_files(folder, smoke):
    X, y = drawn(200 if smoke else N_ROWS, N_FEATURES, n_classes=2)
    for title, kind in MODELS.items():
        path = folder / f"{title}.nlm"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            save(kind(random_state=0, max_iter=2).fit(X, y), path)
        yield title, path


def measured(make, repeats):
    """Medians of several starts, and a word on who else was at work."""
    run = timed(lambda: [make() for _ in range(repeats)])
    seconds = statistics.median(one.seconds for one in run.value)
    cpu_seconds = statistics.median(one.cpu_seconds for one in run.value)
    return Start(seconds, cpu_seconds), disturbance(run.others).lstrip("; ")


def results_of(case, quantity, make, repeats, target=None):
    found, note = measured(make, repeats)
    yield Result(case, quantity, found.seconds, "s", target=target, note=note)
    yield Result(case, f"{quantity}, processor", found.cpu_seconds, "s", note=note)


def run(smoke=False, folder=FOLDER):
    results, repeats = [], {"warm": 2, "cold": 1} if smoke else REPEATS
    with tempfile.TemporaryDirectory(prefix="nearlinear-start-") as name:
        place = Path(name)
        for title, path in model_files(place, smoke):
            words = [str(path), str(N_FEATURES)]
            caches = iter(range(100))

            def cold(words=words, title=title, caches=caches):
                return started(PROGRAM, words, place / f"{title}-{next(caches)}")

            def warm(words=words, title=title):
                return started(PROGRAM, words, place / f"{title}-0")  # filled by the first cold one

            for kind, make in (("cold", cold), ("warm", warm)):
                quantity = f"first prediction, {kind} cache"
                results += results_of(title, quantity, make, repeats[kind], MOST_SECONDS[kind])
        alone = "import scikit-learn"
        results += results_of(alone, alone, lambda: started(ALONE, [], place), repeats["warm"])
    return results


if __name__ == "__main__":
    publish("start", run())
