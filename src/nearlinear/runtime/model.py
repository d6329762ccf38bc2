"""A model as it stands in a file: what prepares rows, what scores them, what the scores mean."""

from dataclasses import dataclass

import numpy as np

from .columns.names import column_names, select_columns, warn_of_extra_columns
from .columns.read_rows import raw_sources
from .container import ModelFileError
from .outcome import Outcome
from .outcome_rules import outcome_of
from .parts import Part, parse, precision_of
from .preparation import Preparation
from .preparation_rules import preparation_of
from .rules import check_predictor
from .scores import finite_scores, score

_OF_SEVERAL_VALUES = (
    "TreePath", "TreeLeaves", "LinkedTree", "Forest", "Additive", "Averaged", "Mapped",
    "Exponential", "Hinges",
)  # fmt: skip
_MOST_MODELS = 1000  # that are averaged


@dataclass(frozen=True)
class FileModel:
    """Scores rows and names their classes.

    Columns of data frames are matched by name: their order does not matter, extra columns are
    ignored with a warning, and missing columns are errors.

    ``record`` is what the header says of the training: rows, versions, cost. ``outcome`` says what
    scores mean; where several models are averaged, ``others`` are those after the first.
    """

    method: str
    predictor: Part
    n_features: int
    n_gating_features: int
    feature_names: list | None
    classes: list | None
    parameters: dict
    preparation: Preparation | None
    record: dict
    outcome: Outcome
    others: tuple = ()
    n_outputs: int = 1

    @property
    def width(self):
        """Columns that the predictor sees, beside those of a gate."""
        return self.n_features if self.preparation is None else self.preparation.width

    @property
    def takes_missing(self):
        """Whether rows may hold NaN that no preparation fills in."""
        return _accepts_missing(self.predictor)

    def decision_function(self, X):
        """Scores: one column per class, or one dimension for two classes and for values.

        Scores that are too large to be numbers are an error, not NaN.
        """
        if self.others:
            raise ValueError(
                f"{1 + len(self.others)} calibrated models are averaged here, which have no scores "
                "in common: ask for predict_proba."
            )
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X):
        """Labels, or the values of a regression; of several labels, 0 and 1 for each."""
        return self.labels(self.all_scores(X))

    def predict_proba(self, X):
        """Class probabilities, shape (n_rows, n_classes)."""
        return self.probabilities(self.all_scores(X))

    @property
    def gives_probabilities(self):
        return self.outcome.gives_probabilities

    def all_scores(self, X):
        """A list of scores (n_rows, n_outputs), one for each model that is averaged."""
        X = self._select(X)
        return [model._scores(X) for model in (self, *self.others)]

    def labels(self, scores):
        """Labels, or values, of ``all_scores``."""
        if self.classes is None:
            return scores[0][:, 0] if scores[0].shape[1] == 1 else scores[0]
        if self.outcome.is_of_each_label:
            return self.outcome.places(scores)
        labels = np.array(self.classes)
        if labels.tolist() != self.classes:  # NumPy cuts zeros off the end of strings
            labels = np.array(self.classes, dtype=object)
        with np.errstate(over="ignore", invalid="ignore"):
            return labels[self.outcome.places(scores)]

    def probabilities(self, scores):
        """Class probabilities of ``all_scores``."""
        if not self.gives_probabilities:
            raise ValueError(
                f"The {self.method} of this file gives no probabilities: save one with "
                "loss='log_loss', or CalibratedClassifierCV around it."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.outcome.probabilities(scores)
        if not np.all(np.isfinite(found)):
            raise ValueError("The scores are too large for probabilities.")
        return found

    def _scores(self, X):
        with np.errstate(all="ignore"):
            rows = self._rows(X)
            scores = score(self.predictor, rows)
        return finite_scores(scores, rows, self.method, self.predictor.kind)

    @property
    def optional_names(self):
        """Names of the columns that predictions do not read: a table may lack them."""
        if self.feature_names is None or self.preparation is None:
            return set()
        used = raw_sources(self.preparation)
        return {name for place, name in enumerate(self.feature_names) if place not in used}

    def _select(self, X):
        """X as an array, with the columns of the fit by name if both have names."""
        given, names = column_names(X), self.feature_names
        if given is None or names is None:
            return np.asarray(X)
        if self.n_gating_features:  # the names of these columns are not in the file
            names = [*names, *(name for name in given if name not in set(names))]
        selected = select_columns(X, names, self.optional_names)
        warn_of_extra_columns(names, given)
        return selected

    def _rows(self, X):
        X = self._select(X)
        if X.ndim != 2 or X.shape[1] != self.n_features + self.n_gating_features:
            raise ValueError(
                f"The model takes rows of {self.n_features + self.n_gating_features} numbers, "
                f"X has shape {X.shape}."
            )
        seen, gating = X[:, : self.n_features], X[:, self.n_features :]
        # prepared in the rows' own precision, as scikit-learn does
        prepare = self.preparation
        keeps = self.takes_missing
        check = _not_infinite if keeps else _finite
        rows = check(seen) if prepare is None else prepare(seen, self.feature_names, keeps)
        if self.n_gating_features:
            rows = np.concatenate([rows, _finite(gating)], axis=1)
        with np.errstate(over="ignore"):
            rows = rows.astype(precision_of(self.predictor), copy=False)
        if np.any(np.isinf(rows)) or (not keeps and np.any(np.isnan(rows))):
            raise ValueError("X holds numbers that are too large when they are scaled.")
        return rows


def _not_infinite(X):
    X = _as_floats(X)
    if np.any(np.isinf(X)):
        raise ValueError("X holds infinity; the model takes finite numbers, and NaN where missing.")
    return X


def _as_floats(X):
    try:
        return X.astype(np.float32 if X.dtype == np.float32 else np.float64)
    except OverflowError as error:
        raise ValueError("X holds a whole number that is too large for float64.") from error


def _finite(X):
    X = _as_floats(X)
    if not np.all(np.isfinite(X)):
        raise ValueError("X holds NaN or infinity; the model takes finite numbers.")
    return X


def model_of(header, arrays):
    """A header and its arrays as a model, all of it checked."""
    known = ("method", "predictor", "n_features", "n_gating_features", "feature_names")
    known += ("classes", "parameters", "attributes", "record", "preparation")
    for name in known:
        if name not in header:
            raise ModelFileError(f"The model file does not say its {name}.")
    n_features, n_gating = header["n_features"], header["n_gating_features"]
    for count, least in ((n_features, 1), (n_gating, 0)):
        if type(count) is not int or not least <= count < 1 << 31:
            raise ModelFileError("The model file names no whole number of features.")
    preparation = preparation_of(header, arrays, n_features)
    predictor = parse(header["predictor"], arrays)
    width = n_features if preparation is None else preparation.width
    n_outputs = check_predictor(predictor, width + n_gating)
    classes = parse(header["classes"], arrays)
    _check_classes(classes, n_outputs, predictor)
    names = _check_names(header["feature_names"], n_features)
    parameters = parse(header["parameters"], arrays)
    if not isinstance(parameters, dict):
        raise ModelFileError("The model file's parameters are described wrongly.")
    record = header["record"] if isinstance(header["record"], dict) else {}
    others = _others(header, arrays, n_features + n_gating, n_outputs)
    outcome = _outcome(header, arrays, classes, n_outputs, 1 + len(others))
    return FileModel(
        str(header["method"]), predictor, n_features, n_gating, names,
        None if classes is None else _as_list(classes), parameters, preparation, record, outcome,
        others, n_outputs,
    )  # fmt: skip


def _others(header, arrays, n_columns, n_outputs):
    """The models that are averaged with the first one: each has a header of its own."""
    members = header.get("members", [])
    if not isinstance(members, list) or len(members) >= _MOST_MODELS:
        raise ModelFileError(f"The model file lists no members, or {_MOST_MODELS} and more.")
    found = []
    for member in members:
        if not isinstance(member, dict) or "members" in member or "outcome" in member:
            raise ModelFileError("The model file's members are described wrongly.")
        one = model_of(member, arrays)
        n_classes = len(one.classes or ())
        good = n_classes == (2 if n_outputs == 1 else n_outputs)
        if not good or one.n_features + one.n_gating_features != n_columns:
            raise ModelFileError("The model file's members are of other rows or classes.")
        found.append(one)
    return tuple(found)


def _outcome(header, arrays, classes, n_outputs, n_models):
    found = header.get("outcome")
    if found is not None and classes is None:
        raise ModelFileError("The model file has an outcome of classes for a regression.")
    if found is not None:
        return outcome_of(parse(found, arrays), n_outputs, n_models)
    if n_models > 1:
        raise ModelFileError("The model file does not say how its members are averaged.")
    return Outcome(())


def _as_list(classes):
    return classes.tolist() if isinstance(classes, np.ndarray) else classes


def _accepts_missing(part):
    """Whether a predictor accepts rows with NaN."""
    if part.kind == "Averaged":
        return all(_accepts_missing(member) for member in part.members)
    if part.kind == "Exponential":
        return _accepts_missing(part.predictor)
    return part.kind == "Forest"


def _check_classes(classes, n_outputs, predictor):
    if classes is None:
        good = n_outputs == 1 or predictor.kind in _OF_SEVERAL_VALUES
    else:
        is_row = isinstance(classes, list) or (
            isinstance(classes, np.ndarray) and classes.ndim == 1
        )
        good = is_row and len(classes) == (2 if n_outputs == 1 else n_outputs)
        good = good and _are_labels(_as_list(classes))
    if not good:
        raise ModelFileError(f"The model file has other classes than its {n_outputs} outputs.")


def _are_labels(labels):
    """Distinct finite values of one kind."""
    kinds = {type(label) for label in labels}
    good = len(kinds) == 1 and kinds <= {str, bool, int, float}
    return good and len(set(labels)) == len(labels) and all(label == label for label in labels)


def _check_names(names, n_features):
    if names is None:
        return None
    if (
        not isinstance(names, list)
        or len(names) != n_features
        or not all(isinstance(name, str) for name in names)
    ):
        raise ModelFileError("The model file's feature names are not those of its features.")
    return names
