"""Configuration of the library: the memory that a fit may use."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from numbers import Real
from typing import Any

from ._resources import available_memory

BYTE_UNITS = {"": 1, "b": 1, "k": 1e3, "kb": 1e3, "kib": 1 << 10, "m": 1e6, "mb": 1e6,
              "mib": 1 << 20, "g": 1e9, "gb": 1e9, "gib": 1 << 30}  # fmt: skip
_VARIABLE = "NEARLINEAR_MAX_MEMORY"
_UNSET = object()
_process_limit: Any = _UNSET
_context_limit: ContextVar[Any] = ContextVar("nearlinear_max_memory", default=_UNSET)


def get_config() -> dict[str, float | None]:
    """Return the current configuration.

    Returns
    -------
    config : dict
        Values by option, as for ``set_config``.

    See Also
    --------
    set_config : Set the configuration of this process.
    config_context : Set the configuration within a ``with`` statement.

    Examples
    --------
    >>> import nearlinear
    >>> list(nearlinear.get_config())
    ['max_memory']
    """
    limit = _context_limit.get()
    if limit is _UNSET:
        limit = _process_limit
    return {"max_memory": _environment_limit() if limit is _UNSET else limit}


def set_config(*, max_memory: float | str | None) -> None:
    """Set the configuration of this process.

    All threads use it, except inside ``config_context``. Worker processes do not: set the
    environment variable ``NEARLINEAR_MAX_MEMORY`` for these before they start.

    Parameters
    ----------
    max_memory : float, str or None
        Memory that ``fit`` may use in addition to the data: a number of bytes or a size such as
        "2GB" or "500MB". None is the memory that is available to the process, of which Gram
        matrices take half a gigabyte at most. Until ``set_config`` is called, the value is that of
        the environment variable ``NEARLINEAR_MAX_MEMORY``, or None if it is not set. For fits on a
        GPU, the limit applies to the memory of the GPU.

    See Also
    --------
    get_config : Return the current configuration.
    config_context : Set the configuration within a ``with`` statement.

    Examples
    --------
    >>> import nearlinear
    >>> nearlinear.set_config(max_memory="2GB")
    >>> nearlinear.get_config()
    {'max_memory': 2000000000.0}
    >>> nearlinear.set_config(max_memory=None)
    """
    global _process_limit
    limit = _checked(max_memory)
    if _context_limit.get() is _UNSET:
        _process_limit = limit
    else:
        _context_limit.set(limit)


@contextmanager
def config_context(*, max_memory: float | str | None) -> Iterator[None]:
    """Set the configuration within a ``with`` statement.

    It applies to the calling thread and to threads that fits start.

    Parameters
    ----------
    max_memory : float, str or None
        Memory that ``fit`` may use in addition to the data, as for ``set_config``.

    Yields
    ------
    None

    See Also
    --------
    get_config : Return the current configuration.
    set_config : Set the configuration of this process.

    Examples
    --------
    >>> import nearlinear
    >>> with nearlinear.config_context(max_memory="500MB"):
    ...     nearlinear.get_config()
    {'max_memory': 500000000.0}
    """
    token = _context_limit.set(_checked(max_memory))
    try:
        yield
    finally:
        _context_limit.reset(token)


def allowed_memory():
    """Bytes that a fit may use in addition to the data."""
    limit = get_config()["max_memory"]
    return available_memory() if limit is None else limit


def with_caller_context(function):
    """``function`` for other threads, which then have the configuration of the calling thread."""
    context = copy_context()

    def call(*args):
        return context.copy().run(function, *args)  # a context is entered by one thread at a time

    return call


def parse_amount(text, units):
    """A number with a unit, such as "64 kB"; None if ``text`` is not one."""
    match = re.fullmatch(r"\s*((?:\d+\.?\d*|\.\d+)(?:e\d+)?)\s*([a-z]*)\s*", text.lower())
    if match is None or match[2] not in units or not 0 < float(match[1]) < 1e15:
        return None
    return float(match[1]) * units[match[2]]


def _checked(max_memory):
    if max_memory is None:
        return None
    limit = max_memory
    if isinstance(max_memory, str):
        limit = parse_amount(max_memory, BYTE_UNITS)
    if isinstance(limit, bool) or not isinstance(limit, Real) or not limit > 0:
        raise ValueError(
            'max_memory must be a positive number of bytes, a size such as "2GB" or None, got '
            f"{max_memory!r}."
        )
    return float(limit)


def _environment_limit():
    text = os.environ.get(_VARIABLE, "")
    if not text:
        return None
    limit = parse_amount(text, BYTE_UNITS)
    if limit is None:
        raise ValueError(
            f"The environment variable {_VARIABLE} must be a positive number of bytes or a size "
            f'such as "2GB", got {text!r}.'
        )
    return limit
