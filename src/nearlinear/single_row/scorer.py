"""Scores of single rows in microseconds: no threads, no work memory per call.

A batch predictor sets up blocks, which takes longer than one row does. Here every kind of model
has one compiled pass that takes a row to its scores, and scratch memory that a thread keeps.
"""

import threading

import numpy as np

from ..kinds import kind_of, known
from . import passes as row_passes
from .outcome import CALIBRATIONS, row_place, row_probabilities
from .preparation import preparing


class RowScorer:
    """A function of one row, made by ``compile()`` of a fitted model.

    ``scorer(x)`` takes a one-dimensional contiguous array of ``n_features`` numbers of type
    ``dtype`` and gives its score, or an array of scores if there are several outputs.
    ``scorer.predict(x)`` gives the label (or value), ``scorer.predict_proba(x)`` the probabilities
    of the classes, where the model has some, and ``scorer.batch(X)`` the scores of a few rows.
    A row of another length, or with a number that is not finite, is refused; the check is part of
    the compiled pass and takes a tenth of a microsecond. Lists are converted. An array of another
    type, or one that may not be written to, makes its first call compile anew. Several threads may
    use one scorer; it can be pickled.
    """

    def __init__(
        self, predictor, n_features, dtype, classes=None, preparation=None, names=None, outcome=None
    ):
        self.predictor, self.n_features, self.dtype = predictor, n_features, np.dtype(dtype)
        self.classes, self.preparation, self.names = classes, preparation, names
        self.outcome = outcome
        self._width = n_features if preparation is None else preparation.width
        self._row = pass_for(predictor, self._width)
        self._scratch = threading.local()
        self._prepare = None if preparation is None else preparing(preparation, self.dtype)
        self.n_outputs = self._row(np.zeros(self._width, dtype=self.dtype), _Scratch()).size

    def __call__(self, x):
        scores = self._scores(x)
        return float(scores[0]) if self.n_outputs == 1 else scores.copy()

    def predict(self, x):
        """The label of a row, or its value."""
        scores = self._scores(x)
        if self.classes is None:
            return float(scores[0])
        return self.classes[int(scores[0] > 0) if self.n_outputs == 1 else int(scores.argmax())]

    def predict_proba(self, x):
        """Probabilities of the classes of a row, in the order of ``classes``."""
        if self.outcome is None:
            raise AttributeError("The model of this scorer gives no probabilities.")
        return row_probabilities(self.outcome, [self._scores(x).tolist()])

    def batch(self, X, out=None):
        """Scores of a few rows, shape (n_rows, n_outputs)."""
        out = np.empty((len(X), self.n_outputs), dtype=self.dtype) if out is None else out
        for i in range(len(X)):
            out[i] = self._scores(X[i])
        return out

    def _scores(self, x):
        """Scores in memory of this thread, which the next call writes over."""
        scratch = self._scratch
        try:
            memory = scratch.memory
        except AttributeError:
            memory = scratch.memory = _Scratch()
        if type(x) is not np.ndarray or x.ndim != 1:
            x = self._as_row(x)
        row = x
        if self._prepare is not None:
            row = memory.get("row", self._width, self.dtype)
            if not self._prepare(x, row):
                raise self._refusal(x)
        scores = self._row(row, memory)
        if scores is None:
            raise self._refusal(x)
        return scores

    def _as_row(self, x):
        self._check_names(x)
        row = np.asarray(x, dtype=self.dtype)
        if row.ndim != 1:
            raise ValueError(
                f"A scorer takes one row of {self.n_features} numbers, not an array of shape "
                f"{row.shape}; batch takes several rows."
            )
        return row

    def _check_names(self, x):
        """Refuse a row whose numbers have the names of others, such as one of a data frame."""
        found = list(x.index) if hasattr(x, "to_frame") else None
        known = self.names is not None and found is not None
        if known and all(isinstance(name, str) for name in found) and found != list(self.names):
            raise ValueError(
                "The feature names should match those of the fit, in its order: they are "
                f"{', '.join(map(str, self.names))[:200]}."
            )

    def _refusal(self, x):
        """What is wrong with a row that a pass has refused."""
        if len(x) != self.n_features:
            return ValueError(f"The row has {len(x)} numbers, not {self.n_features}.")
        if self.preparation is not None and not self.preparation.only_scales:
            return self._unprepared(x)
        strange = np.flatnonzero(~np.isfinite(x))
        if len(strange):
            place = int(strange[0])
            return ValueError(f"Feature {place} of the row is {x[place]}: give finite numbers.")
        return ValueError("The row's numbers are too large for the scaler or the projection.")

    def _unprepared(self, x):
        try:
            self.preparation(x[None], self.names)
        except ValueError as error:  # the plain formula says what it does not take
            return error
        return ValueError("The row's numbers are too large for the model.")

    def __getstate__(self):
        own = self.predictor, self.n_features, self.dtype
        return *own, self.classes, self.preparation, self.names, self.outcome

    def __setstate__(self, state):
        self.__init__(*state)


