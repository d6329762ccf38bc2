"""Forests as gates: of every tree one leaf answers for a row.

Modules
-------
block_memory  A block of rows on its way down: tiles of their values, and where they end.
gains         What splits are worth, from the leaves alone: no grower's private numbers.
gate          A forest as a gate.
packed        A forest as tables of the walk.
readers/      Forests of other libraries, read.
walk          Tiles of rows down the trees of a forest: the compiled passes.
"""
