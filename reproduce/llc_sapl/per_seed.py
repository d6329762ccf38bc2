"""Both choices, that of seed 0 and each seed's own, where the seed draws the split.

python -m reproduce.llc_sapl.per_seed --dataset banana --method llc_sapl
"""

import sys

from reproduce.llc_sapl.methods import STUDY
from reproduce.per_seed import main

if __name__ == "__main__":
    sys.exit(main(STUDY))
