"""Both choices, that of seed 0 and each seed's own, where the seed draws the split.

python -m reproduce.ldkl.per_seed --dataset banana --method ldkl
"""

import sys

from reproduce.ldkl.methods import STUDY
from reproduce.per_seed import main

if __name__ == "__main__":
    sys.exit(main(STUDY))
