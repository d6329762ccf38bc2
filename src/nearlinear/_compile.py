"""The policy of compiled code: options, lazy compilation and threads.

``compiled`` costs nothing at import: numba is loaded, and the function compiled or read from disk
(see ``_code_cache``), when the function is first called. A compiled function may call another one
by its plain name.
"""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from time import perf_counter

from ._code_cache import CodeCache, warn_once
from ._config import with_caller_context

# An unordered sum is what lets a dot product use the vector unit. ``nnan`` and ``ninf`` are never
# given: they would let the compiler drop the guards against overflow.
_FAST_SUMS = {"contract", "reassoc", "nsz"}
_lock = threading.RLock()


class _CompileTimer:
    """Total time inside ``with`` blocks; nested and concurrent ones count once."""

    def __init__(self):
        self.seconds, self._depth, self._start = 0.0, 0, 0.0
        self._counting = threading.Lock()

    def __enter__(self):
        with self._counting:
            self._depth += 1
            if self._depth == 1:
                self._start = perf_counter()

    def __exit__(self, *error):
        with self._counting:
            self._depth -= 1
            if self._depth == 0:
                self.seconds += perf_counter() - self._start

    @cache  # noqa: B019  # there is one timer
    def listen(self):
        """Count the time in which numba compiles, or loads what was compiled."""
        from numba.core import event

        timer = self

        class Listener(event.Listener):
            def on_start(self, event):
                timer.__enter__()

            def on_end(self, event):
                timer.__exit__()

        event.register("numba:compiler_lock", Listener())


_compile_timer = _CompileTimer()


def compile_seconds():
    """Seconds that this process has spent on compiling, and on loading compiled code, so far."""
    return _compile_timer.seconds


class _Pass:
    """A function compiled at its first call."""

    def __init__(self, function, fastmath):
        self.function = function
        self.fastmath = fastmath
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__
        self._dispatcher = None

    def dispatcher(self):
        with _lock, _compile_timer:
            if self._dispatcher is None:
                from numba import njit

                _compile_timer.listen()
                # Inside compiled code a name must mean a numba function, so the passes that this
                # one calls are put in place of their lazy stand-ins first.
                scope = self.function.__globals__
                for name in self.function.__code__.co_names:
                    if isinstance(scope.get(name), _Pass):
                        scope[name] = scope[name].dispatcher()
                options = {"nogil": True, "error_model": "numpy", "fastmath": self.fastmath}
                dispatcher = njit(**options)(self.function)
                if hasattr(dispatcher, "_cache"):  # not with NUMBA_DISABLE_JIT
                    dispatcher._cache = self._code_cache(dispatcher)
                self._dispatcher = dispatcher
        return self._dispatcher

    def _code_cache(self, dispatcher):
        try:
            return CodeCache(dispatcher, self.fastmath, _announce_compilation)
        except Exception as error:  # another numba may lack any of the names that are used
            reason = f"{type(error).__name__}: {error}"
            message = f"Compiled code cannot be stored with this version of numba ({reason})."
            warn_once("storage", message)
            return dispatcher._cache  # stores nothing

    def __call__(self, *args):
        return (self._dispatcher or self.dispatcher())(*args)


class announcing:
    """Context in which ``tell()`` is called once, before the first pass is compiled, if any is."""

    inside = []

    def __init__(self, tell):
        self._tell = tell

    def __enter__(self):
        self.inside.append(self)

    def __exit__(self, *error):
        self.inside.remove(self)

    def tell_once(self):
        tell, self._tell = self._tell, None
        if tell is not None:
            tell()


def _announce_compilation():
    for context in tuple(announcing.inside):
        context.tell_once()


def compiled(function):
    """Compile with strict floating-point order."""
    return _Pass(function, fastmath=False)


def compiled_fast_sums(function):
    """Compile with leave to reorder sums, for passes that live on dot products."""
    return _Pass(function, fastmath=_FAST_SUMS)


def count_threads(n_jobs):
    """Number of threads that ``n_jobs`` asks for, by scikit-learn's rule (None is 1, -1 is all)."""
    if n_jobs is None:
        return 1
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def run_blocks(work, n_rows, block, n_jobs=None):
    """Call ``work(start, stop)`` for consecutive blocks of rows, on threads if asked.

    The blocks do not depend on ``n_jobs``, so neither do the results.
    """
    bounds = [(start, min(start + block, n_rows)) for start in range(0, n_rows, block)]
    n_threads = min(count_threads(n_jobs), len(bounds))
    if n_threads <= 1:
        for start, stop in bounds:
            work(start, stop)
        return
    work = with_caller_context(work)
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(lambda bound: work(*bound), bounds))


def one_blas_thread():
    """Context in which matrix products use one thread.

    Training multiplies many small matrices: waking a second thread for each costs more than it
    brings, and one thread makes the last bits independent of the machine's number of cores.
    """
    return _OneBlasThread()


def one_openmp_thread():
    """Context in which OpenMP uses one thread, so that its sums have one order on every machine."""
    return _thread_pools().limit(limits=1, user_api="openmp")


class _OneBlasThread:
    """The first to enter sets the limit and the last to leave lifts it, whatever their order."""

    _inside, _limit = 0, None

    def __enter__(self):
        with _lock:
            cls = type(self)
            if cls._inside == 0:
                cls._limit = _thread_pools().limit(limits=1, user_api="blas")
                _let_go()
            cls._inside += 1

    def __exit__(self, *error):
        with _lock:
            cls = type(self)
            cls._inside -= 1
            if cls._inside == 0:
                limit, cls._limit = cls._limit, None
                limit.restore_original_limits()
                _let_go()


def _start_anew():
    """A child of a fork has none of the threads that may have held a limit."""
    _OneBlasThread._inside, _OneBlasThread._limit = 0, None
    _lock.release()


# No fork while a thread sets a limit: OpenBLAS holds a lock of its own in there, which nobody
# would open in the child.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_start_anew
    )


def _let_go():
    """threadpoolctl 3.8 lets only one thread set limits until it leaves a block.

    An empty block makes us leave, with the limit kept: another thread may lift it.
    """
    with _thread_pools().limit(limits=None):
        pass


@cache
def _thread_pools():
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
