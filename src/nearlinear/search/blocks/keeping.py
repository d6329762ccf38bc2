"""How far a front door has come with rows in blocks: its trials, and members that are done."""

import hashlib

import numpy as np
from scipy.sparse import issparse

from ...estimators._base.blocks.training import Keeper
from ...predictors.base import Cost

_RACE, _MEMBER = "race", "member {}"


class Kept:
    """What a checkpoint has, and what is added to it; without one, of no effect."""

    def __init__(self, model, y, Z, n_rows, n_grown, seed, checkpoint):
        told = hashlib.sha256((Z.data if issparse(Z) else Z).tobytes())
        told.update(str(y.tolist()).encode())
        about = {"rows": n_rows, "sample": len(y), "of": told.hexdigest(), "grown": n_grown}
        self._about = _Rows(about, seed)
        self._checkpoint, self._arrays, self._state = checkpoint, {}, {}
        self._fit = Keeper.of(model, self._about, checkpoint).fit
        found = None if checkpoint is None else checkpoint.found(self._fit)
        if found is not None:
            self._arrays, self._state = found

    def race(self, trials):
        """Run the trials, or take over how they ended."""
        known = self._state.get(_RACE)
        if known is None:
            trials.run()
            if trials.clock.limit is None:
                self._put_race(trials)
            return
        trials.n_done, trials.n_better = known["n_done"], known["n_better"]
        for number, (trial, told) in enumerate(zip(trials.trials, known["trials"], strict=True)):
            trial.seconds, trial.failure = told["seconds"], told["failure"]
            trial.cost = None if told["cost"] is None else Cost(*told["cost"])
            for place in told["rounds"]:
                trial.scores[place] = self._arrays[f"{_RACE}.{number}.{place}"]

    def _put_race(self, trials):
        told = []
        for number, trial in enumerate(trials.trials):
            cost = trial.cost and [
                int(trial.cost.multiply_adds), float(trial.cost.times_linear),
                int(trial.cost.n_bytes),
            ]  # fmt: skip
            told.append({
                "seconds": trial.seconds, "failure": trial.failure, "cost": cost,
                "rounds": list(trial.scores),
            })  # fmt: skip
            for place, scores in trial.scores.items():
                self._arrays[f"{_RACE}.{number}.{place}"] = scores
        known = {"n_done": trials.n_done, "n_better": trials.n_better, "trials": told}
        self._put(_RACE, known)

    def member(self, place, refit):
        """Arrays of a member, by field, found by ``refit()`` now or before."""
        name = _MEMBER.format(place)
        known = self._state.get(name)
        if known is None:
            found = refit()
            parts = {k: v if isinstance(v, tuple) else (v,) for k, v in found.items()}
            for field, arrays in parts.items():
                for number, array in enumerate(arrays):
                    self._arrays[f"{name}.{field}.{number}"] = np.asarray(array)
            counts = {k: len(v) if isinstance(found[k], tuple) else None for k, v in parts.items()}
            self._put(name, counts)
            return found
        return {
            field: self._arrays[f"{name}.{field}.0"] if count is None else tuple(
                self._arrays[f"{name}.{field}.{number}"] for number in range(count)
            )
            for field, count in known.items()
        }  # fmt: skip

    def _put(self, name, plain):
        self._state[name] = plain
        if self._checkpoint is not None:
            self._checkpoint.write(self._fit, self._about.seed, self._arrays, self._state)


class _Rows:
    """What a ``Keeper`` asks of rows."""

    def __init__(self, fingerprint, seed):
        self.fingerprint, self.seed = fingerprint, seed
