"""The models of nearlinear inside pipelines that skl2onnx converts."""

from importlib import import_module

import numpy as np

from .model_parts import count_columns
from .onnx_builder import Graph
from .onnx_graph import check_exportable, output_types, output_values
from .onnx_proto import model_proto


def register_converters():
    """Teach skl2onnx the models of nearlinear, so that pipelines with any steps convert.

    Their outputs are those of ``to_onnx``, tensors whatever the option ``zipmap`` says. A model
    works in the precision it was fitted in; rows of another one are converted.

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
    package = import_module(__package__.rpartition(".")[0])
    for name in package.__all__:
        if name.endswith(("Classifier", "Regressor")):
            update_registered_converter(
                getattr(package, name), _alias(name), _check_shapes, _convert, parser=_parse,
                options={"zipmap": [True, False, "columns"]},
            )  # fmt: skip


def _alias(name):
    return f"Nearlinear{name}"


def _parse(scope, model, inputs, custom_parsers=None):
    """Declare what the model gives."""
    from skl2onnx.common import data_types

    kinds = {
        "float32": data_types.FloatTensorType,
        "float64": data_types.DoubleTensorType,
        "int64": data_types.Int64TensorType,
        "object": data_types.StringTensorType,
    }
    check_exportable(model)
    operator = scope.declare_local_operator(_alias(type(model).__name__), model)
    operator.inputs = inputs
    for name, dtype, width in output_types(model, model._score_dtype):
        shape = [None] if width is None else [None, width]
        operator.outputs.append(scope.declare_local_variable(name, kinds[dtype](shape)))
    return operator.outputs


def _check_shapes(operator):
    """They were declared with the outputs."""


def _convert(scope, operator, container):
    from skl2onnx.common.data_types import guess_numpy_type
    from skl2onnx.helpers import add_onnx_graph

    model = operator.raw_operator
    graph, given = Graph(np.dtype(model._score_dtype)), guess_numpy_type(operator.inputs[0].type)
    rows = "X" if np.dtype(given) == graph.dtype else graph.cast("X", graph.dtype)
    values = output_values(graph, model, rows)
    notes = {"method": type(model).__name__}
    proto = model_proto(
        graph,
        np.dtype(given),
        count_columns(model),
        values,
        output_types(model, graph.dtype),
        notes,
    )
    add_onnx_graph(scope, operator, container, proto)
