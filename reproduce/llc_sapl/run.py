"""Run the paper's comparison.

python -m reproduce.llc_sapl.run               everything that is not there yet
python -m reproduce.llc_sapl.run --dataset letter --method llc_sapl llsvm --seeds 3
python -m reproduce.llc_sapl.run --smoke       a few hundred rows, in a temporary folder
"""

import sys

from reproduce import datasets, running
from reproduce.llc_sapl import figures, tables
from reproduce.llc_sapl.methods import STUDY


def smoke_splits():
    return datasets.sines(100, 50), datasets.digits(200, 100)


def main(arguments=None):
    return running.main(STUDY, tables.write, smoke_splits, figures.smoke, arguments)


if __name__ == "__main__":
    sys.exit(main())
