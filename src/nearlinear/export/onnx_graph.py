"""``to_onnx``: a fitted model as an ONNX graph of standard operators."""

import json

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._version import __version__
from .c_quantised import with_arrays
from .model_parts import count_columns, prepared_parts
from .onnx_builder import Graph, OnnxExportError
from .onnx_predictors import predictor_scores
from .onnx_preparation import prepared
from .onnx_proto import model_proto, require_onnx, write


def to_onnx(model, path=None, *, dtype=None):
    """Turn a fitted model, or a pipeline that ends in one, into an ONNX model.

    The graph has operators of the ``ai.onnx`` domain alone (opset 17), and takes any number of
    rows. Its input is ``X``, shape (n_rows, n_features), in the precision of the model: float32
    where it was fitted on float32, else float64. A model with a second matrix for its gate takes
    that matrix's columns after those of ``X``. NaN stands for a missing value. A graph refuses no
    row: where the pipeline would, a missing value makes the scores NaN, and a category that the
    fit did not know is none of the known ones. Its outputs are, for a classifier,

    ``label``, shape (n_rows,)
        int64, or strings. Booleans are 0 and 1; labels that are whole numbers of type float are
        int64, too.
    ``scores``, shape (n_rows, n_outputs)
        The columns of ``decision_function``: one for two classes, else one per class.
    ``probabilities``, shape (n_rows, n_classes)
        Where the model has ``predict_proba``.

    and for a regressor ``variable``, shape (n_rows, 1). They agree with the model's up to rounding.
    A row within rounding of a split, or of being as far from one anchor as from the next, may take
    the other side. The metadata have the ``method``, and as JSON the ``feature_names``, the
    ``classes`` and the ``versions`` of the packages that made the graph.

    Memory grows with the rows of a call, above all for kernel machines, which compare all of them
    with all support vectors: give some thousand rows at a time.

    Parameters
    ----------
    model : estimator, Pipeline or search
        Fitted. What ``save`` takes, as long as raw rows are numbers; with other steps, and with
        text, see ``nearlinear.export.onnx_skl2onnx``.
    path : str, path or None
        Where to write the model; by custom it ends in ``.onnx``. The file appears whole or not at
        all.
    dtype : {"float32", "float64"} or None
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
    preparation, names, estimator = _parts(model)
    dtype = np.dtype(estimator._score_dtype if dtype is None else _known_dtype(dtype))
    graph = Graph(dtype)
    values = output_values(graph, estimator, prepared(graph, preparation, "X"))
    n_columns = count_columns(estimator) if preparation is None else preparation.n_features
    proto = model_proto(
        graph, dtype, n_columns, values, output_types(estimator, dtype), _notes(estimator, names)
    )
    if path is not None:
        write(path, proto)
    return proto


def _known_dtype(dtype):
    if dtype not in ("float32", "float64", np.float32, np.float64):
        raise OnnxExportError(f"dtype={dtype!r} is unknown: give 'float32' or 'float64'.")
    return dtype


def _notes(estimator, names):
    """Metadata: texts by name."""
    found = {"method": type(estimator).__name__, "versions": json.dumps(_versions())}
    if names is not None:
        found["feature_names"] = json.dumps(names)
    if hasattr(estimator, "classes_"):
        found["classes"] = json.dumps(estimator.classes_.tolist())
    return found


def _versions():
    import onnx
    import sklearn

    numpy, ours = np.__version__, __version__
    return {
        "nearlinear": ours, "numpy": numpy, "scikit-learn": sklearn.__version__,
        "onnx": onnx.__version__,
    }  # fmt: skip


def output_types(estimator, dtype):
    """Name, type and number of columns (None for a vector) of every output."""
    number = np.dtype(dtype).name
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
    predictor = estimator.predictor_
    if graph.dtype != estimator._score_dtype:
        predictor = with_arrays(predictor, graph.dtype)
    scores = predictor_scores(graph, predictor, X)
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


def _parts(model):
    try:
        found = prepared_parts(model, OnnxExportError)
    except OnnxExportError as error:
        raise OnnxExportError(
            f"{error} skl2onnx takes other steps, once "
            "nearlinear.export.onnx_skl2onnx.register_converters() was called."
        ) from error
    check_exportable(found[-1])
    return found


def check_exportable(estimator):
    check_is_fitted(estimator, "predictor_")
    if type(estimator).__name__ == "SVMKNNClassifier":
        raise OnnxExportError(
            "SVMKNNClassifier solves a new problem around every query, for which ONNX has no "
            "operators: export another model."
        )
