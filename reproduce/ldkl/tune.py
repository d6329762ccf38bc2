"""Choose the parameters of this paper's methods.

python -m reproduce.ldkl.tune --dataset letter_halves --method ldkl
"""

import sys

from reproduce.ldkl.methods import STUDY
from reproduce.tuning import main

if __name__ == "__main__":
    sys.exit(main(STUDY))
