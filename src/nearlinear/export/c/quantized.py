"""Tables in eight bits, and models that compute with what such tables hold.

A row of a table becomes whole numbers from -127 to 127 times one scale. Numbers that stand alone
(biases, offsets, coefficients of support rows) keep full precision: they are few, and rounding
them would move whole scores.
"""

from dataclasses import fields, is_dataclass, replace

import numpy as np
from scipy.sparse import issparse

from ...kinds import NOT_IN, kind_of, known, rule
from .kernels import columns_read
from .literals import CSourceError

_LARGEST = 127


def quantize(rows):
    """Whole numbers and scales; rows that are such already give the same again."""
    scales = (np.abs(rows).max(axis=1, initial=0.0) / _LARGEST).astype(np.float32)
    wide = scales.astype(np.float64)[:, None]
    whole = np.rint(np.divide(rows, wide, out=np.zeros_like(rows), where=wide > 0))
    return np.clip(whole, -_LARGEST, _LARGEST).astype(np.int8), scales


def rounded_rows(rows):
    """What eight bits keep of an array whose last axis are rows."""
    if rows.size == 0:
        return rows
    flat = np.ascontiguousarray(rows, dtype=np.float64).reshape(-1, rows.shape[-1])
    whole, scales = quantize(flat)
    return (whole * scales.astype(np.float64)[:, None]).reshape(rows.shape)


def with_arrays(value, dtype):
    """The same model with its floating-point arrays in another precision, all of them dense."""
    if issparse(value):
        value = value.toarray()
    if isinstance(value, np.ndarray):
        return value.astype(dtype) if value.dtype.kind == "f" else value
    if isinstance(value, tuple):
        return tuple(with_arrays(item, dtype) for item in value)
    if kind_of(value) == "Forest":
        return value.in_precision(dtype)
    return _changed(value, lambda part: with_arrays(part, dtype))


def quantized(model):
    """A model whose tables are what eight bits keep of them."""
    if isinstance(model, tuple):
        return tuple(quantized(part) for part in model)
    kind = kind_of(model)
    if kind != "Averaged":  # its rule rounds the members
        model = _changed(model, quantized)
    if kind is None or not (has_tables(model) or known("int8", kind)):
        return model
    if kind in NOT_IN["int8"]:
        return model
    return rule("int8", kind, CSourceError)(model)


def has_tables(model):
    return any(isinstance(getattr(model, field.name), np.ndarray) for field in fields(model))


def _changed(value, change):
    """Dataclasses with ``change`` applied to those fields that hold dataclasses or tuples."""
    if not is_dataclass(value) or isinstance(value, type):
        return value
    new = {field.name: change(getattr(value, field.name)) for field in fields(value)}
    old = {name: getattr(value, name) for name in new}
    return replace(value, **new) if any(new[name] is not old[name] for name in new) else value


def _round_local(model):
    rows = rounded_rows(model.weights.transpose(0, 2, 1)).transpose(0, 2, 1)
    return replace(model, weights=np.ascontiguousarray(rows))


def _round_anchors(gate):
    """Of soft assignment the anchors weighed by the metric: what the C code multiplies with."""
    metric = getattr(gate, "metric", None)
    if metric is None:
        return replace(gate, anchors=rounded_rows(gate.anchors))
    directions = rounded_rows(gate.anchors * metric)
    anchors = np.divide(directions, metric, out=np.zeros_like(directions), where=metric > 0)
    return replace(gate, anchors=anchors)


def _rounded_affine(*names):
    """Rows whose last number belongs to a constant feature, which keeps full precision."""

    def round_(part):
        tables = {name: getattr(part, name) for name in names}
        return replace(
            part,
            **{
                name: np.concatenate([rounded_rows(rows[..., :-1]), rows[..., -1:]], axis=-1)
                for name, rows in tables.items()
            },
        )

    return round_


def _round_conformal(model):
    return replace(
        model, anchors=rounded_rows(model.anchors), weights=rounded_rows(model.weights)
    )  # fmt: skip


