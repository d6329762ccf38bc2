"""Fits that are whole: a model changes at once, when all is found, or not at all."""

from functools import wraps

from .constraints import fit_context
from .progress import FitClock


def whole_fit(method):
    """A method that learns: parameters are checked, and a draft learns in place of the model.

    The draft shares what the model has found before. Its attributes become the model's in one step
    at the end. An error or Ctrl-C before that leaves the model as it was. A Ctrl-C that the
    method has answered by keeping the best so far (``keeping``) is raised after that step.
    """
    learn = fit_context(prefer_skip_nested_validation=True)(method)

    @wraps(method)
    def fit(self, *args, **kwargs):
        draft = object.__new__(type(self))
        draft.__dict__.update(self.__dict__, _clock=FitClock())
        learn(draft, *args, **kwargs)
        del draft._clock
        kept = draft.__dict__.pop("_kept", None)
        self.__dict__ = draft.__dict__
        if kept is not None:
            raise KeyboardInterrupt(f"Interrupted: {kept} kept.")
        return self

    return fit


class keeping:  # a generator would lose a Ctrl-C in its first line
    """Ctrl-C ends the work inside; the method goes on and keeps what was found until then."""

    def __init__(self, estimator, what):
        self._kept = estimator, what

    def __enter__(self):
        pass

    def __exit__(self, error, *_):
        if error is not KeyboardInterrupt:
            return False
        keep(*self._kept)
        return True


def keep(estimator, what):
    """Note that Ctrl-C was pressed and ``what`` (with its verb) was kept."""
    estimator._kept = what
