"""A study some of whose splits are drawn from the training part of a set that has its own split."""

from dataclasses import dataclass

import numpy as np

from reproduce import datasets
from reproduce.split import divide, scaled
from reproduce.study import Study


@dataclass(frozen=True)
class DrawnStudy(Study):
    """Adds three entries to the configuration.

    ``drawn_from``: an archive whose training part is divided anew by every seed, three quarters to
    train on. ``optional``: a set that is passed over where its file is missing. ``seeds`` of a
    method, by set: how many there are, where that is less than the set has.
    """

    def load_split(self, dataset, seed):
        entry = self.config["datasets"][dataset]
        if "drawn_from" not in entry:
            return super().load_split(dataset, seed)
        path = datasets.archive_path(entry["drawn_from"])
        if not path.exists():
            raise datasets.DatasetError(f"{path} does not exist; the README says what it holds.")
        with np.load(path, allow_pickle=False) as archive:
            X, y = archive["X_train"], archive["y_train"]
        n_train = int(0.75 * len(y) + 0.5)
        return scaled(dataset, *divide(X, y, seed, train_size=n_train), entry["scaling"])

    def seeds_for(self, method, dataset, n_seeds):
        limit = self.config["methods"][method].get("seeds", {}).get(dataset, n_seeds)
        return super().seeds_for(method, dataset, min(n_seeds, limit))

    def reason_to_skip(self, method, dataset):
        entry = self.config["datasets"].get(dataset, {})
        archive = entry.get("drawn_from", dataset)
        if entry.get("optional") and not datasets.is_available(archive):
            return f"{archive}.npz is not there"
        return super().reason_to_skip(method, dataset)
