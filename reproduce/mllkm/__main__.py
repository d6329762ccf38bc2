"""Everything: rows and tables. ``python -m reproduce.mllkm [--smoke]``."""

import sys

from reproduce.mllkm import run

if __name__ == "__main__":
    sys.exit(run.main(sys.argv[1:]))
