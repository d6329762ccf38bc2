"""The one model that every target is measured with: digits of 8 × 8 pixels, twenty anchors."""

import ctypes
import subprocess
import time
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearlinear import LLSVMClassifier
from nearlinear.export.c.source import to_c


@dataclass(frozen=True)
class Task:
    """A fitted pipeline, its test rows in float32, and many rows like them for timing."""

    model: object
    rows: np.ndarray
    labels: np.ndarray
    many: np.ndarray

    @property
    def scores(self):
        return self.model.decision_function(self.rows)

    def difference(self, scores):
        """The largest difference of scores, in percent of the largest score."""
        away = np.abs(np.asarray(scores, dtype=float) - self.scores).max()
        return float(100 * away / np.abs(self.scores).max())

    def agreement(self, labels):
        """The share of rows whose label is the model's, in percent."""
        return float(100 * np.mean(np.asarray(labels) == self.model.predict(self.rows)))


def made_task(n_many):
    X, y = load_digits(return_X_y=True)
    split = train_test_split(X.astype(np.float32), y, test_size=0.3, random_state=0, stratify=y)
    X_train, X_test, y_train, y_test = split
    model = make_pipeline(StandardScaler(), LLSVMClassifier(20, random_state=0))
    many = np.random.default_rng(0).choice(X_test, n_many)
    return Task(model.fit(X_train, y_train), X_test, y_test, many)


def per_call(work, n_rows=1, seconds=0.5):
    """Processor microseconds a row of ``work()``: the median of calls for so many seconds."""
    work()
    found, until = [], time.perf_counter() + seconds
    while len(found) < 3 or time.perf_counter() < until:
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return 1e6 * float(np.median(found)) / n_rows


def c_sources(task, folder, dtype):
    return to_c(task.model, folder / dtype, dtype, sample=task.rows, sample_labels=task.labels)


def shared_library(written):
    """The C source as a library that any program loads; None without gcc."""
    path = written.source.with_suffix(".so")
    words = ["gcc", "-O2", "-std=c99", "-shared", "-fPIC", "-s", "-o", path, written.source, "-lm"]
    subprocess.run(words, check=True)
    return path


def scores_of(library, rows, n_outputs):
    """Scores by a library, with ctypes."""
    found = np.empty((len(rows), n_outputs), dtype=np.float32)
    call, pointer = ctypes.CDLL(str(library)).model_scores, ctypes.POINTER(ctypes.c_float)
    for row, scores in zip(np.ascontiguousarray(rows, dtype=np.float32), found):
        call(row.ctypes.data_as(pointer), scores.ctypes.data_as(pointer))
    return found
