"""Run the paper's comparison.

python -m reproduce.ldkl.run               everything that is not there yet
python -m reproduce.ldkl.run --dataset letter_halves --method ldkl kernel --seeds 3
python -m reproduce.ldkl.run --smoke       a few hundred rows, in a temporary folder
"""

import sys

from reproduce import datasets, running
from reproduce.ldkl import figures, tables
from reproduce.ldkl.methods import STUDY


def smoke_splits():
    return datasets.digits(300, 200, halves=True), datasets.digits(), datasets.friedman()


def main(arguments=None):
    return running.main(STUDY, tables.write, smoke_splits, figures.smoke, arguments)


if __name__ == "__main__":
    sys.exit(main())
