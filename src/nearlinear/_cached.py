"""Values that an object works out once."""


class cached_property:
    """As functools' own of Python 3.12 and later, without the lock of earlier ones.

    That lock belongs to the class: a process that forks while some thread holds it leaves a child
    that waits for ever. Without it two threads may work out a value twice, to the same result.
    """

    def __init__(self, compute):
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
