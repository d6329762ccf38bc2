"""Run the paper's comparison.

python -m reproduce.unified_lkl.run               everything that is not there yet
python -m reproduce.unified_lkl.run --dataset diabetes --method uniform lmkl --seeds 3
python -m reproduce.unified_lkl.run --smoke       a hundred rows, in a temporary folder
"""

import sys

from reproduce import datasets, running
from reproduce.unified_lkl import figures, tables
from reproduce.unified_lkl.methods import STUDY


def smoke_splits():
    return [datasets.tumors()]


def main(arguments=None):
    return running.main(STUDY, tables.write, smoke_splits, figures.smoke, arguments)


if __name__ == "__main__":
    sys.exit(main())
