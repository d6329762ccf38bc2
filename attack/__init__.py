"""What an attacker or an accident may do to nearlinear, tried again and counted.

Run with ``make attack``; ``python -m attack files kills`` runs some parts. The figures are kept in
``results.json`` and shown in ``results.md``. A crash or a hang ends a child process: it is counted.

files    changed model files with right checksums: refused, or scored with finite numbers
kills    SIGKILL while a file is written: the old file or the new one, whole
threads  one model in 32 threads: the same bits as in one
forks    children of a process whose threads fit: none hangs
caches   damaged files of compiled code: every start succeeds
ctrl_c   Ctrl-C at any moment: passed on, and models, streams and files stay whole
inputs   bad rows, labels and parameters: one sentence, or a finite model
memory   Memory limits, and wide sparse rows within 2 GB

``apart`` runs work in child processes; ``report`` has the counts, the page and the table;
``examples`` the rows that several parts learn.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# the fuzzer, small estimators of every kind and child processes are those of the tests
sys.path[:0] = [path for path in (str(ROOT), str(ROOT / "tests")) if path not in sys.path]
