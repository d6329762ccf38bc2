"""Everything: rows, tables and figures. ``python -m reproduce.unified_lkl [--smoke]``."""

import sys

from reproduce.unified_lkl import figures, run

if __name__ == "__main__":
    status = run.main(sys.argv[1:])
    if status == 0 and "--smoke" not in sys.argv:
        status = figures.main([])
    sys.exit(status)
