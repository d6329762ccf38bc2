"""Kernel machines on a device.

Modules
-------
blocks       Kernels between two sets of rows that are tensors.
dual         The dual problem of a machine as tensors: its box, losses, certificate.
factor       The Cholesky factor of a positive matrix, and solutions by it.
free_rows    Newton directions of a machine's dual on a device: some rows are free, the others jump.
grams        Gram matrices of many kernels on the training rows, as ``kernels/grams.py`` has them.
newton       Machines by Newton steps, in place of the working sets of ``solvers/machine``.
pivoting     A machine solved from a good start, by rows exchanged in blocks.
scores       Scores of kernel machines for rows that are tensors.
searches     Roots of falling functions of one number, found by many trials at once.
triton_sums  Sums of modulated kernels as a Triton kernel.
"""
