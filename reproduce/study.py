"""One paper's comparison: its methods by name, and what its ``config.toml`` says about each."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from reproduce import datasets
from reproduce.protocol import MEASURED

NONE = "none"


def _as_given(method, parameters, dataset):
    return parameters


def _with_none(value):
    """TOML has no None: the configuration says "none"."""
    if isinstance(value, dict):
        return {name: _with_none(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_with_none(entry) for entry in value]
    return None if value == NONE else value


@dataclass(frozen=True)
class Study:
    """Methods and configuration of one folder of ``reproduce``.

    ``makers`` and ``regressors`` are constructors by method, the second for the data sets that are
    regressions. ``titles`` names every method of the tables, those that are only printed too.
    Methods in ``deterministic`` draw no random numbers that matter: on a set with a split of its
    own one run says all. ``complete(method, parameters, dataset)`` fills in what the configuration
    leaves open. ``measured`` are the columns of the rows. ``section`` names the table of the
    configuration that is this study's, where a folder has several.
    """

    folder: Path
    makers: Mapping[str, Callable]
    titles: Mapping[str, str]
    regressors: Mapping[str, Callable] = field(default_factory=dict)
    deterministic: frozenset[str] = frozenset()
    complete: Callable[[str, dict, str], dict] = _as_given
    measured: tuple[str, ...] = MEASURED
    section: str | None = None

    @cached_property
    def config(self):
        with open(self.folder / "config.toml", "rb") as file:
            config = _with_none(tomllib.load(file))
        return config if self.section is None else config[self.section]

    @property
    def module(self):
        """Name of the folder as a module, for the help of the command lines."""
        return f"reproduce.{self.folder.name}"

    @property
    def results(self):
        return self.folder / "results"

    @property
    def methods(self):
        """All methods that can be run here."""
        return list(dict.fromkeys([*self.makers, *self.regressors]))

    def methods_for(self, dataset):
        """Methods for the task of this set, without those that name other ``datasets``."""
        is_regression = self.config["datasets"][dataset].get("task") == "regression"
        entries = self.config["methods"]
        return [
            method
            for method in (self.regressors if is_regression else self.makers)
            if dataset in entries[method].get("datasets", [dataset])
        ]

    def build(self, method, parameters, seed, regression=False):
        """An estimator of this method, seeded where it can be."""
        model = (self.regressors if regression else self.makers)[method](**parameters)
        seeded = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
        return model.set_params(**dict.fromkeys(seeded, seed))

    def base_for(self, method, dataset):
        """What is not tuned: what all data sets share, overruled by what this one needs."""
        entry = self.config["methods"][method]
        return entry["common"] | entry.get("common_for", {}).get(dataset, {})

    def settings_for(self, method, dataset):
        """What is not tuned, overruled by what was chosen for this set.

        A method that is ``like`` another has that one's settings and its own ``common`` ones.
        """
        entry = self.config["methods"][method]
        if "like" in entry:
            return self.settings_for(entry["like"], dataset) | self.base_for(method, dataset)
        chosen = entry.get("chosen", {}).get(dataset, {})
        return self.base_for(method, dataset) | chosen

    def parameters_for(self, method, dataset):
        """The settings, complete."""
        return self.complete(method, self.settings_for(method, dataset), dataset)

    def grid_for(self, method, dataset):
        """Candidate values by parameter name."""
        entry = self.config["methods"][method]
        return entry["grid"] | entry.get("grid_for", {}).get(dataset, {})

    def seed_grid_for(self, method, dataset):
        """The grid of a search that every seed makes anew: a thinner one where it would be long."""
        entry = self.config["methods"][method].get("seed_grid", {})
        return entry.get(dataset) or self.grid_for(method, dataset)

    def is_tuned(self, method, dataset):
        """Whether values were chosen for this set, by this method or by the one it is like."""
        entry = self.config["methods"][method]
        if "like" in entry:
            return self.is_tuned(entry["like"], dataset)
        return dataset in entry.get("chosen", {})

    def skipped(self, method, dataset):
        """Why the configuration does not want this method on this set, or None."""
        return self.config["methods"][method].get("skip", {}).get(dataset)

    def reason_to_skip(self, method, dataset):
        """Why this method is not run on this set, here and now, or None.

        An ``optional`` set is passed over where its files are missing.
        """
        entry = self.config["datasets"].get(dataset, {})
        archive = entry.get("drawn_from", dataset)
        if entry.get("optional") and not datasets.is_available(archive):
            return datasets.what_is_missing(archive)
        return self.skipped(method, dataset)

    def seeds_for(self, method, dataset, n_seeds):
        if method in self.deterministic and datasets.has_own_split(dataset):
            return range(1)
        return range(min(n_seeds, self.config["datasets"].get(dataset, {}).get("seeds", n_seeds)))

    def is_drawn(self, dataset):
        """Whether the seed draws the split."""
        entry = self.config["datasets"].get(dataset, {})
        return "train_rows" in entry or not datasets.has_own_split(dataset)

    def load_split(self, dataset, seed):
        """The data set split and scaled as the configuration says."""
        entry = self.config["datasets"][dataset]
        split = datasets.load(dataset, seed, entry["scaling"], entry.get("train_rows"))
        return replace(split.limited(test_rows=entry.get("test_rows")), seed=seed)

    def limited(self, split, method):
        """The part of a split that a slow method is fitted to and tried on, in its precision."""
        entry = self.config["methods"][method]
        train_rows, test_rows = (
            entry.get(limit, {}).get(split.name) for limit in ("train_rows", "test_rows")
        )
        return split.limited(train_rows, test_rows).cast(entry.get("dtype", "float32"))

    def tuning_rows(self, dataset, method):
        """Training rows to tune on: the smaller limit of data set and method, or None for all."""
        entries = (self.config["datasets"][dataset], self.config["methods"][method])
        return min((entry["tune_rows"] for entry in entries if "tune_rows" in entry), default=None)
