"""Values that an object works out once."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class cached_property(Generic[T]):
    """As functools' own of Python 3.12 and later, without the lock of earlier ones.

    That lock belongs to the class: a process that forks while some thread holds it leaves a child
    that waits for ever. Without it two threads may work out a value twice, to the same result.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        if instance is None:
            return self  # type: ignore[return-value]  # of the class: rare, and nobody's type
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
