"""Gates: how much each component answers for a row."""

from .learned import Columns, GaussianGate, Sigmoid, Softmax, Viewing

__all__ = ["Columns", "GaussianGate", "Sigmoid", "Softmax", "Viewing"]
