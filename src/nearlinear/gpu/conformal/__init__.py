"""Locally linear kernels on a device.

Modules
-------
feature_rows  What rows hear of a change of the machine's coefficients.
pricing       Candidates on the training rows, as ``kernels/conformal_grams.py`` has them.
"""
