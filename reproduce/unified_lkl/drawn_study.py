"""A study some of whose splits are drawn from the training part of a set that has its own split."""

from dataclasses import dataclass

from reproduce import datasets
from reproduce.split import divide, scaled
from reproduce.study import Study


@dataclass(frozen=True)
class DrawnStudy(Study):
    """Adds three entries to the configuration.

    ``drawn_from``: an archive whose training part is divided anew by every seed, three quarters to
    train on. ``seeds`` of a method, by set: how many there are, where that is less than the set
    has. ``in_range`` of a method: the sets whose features lie between −1 and 1 for it.
    """

    def load_split(self, dataset, seed):
        entry = self.config["datasets"][dataset]
        if "drawn_from" not in entry:
            return super().load_split(dataset, seed)
        arrays = datasets.read(entry["drawn_from"])
        X, y = arrays["X_train"], arrays["y_train"]
        n_train = int(0.75 * len(y) + 0.5)
        return scaled(dataset, *divide(X, y, seed, train_size=n_train), entry["scaling"])

    def limited(self, split, method):
        if split.name in self.config["methods"][method].get("in_range", ()):
            split = split.in_range()
        return super().limited(split, method)

    def seeds_for(self, method, dataset, n_seeds):
        limit = self.config["methods"][method].get("seeds", {}).get(dataset, n_seeds)
        return super().seeds_for(method, dataset, min(n_seeds, limit))
