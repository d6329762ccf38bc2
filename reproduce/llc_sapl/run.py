"""Run the paper's comparison.

python -m reproduce.llc_sapl.run               everything that is not there yet
python -m reproduce.llc_sapl.run --dataset letter --method llc_sapl llsvm --seeds 3
python -m reproduce.llc_sapl.run --smoke       a few hundred rows, in a temporary folder
"""

import sys
from dataclasses import replace

from reproduce import datasets, per_seed, running
from reproduce.llc_sapl import figures, tables
from reproduce.llc_sapl.methods import STUDY


def smoke_splits():
    return datasets.sines(100, 50), datasets.digits(200, 100)


def smoke_rest(folder):
    def split(seed):
        return replace(datasets.sines(100, 50, seed), seed=seed)

    figures.smoke(folder)
    per_seed.smoke(STUDY, "llc_sapl", {"jitter": [0.0, 0.1], "max_iter": [5]}, split, folder)


def main(arguments=None):
    return running.main(STUDY, tables.write, smoke_splits, smoke_rest, arguments)


if __name__ == "__main__":
    sys.exit(main())
