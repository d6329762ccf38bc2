"""Cells with Gaussians in them: where they stand, and how they learn from rows in blocks.

Modules
-------
placed    Cells and their landmarks, as DC-Pred++ has them before any coefficient is known.
training  DC-Pred++ from rows in blocks: cells and landmarks of a sample, coefficients of all rows.
"""
