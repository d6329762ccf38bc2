"""How far a fit has come, in a file that appears whole or not at all.

The file is an .npz archive of plain arrays and one text of JSON: reading it runs no code.
"""

import json
import time
import zipfile
from numbers import Real
from pathlib import Path

import numpy as np

from .._files import replacing

_ABOUT = "about"


class Checkpoint:
    """Writes the state of a fit every so many seconds, and gives back what an earlier one wrote."""

    def __init__(self, path, every):
        self._path, self._every = Path(path), every
        if not (isinstance(every, Real) and every >= 0):
            raise ValueError(f"every={every!r} must be a number of seconds, 0 or more.")
        if not self._path.absolute().parent.is_dir() or self._path.is_dir():
            raise ValueError(f"checkpoint={str(path)!r} must be a file in a folder that is there.")
        self._written = time.monotonic()
        self._arrays, self._about = _read(self._path) if self._path.exists() else (None, None)

    @property
    def seed(self):
        """That of the fit that is to go on, or None."""
        return None if self._about is None else self._about["seed"]

    def found(self, fit):
        """Arrays and plain values of an earlier state, or None; ``fit`` says which fit this is."""
        if self._about is None:
            return None
        for name, value in fit.items():
            there = self._about["fit"].get(name)
            if there != json.loads(json.dumps(value)):
                raise ValueError(
                    f"{self._path} is the checkpoint of another fit ({name}: {there!r} there, "
                    f"{value!r} here): remove it, or name another file."
                )
        return self._arrays, self._about["state"]

    def is_due(self):
        return time.monotonic() - self._written >= self._every

    def write(self, fit, seed, arrays, state):
        """The earlier file stays until this one is whole."""
        about = json.dumps({"fit": fit, "seed": seed, "state": state})
        with replacing(self._path) as file:
            np.savez(file, **{_ABOUT: np.array(about)}, **arrays)
        self._written = time.monotonic()


def _read(path):
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        about = json.loads(str(arrays.pop(_ABOUT)))
        if {"fit", "seed", "state"} <= set(about):
            return arrays, about
    except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile):
        pass
    raise ValueError(f"{path} is no checkpoint of a fit: name another file, or remove it.")
