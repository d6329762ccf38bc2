"""Kernel evaluations of a localized machine: of all support rows, and of those that count.

Three Gaussians on 4,000 rows of three regions, and a gate that is learned: where it shuts a
component, this is not evaluated. Scores must not change in a bit.
"""

import time
from dataclasses import replace

import numpy as np

from benchmarks.report import FOLDER, Result, publish
from nearlinear import LMKLClassifier
from nearlinear.kernels import Gaussian
from reproduce.protocol import one_thread

LEAST_SAVED = 0.5
TURNS = 20


class _Counting:
    """A kernel that counts the values it gives."""

    def __init__(self, kernel):
        self.kernel, self.count = kernel, 0

    def from_pairs(self, pairs):
        values = self.kernel.from_pairs(pairs)
        self.count += values.size
        return values


def drawn(n_rows, rng):
    """Rows of three regions along the first column; labels alternate faster in each."""
    region = rng.integers(3, size=n_rows)
    X = 0.7 * rng.standard_normal((n_rows, 6))
    X[:, 0] += 4.0 * (region - 1)
    waves = np.sin(np.array([2.0, 5.0, 9.0])[region] * X[:, 1]) + 0.5 * X[:, 2]
    return X, waves + 0.1 * rng.standard_normal(n_rows) > 0


def run(smoke=False, folder=FOLDER):
    n_rows = 200 if smoke else 4000
    X, y = drawn(2 * n_rows, np.random.default_rng(0))
    kernels = [Gaussian(width=width) for width in (0.15, 0.4, 1.0)]
    model = LMKLClassifier(kernels, n_copies=1, gate_penalty=0.1, random_state=0)
    with one_thread():
        predictor = model.fit(X[:n_rows], y[:n_rows]).predictor_
        rows, coefficients = X[n_rows:], predictor.components.coefficients
        # too small to change a score, but there
        coefficients = np.where(coefficients == 0.0, 1e-300, coefficients)
        all_in_use = replace(predictor.components, coefficients=coefficients)

        def everything():
            scores = all_in_use(rows)
            return np.einsum("iq,iq->i", predictor.gate(rows), scores) + predictor.bias

        is_equal = np.array_equal(everything(), predictor(rows)[:, 0])
        share = _evaluated(predictor, rows) / (3 * n_rows * predictor.components.n_support)
        seconds = [(_seconds(everything), _seconds(lambda: predictor(rows))) for _ in range(TURNS)]
    all_of_them, some = np.min(seconds, axis=0)
    case = f"LMKL, three Gaussians, {n_rows} rows, {predictor.components.n_support} support rows"
    note = "scores have the same bits" if is_equal else "SCORES DIFFER"
    return [
        Result(case, "kernel evaluations saved", 1 - share, "", LEAST_SAVED, True, note),
        Result(case, "all support rows", 1e3 * all_of_them, "ms"),
        Result(case, "those that count", 1e3 * some, "ms"),
    ]


def _evaluated(predictor, rows):
    components = predictor.components
    counting = [_Counting(kernel) for kernel in components.kernels]
    replace(predictor, components=replace(components, kernels=tuple(counting)))(rows)
    return sum(kernel.count for kernel in counting)


def _seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    publish("gated", run())
