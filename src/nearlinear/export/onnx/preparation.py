"""A preparation as ONNX nodes."""

import numpy as np


def prepared(graph, preparation, X):
    """Name of the rows that the model takes, of raw rows ``X``."""
    if preparation is None:
        return X
    if preparation.before is not None:
        X = prepared(graph, preparation.before, X)
    raw = X if preparation.source is None else graph.columns(X, preparation.source)
    rows = values = _compared(graph, preparation, raw)
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
    """1 or 0 in columns of categories, elsewhere the raw numbers."""
    if preparation.categories is None:
        return raw
    wanted = np.array([0.0 if c is None else c for c in preparation.categories])
    is_category = np.array([c is not None for c in preparation.categories])
    hits = graph.cast(graph.op("Equal", raw, wanted), graph.dtype)
    return graph.op("Where", is_category, hits, raw)


def _filled(graph, preparation, raw, rows):
    """What stands for a missing value where the model takes one, and NaN where it does not."""
    missing = preparation.column("missing", np.nan)
    stands = graph.op("Where", ~np.isnan(missing), np.nan_to_num(missing, nan=0.0), raw)
    return graph.op("Where", graph.op("IsNaN", raw), stands, rows)
