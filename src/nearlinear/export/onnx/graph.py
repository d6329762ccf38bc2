"""``to_onnx``: a fitted model as an ONNX graph of standard operators."""

import json
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._hints import FilePath
from ..._version import __version__
from ...kinds import rule_for
from ...runtime.columns.read_rows import raw_sources
from ..c.quantized import with_arrays
from ..model import count_columns, require_no_dates
from ..wrappers import Unwrapped, prepared_models
from .builder import Graph, OnnxExportError, values_of
from .cells import gaussian_cells
from .conformal import conformal_linear
from .forests import forest
from .gates import GATES, gated_expansion
from .hinges import hinges
from .kernels import KERNELS, expansion
from .linear import SPARSE_GATES, locally_linear
from .outcome import CALIBRATIONS, each_label, places, probabilities
from .preparation import prepared
from .proto import model_proto, require_onnx, write
from .sums import additive, averaged
from .trees import linked_tree, tree_path


def _mapped(graph, part, X):
    return values_of(graph, part.predictor, values_of(graph, part.map, X))


def _affine(graph, part, X):
    return graph.op("Add", graph.op("MatMul", X, part.matrix[:, :-1].T), part.matrix[:, -1])


def _quadratic(graph, part, X):
    rows = graph.op("Div", graph.op("Sub", X, part.center), float(part.scale))
    first, second = np.triu_indices(len(part.center))
    pairs = [graph.op("Gather", rows, which, axis=1) for which in (first, second)]
    return graph.op("Concat", graph.op("Mul", *pairs), rows, axis=1)


def _with_gates(graph, part, X):
    return graph.op("Concat", X, values_of(graph, part.gate, X), axis=1)


def _stacked(graph, part, X):
    found = [values_of(graph, output, X) for output in part.outputs]
    return graph.op("Concat", *found, axis=1)


def _exponential(graph, part, X):
    return graph.op("Exp", values_of(graph, part.predictor, X))


RULES = {
    "LocallyLinear": locally_linear,
    "TreePath": tree_path,
    "TreeLeaves": tree_path,
    "LinkedTree": linked_tree,
    "Forest": forest,
    "ConformalLinear": conformal_linear,
    "GaussianCells": gaussian_cells,
    "KernelExpansion": expansion,
    "GatedExpansion": gated_expansion,
    "Mapped": _mapped,
    "Additive": additive,
    "Averaged": averaged,
    "Hinges": hinges,
    "Stacked": _stacked,
    "Exponential": _exponential,
    "Affine": _affine,
    "WithGates": _with_gates,
    "Quadratic": _quadratic,
    **SPARSE_GATES,
    **GATES,
    **KERNELS,
    **CALIBRATIONS,
}


def to_onnx(
    model: Any, path: FilePath | None = None, *, dtype: Literal["float32", "float64"] | None = None
) -> Any:
    """Turn a fitted model, or a pipeline that ends in one, into an ONNX model.

    The graph has operators of the ``ai.onnx`` domain alone (opset 17), a forest one of
    ``ai.onnx.ml`` (opset 3), and takes any number of rows. Its input is ``X``, shape (n_rows,
    n_features), in the precision of the model: float32 where it was fitted on float32, else
    float64. A model with a second matrix for its gate takes that matrix's columns after those of
    ``X``. NaN stands for a missing value. Where raw columns hold text, every raw column that the
    model looks at is an input of its own instead, shape (n_rows, 1), under its name (or x0, x1,
    ...), numbers or strings; the empty string is a missing text. A graph refuses no row: where the
    pipeline would, a missing value makes the scores NaN, and a category that the fit did not know
    is none of the known ones. Its outputs are, for a classifier,

    ``label``, shape (n_rows,)
        int64, or strings. Booleans are 0 and 1; labels that are whole numbers of type float are
        int64, too.
    ``scores``, shape (n_rows, n_outputs)
        The columns of ``decision_function``: one for two classes, else one per class. A
        CalibratedClassifierCV has none.
    ``probabilities``, shape (n_rows, n_classes)
        Where the model has ``predict_proba``.

    and for a regressor ``variable``, shape (n_rows, n_values). Where a row may have several labels,
    ``label`` has a column of 0 and 1 for each. They agree with the model's up to rounding.
    A row within rounding of a split, or of being as far from one anchor as from the next, may take
    the other side. The metadata have the ``method``, and as JSON the ``feature_names``, the
    ``classes`` and the ``versions`` of the packages that made the graph.

    Memory grows with the rows of a call, above all for kernel machines, which compare all of them
    with all support vectors: give some thousand rows at a time.

    Parameters
    ----------
    model : estimator, Pipeline, search or wrapper
        Fitted. What ``save`` takes, but for dates; with other steps, see
        ``nearlinear.export.onnx.skl2onnx``.
    path : str, path or None, default=None
        Where to write the model; by custom it ends in ``.onnx``. The file appears whole or not at
        all.
    dtype : {"float32", "float64"} or None, default=None
        The precision of rows, tables and scores; None takes the model's own.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    OnnxExportError
        The model has no such graph (it holds code of yours, or is its training rows).
    ImportError
        The package onnx is missing.
    """
    require_onnx()
    exported = exportable(model)
    _, names, estimator = exported.parts[0]
    dtype = np.dtype(estimator.predictor_.dtype if dtype is None else _known_dtype(dtype))
    graph, inputs = Graph(dtype), exported.inputs(dtype.name)
    values, types = outputs(graph, exported, exported.rows(inputs))
    notes = _notes(estimator, names, exported.whole.classes)
    proto = model_proto(graph, inputs, values, types, notes)
    if path is not None:
        write(path, proto)
    return proto


