"""Forests as gates: of every tree one leaf answers for a row.

Modules
-------
gains     What splits are worth, from the leaves alone: no grower's private numbers.
gate      A forest as a gate.
packed    A forest as tables of the walk, and the memory of a block of rows on its way down.
readers/  Forests of other libraries, read: their private attributes are read here and nowhere else.
walk      Tiles of rows down the trees of a forest: the compiled passes.
"""
