"""A model file as commands use it."""

from dataclasses import dataclass

from scipy.sparse import issparse
from sklearn.utils import get_tags

from ._failure import CommandError
from ._tables import check_readable


@dataclass(frozen=True)
class CommandModel:
    """A loaded model, what it was trained on, and what it answers."""

    model: object
    n_features: int
    names: list[str] | None
    classes: object
    wants_dense: bool

    def answers(self, X):
        """Labels (or values) and scores."""
        if issparse(X) and self.wants_dense:
            X = X.toarray()  # one piece, not the table
        if self.classes is None:
            values = self.model.predict(X)
            return values, values
        scores = self.model.decision_function(X)
        places = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes[places], scores

    def header(self, scores):
        """Names of the columns that are written."""
        if self.classes is None or scores.ndim == 1:
            return ["prediction", "score"]
        return ["prediction", *(f"score_{name}" for name in self.classes)]


def load_model(path):
    """The model in a file; what is wrong with it is one sentence."""
    import nearlinear
    from nearlinear.runtime import ModelFileError

    check_readable(path)
    try:
        model = nearlinear.load(path)
    except ModelFileError as error:
        raise CommandError(str(error)) from error
    first = model[0] if hasattr(model, "steps") else model
    estimator = model[-1] if hasattr(model, "steps") else model
    names = getattr(first, "feature_names_in_", None)
    if names is not None:  # columns are put in order by the command, which then has plain arrays
        del first.feature_names_in_
    return CommandModel(
        model,
        int(estimator.n_features_in_),
        None if names is None else [str(name) for name in names],
        getattr(estimator, "classes_", None),
        getattr(first, "mean_", None) is not None or not get_tags(estimator).input_tags.sparse,
    )
