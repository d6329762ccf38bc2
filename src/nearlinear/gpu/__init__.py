"""Solvers beside ``solvers/`` that run on a device of PyTorch, under the same names.

Nothing here is imported unless a device or a tensor is asked for, but for ``device``.

Modules
-------
anchors/    Local linear models around anchors, on a device.
clustering  Anchors from rows on a device: k-means as in ``gates/clustering.py``.
device      torch where it is there: devices by name, tensors among what users pass.
feed        Rows fed to steps on a device: blocks, orders, seeds, sizes of batches.
machine/    Kernel machines on a device.
scores      Scores of predictors for rows that are tensors, on the tensors' device.
trees/      Local linear models along the paths of trees, on a device.
"""