class WrappedScorer:
    """Labels and probabilities of one row, for a calibrated or threshold-tuned model.

    ``scorers`` are those of the models that it averages; rows are checked as they do.
    """

    def __init__(self, scorers, outcome, classes):
        self.scorers, self.outcome, self.classes = tuple(scorers), outcome, classes

    def predict(self, x):
        """The label of a row."""
        return self.classes[row_place(self.outcome, self._scores(x))]

    def predict_proba(self, x):
        """Probabilities of the classes of a row, in the order of ``classes``."""
        if not self.outcome.gives_probabilities:
            raise AttributeError("The model of this scorer gives no probabilities.")
        return row_probabilities(self.outcome, self._scores(x))

    def _scores(self, x):
        return [scorer._scores(x).tolist() for scorer in self.scorers]


class _Scratch:
    """Work arrays of one thread, by name."""

    def __init__(self):
        self._arrays = {}

    def get(self, name, shape, dtype):
        array = self._arrays.get(name)
        if array is None:
            array = self._arrays[name] = np.empty(shape, dtype=dtype)
        return array

    def part(self, number):
        """Memory of a part, apart from that of others."""
        found = self._arrays.get(number)
        if found is None:
            found = self._arrays[number] = _Scratch()
        return found


def pass_for(predictor, n_features):
    """A function (row, scratch) → scores in the scratch's memory."""
    kind = kind_of(predictor)
    make = None if kind is None else known("row", kind)
    found = None if make is None else make(predictor, n_features)
    return _by_block(predictor, n_features) if found is None else found


def _by_block(predictor, n_features):
    """Machines that keep support rows: their blocks are quick for one row, too."""

    def score(x, scratch):
        known = len(x) == n_features and np.isfinite(x).all()
        return predictor(x[None])[0] if known else None

    return score


def _locally_linear(predictor, n_features):
    """None where the gate has no compiled pass."""
    kind = kind_of(predictor.gate)
    if kind in _CODES and predictor.intercept is None:
        return _anchors(predictor)
    is_rounded = kind == "Rounded" and kind_of(predictor.gate.gate) == "Softmax"
    return _gated_linear(predictor) if is_rounded and predictor.n_outputs == 1 else None


def _anchors(predictor):
    gate, dtype = predictor.gate, predictor.weights.dtype
    geometry = gate.geometry
    places = (
        np.ascontiguousarray(geometry.directions, dtype=dtype),
        geometry.offsets.astype(dtype),
        np.ascontiguousarray(geometry.mean, dtype=dtype),
        np.ascontiguousarray(gate.anchors, dtype=dtype),
    )
    # outputs before features, so that every product runs along memory
    weights = np.ascontiguousarray(predictor.weights.transpose(0, 2, 1))
    biases = np.ascontiguousarray(predictor.biases)
    code, number = _CODES[kind_of(gate)]
    code, number = code.dispatcher(), dtype.type(number(gate))
    k, n_outputs = gate.n_neighbors, biases.shape[1]

    def score(x, scratch):
        near = scratch.get("near", k, np.int64)
        halves = scratch.get("halves", k, dtype)
        scores = scratch.get("scores", n_outputs, dtype)
        known = code(x, places, number, near, halves, weights, biases, scores)
        return scores if known else None

    return score


def _floor(gate):
    eps = np.finfo(gate.anchors.dtype).eps
    return eps * max(1.0, float(np.abs(gate.geometry.offsets).max()))


