"""``to_onnx``: a fitted model as an ONNX graph of standard operators."""

import json

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..runtime.container import ModelFileError
from .archive import model_parts
from .onnx_builder import Graph, OnnxExportError
from .onnx_predictors import predictor_scores
from .onnx_proto import model_proto, require_onnx, write


def to_onnx(model, path=None):
    """Turn a fitted model, or a pipeline of StandardScaler and one, into an ONNX model.

    The graph has operators of the ``ai.onnx`` domain alone (opset 17), and takes any number of
    rows. Its input is ``X``, shape (n_rows, n_features), in the precision of the model: float32
    where it was fitted on float32, else float64. A model with a second matrix for its gate takes
    that matrix's columns after those of ``X``. Its outputs are, for a classifier,

    ``label``, shape (n_rows,)
        int64, or strings. Booleans are 0 and 1; labels that are whole numbers of type float are
        int64, too.
    ``scores``, shape (n_rows, n_outputs)
        The columns of ``decision_function``: one for two classes, else one per class.
    ``probabilities``, shape (n_rows, n_classes)
        Where the model has ``predict_proba``.

    and for a regressor ``variable``, shape (n_rows, 1). They agree with the model's up to rounding.
    A row within rounding of a split, or of being as far from one anchor as from the next, may take
    the other side.

    Memory grows with the rows of a call, above all for kernel machines, which compare all of them
    with all support vectors: give some thousand rows at a time.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted. A pipeline may have a StandardScaler before the model, and nothing else; with other
        steps, see ``nearlinear.export.onnx_skl2onnx``.
    path : str, path or None
        Where to write the model; by custom it ends in ``.onnx``. The file appears whole or not at
        all.

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
    scaler, estimator = _scaler_and_estimator(model)
    graph = Graph(np.dtype(estimator._score_dtype))
    values = output_values(graph, estimator, _scaled(graph, scaler, count_columns(estimator)))
    named = estimator if scaler is None else scaler
    notes = {"method": type(estimator).__name__}
    if hasattr(named, "feature_names_in_"):
        notes["feature_names"] = json.dumps([str(name) for name in named.feature_names_in_])
    proto = model_proto(
        graph, graph.dtype, count_columns(estimator), values, output_types(estimator), notes
    )
    if path is not None:
        write(path, proto)
    return proto


def count_columns(estimator):
    """Columns of a row, those that only a gate sees among them."""
    return estimator.n_features_in_ + getattr(estimator, "n_gating_features_", 0)


def output_types(estimator):
    """Name, type and number of columns (None for a vector) of every output."""
    number = np.dtype(estimator._score_dtype).name
    if not hasattr(estimator, "classes_"):
        return [("variable", number, 1)]
    classes = _class_labels(estimator.classes_)
    n_outputs = 1 if len(classes) == 2 else len(classes)
    found = [("label", classes.dtype.name, None), ("scores", number, n_outputs)]
    if hasattr(estimator, "predict_proba"):
        found.append(("probabilities", number, len(classes)))
    return found


def output_values(graph, estimator, X):
    """Names of the same in the graph."""
    scores = predictor_scores(graph, estimator.predictor_, X)
    if not hasattr(estimator, "classes_"):
        return [scores]
    classes = _class_labels(estimator.classes_)
    is_binary = len(classes) == 2
    if is_binary:
        places = graph.cast(graph.op("Greater", graph.columns(scores, 0), 0.0), np.int64)
    else:
        places = graph.op("ArgMax", scores, axis=1, keepdims=0)
    found = [graph.op("Gather", classes, places, axis=0), scores]
    if hasattr(estimator, "predict_proba"):
        both = graph.op("Pad", scores, np.array([0, 1, 0, 0]), 0.0) if is_binary else scores
        found.append(graph.op("Softmax", both, axis=1))
    return found


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


def _scaler_and_estimator(model):
    try:
        scaler, estimator = model_parts(model)
    except ModelFileError as error:
        raise OnnxExportError(
            "to_onnx takes a model of nearlinear, or a Pipeline of StandardScaler and one, not "
            f"{_kinds(model)}; skl2onnx takes other steps, once "
            "nearlinear.export.onnx_skl2onnx.register_converters() was called."
        ) from error
    check_exportable(estimator)
    if scaler is not None:
        check_is_fitted(scaler)
    return scaler, estimator


def check_exportable(estimator):
    check_is_fitted(estimator, "predictor_")
    if type(estimator).__name__ == "SVMKNNClassifier":
        raise OnnxExportError(
            "SVMKNNClassifier solves a new problem around every query, for which ONNX has no "
            "operators: export another model."
        )


def _kinds(model):
    steps = [step for _, step in getattr(model, "steps", [])]
    names = ", ".join(type(step).__name__ for step in steps)
    return f"a Pipeline of {names}" if steps else type(model).__name__


def _scaled(graph, scaler, n_features):
    """(X − mean) / scale; columns beyond the scaler's are the gate's and stay as they are."""
    rows = "X"
    if scaler is None:
        return rows
    width = (0, n_features - scaler.n_features_in_)
    if scaler.with_mean:
        rows = graph.op("Sub", rows, np.pad(scaler.mean_, width))
    if scaler.with_std and n_features == 1:
        rows = graph.times(rows, 1.0 / scaler.scale_[0])
    elif scaler.with_std:
        rows = graph.op("Div", rows, np.pad(scaler.scale_, width, constant_values=1.0))
    return rows
