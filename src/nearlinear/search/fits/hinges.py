"""A small network of ReLU units, by scikit-learn's stochastic solver."""

import warnings
from inspect import signature
from itertools import pairwise

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor

from ..._compile import one_blas_thread
from ...estimators._base.checks import require_memory
from ...predictors.hinges import Hinges

_N_BATCHES, _LEAST_ROWS, _MOST_ROWS = 64, 32, 1024  # of an epoch, and of a batch
_EPOCHS, _FEWEST_EPOCHS, _MOST_STEPS = 60, 4, 8000
RATES = ((0.5, 1e-2), (0.25, 3e-3), (0.25, 1e-3))  # shares of the epochs, and Adam's rates there
_PENALTY = 0.02  # of squared weights, beside the summed loss of a batch


def fit_hinges(rows, seed, *, units):
    """Adam on the log loss, or on squared errors of standardized values.

    An epoch has 64 batches, and there are 60 of them, fewer for many rows; the rate falls twice.
    """
    n_rows, is_classification = rows.X.shape[0], hasattr(rows.task, "classes")
    widths = (rows.X.shape[1], *units, rows.targets.shape[1])
    # targets as numbers of eight bytes; weights, their slopes and Adam's means
    n_numbers = n_rows * widths[-1] + 5 * sum(a * b for a, b in pairwise(widths))
    require_memory(8 * n_numbers, "give fewer rows or columns")
    batch, epochs = schedule(n_rows)
    model = network_of(is_classification, units, batch, seed)
    model.set_params(warm_start=True, n_iter_no_change=epochs)
    answers, center, scale = (rows.labels, 0.0, 1.0) if is_classification else _standardized(rows)
    _train(model, epochs, rows.X, answers, _weight(rows, type(model)))
    return scores_of(model, center, scale, rows.X.dtype)


def schedule(n_rows):
    """Rows of a batch, and the number of epochs."""
    batch = min(n_rows, int(np.clip(n_rows // _N_BATCHES, _LEAST_ROWS, _MOST_ROWS)))
    return batch, min(_EPOCHS, max(_FEWEST_EPOCHS, _MOST_STEPS * batch // n_rows))


def network_of(is_classification, units, batch, seed):
    """scikit-learn's network, not fitted."""
    kind = MLPClassifier if is_classification else MLPRegressor
    return kind(
        hidden_layer_sizes=units, alpha=_PENALTY, batch_size=batch, random_state=seed
    )  # fmt: skip


def scores_of(model, center, scale, dtype):
    """What a fitted network says, in the unit of the values."""
    weights = [np.asarray(part, dtype=np.float64) for part in model.coefs_]
    biases = [np.asarray(part, dtype=np.float64) for part in model.intercepts_]
    weights[-1], biases[-1] = weights[-1] * scale, biases[-1] * scale + center
    return Hinges(
        tuple(np.ascontiguousarray(part, dtype=dtype) for part in weights),
        tuple(part.astype(dtype) for part in biases),
    )


def _train(model, epochs, X, answers, weight):
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # scikit-learn takes Ctrl-C for the end of a fit
        warnings.filterwarnings("error", "Training interrupted", UserWarning)
        try:
            for share, rate in RATES:
                model.set_params(learning_rate_init=rate, max_iter=max(1, round(share * epochs)))
                model.fit(X, answers, **weight)
        except UserWarning as told:
            raise KeyboardInterrupt from told


def _standardized(rows):
    center = np.average(rows.targets, axis=0, weights=rows.weight)
    spread = np.average((rows.targets - center) ** 2, axis=0, weights=rows.weight)
    scale = np.sqrt(np.where(spread > 0, spread, 1.0))
    answers = (rows.targets - center) / scale
    return answers[:, 0] if answers.shape[1] == 1 else answers, center, scale


def _weight(rows, kind):
    """As scikit-learn takes it from 1.7 on; none where all rows count alike."""
    if np.all(rows.weight == rows.weight[0]):
        return {}
    if "sample_weight" not in signature(kind.fit).parameters:
        raise ValueError("Rows that count unlike need scikit-learn 1.7: update it.")
    return {"sample_weight": rows.weight.astype(rows.X.dtype)}
