"""Machines on locally linear kernels.

Modules
-------
local_kernels  Chosen conformal kernels and their local models.
online         One machine of conformal kernels that learns from rows as they come.
refinement     Anchors, bandwidths and local models of chosen conformal kernels.
sample         A random sample of a stream: which rows stay, and what each of them weighs.
stream         Rows and kernels that stream together.
"""
