"""Compiled code on disk: one file per function, signature, processor and version, without an index.

The name of a file is a hash of its key, and the file holds a checksum, the key and the code. Files
appear by renaming: processes that store code at the same time need no lock, and a process that is
killed leaves no partial entry. numba's own cache names files by a counter, which lives in an index
that processes overwrite: it can return the code of another signature.
"""

import hashlib
import os
import pickle
import tempfile
from contextlib import suppress
from importlib.machinery import EXTENSION_SUFFIXES
from types import CodeType, ModuleType

from ._files import replacing
from ._warn import warn_user

_SUFFIX = ".nlc"
_MAGIC = b"nlc1\0"  # version of the format; a zero byte marks a binary file, for grep and codespell
_BODY = len(_MAGIC) + hashlib.sha256().digest_size  # position of key and code
NO_FOLDER = (
    "No folder for compiled code is writable: each process compiles again, which takes seconds. "
    "Set NUMBA_CACHE_DIR to a writable folder."
)
_warnings = {}  # by kind: each is shown once per process


def storage_failure():
    """Message about compiled code that could not be stored by this process, or None."""
    return _warnings.get("storage")


def warn_once(kind, message):
    if kind not in _warnings:
        _warnings[kind] = message
        warn_user(message)


class CodeCache:
    """Stored code of one function, in the form that a dispatcher of numba expects as its cache.

    ``on_miss()`` is called before a signature is compiled. Names of numba that may be missing in
    another version are used in ``__init__`` first, where the caller can do without a cache.
    """

    def __init__(self, dispatcher, fastmath, on_miss):
        import numba
        from numba.core.codegen import CodeLibrary
        from numba.core.compiler import CompileResult
        from numba.core.serialize import dumps

        self._reduce, self._rebuild = CompileResult._reduce, CompileResult._rebuild
        self._has_addresses = CodeLibrary.has_dynamic_globals.fget
        self._dumps, self._on_miss = dumps, on_miss
        function = dispatcher.py_func
        target = *EXTENSION_SUFFIXES[:1], *dispatcher.targetctx.codegen().magic_tuple()
        self.digest = _digest(function, fastmath)
        version = _MAGIC, numba.__version__, self.digest
        module = function.__module__.rpartition(".")[2]
        name = f"{module}.{function.__qualname__}".replace("<", "").replace(">", "")
        self._key = function.__module__, function.__qualname__, target, version
        self._other_versions = f"{name}-{_hash(target, 8)}-"
        self._this_version = f"{self._other_versions}{_hash(version, 16)}-"
        self._folders = _folders(function)

    def load_overload(self, signature, target_context):
        """Stored code of a signature, ready to run, or None."""
        target_context.refresh()
        for folder in self._folders:
            path, key = self._entry(folder, signature)
            try:
                code = _read(path, key)
                if code is not None:
                    return self._rebuild(target_context, *pickle.loads(code))
            except Exception:  # invalid pickles raise exceptions of any type
                message = f"{path} is damaged: the function is compiled again."
                warn_once("damage", message)
            if _is_writable(folder):  # folders behind it are never written
                break
        self._on_miss()
        return None

    def save_overload(self, signature, result):
        """Store the result of compiling a signature in the first writable folder."""
        if self._has_addresses(result.library):
            return
        folder = next(filter(_is_writable, self._folders), None)
        if folder is None:
            warn_once("storage", NO_FOLDER)
            return
        path, key = self._entry(folder, signature)
        body = key + b"\n" + self._dumps(self._reduce(result))
        try:
            with replacing(path) as file:
                file.write(_MAGIC + hashlib.sha256(body).digest() + body)
            self._remove_other_versions(folder)
        except OSError as error:
            if isinstance(error, PermissionError) and os.path.exists(path):
                return  # Windows: another process stored this entry, and a third one reads it
            warn_once("storage", f"Compiled code cannot be stored in {folder}: {error.strerror}.")

    def _entry(self, folder, signature):
        """Path and key of the file of a signature."""
        key = repr((*self._key, str(signature))).encode()
        return os.path.join(folder, f"{self._this_version}{_hash(key, 16)}{_SUFFIX}"), key

    def _remove_other_versions(self, folder):
        """Remove code of earlier sources and numba versions, so that a folder does not grow."""
        for name in os.listdir(folder):
            is_entry = name.startswith(self._other_versions) and name.endswith(_SUFFIX)
            if is_entry and not name.startswith(self._this_version):
                with suppress(OSError):  # another process removed it, or reads it (Windows)
                    os.unlink(os.path.join(folder, name))


def _read(path, key):
    """Code in a file, or None if there is no file; ValueError if it is not the code of the key."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return None
    body = content[_BODY:]
    if _MAGIC + hashlib.sha256(body).digest() != content[:_BODY]:
        raise ValueError("wrong checksum")
    stored_key, _, code = body.partition(b"\n")
    if stored_key != key:
        raise ValueError("code of another key")
    return code


def _folders(function):
    """Folders for code of a function, in numba's order; not all of them need to exist."""
    from numba import config
    from numba.misc.appdirs import AppDirs

    path = function.__code__.co_filename
    if path.startswith("<"):  # python -c: another program has the same name
        return []
    source = os.path.dirname(os.path.abspath(path))
    name = f"{os.path.basename(source)}_{_hash(source, 16)}"
    requested = [os.path.join(config.CACHE_DIR, name)] if config.CACHE_DIR else []
    # no file: the source is in a zip file or a frozen program
    beside = [os.path.join(source, "__pycache__")] if os.path.exists(path) else []
    users = os.path.join(AppDirs("numba", appauthor=False).user_cache_dir, name)
    return [*requested, *beside, users]


def _is_writable(folder):
    try:
        os.makedirs(folder, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _digest(function, fastmath):
    """Hash of everything that the code is compiled from, however many source files it is from."""
    digest = hashlib.sha256(repr(sorted(fastmath or ())).encode())
    for code in _with_nested(function.__code__):
        constants = [value for value in code.co_consts if not isinstance(value, CodeType)]
        variables = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
        parts = code.co_code, code.co_exceptiontable, constants, variables
        digest.update(repr(parts).encode())
        for name in code.co_names:
            if name in function.__globals__:
                digest.update(_contents(function.__globals__[name]))
    for cell in function.__closure__ or ():
        digest.update(_contents(cell.cell_contents))
    return digest.hexdigest()


def _with_nested(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_nested(constant)


def _contents(value):
    """Bytes that differ if the compiler would copy something else from a global value."""
    cache = getattr(value, "_cache", None)
    if isinstance(cache, CodeCache):  # a compiled function that this one calls
        return cache.digest.encode()
    if isinstance(value, ModuleType):
        return value.__name__.encode()
    return pickle.dumps(value)


def _hash(value, length):
    return hashlib.sha256(repr(value).encode()).hexdigest()[:length]
