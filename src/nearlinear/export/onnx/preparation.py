"""A preparation as ONNX nodes."""

import numpy as np

from ...runtime.columns.read_rows import of_read_rows, read_before
from .builder import OnnxExportError
from .curves import bent

_GONE = -2  # the place of a text that is missing


def prepared(graph, preparation, X):
    """Name of the rows that the model takes, of raw rows.

    ``X`` is the name of a matrix of numbers or, where columns hold text, a list of names of
    columns, None for those that nobody asks for.
    """
    if preparation is None:
        return X if isinstance(X, str) else _side_by_side(graph, X)
    if not isinstance(X, str):
        X = _read_columns(graph, preparation, X)
    return _prepared(graph, of_read_rows(preparation), X)


def _prepared(graph, preparation, X):
    if preparation.before is not None:
        X = _prepared(graph, preparation.before, X)
    if preparation.readings:
        places = [_places_of_numbers(graph, one, X) for one in preparation.readings]
        X = graph.op("Concat", X, *places, axis=1)
    raw = X if preparation.source is None else graph.columns(X, preparation.source)
    rows = values = bent(graph, preparation, _compared(graph, preparation, raw))
    if preparation.shift is not None:
        rows = graph.op("Sub", rows, preparation.shift)
    if preparation.scale is not None and preparation.n_columns == 1:
        rows = graph.times(rows, 1.0 / preparation.scale[0])
    elif preparation.scale is not None:
        rows = graph.op("Div", rows, preparation.scale)
    if preparation.low is not None:
        rows = graph.op("Max", rows, _bounded(graph, preparation.low))
        rows = graph.op("Min", rows, _bounded(graph, preparation.high))
    if preparation.fold is not None:
        rows = graph.op("Min", rows, _second_lines(graph, preparation, values))
    if not preparation.is_affine:
        rows = _filled(graph, preparation, raw, rows)
    if preparation.matrix is None:
        return rows
    return graph.op("Add", graph.op("MatMul", rows, preparation.matrix.T), preparation.offset)


def _bounded(graph, ends):
    largest = float(np.finfo(graph.dtype).max)
    return np.clip(ends, -largest, largest)


def _second_lines(graph, preparation, values):
    shift, scale, lift, floor = preparation.fold.T
    lines = graph.op("Div", graph.op("Sub", values, shift), scale)
    return graph.op("Max", graph.op("Add", lines, lift), _bounded(graph, floor))


def _compared(graph, preparation, raw):
    """1 or 0 in columns that are compared, elsewhere the raw numbers."""
    if preparation.equals is None:
        return raw
    is_compared = ~np.isnan(preparation.equals)
    wanted = np.nan_to_num(preparation.equals, nan=0.0)
    hits = graph.cast(graph.op("Equal", raw, wanted), graph.dtype)
    return graph.op("Where", is_compared, hits, raw)


def _filled(graph, preparation, raw, rows):
    """What stands for a missing value where the model takes one, and NaN where it does not."""
    missing = preparation.column("missing", np.nan)
    stands = graph.op("Where", ~np.isnan(missing), np.nan_to_num(missing, nan=0.0), raw)
    return graph.op("Where", graph.op("IsNaN", raw), stands, rows)


# --- categories ---------------------------------------------------------------------------------


def _places_of_numbers(graph, reading, X):
    """A column of places; NaN where a number is missing."""
    column = graph.columns(X, [reading.column])
    keys = np.array(reading.of).astype(graph.dtype)
    if len(np.unique(keys)) < len(keys):
        raise OnnxExportError(
            f"Two categories are one number in {graph.dtype}: give the categories smaller numbers "
            "before fitting."
        )
    hits = graph.cast(graph.op("Equal", column, keys[None]), graph.dtype)
    counted = graph.op("MatMul", hits, 1.0 + np.arange(len(keys))[:, None])
    places = graph.op("Sub", counted, np.ones((1, 1)))
    if reading.unknown == "missing":
        places = _missing_below(graph, places, 0.0)
    return graph.op("Where", graph.op("IsNaN", column), column, places)


def _places_of_texts(graph, reading, text):
    """The same of texts; the empty one is missing, unless it is a category."""
    unknown = _GONE if reading.unknown == "missing" else -1
    places = {"": _GONE} | {text: place for place, text in enumerate(reading.of)}
    found = graph.op(
        "ai.onnx.ml.LabelEncoder", text, keys_strings=tuple(places),
        values_int64s=np.array(list(places.values())), default_int64=unknown,
    )  # fmt: skip
    return _missing_below(graph, graph.cast(found, graph.dtype), -1.0)


def _missing_below(graph, places, least):
    """NaN, which a graph cannot be given, is the root of a negative number."""
    below = graph.op("Min", graph.op("Sub", places, np.full((1, 1), least)), np.zeros((1, 1)))
    return graph.op("Add", places, graph.op("Sqrt", below))


def _read_columns(graph, preparation, names):
    """All raw columns as numbers, and after them the places of texts."""
    read = read_before(preparation)
    places = [_places_of_texts(graph, one, names[one.column]) for one in read]
    texts = {one.column: place for one, place in zip(read, places)}
    columns = [texts.get(column, name) for column, name in enumerate(names)]
    return _side_by_side(graph, [*columns, *places])


def _side_by_side(graph, names):
    some = next(name for name in names if name is not None)
    return graph.op("Concat", *(name or some for name in names), axis=1)
