"""Choose the parameters of this paper's methods.

python -m reproduce.llc_sapl.tune --dataset letter --method llc_sapl
"""

import sys

from reproduce.llc_sapl.methods import STUDY
from reproduce.tuning import main

if __name__ == "__main__":
    sys.exit(main(STUDY))
