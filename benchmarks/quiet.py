"""Timing on a machine that is not ours alone: best of several, and what other processes took."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

# Other processes that take less than this many cores on average are not worth a word.
_QUIET_CORES = 0.15


@dataclass(frozen=True)
class Timed:
    """What one call returned and took; ``others`` is how many cores other processes used."""

    value: object
    seconds: float
    cpu_seconds: float
    others: float

    @property
    def remark(self):
        return disturbance(self.others)


def timed(call):
    """Run ``call`` once."""
    busy, own, cpu, start = (
        _busy_seconds(),
        _own_seconds(),
        time.process_time(),
        time.perf_counter(),
    )
    value = call()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    foreign = (_busy_seconds() - busy) - (_own_seconds() - own)
    return Timed(value, seconds, cpu, max(0.0, foreign) / max(seconds, 1e-9))


def best_of(calls, repeats=3, long=10.0, key="seconds"):
    """The best of several turns for each of ``calls``; a call of ``long`` seconds is made once."""
    best = {}
    for _ in range(repeats):
        for name, call in calls.items():
            if name in best and best[name].seconds > long:
                continue
            now = timed(call)
            if name not in best or getattr(now, key) < getattr(best[name], key):
                best[name] = now
    return best


def disturbance(others):
    """A word on the other processes, if they were many."""
    return f"; disturbed: other processes used {others:.1f} cores" if others > _QUIET_CORES else ""


def say_load():
    """Print how busy the machine is."""
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    print(f"  load average {load} on {os.cpu_count()} cores", flush=True)


def _busy_seconds():
    """Seconds that all cores together have worked since the machine started (Linux; else 0)."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return 0.0
    user, nice, system, _, _, irq, softirq, steal, *_ = map(
        int, stat.read_text().splitlines()[0].split()[1:]
    )
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _own_seconds():
    """Of these, our own and those of our children that have ended."""
    return sum(os.times()[:4])
