"""Work in child processes: a crash or a hang there is a finding, and the rest goes on."""

import json
import subprocess
from collections import Counter
from pathlib import Path

from runtime.child import limit_memory, run_child

from attack import ROOT

from .report import Count

_CALL = """
import json, sys
from attack.{module} import {name}
{limit}
counts = {name}(*map(json.loads, sys.argv[1:]))
print(json.dumps([vars(count) for count in counts]))
"""


def call(function, *arguments, what, timeout, memory=None, **environment):
    """The counts that a function of a part gives in a process of its own; ``what`` if it ends."""
    module = function.__module__.removeprefix("attack.")
    limit = "" if memory is None else limit_memory(memory)
    source = _CALL.format(module=module, name=function.__name__, limit=limit)
    try:
        printed = child(source, *map(json.dumps, arguments), timeout=timeout, **environment)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        return [Count(what, 1, Counter(ended=1), [f"{arguments}: {last_words(error)}"])]
    return [
        Count(**{**count, "outcomes": Counter(count["outcomes"])})
        for count in json.loads(printed.strip().split("\n")[-1])
    ]


def numbered(source, what, first, count, work, *arguments, timeout, **environment):
    """Try cases by number; a child that ends early is started again behind its last case.

    ``source`` gets the first number, how many, the folder ``work`` and the arguments. It keeps its
    case in the file ``last`` of the folder. It prints ``case N, ...`` for every failure and what
    came of all cases in the end.
    """
    found, end = Count(what), first + count
    work = Path(work)
    while first < end:
        (work / "last").unlink(missing_ok=True)
        words = (first, end - first, work, *arguments)
        try:
            printed = child(source, *words, timeout=timeout, **environment)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            last = int((work / "last").read_text()) if (work / "last").exists() else end - 1
            found.findings.append(f"case {last} ended its process: {last_words(error)}")
            found.outcomes["ended"] += 1
            found.tried += last + 1 - first
            first = last + 1
            continue
        *failures, outcomes = printed.strip().split("\n")
        found.findings += [line for line in failures if line.startswith("case ")]
        found.outcomes.update(json.loads(outcomes))
        found.tried += end - first
        break
    return found


def child(source, *arguments, timeout, **environment):
    """Run source text that imports ``attack``; returns what it printed."""
    path = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    return run_child(path + source, *arguments, timeout=timeout, **environment)


def last_words(error):
    """The end of what a process said."""
    if isinstance(error, subprocess.TimeoutExpired):
        return f"still running after {error.timeout:.0f} s"
    lines = str(error).strip().split("\n")
    return f"{lines[0]}; {lines[-1]}"
