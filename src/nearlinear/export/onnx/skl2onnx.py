"""The models of nearlinear inside pipelines that skl2onnx converts."""

import numpy as np

import nearlinear

from ..wrappers import KINDS
from .builder import Graph, OnnxExportError
from .graph import check_exportable, exportable, outputs
from .proto import model_proto

_WRAPPED = "NearlinearWrapped"


def register_converters():
    """Teach skl2onnx the models of nearlinear, so that pipelines with any steps convert.

    Their outputs are those of ``to_onnx``, tensors whatever the option ``zipmap`` says. A model
    works in the precision it was fitted in; rows of another one are converted.
    CalibratedClassifierCV and threshold-tuned classifiers around our models are ours, too;
    around other models they stay skl2onnx's own.

    Examples
    --------
    >>> from skl2onnx import to_onnx  # doctest: +SKIP
    >>> register_converters()  # doctest: +SKIP
    >>> onnx_model = to_onnx(make_pipeline(PCA(5), LDKLClassifier()).fit(X, y), X)  # doctest: +SKIP
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise ImportError("register_converters needs skl2onnx: pip install skl2onnx.") from error
    for name in nearlinear.__all__:
        if name.endswith(("Classifier", "Regressor")):
            update_registered_converter(
                getattr(nearlinear, name), _alias(name), _check_shapes, _convert, parser=_parse,
                options={"zipmap": [True, False, "columns"], "raw_scores": [True, False]},
            )  # fmt: skip
    _register_wrappers()


def _register_wrappers():
    from skl2onnx import _parse as theirs
    from skl2onnx.common._registration import register_converter, register_shape_calculator

    register_converter(_WRAPPED, _convert, overwrite=True)
    register_shape_calculator(_WRAPPED, _check_shapes, overwrite=True)
    for name, wrapper in KINDS.items():
        known = theirs.sklearn_parsers_map.get(wrapper)
        if name != "Pipeline" and known is not _parse_wrapper:
            _THEIR_PARSERS[wrapper] = known
            theirs.update_registered_parser(wrapper, _parse_wrapper)


_THEIR_PARSERS = {}


def _parse_wrapper(scope, model, inputs, custom_parsers=None):
    """Ours, if what is wrapped is, and stands alone or behind a scaler; else skl2onnx's."""
    try:
        _of_numbers(model)
    except OnnxExportError as error:
        if _holds_ours(model):
            raise OnnxExportError(
                f"{type(model).__name__} around a pipeline with such steps has no right "
                "graph: fit a pipeline of these steps and then the wrapped model."
            ) from error
        their_own = _THEIR_PARSERS[type(model)]
        if their_own is not None:
            return their_own(scope, model, inputs, custom_parsers=custom_parsers)
        from skl2onnx._parse import _parse_sklearn_simple_model

        return _parse_sklearn_simple_model(scope, model, inputs, custom_parsers=custom_parsers)
    return _declare(scope, _WRAPPED, model, inputs)


def _of_numbers(model):
    """What has a graph of rows of numbers."""
    exported = exportable(model)
    if exported.texts:
        raise OnnxExportError("Rows that hold text are nearlinear.to_onnx's own.")
    return exported


def _holds_ours(model):
    last = model
    while hasattr(last, "steps") or type(last) in _THEIR_PARSERS:
        if hasattr(last, "steps"):
            last = last.steps[-1][1]
        else:
            last = last.estimator
    return type(last).__module__.startswith("nearlinear.")


def _alias(name):
    return f"Nearlinear{name}"


def _parse(scope, model, inputs, custom_parsers=None):
    check_exportable(model)
    return _declare(scope, _alias(type(model).__name__), model, inputs)


def _declare(scope, alias, model, inputs):
    """Declare what the model gives."""
    from skl2onnx.common import data_types

    kinds = {
        "float32": data_types.FloatTensorType,
        "float64": data_types.DoubleTensorType,
        "int64": data_types.Int64TensorType,
        "object": data_types.StringTensorType,
    }
    operator = scope.declare_local_operator(alias, model)
    operator.inputs = inputs
    for name, dtype, width in _outputs(model)[3]:
        shape = [None] if width is None else [None, width]
        operator.outputs.append(scope.declare_local_variable(name, kinds[dtype](shape)))
    return operator.outputs


def _outputs(model, given=None):
    """Graph, what is exported, values and types of the outputs, for rows of the type ``given``."""
    exported = _of_numbers(model)
    graph = Graph(np.dtype(exported.parts[0][-1].predictor_.dtype))
    is_own = given is None or np.dtype(given) == graph.dtype
    rows = "X" if is_own else graph.cast("X", graph.dtype)
    return graph, exported, *outputs(graph, exported, rows)


def _check_shapes(operator):
    """They were declared with the outputs."""


def _convert(scope, operator, container):
    from skl2onnx.common.data_types import guess_numpy_type
    from skl2onnx.helpers import add_onnx_graph

    model, given = operator.raw_operator, guess_numpy_type(operator.inputs[0].type)
    graph, exported, values, types = _outputs(model, given)
    is_raw = operator.type != _WRAPPED and container.get_options(model, {"raw_scores": False})
    if is_raw and is_raw["raw_scores"] and types[1] == ("scores", graph.dtype.name, 1):
        # other converters, that of calibration among them, count a column for each class
        values[1] = graph.op("Concat", graph.op("Neg", values[1]), values[1], axis=1)
        types[1] = ("scores", graph.dtype.name, 2)
    notes = {"method": type(exported.parts[0][-1]).__name__}
    inputs = [("X", np.dtype(given).name, exported.n_columns)]
    proto = model_proto(graph, inputs, values, types, notes)
    add_onnx_graph(scope, operator, container, proto)
