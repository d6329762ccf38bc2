"""What was looked at, how long it took, and what is missing."""

import subprocess
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One look; ``missing`` has a sentence for each thing to mend."""

    name: str
    missing: tuple[str, ...]
    seconds: float


def look(name, check, *arguments):
    """Run a check that returns sentences, and tell at once."""
    start = time.perf_counter()
    missing = tuple(check(*arguments))
    found = Finding(name, missing, time.perf_counter() - start)
    print(f"{'ok' if not missing else 'NO':4} {name} ({found.seconds:.0f} s)", flush=True)
    for sentence in missing:
        print(f"     {sentence}", flush=True)
    return found


def complaint(name, command, **settings):
    """Run a program; no sentence if it succeeds, else one with the end of what it said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **settings)
    if done.returncode == 0:
        return []
    said = "\n       ".join((done.stdout + done.stderr).strip().splitlines()[-12:])
    return [f"{name} failed:\n       {said}"]


def verdict(findings, version):
    """The last line, and whether it is a yes."""
    bad = [one.name for one in findings if one.missing]
    total = sum(one.seconds for one in findings)
    if bad:
        return False, f"not ready to release {version}: {', '.join(bad)} ({total:.0f} s)"
    return True, f"ready to release {version} ({total:.0f} s)"
