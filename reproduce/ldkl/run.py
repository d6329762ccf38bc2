"""Run the paper's comparison.

python -m reproduce.ldkl.run               everything that is not there yet
python -m reproduce.ldkl.run --dataset letter_halves --method ldkl kernel --seeds 3
python -m reproduce.ldkl.run --smoke       a few hundred rows, in a temporary folder
"""

import sys
from dataclasses import replace

from reproduce import datasets, per_seed, running
from reproduce.ldkl import figures, tables
from reproduce.ldkl.methods import STUDY


def smoke_splits():
    return datasets.digits(300, 200, halves=True), datasets.digits(), datasets.friedman()


def smoke_rest(folder):
    def split(seed):
        return replace(datasets.digits(300, 200, seed, halves=True), seed=seed)

    figures.smoke(folder)
    per_seed.smoke(STUDY, "ldkl", {"jitter": [0.1, 0.2], "max_iter": [5]}, split, folder)


def main(arguments=None):
    return running.main(STUDY, tables.write, smoke_splits, smoke_rest, arguments)


if __name__ == "__main__":
    sys.exit(main())
