"""Cost of training MLLKM against rows, features and candidates, with a picture of it.

The classes are those of one problem in five dimensions, laid into as many as are asked for without
a change of any distance: features add work, and nothing else differs but the draw of anchors.
Seconds are the processor's, the geometric mean over drawn sets, one thread.
"""

import time
import warnings

import numpy as np

from benchmarks.bench_mllkm_fit import warm_up
from benchmarks.quiet import say_load
from benchmarks.report import FOLDER, Result, publish
from nearlinear import MLLKMClassifier
from reproduce.protocol import one_thread

DIMENSIONS = 5
BASE = {"rows": 4000, "features": 20, "anchors": 500}
SIZES = {
    "rows": (500, 1000, 2000, 4000, 8000, 16000),
    "features": (5, 10, 20, 40, 80),
    "anchors": (100, 200, 400, 800, 1600, 3200),
}
SMOKE_BASE = {"rows": 200, "features": 6, "anchors": 20}
SMOKE_SIZES = {"rows": (100, 200), "features": (5, 10), "anchors": (10, 20)}
SEEDS = 2
WIDTHS = 6  # bandwidths of each anchor


def problem(n_rows, n_features, seed):
    """A curved border that one row in twenty ignores."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n_rows, DIMENSIONS))
    f = np.sin(2 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + 0.5 * Z[:, 3]
    flips = rng.random(n_rows) < 0.05
    turn = np.linalg.qr(rng.standard_normal((n_features, n_features)))[0][:DIMENSIONS]
    return (Z @ turn).astype(np.float32), np.where((f > 0) ^ flips, 1, -1)


def fit_at(seed, rows, features, anchors):
    """CPU seconds of a fit, kernels, rounds and gap."""
    X, y = problem(rows, features, seed)
    model = MLLKMClassifier(n_anchors=anchors, selection_rows=None, random_state=seed)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - start
    return seconds, model.n_kernels_, model.n_iter_, model.duality_gap_ / model.objective_


def means_at(n_seeds, **sizes):
    found = np.array([fit_at(seed, **sizes) for seed in range(n_seeds)])
    seconds = float(np.exp(np.log(found[:, 0]).mean()))
    return seconds, *found[:, 1:3].mean(axis=0), float(found[:, 3].max())


def power_law(sizes, seconds):
    """Exponent and factor of seconds = factor · size^exponent, by least squares of logarithms."""
    power, intercept = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(power), float(np.exp(intercept))


def draw(measured, folder):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(measured), figsize=(12, 4.2), sharey=True, layout="constrained"
    )
    for axis, (quantity, (sizes, seconds)) in zip(axes, measured.items()):
        power, factor = power_law(sizes, seconds)
        ends = np.array([sizes[0], sizes[-1]], float)
        axis.loglog(ends, factor * ends**power, "--", color="0.5", label="least squares")
        axis.loglog(sizes, seconds, "o", color="C3", label="measured")
        axis.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=30)
        axis.minorticks_off()
        axis.grid(alpha=0.3)
        axis.set(xlabel=quantity, title=f"{quantity}: exponent {power:.2f}")
    axes[0].set_ylabel("fit, CPU seconds")
    axes[0].legend()
    figure.suptitle("MLLKM, one thread; one quantity varies, the others stay")
    folder.mkdir(exist_ok=True)
    figure.savefig(folder / "mllkm_scaling.png", dpi=120)
    plt.close(figure)


def run(smoke=False, folder=FOLDER):
    say_load()
    base, all_sizes = (SMOKE_BASE, SMOKE_SIZES) if smoke else (BASE, SIZES)
    warm_up(n_jobs=None)
    measured, results = {}, []
    for quantity, sizes in all_sizes.items():
        print(f"  {quantity} ...", flush=True)
        found = [means_at(1 if smoke else SEEDS, **base | {quantity: size}) for size in sizes]
        seconds, kernels, rounds, gaps = zip(*found)
        fixed = ", ".join(f"{n} {name}" for name, n in base.items() if name != quantity)
        factor = WIDTHS if quantity == "anchors" else 1
        name = "candidates" if quantity == "anchors" else quantity
        sizes = [factor * size for size in sizes]
        measured[name] = sizes, seconds
        note = ", ".join(f"{size}: {now:.2f} s" for size, now in zip(sizes, seconds))
        note += f"; {min(kernels):.0f} to {max(kernels):.0f} kernels, "
        note += f"{min(rounds):.0f} to {max(rounds):.0f} rounds, gaps up to {max(gaps):.2g}"
        power = power_law(sizes, seconds)[0]
        results.append(
            Result(f"fit against {name}, {fixed}", "exponent of growth", power, note=note)
        )
    draw(measured, folder)
    return results


if __name__ == "__main__":
    publish("mllkm_scaling", run())
