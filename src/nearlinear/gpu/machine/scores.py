"""Scores of kernel machines for rows that are tensors: the formulas of ``predictors/``."""

import torch
from scipy.sparse import issparse

from .blocks import Pairs, block, is_known_kernel

_STRIP = 8192  # support rows that are compared at once


def is_known_expansion(predictor):
    """Whether a device has all its kernels."""
    return not issparse(predictor.support) and all(map(is_known_kernel, predictor.kernels))


def expansion(predictor, X):
    """A function of rows, f_o(x) = Σ_m Σ_j c_mjo k_m(x_j, x) + b_o, and the numbers it makes."""

    def put(array):
        return torch.tensor(array, device=X.device, dtype=torch.float32)

    support, biases = put(predictor.support), put(predictor.biases)
    terms = [
        (kernel, torch.tensor(outputs, device=X.device), put(coefficients))
        for kernel, outputs, coefficients in predictor.terms
    ]

    def score(X):
        scores = biases.repeat(len(X), 1)
        for start in range(0, len(support), _STRIP):
            strip = slice(start, start + _STRIP)
            pairs = Pairs(X.float(), support[strip])
            for kernel, outputs, coefficients in terms:
                scores[:, outputs] += block(kernel, pairs) @ coefficients[strip]
        return scores

    return score, 4 * min(_STRIP, len(support))
