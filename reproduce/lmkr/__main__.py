"""Everything: rows, tables and figures. ``python -m reproduce.lmkr [--smoke]``."""

import sys

from reproduce.lmkr import figures, run

if __name__ == "__main__":
    status = run.main(sys.argv[1:])
    if status == 0 and "--smoke" not in sys.argv:
        status = figures.main([])
    sys.exit(status)
