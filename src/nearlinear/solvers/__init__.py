"""How the numbers are found: functions on arrays.

Modules
-------
anchors/      Local linear models around anchors.
cells/        Gaussians with slopes: one convex problem in every cell.
conformal/    Machines on locally linear kernels.
forests/      The numbers of a forest whose trees are given.
localized/    Kernels that answer for some rows: gates, switches, clusters.
machine/      One machine on one kernel: its dual, its steps, its rows.
minibatch     Training by mini-batches.
mixture/      Weights of several kernels: J(β) and the ways down it.
quasi_newton  Limited-memory BFGS, a trial at a time.
solution      What solvers start from and return: frozen records of plain arrays.
trees/        Local linear models along the paths of a tree.
watch         What a solver tells while it works, and who listens: seen, kept, stopped.
"""
