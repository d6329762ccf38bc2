"""Solvers beside ``solvers/`` that run on a device of PyTorch, under the same names.

Modules
-------
anchors/    Local linear models around anchors, on a device.
clustering  Anchors from rows on a device.
device      torch where it is there: devices by name, tensors among what users pass.
digits      Deformed images made on a device: the rows of ``streams/digits.py``.
scores      Scores of predictors for rows that are tensors, on the tensors' device.
"""