_CODES = {
    "SoftAssignment": (row_passes.soft_row, lambda gate: gate.sharpness),
    "InverseDistance": (row_passes.inverse_row, _floor),
    "ReconstructionCodes": (row_passes.rebuilt_row, lambda gate: gate.ridge),
}


def _tree(predictor, n_features):
    n_outputs, dtype = predictor.n_outputs, predictor.dtype
    if predictor.node_gate.name == "indicator":
        tables = (predictor.splits, predictor.weights, predictor.intercept)
        run = row_passes.leaf_row.dispatcher()
    else:
        sigma = dtype.type(getattr(predictor.node_gate, "sigma", 1.0))
        tables = (predictor.splits, predictor.directions, predictor.weights, predictor.intercept)
        tables = (*tables, sigma, predictor.node_gate.name == "compositional")
        run = row_passes.path_row.dispatcher()

    def score(x, scratch):
        scores = scratch.get("scores", n_outputs, dtype)
        return scores if run(x, *tables, scores) else None

    return score


def _mapped(predictor, n_features):
    if kind_of(predictor.map) != "Affine":
        return None
    matrix, dtype = predictor.map.matrix, predictor.dtype
    inner, project = pass_for(predictor.predictor, len(matrix)), row_passes.project

    def score(x, scratch):
        seen = scratch.get("seen", len(matrix), dtype)
        return inner(seen, scratch) if project(x, matrix, seen) else None

    return score


def _mean(predictor, n_features):
    parts = [pass_for(one, n_features) for one in predictor.predictors]
    share, n_outputs = predictor.dtype.type(len(parts)), predictor.n_outputs

    def score(x, scratch):
        total = scratch.get("total", n_outputs, predictor.dtype)
        total[:] = 0.0
        for number, part in enumerate(parts):
            found = part(x, scratch.part(number))
            if found is None:
                return None
            total += found
        total /= share
        return total

    return score


def _conformal(predictor, n_features):
    dtype = predictor.weights.dtype
    tables = (
        np.ascontiguousarray(predictor.anchors, dtype=dtype),
        predictor.gammas.astype(dtype),
        np.ascontiguousarray(predictor.weights),
        np.searchsorted(predictor.kernels, np.arange(len(predictor.anchors) + 1)),
        predictor.outputs.astype(np.intp),
        predictor.biases.astype(dtype),
    )
    of_root = predictor.profile in ("exponential", "linear")
    is_bounded = predictor.profile in ("linear", "square")
    run = row_passes.feature_row if predictor.per_feature else row_passes.conformal_row
    run = run.dispatcher()

    def score(x, scratch):
        scores = scratch.get("scores", len(predictor.biases), dtype)
        return scores if run(x, *tables, of_root, is_bounded, scores) else None

    return score


def _gated_linear(predictor):
    dtype = predictor.dtype
    softmax, margin = predictor.gate.gate, dtype.type(predictor.gate.margin)
    tables = (
        np.ascontiguousarray(softmax.directions, dtype=dtype),
        softmax.offsets.astype(dtype),
        np.ascontiguousarray(predictor.weights[:, :, 0]),
        np.ascontiguousarray(predictor.biases[:, 0]),
        dtype.type(0.0 if predictor.intercept is None else predictor.intercept[0]),
    )
    run = row_passes.gated_row.dispatcher()

    def score(x, scratch):
        gates = scratch.get("gates", len(tables[1]), dtype)
        scores = scratch.get("scores", 1, dtype)
        return scores if run(x, *tables, margin, gates, scores) else None

    return score


def _stacked(predictor, n_features):
    outputs = [pass_for(output, n_features) for output in predictor.outputs]

    def score(x, scratch):
        scores = scratch.get("stack", len(outputs), predictor.dtype)
        for number, output in enumerate(outputs):
            found = output(x, scratch.part(number))
            if found is None:
                return None
            scores[number] = found[0]
        return scores

    return score


RULES = {
    "LocallyLinear": _locally_linear,
    "TreePath": _tree,
    "TreeLeaves": _tree,
    "ConformalLinear": _conformal,
    "Mapped": _mapped,
    "Mean": _mean,
    "Stacked": _stacked,
    **CALIBRATIONS,
}
