"""Where a report comes from: versions, seeds, a hash of the rows, and lines to copy."""

import hashlib
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from inspect import signature

import numpy as np

from .._version import __version__
from .subject import CLASSES

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def made(subject):
    """What someone needs to make the same again."""
    parameters = subject.model.get_params(deep=False)
    return {
        "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "method": type(subject.model).__name__,
        "parameters": {k: _word(v) for k, v in _changed(subject.model, parameters)},
        "seed": _word(parameters.get("random_state")),
        "training_rows": subject.model._training.n_rows,
        "judging_rows": subject.rows.shape[0],
        "hash": rows_hash(subject),
        "versions": {
            "nearlinear": __version__,
            "Python": platform.python_version(),
            **{name: _version(name) for name in _PACKAGES},
        },
        "machine": f"{platform.system()} {platform.machine()}",
    }


def _changed(model, parameters):
    """Parameters that are not what they come as."""
    defaults = signature(type(model).__init__).parameters
    return [(k, v) for k, v in parameters.items() if repr(v) != repr(defaults[k].default)]


def _word(value):
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def rows_hash(subject):
    """SHA-256 of the rows that judge and their answers, cell by cell."""
    digest = hashlib.sha256()
    rows = subject.rows
    for column, name in enumerate(rows.names if not rows.is_sparse else ()):
        cells = rows.column(column)
        digest.update(f"\0{name}\1".encode(errors="surrogatepass"))
        digest.update(_bytes(cells))
    if rows.is_sparse:
        for part in (rows.cells.indptr, rows.cells.indices, rows.cells.data):
            digest.update(np.ascontiguousarray(part, dtype=np.float64).tobytes())
    digest.update(_bytes(subject.y))
    return digest.hexdigest()


def _bytes(cells):
    if cells.dtype.kind in "fiub":
        return np.ascontiguousarray(cells, dtype=np.float64).tobytes()
    return "\0".join(map(str, cells.tolist())).encode(errors="surrogatepass")


def lines(subject):
    """Lines to copy: load, ask, serve, export."""
    name, answers = subject.names.get("file") or "model.nlm", "predict"
    if subject.task == CLASSES and subject.whole.gives_probabilities:
        answers = "predict_proba"
    proba = " --proba" if answers == "predict_proba" else ""
    found = [] if subject.names.get("file") else [
        {"title": "Save (Python)", "text": f"import nearlinear\n\nnearlinear.save(model, {name!r})"}
    ]  # fmt: skip
    return [
        *found,
        {
            "title": "Load and ask (Python)",
            "text": f"import nearlinear\n\nmodel = nearlinear.load({name!r})\n"
            f"model.{answers}(rows)  # a table like the one of the fit",
        },
        {
            "title": "Serve with NumPy alone",
            "text": f"from nearlinear import runtime\n\nmodel = runtime.load({name!r})\n"
            f"model.{answers}(rows)",
        },
        {
            "title": "Answer a table (command line)",
            "text": f"nearlinear predict {name} NEW.csv{proba} --out answers.csv",
        },
        {"title": "Export", "text": "\n".join(exports(subject, name))},
    ]


def exports(subject, name):
    """Commands that work for this model, the most usual one first."""
    found = [] if subject.has_dates else ["model.onnx", "model.c"]
    return [f"nearlinear export {name} {where}" for where in (*found, "--to js FOLDER")]
