"""Weights of several kernels: J(β) and the ways down it.

Modules
-------
active_set  Sequential multiple kernel learning: few kernels at work, all others only priced.
groups      Kernel weights with one ball Σ_m β_lm^p ≤ 1 for every group l of kernels.
objective   A machine on a weighted sum of kernels, as a function of the weights.
penalty     Generalized MKL by spectral projected gradients.
simplex     Weights on the simplex that minimize J(β).
"""
