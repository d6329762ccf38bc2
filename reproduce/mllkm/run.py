"""Run the paper's comparison.

python -m reproduce.mllkm.run               everything that is not there yet
python -m reproduce.mllkm.run --dataset sonar --method simple_mkl lasvm --seeds 3
python -m reproduce.mllkm.run --smoke       a hundred rows, in a temporary folder
"""

import sys

from reproduce import datasets, running
from reproduce.mllkm import figures, large, streams, tables
from reproduce.mllkm.methods import STUDY


def smoke_splits():
    return [datasets.tumors()]


def smoke_rest(folder):
    """Figures, the larger comparison and the streams."""
    figures.smoke(folder)
    large.smoke(folder)
    streams.smoke(folder)


def main(arguments=None):
    return running.main(STUDY, tables.write, smoke_splits, smoke_rest, arguments)


if __name__ == "__main__":
    sys.exit(main())
