"""Fit time and memory: against the kernel SVM, in seconds on two cores, and on sparse rows."""

import json
import os
import subprocess
import sys
import time

from sklearn.svm import SVC

from benchmarks.report import Result, publish
from benchmarks.shapes import drawn, drawn_sparse, split_of
from reproduce import datasets
from reproduce.llc_sapl.methods import parameters_for
from reproduce.memory import forget_peak, peak_bytes, present_bytes
from reproduce.protocol import one_thread
from reproduce.written_out import llc_sapl_classifier


def dense_case(name):
    split, _ = split_of(name)
    model = llc_sapl_classifier(**parameters_for("llc_sapl", name), n_jobs=2, random_state=0)
    return model, split.X_train, split.y_train, split.X_test, split.y_test


def sparse_case():
    X, y = drawn_sparse()
    model = llc_sapl_classifier(n_anchors=100, n_neighbors=8, max_iter=5, random_state=0)
    return model, X, y, X, y


def fit_case(name):
    """Fit one case in this process and print seconds and memory as JSON."""
    model, X_train, y_train, X_test, y_test = (
        sparse_case() if name == "sparse" else dense_case(name)
    )
    # Compiled passes are loaded before the clock and the memory are read.
    small = drawn(300, 4, len(set(y_train)))
    llc_sapl_classifier(n_anchors=10, max_iter=2, random_state=0).fit(*small).predict(small[0])
    print(json.dumps(measured_fit(model, X_train, y_train, X_test, y_test)))


def measured_fit(model, X_train, y_train, X_test, y_test):
    """Seconds, accuracy and memory of one fit and a prediction, in bytes."""
    before, peak_of_reading = present_bytes(), peak_bytes()
    forget_peak()
    start = time.perf_counter()
    model.fit(X_train, y_train)
    seconds = time.perf_counter() - start
    accuracy = 100 * model.score(X_test, y_test)
    return {
        "seconds": seconds,
        "accuracy": accuracy,
        "beyond_data": peak_bytes() - before,
        "peak": max(peak_bytes(), peak_of_reading),
        "n_rows": len(y_train),
    }


GIGABYTE = 1e9
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def fit_seconds(model, X, y):
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def against_kernel_svm():
    """Ours and the kernel SVM, both at their chosen parameters, one thread, one after the other."""
    split, is_real = split_of("ijcnn1")
    ours = llc_sapl_classifier(**parameters_for("llc_sapl", "ijcnn1"), random_state=0)
    kernel = SVC(**parameters_for("kernel", "ijcnn1"))
    with one_thread():
        llc_sapl_classifier(n_anchors=10, max_iter=2).fit(split.X_train[:500], split.y_train[:500])
        ours_seconds = fit_seconds(ours, split.X_train, split.y_train)
        kernel_seconds = fit_seconds(kernel, split.X_train, split.y_train)
    note = f"{ours_seconds:.1f} s and {kernel_seconds:.1f} s"
    if is_real:
        accuracies = [100 * m.score(split.X_test, split.y_test) for m in (ours, kernel)]
        note += ", accuracy {:.2f} % and {:.2f} %".format(*accuracies)
    ratio = ours_seconds / kernel_seconds
    yield Result("ijcnn1, one thread", "LLC-SAPL.fit / SVC.fit", ratio, "×", target=2, note=note)


def in_child(*arguments, n_threads, module="benchmarks.bench_fit"):
    """What a fit in a fresh process took."""
    environment = os.environ | dict.fromkeys(THREADS, str(n_threads))
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def in_seconds():
    for name, most in (("letter", 40), ("mnist", 600)):
        took = in_child(name, n_threads=2)
        note = f"accuracy {took['accuracy']:.2f} %"
        if not datasets.is_available(name):
            note = "drawn rows of this shape"
        case = f"{name}, two threads"
        yield Result(case, "LLC-SAPL.fit", took["seconds"], "s", target=most, note=note)
        beyond = took["beyond_data"] / GIGABYTE
        target = 1.5 if name == "mnist" else None
        yield Result(case, "memory beyond the data", beyond, "GB", target=target)


def on_sparse_rows():
    took = in_child("sparse", n_threads=1)
    case = "sparse 20000 x 47000, 0.16 %"
    yield Result(case, "LLC-SAPL.fit", took["seconds"], "s", note="five epochs")
    peak = took["peak"] / GIGABYTE
    yield Result(case, "peak memory of the process", peak, "GB", target=2, note="fit and predict")


def run():
    return [*against_kernel_svm(), *in_seconds(), *on_sparse_rows()]


if __name__ == "__main__":
    if sys.argv[1:]:  # one fit in a process of its own, to measure its memory
        fit_case(sys.argv[1])
    else:
        publish("fit", run())
