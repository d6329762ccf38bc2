"""Locally linear kernels on a device.

Modules
-------
pricing  Candidates on the training rows, as ``kernels/conformal_grams.py`` has them.
"""
