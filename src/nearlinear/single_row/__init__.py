"""Scores of single rows, in microseconds.

Modules
-------
forests      One row through a forest. Every array that a pass takes costs it a fifth of a ...
makers       For every kind of model a function of one row.
outcome      Probabilities and the class of one row, in plain Python.
passes       Compiled passes from one row to its scores.
preparation  A preparation as one compiled pass over a raw row.
raw_rows     Compiled passes from a raw row to the row that a model takes.
scorer       Scores of single rows in microseconds: no threads, no work memory per call.
"""
