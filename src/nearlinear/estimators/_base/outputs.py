"""One loop over the outputs of a fit, one rule for Ctrl-C, one format of progress.

MLLKMClassifier: class 2 of 3, round 4, 1.2 s, objective 31.0862, gap 0.042, kernels 17
"""

from time import perf_counter

from ..._warn import warn_user

_KNOWN_AFTER, _LONG = 2.0, 60.0  # seconds: when a forecast is made, and from where on it is told


class Teller:
    """Prints a line for a step of a fit, if the model is verbose."""

    def __init__(self, model):
        self.name, self.is_verbose = type(model).__name__, bool(getattr(model, "verbose", 0))
        self.began, self.output, self.n_outputs = perf_counter(), 0, 1

    def __call__(self, step, figures):
        """``figures`` maps words to numbers; None is left out."""
        if not self.is_verbose:
            return
        words = [f"class {self.output + 1} of {self.n_outputs}"] if self.n_outputs > 1 else []
        words += [step, f"{perf_counter() - self.began:.1f} s"]
        words += [f"{k} {_shown(k, value)}" for k, value in figures.items() if value is not None]
        print(f"{self.name}: {', '.join(words)}")

    def steps(self, word, score="held-out accuracy"):
        """What a watch tells: a line for each step, None if none; ``word`` says what a step is."""
        if not self.is_verbose:
            return None

        def tell(progress):
            figures = {"objective": progress.objective, "gap": progress.gap, score: progress.score}
            self(f"{word} {progress.step}", figures | progress.figures)

        return tell


def _shown(name, value):
    if isinstance(value, float):
        return f"{value:.2g}" if name == "gap" else f"{value:.6g}"
    return str(value)


def each_output(problems, solve, tell, rescue=None):
    """[solve(problem), ...], and whether Ctrl-C cut the last one short.

    Interrupted in the last output, ``rescue(problem)`` gives what is left of it; None where there
    is nothing, or in an earlier output, the interrupt goes on: nothing is known of the others.
    """
    tell.n_outputs, begin, is_told, found = len(problems), perf_counter(), False, []
    for number, problem in enumerate(problems):
        tell.output, done = number, number + 1
        try:
            found.append(solve(problem))
        except KeyboardInterrupt:
            left = rescue(problem) if rescue is not None and done == len(problems) else None
            if left is None:
                raise
            return [*found, left], True
        passed = perf_counter() - begin
        if is_told or passed < _KNOWN_AFTER or done == len(problems):
            continue
        is_told, left = True, passed / done * (len(problems) - done)
        if left > _LONG:
            warn_user(
                f"{tell.name} learns a machine for each of {len(problems)} classes: "
                f"about {left / 60.0:.0f} minutes to go."
            )
    return found, False


class keeping:
    """Ctrl-C ends the work inside, and what was found until then is kept; ``what`` names it.

    ``kept`` is that name afterwards, or None where nobody pressed Ctrl-C. A class, since Ctrl-C in
    the first line of a generator would be another error.
    """

    def __init__(self, what):
        self.what, self.kept = what, None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self.kept = self.what
            return True
        return False
