"""Families of models by name, for those who name them before anything is loaded."""

FAMILIES = (
    "linear", "piecewise linear", "anchors", "boosted trees", "decision tree", "random forest",
    "kernel machine", "oblique trees", "hinge units", "local kernels", "cells", "few support rows",
)  # fmt: skip
