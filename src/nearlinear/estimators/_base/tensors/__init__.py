"""Rows that are torch tensors: learned from and scored where they lie.

Modules
-------
anchors      LLC-SAPL from rows that are torch tensors, learned where they lie.
coordinates  The coordinates in which tensors are learned, and the way there and back.
rows         Rows that are torch tensors, checked where they lie.
scores       Scores and answers for rows that are torch tensors, as tensors on their device.
trees        LDKL from rows that are torch tensors: all trees learn at once, where the rows lie.
"""
