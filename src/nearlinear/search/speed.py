"""Microseconds of this machine: each family is timed once, in a second or two, and kept on disk.

A family of two sizes has a time for each row beside that for each multiply-add.
"""

import json
import os
import platform
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from .._files import replacing
from .._version import __version__
from ..estimators._base.rows import TrainingRows
from ..estimators._base.task import Classification
from .budgets import Price, measured_us
from .candidates import (
    Additive,
    Anchors,
    Bagged,
    Boosted,
    Cells,
    FewSupport,
    Hinges,
    Kernels,
    LocalKernels,
    Tree,
    Trees,
)

_TYPICAL = (
    Additive(1.0), Additive(1.0, 7), Anchors(48, 1.0, 0.1), Kernels(1.0), Boosted(30, 16, 0.1),
    Tree(100), Tree(1), Bagged(10), Trees(1, 1), Trees(1), LocalKernels(), Cells(), FewSupport(20),
    Hinges(32), Hinges(64, 2),
)  # fmt: skip
_N_ROWS, _N_FEATURES, _N_TIMED = 400, 24, 2048
_ONE_ROW_US = 2.0  # of a call that scores one row
_AVERAGING_US = 0.01  # of a member's calibration, for each output


@dataclass(frozen=True)
class Speed:
    """Nanoseconds of a row, and of a multiply-add, by family."""

    ns: dict

    def price(self, family, cost, n_outputs):
        row, each = self.ns[family]
        us = 1e-3 * (row + each * cost.multiply_adds)
        averaging = _AVERAGING_US * n_outputs
        return Price(cost.times_linear, us, _ONE_ROW_US + us, cost.n_bytes, averaging)


def machine_speed(is_needed=True):
    """From the disk, or measured now; without a need of microseconds, any numbers will do."""
    if not is_needed:
        return Speed({one.family: (0.0, 1.0) for one in _TYPICAL})
    path, key = _path(), f"{platform.node()} {platform.machine()} {__version__}"
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    if not _is_sound(known.get(key) if isinstance(known, dict) else None):
        known = {**(known if isinstance(known, dict) else {}), key: _measure()}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path, "w", encoding="utf-8", newline="\n") as file:
                json.dump(known, file)
        except OSError:
            pass  # nobody may write there: it is measured again next time
    return Speed(known[key])


def _path():
    folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(folder) / "nearlinear" / "speed.json"


def _is_sound(found):
    return isinstance(found, dict) and all(_is_line(found.get(one.family)) for one in _TYPICAL)


def _is_line(found):
    is_pair = isinstance(found, list) and len(found) == 2
    is_pair = is_pair and all(isinstance(number, float) for number in found)
    return is_pair and 0 <= found[0] < 1e9 and 0 < found[1] < 1e6


def _measure():
    rng = np.random.RandomState(0)
    X = rng.randn(_N_ROWS, _N_FEATURES).astype(np.float32)
    labels = (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0).astype(np.intp)
    task = Classification(np.array([0, 1]))
    rows = TrainingRows(
        X, labels, task.targets(labels, X.dtype), np.ones(_N_ROWS), _N_ROWS, task, {}
    )
    timed, points = rng.randn(_N_TIMED, _N_FEATURES).astype(np.float32), {}
    for candidate in _TYPICAL:
        predictor = candidate.fit(rows, 0, 1)
        us = measured_us(partial(predictor, n_jobs=1), timed.astype(predictor.dtype))
        point = max(1, predictor.cost.multiply_adds), 1e3 * us
        points.setdefault(candidate.family, []).append(point)
    return {family: _line(*found) for family, found in points.items()}


def _line(small, large=None):
    """Nanoseconds of a row and of a multiply-add; of one size alone, all of it is multiply-adds."""
    work, ns = small
    more, longer = (2 * work, 2 * ns) if large is None else large
    each = (longer - ns) / (more - work)
    if not 0 < each * work <= ns:  # that was noise
        return [0.0, longer / more]
    return [ns - each * work, each]
