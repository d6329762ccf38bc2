"""What importing the library adds to importing scikit-learn, each in a fresh interpreter."""

import statistics
import subprocess
import sys

from benchmarks.report import Result, publish

# What a script that uses a scikit-learn classifier has loaded anyway.
BEFORE = "import numpy, scipy.sparse, sklearn.svm, sklearn.pipeline, sklearn.preprocessing"
MOST_SECONDS = {"import nearlinear": 0.2, "from nearlinear import LLCSAPLClassifier": None}
PROGRAM = """
{before}
import sys, time
start = time.perf_counter()
{statement}
print(time.perf_counter() - start, "numba" in sys.modules)
"""


def seconds_beyond(statement, repeats=7):
    """Median seconds of ``statement`` after scikit-learn's import, and whether numba was loaded."""
    program = PROGRAM.format(before=BEFORE, statement=statement)
    # One run before those that count, so that no byte code is compiled in them.
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(repeats + 1)
    ][1:]
    return statistics.median(float(seconds) for seconds, _ in outputs), outputs[0][1] == "True"


def run():
    results = []
    for statement, most in MOST_SECONDS.items():
        seconds, has_numba = seconds_beyond(statement)
        note = "numba is loaded" if has_numba else "numba is not loaded"
        results.append(Result(statement, "beyond scikit-learn", seconds, "s", most, note=note))
    return results


if __name__ == "__main__":
    publish("import", run())
