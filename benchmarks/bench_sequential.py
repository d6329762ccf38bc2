"""Four hundred candidate kernels: SequentialMKL beside SimpleMKL on all of them, one thread."""

import warnings

import numpy as np
from sklearn.base import clone

from benchmarks.quiet import best_of, disturbance, say_load
from benchmarks.report import FOLDER, Result, publish
from nearlinear import SequentialMKLClassifier, SimpleMKLClassifier
from nearlinear.kernels import bank
from reproduce.protocol import one_thread

N_ROWS, N_FEATURES, N_WIDTHS = 500, 20, 20
TOL = 0.01


def problem(n_rows, n_features, seed=0):
    """Six features matter, each in a way of its own; the others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features))
    f = np.sin(3 * X[:, 0]) + np.abs(X[:, 1]) + X[:, 2] ** 2 / 2 - np.exp(-4 * X[:, 3] ** 2)
    f += np.cos(2 * X[:, 4]) + 0.7 * X[:, 5] + 0.3 * rng.standard_normal(n_rows)
    return X, np.where(f > np.median(f), 1, -1)


def compile_passes(models, X, y):
    """Fit once, cut short, so that nothing is compiled on the clock."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models:
            clone(model).set_params(max_iter=2).fit(X, y)


def reached(model):
    return model.duality_gap_ <= model.tol * model.objective_


def run(smoke=False, folder=FOLDER):
    say_load()
    n_rows, n_features, n_widths = (80, 6, 3) if smoke else (N_ROWS, N_FEATURES, N_WIDTHS)
    X, y = problem(n_rows, n_features)
    test = problem(2000, n_features, seed=1)
    candidates = bank(widths=n_widths, degrees=(), columns="each")
    models = {
        "SequentialMKL": SequentialMKLClassifier(candidates, tol=TOL),
        "SimpleMKL (reduced_gradient)": SimpleMKLClassifier(
            candidates, tol=TOL, weight_solver="reduced_gradient"
        ),
        "SimpleMKL (newton)": SimpleMKLClassifier(candidates, tol=TOL, weight_solver="newton"),
    }
    with one_thread():
        compile_passes(models.values(), X[:60], y[:60])
        fits = {name: (lambda model=model: model.fit(X, y)) for name, model in models.items()}
        took = best_of(fits, repeats=1 if smoke else 3)
    title = f"{n_features * n_widths} kernels, {n_rows} rows, tol {TOL:g}, one thread"
    results = []
    for name, model in models.items():
        note = (
            f"C {model.C:g}, objective {model.objective_:.5g}, "
            f"gap {model.duality_gap_ / model.objective_:.1e}, "
            f"{np.count_nonzero(model.kernel_weights_)} kernels in use, "
            f"test accuracy {100 * model.score(*test):.1f} %"
        )
        note += disturbance(took[name].others)
        results.append(Result(title, f"{name}.fit", took[name].seconds, "s", note=note))
    ours, *others = models
    for name, least in zip(others, (5, None)):
        ratio = took[name].seconds / took[ours].seconds
        quantity, note = f"{name} / {ours}", ""
        if not (reached(models[name]) and reached(models[ours])):
            # seconds to different places are no ratio that a target could be held against
            least, note = None, "one of them stopped short of tol: not comparable"
        results.append(Result(title, quantity, ratio, "×", target=least, at_least=True, note=note))
    values = [model.objective_ for model in models.values()]
    apart = (max(values) - min(values)) / max(values)
    results.append(Result(title, "largest difference of objectives", apart, target=TOL))
    return results


if __name__ == "__main__":
    publish("sequential", run())
