"""Plain, slow versions of what the package computes: written from the formulas, sharing no code."""
