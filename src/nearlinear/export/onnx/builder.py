"""A small builder of ONNX graphs: nodes and constants as plain data, put together at the end.

Asking twice for the same value gives the same name: kernels that share distances, trees that share
a projection and constants that occur twice need no care of their callers.
"""

from dataclasses import dataclass, field, replace
from hashlib import blake2b

import numpy as np

from ...kinds import rule_for

OPSETS = {"": 17, "ai.onnx.ml": 3}
# the numbers of onnx.TensorProto, so that nothing here needs onnx
TENSOR_TYPES = {"float32": 1, "int64": 7, "object": 8, "float64": 11}
# protobuf holds no message of 2 GiB; names and nodes take a little of it
_LARGEST = (1 << 31) - (1 << 24)


class OnnxExportError(ValueError):
    """The model has no ONNX graph, or none that can be written; the message says why."""


@dataclass(frozen=True)
class Graph:
    """Nodes (op, inputs, outputs, attributes) in order, and constants by name.

    ``dtype`` is the type that floats among the inputs of a node are given.
    """

    dtype: np.dtype
    nodes: list = field(default_factory=list)
    constants: dict = field(default_factory=dict)
    known: dict = field(default_factory=dict)

    def of(self, dtype):
        """The same graph, where floats are of another type."""
        return replace(self, dtype=np.dtype(dtype))

    def op(self, kind, *inputs, n_outputs=1, **attributes):
        """Name of a node's output, or a tuple of them; arrays and numbers become constants.

        ``kind`` is an operator, with its domain before it and a dot between, if it has one.
        """
        inputs = tuple(self._name(value) for value in inputs)
        arrays = [value for value in attributes.values() if isinstance(value, np.ndarray)]
        require_room(sum(array.nbytes for array in arrays))
        known = {name: _hashable(value) for name, value in attributes.items()}
        key = (kind, inputs, tuple(sorted(known.items())))
        if key not in self.known:
            number = len(self.nodes)
            outputs = tuple(f"{kind}_{number}_{k}" for k in range(n_outputs))
            self.nodes.append((kind, inputs, outputs, attributes))
            self.known[key] = outputs
        outputs = self.known[key]
        return outputs[0] if n_outputs == 1 else outputs

    # --- a few words that every model uses ------------------------------------------------------

    def total(self, *terms):
        found = terms[0]
        for term in terms[1:]:
            found = self.op("Add", found, term)
        return found

    def cast(self, value, dtype):
        return self.op("Cast", value, to=TENSOR_TYPES[np.dtype(dtype).name])

    def sum_over(self, value, axis, keepdims=1):
        return self.op("ReduceSum", value, np.array([axis]), keepdims=keepdims)

    def columns(self, value, columns):
        """Some columns of a matrix; one column if a number is given, without its dimension."""
        return self.op("Gather", value, np.asarray(columns, dtype=np.int64), axis=1)

    def at_every_row(self, X, numbers):
        """The same numbers for each row of ``X``, shape (n_rows, len(numbers))."""
        n_rows = self.op("Shape", X, start=0, end=1)
        shape = self.op("Concat", n_rows, np.array([1]), axis=0)
        return self.op("Expand", np.asarray(numbers)[None], shape)

    def row_times_matrix(self, rows, matrices):
        """Row i times matrix i."""
        products = self.op("MatMul", self.op("Unsqueeze", rows, np.array([1])), matrices)
        return self.op("Squeeze", products, np.array([1]))

    def times(self, value, factors):
        """A matrix times a number, or times one for each of its columns.

        onnxruntime joins a constant of one element with a neighboring product of matrices and
        keeps it in float32, even in a graph of float64: such a one stands once in every row.
        """
        if np.size(factors) == 1:
            factors = self.at_every_row(value, np.ravel(factors).astype(np.float64))
        return self.op("Mul", value, factors)

    def _name(self, value):
        if isinstance(value, str):
            return value
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = self._finite(array)
        elif array.dtype.kind in "iu":
            array = array.astype(np.int64)
        is_text = array.dtype.kind == "O"
        content = repr(array.tolist()).encode() if is_text else array.tobytes()
        key = (array.dtype.str, array.shape, blake2b(content).digest())
        if key not in self.known:
            self.known[key] = f"constant_{len(self.constants)}"
            self.constants[self.known[key]] = array
            require_room(sum(constant.nbytes for constant in self.constants.values()))
        return self.known[key]

    def _finite(self, array):
        with np.errstate(over="ignore"):
            array = array.astype(self.dtype)
        if not np.all(np.isfinite(array)):
            raise OnnxExportError(
                f"A number of the model is not finite in {self.dtype}: fit on standardized rows, "
                "or in float64."
            )
        return array


def _hashable(value):
    if not isinstance(value, np.ndarray):
        return value
    return value.shape, blake2b(np.ascontiguousarray(value)).digest()


def require_room(n_bytes):
    if n_bytes > _LARGEST:
        raise OnnxExportError(
            f"The model's arrays take {n_bytes / 1e9:.1f} GB and an ONNX file holds 2 GB: "
            "fit with fewer anchors, support vectors or features."
        )


def values_of(graph, part, rows):
    """Name of what a part makes of rows; of a kernel, of pairs of rows."""
    return rule_for("onnx", part, OnnxExportError)(graph, part, rows)
