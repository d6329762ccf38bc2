"""Scores from a model file with NumPy alone.

    from nearlinear.runtime import load

    model = load("model.nlm")
    model.predict(rows)

Needs neither scikit-learn, scipy nor numba. Scores agree with the model's own to rounding.

Modules
-------
columns/           Columns of raw rows: what their cells say, and how numbers are bent.
container          The bytes of a model file.
demands            How much a file may ask for.
fields             What a rule may ask of a field that came out of a file.
forests/           Forests in a file: what they may be made of, and their scores.
gate_rules         What gates of a file must be; every rule gives the number of components.
gate_scores        Gates of checked parts in plain NumPy.
hinges             Layers of units that bend: what they must be, and their scores in plain NumPy.
kernel_rules       What kernels of a file must be.
kernel_scores      Kernels of checked parts in plain NumPy.
model              A model as it stands in a file.
outcome            What scores mean: how they become probabilities and labels.
outcome_rules      What an outcome may be made of.
parts              A description as plain parts, with its arrays filled in.
preparation        From raw columns to the columns of a model: the plain formula.
preparation_rules  The preparation that a model file describes, checked.
rules              What a model may be made of.
scores             Scores of checked parts in plain NumPy: the formulas, kind by kind.
sums               Sums of curves and of other models.
tree_rules         What an unbalanced tree may be made of, and the gates of a tree's nodes.
tree_scores        Scores of trees in plain NumPy, and the gates of the nodes that rows pass.
"""

from os import PathLike

from .container import ModelFileError, read
from .model import FileModel, model_of

__all__ = ["FileModel", "ModelFileError", "load"]


def load(path: str | PathLike[str]) -> FileModel:
    """Read a model that ``nearlinear.save`` has written.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    FileModel
    """
    return model_of(*read(path))