def _known_dtype(dtype):
    if dtype not in ("float32", "float64", np.float32, np.float64):
        raise OnnxExportError(f"dtype={dtype!r} is unknown: give 'float32' or 'float64'.")
    return dtype


def _notes(estimator, names, classes):
    """Metadata: texts by name."""
    found = {"method": type(estimator).__name__, "versions": json.dumps(_versions())}
    if names is not None:
        found["feature_names"] = json.dumps(names)
    if classes is not None:
        found["classes"] = json.dumps(classes.tolist())
    return found


def _versions():
    import onnx
    import sklearn

    numpy, ours = np.__version__, __version__
    return {
        "nearlinear": ours, "numpy": numpy, "scikit-learn": sklearn.__version__,
        "onnx": onnx.__version__,
    }  # fmt: skip


@dataclass(frozen=True)
class Exportable:
    """A model without its wrappers; of each model inside, preparation, names and estimator."""

    whole: Unwrapped
    parts: list

    @property
    def n_columns(self):
        """Columns of a raw row."""
        preparation, _, estimator = self.parts[0]
        return count_columns(estimator) if preparation is None else preparation.n_features

    @property
    def texts(self):
        """Raw columns that hold text."""
        return sorted({d for one, _, _ in self.parts if one is not None for d in one.texts})

    def inputs(self, dtype):
        """Of each input name, type and number of columns; a column each, if some hold text."""
        if not self.texts:
            return [("X", dtype, self.n_columns)]
        names = self._names
        return [
            (names[d], "object" if d in self.texts else dtype, 1) for d in sorted(self._sources)
        ]

    def rows(self, inputs):
        """What stands for raw rows: the name of a matrix, or of each column, if it is wanted."""
        if not self.texts:
            return inputs[0][0]
        return [name if d in self._sources else None for d, name in enumerate(self._names)]

    @property
    def _names(self):
        names = self.parts[0][1]
        names = [] if names is None else [*names]
        return names + [f"x{d}" for d in range(len(names), self.n_columns)]

    @property
    def _sources(self):
        """Raw columns that some model looks at."""
        every = set(range(self.n_columns))
        parts = [every if one is None else raw_sources(one) for one, _, _ in self.parts]
        return set.union(*parts)


def outputs(graph, exported, rows):
    """Values of the outputs in the graph; and of each name, type and number of columns, if any."""
    require_no_dates(exported.parts, OnnxExportError, "which ONNX has not")
    scores = [
        _scores(graph, estimator, prepared(graph, preparation, rows))
        for preparation, _, estimator in exported.parts
    ]
    number, outcome = graph.dtype.name, exported.whole.outcome
    if exported.whole.classes is None:
        return scores, [("variable", number, exported.parts[0][2].predictor_.n_outputs)]
    if outcome.is_of_each_label:
        return each_label(graph, outcome, scores[0], len(exported.whole.classes))
    classes = _class_labels(exported.whole.classes)
    n_classes = len(classes)
    found = probabilities(graph, outcome, scores, n_classes)
    numbers = places(graph, outcome, scores, found, n_classes)
    values = [graph.op("Gather", classes, numbers, axis=0)]
    types = [("label", classes.dtype.name, None)]
    if not outcome.is_calibrated:
        values.append(scores[0])
        types.append(("scores", number, 1 if n_classes == 2 else n_classes))
    if found is not None:
        values.append(found)
        types.append(("probabilities", number, n_classes))
    return values, types


def _scores(graph, estimator, rows):
    predictor = estimator.predictor_
    if graph.dtype != estimator.predictor_.dtype:
        predictor = with_arrays(predictor, graph.dtype)
    return values_of(graph, predictor, rows)


def _class_labels(classes):
    """Classes as ONNX has them: int64, or Python strings."""
    labels = classes.tolist()
    if all(isinstance(label, str) for label in labels):
        return np.array(labels, dtype=object)
    try:
        whole = np.array([int(label) for label in labels], dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        whole = None
    if whole is None or whole.tolist() != labels:
        raise OnnxExportError(
            f"ONNX has labels of whole numbers and strings, not {labels[0]!r}: encode y before "
            "fitting."
        )
    return whole


def exportable(model):
    """What has a graph, with or without wrappers."""
    try:
        found = Exportable(*prepared_models(model, OnnxExportError))
    except OnnxExportError as error:
        raise OnnxExportError(
            f"{error} skl2onnx takes other steps, once "
            "nearlinear.export.onnx.skl2onnx.register_converters() was called."
        ) from error
    for _, _, estimator in found.parts:
        check_exportable(estimator)
    return found


def check_exportable(estimator):
    check_is_fitted(estimator, "predictor_")
    rule_for("onnx", estimator.predictor_, OnnxExportError)
