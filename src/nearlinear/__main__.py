"""``python -m nearlinear`` is the ``nearlinear`` command."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
