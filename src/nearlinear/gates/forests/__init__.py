"""Forests as gates: of every tree one leaf answers for a row.

Modules
-------
gains     What splits are worth, from the leaves alone: no grower's private numbers.
gate      A forest as a gate.
readers/  Forests of other libraries, read: their private attributes are read here and nowhere else.
walk      Blocks of rows down the trees of a forest, many rows side by side.
"""
