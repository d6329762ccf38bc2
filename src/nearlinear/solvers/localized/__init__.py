"""Kernels that answer for some rows: gates, switches, clusters.

Modules
-------
alternating  A gate learned as it was published.
clusters     Clusters in a kernel's space, with centers that a sample of the rows spans.
gate         A gate and its machine learned together: by turns, or by mini-batches.
landmarks    Success regressed on few rows.
success      How well every kernel alone does, and where: a machine and a regression of its success.
switches     Kernels switched on and off for every row, by turns with their weights (SAMKL.
"""