def _round_cells(gate):
    groups = None if gate.groups is None else rounded_rows(gate.groups)
    return replace(gate, centers=rounded_rows(gate.centers), groups=groups)


def _round_landmarks(model):
    return replace(
        model, landmarks=rounded_rows(model.landmarks), slopes=rounded_rows(model.slopes)
    )  # fmt: skip


def _round_support(model):
    """Columns that no kernel reads do not count, and gates that rows carry are left as they are."""
    support = np.array(model.support, dtype=np.float64)
    kernels, width = model.kernels, support.shape[1]
    if len(kernels) == 1 and kind_of(kernels[0]) == "PairwiseNormalizedSum":
        kernels, width = kernels[0].kernels, kernels[0].n_features
    picked = columns_read(kernels, width)
    support[:, picked] = rounded_rows(support[:, picked])
    return replace(model, support=support)


def value_scales(forest):
    """Of every tree, and of its values side by side, the unit of whole numbers from −127 to 127."""
    firsts = forest.gate.leaf_starts[:-1]
    largest = np.maximum.reduceat(np.abs(forest.values.astype(np.float64)), firsts, axis=0)
    return (largest / 127).astype(np.float32).astype(np.float64)


def _round_forest(forest):
    """Values that eight bits hold: less the middle of their tree, which the intercept takes."""
    values, gate = forest.values.astype(np.float64), forest.gate
    firsts, counts = gate.leaf_starts[:-1], np.diff(gate.leaf_starts)
    low = np.minimum.reduceat(values, firsts, axis=0)
    middle = (low + np.maximum.reduceat(values, firsts, axis=0)) / 2
    centered = replace(forest, values=values - np.repeat(middle, counts, axis=0))
    scales = np.repeat(value_scales(centered), counts, axis=0)
    whole = np.divide(centered.values, scales, out=np.zeros_like(values), where=scales > 0)
    intercept = forest.intercept.astype(np.float64)
    if values.shape[1] == 1:
        np.add.at(intercept, forest.outputs, middle[:, 0])
    else:
        intercept += middle.sum(axis=0)
    rows = {name: rounded_rows(getattr(forest, name)) for name in ("root", "slopes")}
    found = {"values": np.rint(whole) * scales, "intercept": intercept, **rows}
    return replace(forest, **{name: array.astype(forest.dtype) for name, array in found.items()})


def _round_additive(model):
    """Numbers of one output, of weights and of knots, are a row each."""
    rows = {name: rounded_rows(getattr(model, name).T).T for name in ("weights", "values")}
    return replace(model, **{name: np.ascontiguousarray(array) for name, array in rows.items()})


def _round_hinges(model):
    """What a unit sees is a row."""
    rows = (rounded_rows(weights.T).T for weights in model.weights)
    return replace(model, weights=tuple(np.ascontiguousarray(array) for array in rows))


def _round_directions(gate):
    return replace(gate, directions=rounded_rows(gate.directions))


RULES = {
    "LocallyLinear": _round_local,
    **dict.fromkeys(("SoftAssignment", "InverseDistance", "ReconstructionCodes"), _round_anchors),
    "TreePath": _rounded_affine("splits", "slopes", "weights"),
    "TreeLeaves": _rounded_affine("splits", "weights"),
    "LinkedTree": _rounded_affine("splits", "slopes", "weights"),
    "Forest": _round_forest,
    "Additive": _round_additive,
    "Averaged": lambda model: replace(model, members=quantized(model.members)),
    "Hinges": _round_hinges,
    "ForestGate": lambda gate: gate,  # rounded, thresholds would send rows to other leaves
    "Affine": _rounded_affine("matrix"),
    "ConformalLinear": _round_conformal,
    "GaussianCells": _round_landmarks,
    "Cells": _round_cells,
    "KernelExpansion": _round_support,
    **dict.fromkeys(("Softmax", "Sigmoid"), _round_directions),
    "GaussianGate": lambda gate: replace(gate, centers=rounded_rows(gate.centers)),
}
