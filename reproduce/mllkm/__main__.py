"""Rows, tables and figures; not the larger sets. ``python -m reproduce.mllkm [--smoke]``."""

import sys

from reproduce.mllkm import figures, run

if __name__ == "__main__":
    status = run.main(sys.argv[1:])
    if status == 0 and "--smoke" not in sys.argv:
        status = figures.main([])
    sys.exit(status)
