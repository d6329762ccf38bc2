"""Run the paper's comparison of methods with one set of kernel weights.

python -m reproduce.unified_lkl.run               everything that is not there yet
python -m reproduce.unified_lkl.run --dataset diabetes --method uniform gmkl --seeds 3
python -m reproduce.unified_lkl.run --smoke       a hundred rows, in a temporary folder
"""

import sys

from reproduce import datasets, running
from reproduce.unified_lkl import tables
from reproduce.unified_lkl.methods import STUDY


def smoke_splits():
    return [datasets.tumours()]


def main(arguments=None):
    return running.main(STUDY, tables.write, smoke_splits, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
