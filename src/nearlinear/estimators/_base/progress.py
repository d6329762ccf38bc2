"""Progress of a fit: lines of one format, and a word on fits that will take long.

MLLKMClassifier: class 2 of 3, round 4, 1.2 s, objective 31.0862, gap 0.042, kernels 17
"""

from dataclasses import dataclass, field
from time import perf_counter

from ..._warn import warn_user

_KNOWN_AFTER, _LONG = 2.0, 60.0  # seconds: when a forecast is made, and from where on it is told


@dataclass
class FitClock:
    """When a fit began, and which of its outputs is learned now."""

    began: float = field(default_factory=perf_counter)
    output: int = 0
    n_outputs: int = 1

    @property
    def elapsed(self):
        return perf_counter() - self.began


def tell(estimator, step, figures):
    """Print a line if the estimator is verbose; ``figures`` maps words to numbers."""
    if not estimator.verbose:
        return
    clock, words = estimator._clock, []
    if clock.n_outputs > 1:
        words.append(f"class {clock.output + 1} of {clock.n_outputs}")
    words += [step, f"{clock.elapsed:.1f} s"]
    words += [f"{name} {_shown(name, value)}" for name, value in figures.items()]
    print(f"{type(estimator).__name__}: {', '.join(words)}")


def teller(estimator, step, score="held-out accuracy"):
    """What a watch tells: a line for each step, named by the words ``step`` and ``score``."""

    def show(progress):
        named = {"objective": progress.objective, "gap": progress.gap, score: progress.score}
        figures = {name: value for name, value in named.items() if value is not None}
        tell(estimator, f"{step} {progress.step}", figures | progress.figures)

    return show


def _shown(name, value):
    if isinstance(value, float):
        return f"{value:.2g}" if name == "gap" else f"{value:.6g}"
    return str(value)


def each_output(estimator, problems):
    """The problems one by one, and a warning if all of them will take long."""
    clock, told = estimator._clock, False
    clock.n_outputs, begin = len(problems), perf_counter()
    for number, problem in enumerate(problems):
        clock.output = number
        yield problem
        passed, done = perf_counter() - begin, number + 1
        if told or passed < _KNOWN_AFTER or done == len(problems):
            continue
        told, left = True, passed / done * (len(problems) - done)
        if left > _LONG:
            warn_user(
                f"{type(estimator).__name__} learns a machine for each of {len(problems)} classes: "
                f"about {left / 60.0:.0f} minutes to go (verbose=1 shows the progress)."
            )
