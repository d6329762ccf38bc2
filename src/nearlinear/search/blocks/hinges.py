"""Hinge units from all rows: scikit-learn's network, a pass of ``partial_fit`` for each epoch."""

import warnings

import numpy as np

from ..fits.hinges import RATES, network_of, schedule, scores_of


def refit_hinges(candidate, predictor, rows, seed, n_jobs):
    """Weights and biases of all layers, from the same start as those of the sample."""
    units = tuple(len(biases) for biases in predictor.biases[:-1])
    batch, epochs = schedule(rows.n_rows)
    model = network_of(rows.is_of_classes, units, batch, seed)
    center, scale = (0.0, 1.0) if rows.is_of_classes else (rows.center, rows.spread)
    rates = np.concatenate([[rate] * max(1, round(share * epochs)) for share, rate in RATES])
    for epoch, rate in enumerate(rates):
        model.set_params(learning_rate_init=rate)
        if epoch:
            model._optimizer.learning_rate_init = rate  # scikit-learn reads the other once
        for X, targets, weight in rows.blocks(epoch):
            settings = {} if rows.has_even_weights else {"sample_weight": weight.astype(X.dtype)}
            if rows.is_of_classes:
                settings["classes"] = np.arange(rows.n_classes)
                answers = rows.labels_of(targets)
            else:
                answers = ((targets - center) / scale)[:, 0]
            with warnings.catch_warnings():  # the last block may be smaller than a batch
                warnings.filterwarnings("ignore", "Got `batch_size`", UserWarning)
                model.partial_fit(X, answers, **settings)
    found = scores_of(model, center, scale, predictor.dtype)
    return {"weights": found.weights, "biases": found.biases}
