"""A built graph as an ONNX model: inputs, outputs, what it says of itself, and the file."""

import numpy as np

from ..._files import replacing
from ..._version import __version__
from .builder import OPSETS, TENSOR_TYPES, OnnxExportError

_IR_VERSION = 8  # the one of opset 17, so that runtimes of its time read the file, too


def require_onnx():
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "to_onnx needs the package onnx: pip install nearlinear[onnx]."
        ) from error


def model_proto(graph, inputs, values, types, notes):
    """The model of a graph.

    Its ``inputs`` are of (name, type, number of columns); its outputs are the ``values``, of
    ``types`` (the same, or no number of columns). ``notes`` become metadata.
    """
    from onnx import helper, numpy_helper

    taken = {name for name, _, _ in types} | set(graph.constants)
    taken |= {name for _, _, outputs, _ in graph.nodes for name in outputs}
    for name, _, _ in inputs:
        if name in taken:
            raise OnnxExportError(
                f"The column {name!r} has the name of something else in the graph: rename it "
                "before fitting."
            )

    named = [("Identity", (value,), (kind[0],), {}) for value, kind in zip(values, types)]
    nodes = [_node(*node) for node in [*graph.nodes, *named]]
    domains = {node.domain for node in nodes}
    constants = [numpy_helper.from_array(array, name) for name, array in graph.constants.items()]
    rows = [_described(*one) for one in inputs]
    results = [_described(*kind) for kind in types]
    model = helper.make_model(
        helper.make_graph(nodes, notes["method"], rows, results, constants),
        opset_imports=[helper.make_opsetid(domain, OPSETS[domain]) for domain in sorted(domains)],
        ir_version=_IR_VERSION,
        producer_name="nearlinear",
        producer_version=__version__,
    )
    helper.set_model_props(model, notes)
    return model


def _node(kind, inputs, outputs, attributes):
    from onnx import helper, numpy_helper

    *domain, name = kind.rsplit(".", 1)
    made = {}
    for key, value in attributes.items():
        is_tensor = key.endswith("_as_tensor")
        made[key] = numpy_helper.from_array(value) if is_tensor else value
        if isinstance(value, np.ndarray) and not is_tensor:
            made[key] = value.tolist()
    return helper.make_node(name, inputs, outputs, outputs[0], domain="".join(domain), **made)


def _described(name, dtype, n_columns):
    from onnx import helper

    shape = ["n_rows"] if n_columns is None else ["n_rows", n_columns]
    return helper.make_tensor_value_info(name, TENSOR_TYPES[dtype], shape)


def write(path, model):
    """Write a file that appears whole or not at all."""
    try:
        with replacing(path) as file:
            file.write(model.SerializeToString())
    except (OSError, ValueError) as error:
        raise OnnxExportError(
            f"{path}: cannot be written ({getattr(error, 'strerror', None) or error}); an earlier "
            "file of the name is as it was."
        ) from error
