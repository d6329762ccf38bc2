"""Forests in a file: what they may be made of, and their scores.

Modules
-------
rules   What a forest may be made of: every path ends, and every number names something.
scores  Scores of forests in plain NumPy: all rows go down all trees together, level by level.
"""
