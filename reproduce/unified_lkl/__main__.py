"""Everything: rows and tables. ``python -m reproduce.unified_lkl [--smoke]``."""

import sys

from reproduce.unified_lkl import run

if __name__ == "__main__":
    sys.exit(run.main(sys.argv[1:]))
