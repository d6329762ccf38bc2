"""One fit of a tree in a process of its own, so that its memory can be told from everything else's.

``python -m benchmarks.tree_fit_child ijcnn1 --share 0.5`` prints seconds and memory as JSON.
"""

import argparse
import json

from benchmarks.fit_child import measured_fit
from benchmarks.shapes import drawn
from benchmarks.tree_sets import tree_parameters, tree_split_of
from reproduce.written_out import ldkl_classifier


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tree_fit_child")
    parser.add_argument("name")
    parser.add_argument("--share", type=float, default=1.0, help="of the training rows")
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    parser.add_argument("--smoke", action="store_true", help="a few rows and epochs")
    options = parser.parse_args(arguments)
    split, _ = tree_split_of(options.name, options.smoke)
    if options.share < 1:
        split = split.limited(train_rows=int(options.share * len(split.y_train)))
    parameters = tree_parameters(options.name) | {"n_jobs": options.jobs}
    if options.smoke:
        parameters |= {"depth": 2, "max_iter": 2}
    # Compiled passes are loaded before the clock and the memory are read.
    warm = ldkl_classifier(**parameters | {"depth": 2, "max_iter": 2})
    small = drawn(600, 4, n_classes=2)
    warm.fit(*small).predict(small[0])
    model = ldkl_classifier(**parameters, random_state=0)
    parts = split.X_train, split.y_train, split.X_test, split.y_test
    measured = measured_fit(model, *parts)
    print(json.dumps(measured | {"depth": model.predictor_.depth, "epochs": model.n_iter_}))


if __name__ == "__main__":
    main()
