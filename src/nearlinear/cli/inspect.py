"""``nearlinear inspect``: what a model file holds."""

import argparse
import json
from pathlib import Path

import numpy as np

from ._models import load_file
from .shown.foreign_text import shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "example: nearlinear inspect model.nlm --json"
    parser.add_argument("model", help="model file (.nlm)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    path = Path(arguments.model)
    model = load_file(path)
    found = {
        "file": str(path),
        "bytes": path.stat().st_size,
        "method": model.method,
        "parameters": _plain(model.parameters),
        "classes": model.classes,
        "features": model.n_features,
        "feature_names": model.feature_names,
        "scaled": model.preparation is not None,
        **_kinds(model),
        "predictor": model.predictor.kind,
        **_local(model.predictor),
        **_members(model.predictor),
        **_forest(model.predictor),
        "probabilities": _probabilities(model.outcome.calibration),
        "threshold": model.outcome.threshold and vars(model.outcome.threshold),
        **model.record,
    }
    if arguments.json:
        print(json.dumps(found))
        return
    width = max(len(name) for name in found)
    for name, value in found.items():
        print(f"{shown(name).replace('_', ' '):{width}}  {shown(_short(value))}")


def _kinds(model):
    """Names (or places) of columns that hold texts or dates, or of which nothing is made."""
    if model.preparation is None:
        return {}
    first = model.preparation.first
    read = {one.column for one in first.readings or ()} | set(first.sources.tolist())
    unused = sorted(set(range(model.n_features)) - read)
    found = {"texts": model.preparation.texts, "dates": model.preparation.dates, "unused": unused}
    names = model.feature_names or [str(place) for place in range(model.n_features)]
    return {kind: [names[k] for k in places] for kind, places in found.items() if places}


def _local(predictor):
    """How many linear models there are, where the parameters may say "auto"."""
    return {"local_models": len(predictor.biases)} if predictor.kind == "LocallyLinear" else {}


def _members(predictor):
    """What is averaged, with its weights."""
    if predictor.kind != "Averaged":
        return {}
    pairs = zip(predictor.weights, predictor.members)
    told = [f"{w:.3g} x {' of '.join([one.kind, *_forest(one).values()])}" for w, one in pairs]
    return {"members": "; ".join(told)}


def _forest(predictor):
    """The size of a forest, in words."""
    predictor = predictor.predictor if predictor.kind == "Exponential" else predictor
    if predictor.kind != "Forest":
        return {}
    gate = predictor.gate
    per_tree = (np.diff(gate.starts) + 1) // 2
    low, high = int(per_tree.min()), int(per_tree.max())
    leaves = f"{high:,} leaves each" if low == high else f"{low:,} to {high:,} leaves each"
    words = [_count(len(per_tree), "tree"), leaves]
    if len(gate.pairs):
        words.append(_count(len(gate.pairs), "pair column"))
    if len(gate.categories):
        words.append(_count(len(gate.categories), "set") + " of categories")
    if predictor.slopes.shape[2]:
        words.append(_count(predictor.slopes.shape[2], "slope") + " a leaf")
    if predictor.root.shape[1]:
        words.append("a linear root")
    return {"forest": ", ".join(words)}


def _count(number, word):
    return f"{number:,} {word}" + "s" * (number != 1)


def _probabilities(calibration):
    """How scores become probabilities, if they do."""
    if not calibration:
        return None
    kind, count = type(calibration[0]).__name__, len(calibration)
    return kind if count == 1 else f"{kind}, the mean over {count} models"


def _plain(parameters):
    return {name: value if _is_plain(value) else str(value) for name, value in parameters.items()}


def _is_plain(value):
    return value is None or isinstance(value, bool | int | float | str)


def _short(value):
    if isinstance(value, dict):
        return ", ".join(f"{name} {_rounded(x)}" for name, x in value.items() if x is not None)
    if isinstance(value, list):
        shown = ", ".join(str(item) for item in value[:12])
        return shown + (f", ... ({len(value)})" if len(value) > 12 else "")
    return "-" if value is None else value


def _rounded(value):
    return f"{value:.6g}" if isinstance(value, float) else value
