"""Scores of kernel machines for rows that are tensors: the formulas of ``predictors/``."""

import torch
from scipy.sparse import issparse

from .blocks import Pairs, block, column_sets, is_known_kernel

_STRIP = 8192  # support rows that are compared at once


def is_known_expansion(predictor):
    """Whether a device has all its kernels."""
    return not issparse(predictor.support) and all(map(is_known_kernel, predictor.kernels))


def expansion(predictor, X):
    """A function of rows, f_o(x) = Σ_m Σ_j c_mjo k_m(x_j, x) + b_o, and the numbers it makes."""

    def put(array):
        return torch.tensor(array, device=X.device, dtype=torch.float32)

    support, biases = put(predictor.support), put(predictor.biases)
    # float32 numbers far from the origin have no digits for distances
    middle = predictor.support.mean(axis=0, dtype="float64") if len(support) else 0.0
    moved, middle = put(predictor.support - middle), torch.tensor(middle, device=X.device)
    terms = [
        (kernel, torch.tensor(outputs, device=X.device), put(coefficients))
        for kernel, outputs, coefficients in predictor.terms
    ]

    def score(X):
        scores = biases.repeat(len(X), 1)
        for start in range(0, len(support), _STRIP):
            strip = slice(start, start + _STRIP)
            near = (X - middle).float(), moved[strip]
            pairs = Pairs(X.float(), support[strip], near=near)
            for kernel, outputs, coefficients in terms:
                scores[:, outputs] += block(kernel, pairs) @ coefficients[strip]
        return scores

    # of every set of columns, products and distances stay until the strip is done
    n_views = 1 + len(set().union(*map(column_sets, predictor.kernels)))
    return score, (2 + 2 * n_views) * min(_STRIP, len(support))
