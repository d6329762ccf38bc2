"""Gates: how much each component answers for a row.

Modules
-------
anchors     Sparse gates: each row is answered for by its few nearest anchors.
base        What a gate is: how much each component answers for a row.
blend       Local linear models under a sparse gate.
cells       The one cell that answers for a row.
clustering  Anchors from data: weighted k-means, for dense and sparse rows, plain or class by class.
forests/    Forests as gates: of every tree one leaf answers for a row.
learned     Gates with parameters that are learned.
nearest     The nearest anchors of each row, from one matrix product and a selection.
scores      Gates made of scores that something else computes.
selection   The nearest anchors of many rows at once, without a branch on data.
trees/      Trees as gates: who is met on the way down.
"""

from .learned import Columns, GaussianGate, Sigmoid, Softmax, Viewing

__all__ = ["Columns", "GaussianGate", "Sigmoid", "Softmax", "Viewing"]
