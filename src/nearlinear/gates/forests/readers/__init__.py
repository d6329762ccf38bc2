"""Readers of other libraries' forests: their private attributes are read here and nowhere else."""
