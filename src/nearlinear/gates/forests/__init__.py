"""Forests as gates: of every tree one leaf answers for a row.

Modules
-------
gate  A forest as a gate: of every tree one leaf answers for a row, γ = 1, and the others are shut.
walk  Blocks of rows down the trees of a forest, eight rows side by side.
"""
