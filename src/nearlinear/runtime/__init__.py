"""Scores from a model file with NumPy alone.

    from nearlinear.runtime import load

    model = load("model.nlm")
    model.predict(rows)

Needs neither scikit-learn, scipy nor numba. Scores agree with the model's own to rounding.
"""

from .container import ModelFileError, read
from .model import FileModel, model_of

__all__ = ["FileModel", "ModelFileError", "load"]


def load(path):
    """The model in a file."""
    return model_of(*read(path))
